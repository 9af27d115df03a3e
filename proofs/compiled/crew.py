"""What a search needs of the parts that share its work, and the crew whose parts are threads of this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from schedproof.proofs.exploration.symmetry import Symmetry

from .layout import Words
from .llvm import Machine, level_for
from .part import Part, Saved
from .steps import Program

T = TypeVar("T")


@dataclass(frozen=True)
class Standing:
    """How far a part is: its number of states, and of this depth the first state, their number, and how many are expanded."""

    count: int
    base: int
    size: int
    at: int
    depth: int

    @staticmethod
    def of(part: Part, at: int) -> Standing:
        """The standing of a part of this process."""
        return Standing(part.count, part.base, part.size, at, len(part.starts) - 1)


class Known(Protocol):
    """What a result needs of a part, wherever its states are. The attributes are those of :class:`.part.Part`."""

    @property
    def count(self) -> int: ...
    @property
    def base(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def starts(self) -> Sequence[int]: ...
    @property
    def totals(self) -> Sequence[int]: ...
    @property
    def seen(self) -> NDArray[np.int64]: ...
    @property
    def memory(self) -> int: ...
    @property
    def spilled(self) -> bool: ...
    @property
    def traced(self) -> int: ...

    def origin(self, place: int) -> tuple[int, int]:
        """The number of the predecessor of a state, and the number of the choice, by which it was found first."""

    def table(self) -> tuple[Words, int]:
        """The table, and its number of places."""


class Crew(Protocol):
    """The parts of a search, which expand and take side by side: threads, or workers on other machines.

    A turn of a part takes what others have sent to it, and expands states of this depth until its buckets are full. What it sends
    may be on the way for some turns; ``settle`` waits for all of it.
    """

    def begin(self, home: int, value: int, state: Words) -> None:
        """Gives the initial state, whose table entry is ``value``, to part ``home``."""

    def expand(self, states: int) -> Sequence[Standing]:
        """Takes one turn of each part. About ``states`` states are known: the more, the more its code is optimized."""

    def settle(self) -> None:
        """Takes all that is on the way, and makes the counts exact."""

    def deepen(self) -> Sequence[Standing]:
        """Begins the next depth, when all is settled."""

    def known(self) -> Sequence[Known]:
        """The parts, for a result."""

    def save(self) -> list[Saved]:
        """The progress of each part, when all is settled; its files are on disk."""

    def restore(self, saved: Sequence[Saved]) -> Sequence[Standing]:
        """Goes back to a saved progress."""

    def renew(self, lost: Exception) -> None:
        """Begins anew with empty parts, after a worker was lost."""

    def end(self, *, stopped: bool) -> None:
        """Frees what only the search needs. Of a search that ``stopped`` early, discards states that may be known twice."""


class Workers(Protocol):
    """Processes that searches share, one after the other."""

    def __len__(self) -> int: ...

    def crew(self, program: Program, symmetry: Symmetry | None, folder: Path | None, memory: int | None) -> Crew:
        """A crew for one search.

        Args:
            folder: for its files, which every worker can write to; None without checkpoints.
            memory: the bytes that the process of each worker may use; None for no limit.
        """


class Optimized:
    """The native code of ``steps``, which is optimized as soon as enough states are known.

    Args:
        text: the code as LLVM assembly.
        machine: compiles it for about as many states.
    """

    def __init__(self, text: str, machine: Callable[[int], Machine]) -> None:
        self._text, self._compiled = text, machine
        self._level, self._machine = level_for(0, text), machine(0)

    def address(self, states: int) -> int:
        """The address of the code for about this many states."""
        level = level_for(states, self._text)
        if level > self._level:
            self._level, self._machine = level, self._compiled(states)
        return self._machine.address("steps")


class Threads:
    """A crew of threads. The first part is expanded by the thread that searches.

    Args:
        parts: the parts, one for each thread.
    """

    def __init__(self, program: Program, parts: Sequence[Part]) -> None:
        self._code, self._parts = Optimized(program.text, program.machine), parts
        self._at = [0] * len(parts)
        self._turn, self._sent = 0, False
        self._pool = ThreadPoolExecutor(len(parts) - 1) if len(parts) > 1 else None

    def _each(self, work: Callable[[int], T]) -> list[T]:
        """What ``work`` returns for the number of each part; waits for all of them, also after an error."""
        if self._pool is None:
            return [work(0)]
        others = [self._pool.submit(work, me) for me in range(1, len(self._parts))]
        try:
            first = work(0)
        finally:
            errors = [error for other in others if (error := other.exception()) is not None]
        for error in errors:
            raise error
        return [first, *(other.result() for other in others)]

    def begin(self, home: int, value: int, state: Words) -> None:
        """See :class:`Crew`."""
        self._parts[home].take(np.array([value], np.uint64), state, np.zeros(1, np.uint64), 1)

    def expand(self, states: int) -> list[Standing]:
        """See :class:`Crew`. All buckets exist twice: a thread may fill its own while others still take the last ones."""
        address = self._code.address(states)
        before, turn = self._turn, self._turn ^ 1

        def work(me: int) -> Standing:
            part = self._parts[me]
            self._take(me, before)
            part.counts[turn] = 0
            self._at[me] = part.expand(address, self._at[me], turn)
            return Standing.of(part, self._at[me])

        standings = self._each(work)
        self._turn, self._sent = turn, True
        return standings

    def _take(self, me: int, turn: int) -> None:
        """Takes the buckets for a part that were filled in the last turn."""
        if self._sent:
            for other in self._parts:
                self._parts[me].take(
                    other.values[turn, me], other.states[turn, me], other.whence[turn, me], other.counts[turn, me]
                )

    def settle(self) -> None:
        """See :class:`Crew`."""

        def work(me: int) -> None:
            self._take(me, self._turn)
            self._parts[me].settle()

        self._each(work)
        self._sent = False

    def deepen(self) -> list[Standing]:
        """See :class:`Crew`."""

        def work(me: int) -> Standing:
            self._parts[me].deepen()
            self._at[me] = 0
            return Standing.of(self._parts[me], 0)

        return self._each(work)

    def known(self) -> Sequence[Known]:
        """See :class:`Crew`."""
        return self._parts

    def save(self) -> list[Saved]:
        """See :class:`Crew`."""
        return [part.save(at) for part, at in zip(self._parts, self._at, strict=True)]

    def restore(self, saved: Sequence[Saved]) -> list[Standing]:
        """See :class:`Crew`."""
        for part, was in zip(self._parts, saved, strict=True):
            part.restore(was)
        self._at = [was.at for was in saved]
        return [Standing.of(part, at) for part, at in zip(self._parts, self._at, strict=True)]

    def renew(self, lost: Exception) -> None:
        """Threads are not lost without their process."""
        raise lost

    def end(self, *, stopped: bool) -> None:
        """See :class:`Crew`."""
        if self._pool is not None:
            self._pool.shutdown()
        for part in self._parts:
            if part.disk is not None:
                part.disk.runs.remove()
            if stopped:
                part.drop_uncompared()
