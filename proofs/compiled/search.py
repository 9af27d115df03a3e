"""Breadth first through all states, in one thread or several, each with a part of the states of its own."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from schedproof.model.semantics import Choice, Instance
from schedproof.proofs.engine import TooWide
from schedproof.proofs.explore import Progress, real
from schedproof.proofs.symmetry import Symmetry

from .kernel import HALF, expand, insert
from .layout import Words
from .llvm import Machine
from .quotient import Quotient, quotient, represent
from .steps import Condition, Program, Seen, program
from .table import SLACK, U, entry, find, grow, part_of, place_of

ROOM = 1 << 15
"""Steps in a bucket: enough that changing between Python and machine code costs little, and few enough for the cache."""

FULLEST, FIRST = 0.8, 1 << 10
"""How full a table gets before it grows by a quarter, and how many places it begins with."""

MOST_CHOICES = 1 << 16
"""Choices of actions and parameters: which of them led to a state is kept in two bytes."""

MOST_STATES = 1 << 31
"""The number of a state is kept in four bytes."""


@dataclass
class _Part:
    """The states whose entries belong to one thread: in order of discovery, which is that of their depths.

    Args:
        keys, places: the table; ``count`` states are in it.
        parents, choices: by number, the state from which it was found first, and by which choice.
        now, size: the states of this depth; ``base`` is the number of the first.
        next, found: those of the next.
        starts: by depth, the number of the first state.
        seen: what the program has noted.
        totals: what the expanded states stand for, if there is a ``quotient``.
    """

    program: Program
    parts: int
    quotient: Quotient | None
    places: int = FIRST
    count: int = 0
    size: int = 0
    found: int = 0
    base: int = 0
    starts: list[int] = field(default_factory=lambda: [0])

    def __post_init__(self) -> None:
        words = self.program.layout.words
        room = max(2 * ROOM // max(2, self.parts), 2 * self.program.choices)
        self.keys: Words = np.zeros((self.places + SLACK) * words, np.uint64)
        self.parents: NDArray[np.uint32] = np.empty(FIRST, np.uint32)
        self.choices: NDArray[np.uint16] = np.empty(FIRST, np.uint16)
        self.now: Words = np.empty(0, np.uint64)
        self.next: Words = np.empty(FIRST * words, np.uint64)
        self.seen: NDArray[np.int64] = np.zeros(self.program.seen.size, np.int64)
        self.totals = [0] * (1 + len(self.program.actions))
        self._weights: NDArray[np.int64] = np.zeros((2, len(self.totals)), np.int64)
        self.out: Words = np.empty(self.program.choices * words, np.uint64)
        self.chosen: NDArray[np.uint64] = np.empty(self.program.choices, np.uint64)
        # Two of each: while others still take from one, the next is filled.
        self.values: NDArray[np.uint64] = np.empty((2, self.parts, room), np.uint64)
        self.states: NDArray[np.uint64] = np.empty((2, self.parts, room * words), np.uint64)
        self.whence: NDArray[np.uint64] = np.empty((2, self.parts, room), np.uint64)
        self.counts: NDArray[np.int64] = np.zeros((2, self.parts), np.int64)

    @property
    def memory(self) -> int:
        """Bytes of what grows with the number of states."""
        arrays = (self.keys, self.parents, self.choices, self.now, self.next)
        return sum(int(a.nbytes) for a in arrays)

    def expand(self, address: int, at: int, me: int, turn: int) -> int:
        """Takes steps until a bucket is nearly full; where it stopped."""
        self.counts[turn] = 0
        self._weights[:] = 0
        stopped = int(
            expand(
                address,
                self.now,
                at,
                self.size,
                self.base,
                self.program.layout.words,
                self.parts,
                me,
                self.out,
                self.chosen,
                self.seen,
                self.quotient,
                self._weights,
                self.values[turn],
                self.states[turn],
                self.whence[turn],
                self.counts[turn],
            )
        )
        if self.quotient is not None:
            low, high = self._weights.tolist()
            self.totals = [t + a + (b << HALF) for t, a, b in zip(self.totals, low, high, strict=True)]
        return stopped

    def take(self, values: Any, states: Any, whence: Any, end: int) -> None:
        """Puts a bucket into the table."""
        words, at = self.program.layout.words, 0
        while at < end:
            most = int(self.places * FULLEST)
            if self.count >= most:
                more = self.places + self.places // 4
                _resize(self.keys, (more + SLACK) * words)
                grow(self.keys, words, U(self.parts), self.places, more)
                self.places, most = more, int(more * FULLEST)
            most = min(most, self.count + end - at)
            if most > len(self.parents):
                longer = max(most, len(self.parents) + len(self.parents) // 4)
                _resize(self.parents, longer)
                _resize(self.choices, longer)
            room = (self.found + end - at) * words
            if room > len(self.next):
                _resize(self.next, max(room, len(self.next) + len(self.next) // 4))
            at, self.count, self.found = insert(
                self.keys,
                self.places,
                words,
                self.parts,
                values,
                states,
                whence,
                at,
                end,
                int(self.places * FULLEST),
                self.count,
                self.next,
                self.found,
                self.parents,
                self.choices,
            )

    def deepen(self) -> None:
        """Goes on with the states that were found."""
        self.base += self.size
        self.now, self.next = self.next, self.now
        self.size, self.found = self.found, 0
        self.starts.append(self.base)
        _resize(self.next, FIRST * self.program.layout.words)  # what is not needed is given back


def place_in(parts: Sequence[_Part], state: Words) -> tuple[int, int]:
    """The number of the part that a state belongs to, and its place in the table; it is there."""
    words = len(state)
    value = U(entry(state, 0, words))
    number = int(part_of(value, U(len(parts))))
    part = parts[number]
    place = U(place_of(value, U(len(parts)), U(part.places)))
    return number, int(find(part.keys, state, 0, words, value, place))


def _resize(array: NDArray[Any], length: int) -> None:
    """Where it is, if the system can move pages; what is new is 0."""
    array.resize(length, refcheck=False)


@dataclass(frozen=True)
class Reached:
    """What was found. A state's number says its part and its place there; 0 need not be the initial state.

    ``complete`` is false if it stopped at the limit. ``ill_formed`` is the first step that the model must not allow, as
    (state number, choice, ""): what is wrong is found again by taking it.
    """

    program: Program
    symmetry: Symmetry | None
    complete: bool
    parts: Sequence[_Part] = field(repr=False)

    @property
    def instance(self) -> Instance:
        """What was explored."""
        return self.program.instance

    @property
    def state_count(self) -> int:
        """The number of states that were found, symmetric ones included; of these only of states that were expanded."""
        if self.symmetry is not None:
            return max(self.representatives, sum(part.totals[0] for part in self.parts))
        return self.representatives

    @property
    def representatives(self) -> int:
        """How many states stand for all."""
        return sum(part.count for part in self.parts)

    @property
    def transition_count(self) -> int:
        """The number of (state, action, parameters) that are enabled, self-loops included."""
        return sum(self.per_action().values())

    @property
    def depth(self) -> int:
        """The greatest distance from the initial state."""
        return max(
            self._depth((part.count - 1) * len(self.parts) + p) for p, part in enumerate(self.parts) if part.count
        )

    def per_action(self) -> Counter[str]:
        """The number of transitions of each action."""
        found: Counter[str] = Counter()
        for part in self.parts:
            counts = part.totals[1:] if self.symmetry is not None else part.seen[self.program.seen.taken]
            for action, taken in zip(self.program.actions, counts, strict=True):
                found[action.name] += int(taken)
        return +found

    @property
    def bytes_per_state(self) -> float:
        """Of what grows with the number of states."""
        return sum(part.memory for part in self.parts) / self.representatives

    @property
    def ill_formed(self) -> tuple[int, Choice, str] | None:
        """The first ill-formed step."""
        first = self._first(Seen.ill_formed)
        return None if first is None else (first[0], Choice(first[1]), "")

    def met(self, condition: int) -> bool:
        """A condition's premise was true somewhere."""
        return any(bool(part.seen[self.program.seen.condition(condition)]) for part in self.parts)

    def failed(self, condition: int) -> tuple[int, str | None] | None:
        """The first state where a condition did not hold, and for steps the action."""
        first = self._first(self.program.seen.condition(condition) + 1)
        if first is None:
            return None
        return first[0], first[1] if self.program.conditions[condition].actions is not None else None

    def _first(self, at: int) -> tuple[int, str] | None:
        """The state nearest to the initial one that was noted at a place of ``seen``, and the action."""
        noted = [
            (int(p.seen[at]) - 1, self.program.actions[int(p.seen[at + 1])].name) for p in self.parts if p.seen[at]
        ]
        return min(noted, key=lambda found: (self._depth(found[0]), found[0]), default=None)

    def _depth(self, number: int) -> int:
        part = self.parts[number % len(self.parts)]
        return bisect_right([*part.starts, part.base + part.size], number // len(self.parts)) - 1

    def path(self, number: int) -> list[Choice]:
        """A shortest run from the initial state to state ``number``, as choices.

        With symmetry these lead from representative to representative; the run is found again among the real states.
        """
        parts, run = len(self.parts), list[Choice]()
        while self._depth(number) > 0:
            part, place = self.parts[number % parts], number // parts
            run.append(self.program.choice(int(part.choices[place])))
            number = int(part.parents[place])
        run.reverse()
        return run if self.symmetry is None else real(self.symmetry, run)


def explore(
    instance: Instance,
    *,
    symmetry: bool = False,
    crash: bool = True,
    conditions: Sequence[Condition] = (),
    threads: int = 1,
    limit: int | None = None,
    memory: int | None = None,
    progress: Progress | None = None,
) -> Reached:
    """All reachable states of ``instance``.

    Args:
        symmetry: explore interchangeable objects once.
        crash: take crash actions.
        conditions: what is judged of all states and steps.
        limit, memory: stop after this many states, or bytes that grow with them (then ``complete`` is false).

    Raises:
        TooWide: there are too many choices of parameters.
    """
    actions = [a for a in instance.model.actions if crash or not a.crash]
    code = program(instance, actions, conditions)
    if code.choices > MOST_CHOICES:
        raise TooWide(
            f"at this scope there are {code.choices} choices of actions and parameters, and compiled code tells "
            f"{MOST_CHOICES} apart; explore it interpreted"
        )
    reducer = Symmetry(instance) if symmetry else None
    if reducer is not None and not reducer.sorts:
        reducer = None
    return _Search(code, reducer, Machine([code.steps]), threads, limit, memory, progress).run()


class _Search:
    """One search: each thread expands the states of its part, and takes what belongs to it of what all have found."""

    def __init__(
        self,
        program: Program,
        symmetry: Symmetry | None,
        machine: Machine,
        threads: int,
        limit: int | None,
        memory: int | None,
        progress: Progress | None,
    ) -> None:
        self._machine = machine  # its code is there as long as this is
        self._address = machine.address("steps")
        self._program = program
        self._symmetry = symmetry
        quotients = [quotient(symmetry, program.layout) if symmetry is not None else None for _ in range(threads)]
        self._parts = [_Part(program, threads, q) for q in quotients]
        self._barrier = threading.Barrier(threads)
        self._busy = [[False] * threads, [False] * threads]
        self._stop = [False, False]
        self._errors: list[BaseException] = []
        self._limit = MOST_STATES if limit is None else min(limit, MOST_STATES)
        self._memory, self._progress = memory, progress
        self._stopped = False

    def run(self) -> Reached:
        """Explores."""
        first = np.array(self._program.layout.pack(self._program.instance.initial()), np.uint64)
        if self._parts[0].quotient is not None:
            represent(self._parts[0].quotient, first, 0, len(first))
        value = U(entry(first, 0, len(first)))
        home = self._parts[int(part_of(value, U(len(self._parts))))]
        home.take(np.array([value], np.uint64), first, np.zeros(1, np.uint64), 1)
        home.now, home.next, home.size, home.found = home.next, home.now, 1, 0
        threads = [threading.Thread(target=self._work, args=(me,)) for me in range(1, len(self._parts))]
        try:
            for thread in threads:
                thread.start()
            self._work(0)
        finally:
            if self._barrier.broken or not all(thread.ident for thread in threads):
                self._barrier.abort()
            for thread in threads:
                if thread.ident:
                    thread.join()
        if self._errors:
            raise self._errors[0]
        return Reached(self._program, self._symmetry, not self._stopped, self._parts)

    def _work(self, me: int) -> None:
        """What one thread does, depth by depth."""
        try:
            while any(part.size for part in self._parts):
                if not self._level(me):
                    return
                self._barrier.wait()
                self._parts[me].deepen()
                self._barrier.wait()
        except threading.BrokenBarrierError:
            return
        except BaseException as error:  # an interrupt, or no memory: the others must not wait
            self._errors.append(error)
            self._barrier.abort()

    def _level(self, me: int) -> bool:
        """All states of one depth; false if it stopped at a limit.

        Each turn, a thread fills buckets for all of them, and when all have, it takes what is for itself. It may be a turn ahead of
        others that still take, so that there are two of all that they share.
        """
        part, at, turn = self._parts[me], 0, 0
        while True:
            at = part.expand(self._address, at, me, turn)
            self._busy[turn][me] = at < part.size
            if me == 0:
                self._stop[turn] = self._look(at)
            self._barrier.wait()
            for other in self._parts:
                part.take(
                    other.values[turn, me], other.states[turn, me], other.whence[turn, me], other.counts[turn, me]
                )
            if self._stop[turn]:
                self._stopped = True
                return False
            if not any(self._busy[turn]):
                return True
            turn ^= 1

    def _look(self, at: int) -> bool:
        """Tells how far it is; whether it is far enough."""
        states = sum(part.count for part in self._parts)
        if self._progress is not None:
            self._progress(states, (self._parts[0].base + at) * len(self._parts), len(self._parts[0].starts) - 1)
        return states > self._limit or (
            self._memory is not None and sum(part.memory for part in self._parts) > self._memory
        )
