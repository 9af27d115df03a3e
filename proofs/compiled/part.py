"""A part: the states of one thread, as a table and frontiers, in memory while they fit and else in files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedproof.proofs.inner_loops import inner_loop

from .files import Column, Damaged, Mark, SortedRuns, pick, sift, squeeze
from .kernel import HALF, expand, insert
from .layout import Words
from .quotient import Quotient
from .steps import Shape
from .table import SLACK, U, entry, grow, place_of, put

MOST_STATES = 1 << 31
"""The limit of states: a state's number takes four bytes."""

ROOM = 1 << 15
"""Steps in a bucket: enough to amortize calls from Python to compiled code, and few enough for the processor's cache."""

FULLEST, FIRST = 0.8, 1 << 10
"""The load factor at which a table grows by a quarter, and its initial number of places."""

WINDOW = 1 << 14
"""The number of states of a frontier that one read takes from a file."""


def room_of(shape: Shape, parts: int) -> int:
    """The steps in a bucket of a part. What is filled by one state's steps must fit in."""
    return max(2 * ROOM // max(2, parts), 2 * shape.choices)


@dataclass
class Disk:
    """The files of one part. For each state by number they have the state, its predecessor and the choice.

    Args:
        runs: the entries that are no longer in the table.
    """

    states: Column
    parents: Column
    choices: Column
    runs: SortedRuns

    @staticmethod
    def at(folder: Path, part: int, words: int, first: int = 0, *, kept: bool = True) -> Disk:
        """The files of a part in a folder; the states' file begins with number ``first``. ``kept``: as for ``Column``."""
        return Disk(
            Column(folder / f"states-{part}", np.uint64, words, first, kept=kept),
            Column(folder / f"parents-{part}", np.uint32, kept=kept),
            Column(folder / f"choices-{part}", np.uint16, kept=kept),
            SortedRuns(folder, part, words, kept=kept),
        )

    @property
    def columns(self) -> tuple[Column, Column, Column]:
        """The columns, in the order of their marks."""
        return self.states, self.parents, self.choices


@dataclass(frozen=True)
class Saved:
    """The progress of a part, to continue from with its files; ``at`` states of this depth are expanded."""

    count: int
    base: int
    size: int
    at: int
    starts: list[int]
    totals: list[int]
    seen: list[int]
    marks: list[Mark]

    @property
    def sound(self) -> bool:
        """Whether the numbers can be those of a search."""
        numbers = [self.count, self.base, self.size, self.at, *self.starts, *self.seen]
        return (
            all(type(n) is int and abs(n) < 1 << 63 for n in numbers)
            and all(type(n) is int for n in self.totals)
            and 0 <= self.at <= self.size
            and 0 <= self.base <= self.base + self.size <= self.count
            and [*self.starts] == sorted(self.starts)
            and self.starts[:1] == [0]
            and self.starts[-1] == self.base
            and {mark.end for mark in self.marks} == {self.count}
        )


@dataclass
class Part:
    """The states that belong to one thread or worker, in order of discovery, and so of depth.

    While the states fit, all of them are in the table. After that, a full table is sorted and moved to a file. The table then
    holds the states found since, which may be duplicates until they are compared with the files (delayed duplicate detection).

    ``expand`` takes steps into buckets, and ``take`` inserts a bucket into the table. If the table may not grow, ``spill`` compares it
    with the files, writes new states, and empties it. ``settle`` does so before states are counted. ``deepen`` begins the
    next depth.

    Args:
        shape: the sizes of the program's arrays.
        me: its number, out of ``parts``.
        budget: the limit in bytes of data that grow with the states; None for no limit.
        folder: returns a folder for files.
        files_kept: those files have names; otherwise they are gone however the process ends.
        disk: files that receive all states; by default files are created when needed.
        traced: keep the predecessors of so many states; with files it must be all.

    Attributes:
        keys, places: the table.
        parents, choices: by number from ``kept`` on, the predecessor and the choice by which the state was found first.
        now: the states of this depth, or a window of them; there are ``size`` of them from number ``base`` on.
        next: the states of the next depth, from ``kept`` on.
        count: the number of states; those before ``kept`` are only in files.
        starts: by depth, the number of the first state.
        seen: the notes of the program.
        totals: with a ``quotient``, the counts of represented states: states, steps by action, and states without a step.
    """

    shape: Shape
    parts: int
    me: int
    quotient: Quotient | None
    budget: int | None = None
    folder: Callable[[], Path] | None = None
    disk: Disk | None = None
    traced: int = MOST_STATES
    files_kept: bool = True
    places: int = FIRST
    count: int = 0
    kept: int = 0
    size: int = 0
    base: int = 0
    spilled: bool = False
    starts: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        words = self._words = self.shape.words
        room = room_of(self.shape, self.parts)
        self.keys: Words = np.zeros((self.places + SLACK) * words, np.uint64)
        self.parents: NDArray[np.uint32] = np.empty(min(FIRST, self.traced), np.uint32)
        self.choices: NDArray[np.uint16] = np.empty(min(FIRST, self.traced), np.uint16)
        self.now: Words = np.empty(0, np.uint64)
        self.next: Words = np.empty(FIRST * words, np.uint64)
        self._window = (0, 0)
        self.seen: NDArray[np.int64] = np.zeros(self.shape.room, np.int64)
        self.totals = [0] * (2 + self.shape.actions)
        self._weights: NDArray[np.int64] = np.zeros((2, len(self.totals)), np.int64)
        self.out: Words = np.empty(self.shape.choices * words, np.uint64)
        self.chosen: NDArray[np.uint64] = np.empty(self.shape.choices, np.uint64)
        # Two sets of buckets: others may still read one while the next is filled.
        self.values: NDArray[np.uint64] = np.empty((2, self.parts, room), np.uint64)
        self.states: NDArray[np.uint64] = np.empty((2, self.parts, room * words), np.uint64)
        self.whence: NDArray[np.uint64] = np.empty((2, self.parts, room), np.uint64)
        self.counts: NDArray[np.int64] = np.zeros((2, self.parts), np.int64)

    @property
    def memory(self) -> int:
        """Bytes of the data that grow with the number of states."""
        arrays = (self.keys, self.parents, self.choices, self.now, self.next)
        return sum(int(a.nbytes) for a in arrays)

    @property
    def _traces_more(self) -> bool:
        """Whether predecessors of further states are to be kept, so that there must be room for them."""
        return len(self.parents) < self.traced

    @property
    def _rows(self) -> int:
        """The number of states in ``next``."""
        return self.count - max(self.base + self.size, self.kept)

    def expand(self, address: int, at: int, turn: int) -> int:
        """Takes steps from state ``at`` of this depth on until a bucket is nearly full; returns the next state's index.

        Their targets are added to the buckets of set ``turn``; who takes these sets their ``counts`` back.
        """
        self._weights[:] = 0
        while at < self.size:
            first, last = self._look_at(at)
            at = first + int(
                expand(
                    address,
                    self.now,
                    at - first,
                    last - first,
                    self.base + first,
                    self._words,
                    self.parts,
                    self.me,
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
            if at < last:
                break
        if self.quotient is not None:
            low, high = self._weights.tolist()
            self.totals = [t + a + (b << HALF) for t, a, b in zip(self.totals, low, high, strict=True)]
        return at

    def _look_at(self, at: int) -> tuple[int, int]:
        """The range of states of this depth that ``now`` has, after loading state ``at``."""
        if not self.spilled:
            return 0, self.size
        if not self._window[0] <= at < self._window[1]:
            assert self.disk is not None
            self._window = at, min(at + WINDOW, self.size)
            self.now = self.disk.states.read(self.base + at, self.base + self._window[1])
        return self._window

    def take(self, values: Any, states: Any, whence: Any, end: int) -> None:
        """Inserts a bucket into the table.

        Raises:
            OSError: the files cannot be written.
        """
        at = 0
        while at < end:
            if not self._has_room(end - at):
                self.spill()
            at, held = insert(
                self.keys,
                self.places,
                self._words,
                self.parts,
                values,
                states,
                whence,
                at,
                end,
                min(int(self.places * FULLEST), len(self.parents) if self._traces_more else MOST_STATES),
                self.count - self.kept,
                self.next,
                self._rows,
                self.parents,
                self.choices,
            )
            self.count = self.kept + held

    def _has_room(self, more: int) -> bool:
        """Makes room for up to ``more`` states; returns false if the budget does not allow it."""
        held, words = self.count - self.kept, self._words
        most = int(self.places * FULLEST)
        if self.spilled:
            return held < most
        if held >= most:
            places = self.places + self.places // 4
            if not self._may_grow(8 * words * (places - self.places)):
                return False
            resize(self.keys, (places + SLACK) * words)
            grow(self.keys, words, U(self.parts), self.places, places)
            self.places, most = places, int(places * FULLEST)
        most = min(most, held + more)
        if self._traces_more and most > len(self.parents):
            longer = min(max(most, len(self.parents) + len(self.parents) // 4), self.traced)
            if not self._may_grow(6 * (longer - len(self.parents))):
                return False
            resize(self.parents, longer)
            resize(self.choices, longer)
        room = (self._rows + more) * words
        if room > len(self.next):
            longer = max(room, len(self.next) + len(self.next) // 4)
            if not self._may_grow(8 * (longer - len(self.next))):
                return False
            resize(self.next, longer)
        return True

    def _may_grow(self, more: int) -> bool:
        return self.budget is None or self.memory + more <= self.budget

    def spill(self) -> None:
        """Moves the states in memory to files, and starts an empty table.

        Raises:
            OSError: the files cannot be written.
        """
        words = self._words
        if self.disk is None:
            assert self.folder is not None
            self.disk = Disk.at(self.folder(), self.me, words, self.base, kept=self.files_kept)
        entries = squeeze(self.keys, words)
        if self.spilled:
            old = self.disk.runs.known(self.keys, entries)
            rows = sift(
                self.keys,
                entries,
                words,
                self.parts,
                old,
                self.next,
                self.parents,
                self.choices,
                self.count - self.kept,
            )
            self.count = self.kept + rows
            entries = pick(self.keys, entries, words, old)
        self.put_by()
        self.disk.runs.add(self.keys, entries)
        self.kept = self.count
        if self.spilled:
            self.keys[:] = 0
        else:
            self._begin_to_spill()

    def _begin_to_spill(self) -> None:
        """Allocates arrays of a fixed size within the budget; they no longer grow."""
        self.spilled = True
        words, nothing = self._words, np.empty(0, np.uint64)
        self.keys, self.next, self.now = nothing, nothing, nothing  # freed before the new arrays are allocated
        window = WINDOW * 8 * words
        # Bytes of a state: its table place, the state itself, its predecessor, and whether it is known.
        each = 8 * words / FULLEST + 8 * words + 6 + 1
        held = FIRST if self.budget is None else max(FIRST, int((self.budget - window - SLACK * 8 * words) / each))
        self.places = int(held / FULLEST) + 1
        self.keys = np.zeros((self.places + SLACK) * words, np.uint64)
        self.next = np.empty((int(self.places * FULLEST) + 1) * words, np.uint64)
        self.parents = np.empty(int(self.places * FULLEST) + 1, np.uint32)
        self.choices = np.empty(int(self.places * FULLEST) + 1, np.uint16)
        self._window = (0, 0)

    def put_by(self) -> None:
        """Writes the states in memory that are not yet in files; they must be free of duplicates.

        Raises:
            OSError: the files cannot be written.
        """
        assert self.disk is not None
        disk, words, next_depth = self.disk, self._words, self.base + self.size
        if disk.states.end < next_depth:
            disk.states.add(self.now[(disk.states.end - self.base) * words : self.size * words])
        first = max(next_depth, self.kept)
        disk.states.add(self.next[(disk.states.end - first) * words : (self.count - first) * words])
        disk.parents.add(self.parents[disk.parents.end - self.kept : self.count - self.kept])
        disk.choices.add(self.choices[disk.choices.end - self.kept : self.count - self.kept])

    def settle(self) -> None:
        """Makes ``count`` exact: removes duplicates, and writes new states to files if there are any."""
        if self.spilled:
            self.spill()
        elif self.disk is not None:
            self.put_by()

    def deepen(self) -> None:
        """Begins the next depth, with the states found so far."""
        self.settle()
        self.base += self.size
        self.size = self.count - self.base
        self.starts.append(self.base)
        self._window = (0, 0)
        if not self.spilled:
            self.now, self.next = self.next, self.now
            resize(self.next, FIRST * self._words)  # frees memory

    def drop_uncompared(self) -> None:
        """Discards states that were not compared with the files."""
        if self.spilled:
            self.count = self.kept

    def table(self) -> tuple[Words, int]:
        """The table, and its number of places."""
        return self.keys, self.places

    def origin(self, place: int) -> tuple[int, int]:
        """The number of the predecessor of a state, and the number of the choice, by which it was found first."""
        if place >= self.kept:
            return int(self.parents[place - self.kept]), int(self.choices[place - self.kept])
        assert self.disk is not None
        parents, choices = self.disk.parents.read(place, place + 1), self.disk.choices.read(place, place + 1)
        return int(parents[0]), int(choices[0])

    def save(self, at: int) -> Saved:
        """The progress of the part, when it is settled and ``at`` states of this depth are expanded; syncs its files."""
        assert self.disk is not None
        for column in self.disk.columns:
            column.sync()
        return Saved(
            self.count, self.base, self.size, at, list(self.starts), list(self.totals), self.seen.tolist(),
            [column.mark for column in self.disk.columns],
        )  # fmt: skip

    def restore(self, saved: Saved) -> None:
        """Restores the part from saved progress and its files.

        Raises:
            Damaged: the files do not have what was written to them.
            OSError: the files cannot be read or written.
        """
        assert self.disk is not None
        for column, mark in zip(self.disk.columns, saved.marks, strict=True):
            column.back_to(mark)
        if (len(saved.seen), len(saved.totals)) != (len(self.seen), len(self.totals)):
            raise Damaged(f"what was counted beside '{self.disk.states.path}' is of another program")
        self.count, self.base, self.size, self.starts = saved.count, saved.base, saved.size, list(saved.starts)
        self.totals, self.seen = list(saved.totals), np.array(saved.seen, np.int64)
        words, behind = self._words, self.count - self.base
        places = max(FIRST, int(self.count / FULLEST) + 1)
        if self._may_grow(8 * words * places + 6 * self.count + 8 * words * behind):
            self.places = places
            self.keys = np.zeros((places + SLACK) * words, np.uint64)
            self._take_back(0, self.count)
            self.parents, self.choices = self.disk.parents.read(0, self.count), self.disk.choices.read(0, self.count)
            self.now = self.disk.states.read(self.base, self.base + self.size)
            self.next = self.disk.states.read(self.base + self.size, self.count)
            return
        self._begin_to_spill()
        for first in range(0, self.count, len(self.parents)):
            self._take_back(first, min(first + len(self.parents), self.count))
            self.disk.runs.add(self.keys, squeeze(self.keys, words))
            self.keys[:] = 0
        self.kept = self.count

    def _take_back(self, first: int, last: int) -> None:
        """Inserts states from files into the table, which has room for them."""
        assert self.disk is not None
        for at in range(first, last, WINDOW):
            states = self.disk.states.read(at, min(at + WINDOW, last))
            if not _refill(self.keys, states, self._words, self.parts, self.places):
                raise Damaged(f"'{self.disk.states.path}' has a state twice")


@inner_loop
def _refill(keys: Any, states: Any, words: int, parts: int, places: int) -> bool:
    """Inserts states into a table; returns false at a duplicate."""
    for at in range(0, len(states), words):
        value = entry(states, at, words)
        if not put(keys, states, at, words, value, place_of(value, U(parts), U(places))):
            return False
    return True


def resize(array: NDArray[Any], length: int) -> None:
    """Resizes an array, without a copy where the system can move pages; new elements are 0."""
    array.resize(length, refcheck=False)


def longer(array: NDArray[Any], length: int) -> NDArray[Any]:
    """A longer copy of an array that is read at random; new elements are 0.

    A large array that is made at once is in large pages, where the system has them; one that grew is in small ones, and each read of it
    takes a third longer.
    """
    result = np.zeros(length, array.dtype)
    result[: len(array)] = array
    return result
