"""A part that also records the edges of its states: the search of one thread in memory then makes the graph in the same pass.

The table has the number of each state, so that a step to a known state gives the number of its target. Steps go to no bucket:
their targets are looked up while the steps of the next states are taken, as in :func:`.kernel.link`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from schedproof.proofs.inner_loops import inner_loop

from .carry import Carried, carry, copy_notes, lengthened
from .kernel import TOGETHER, call
from .layout import Words
from .part import FIRST, FULLEST, MOST_STATES, ROOM, Part, longer, resize
from .steps import Condition, Program
from .table import SLACK, U, entry, grow, place_of, prefetch, put_numbered

MOST_EDGES = 1 << 28
"""A search with more edges records no more, and drops those that it has: a graph of so many takes several gigabytes."""


NEXT_LINE = U(8)
"""Numbers in a line of the processor's cache: the entries that are looked at are often in two lines."""


@inner_loop
def record(
    address: int,
    frontier: Any,
    first: int,
    last: int,
    base: int,
    words: int,
    keys: Any,
    places: int,
    most: int,
    count: int,
    next_frontier: Any,
    added: int,
    offsets: Any,
    targets: Any,
    choices: Any,
    out: Any,
    chosen: Any,
    seen: Any,
    carried: Any,
    until: int,
) -> tuple[int, int]:
    """Takes the steps of states ``first`` to ``last`` of a frontier, inserts their targets into a table, and records the edges.

    Args:
        address: of ``steps``.
        base: the number of the frontier's first state.
        keys, places: the table, in which the number of a state follows its words.
        most: the greatest number of states in the table.
        count, added: the numbers of states in the table and in the next frontier.
        offsets, targets, choices: the edges, complete for states before ``first``.
        out, chosen, seen: buffers for the steps of ``TOGETHER`` states.
        carried: the values of history (:class:`.carry.Carried`), or None.
        until: the number of edges at which to end.

    Returns:
        The index of the next state, less than ``last`` at the end or if there may be no room for steps, and the number of states.
    """
    wide, limit = U(words + 1), len(chosen)
    frontier_at, out_at, chosen_at, seen_at = (
        frontier.ctypes.data,
        out.ctypes.data,
        chosen.ctypes.data,
        seen.ctypes.data,
    )
    values, spots = np.empty(limit, np.uint64), np.empty(limit, np.uint64)
    n = first
    while n < last:
        start, edges, end = offsets[base + n], 0, min(n + TOGETHER, last)
        if start >= until or count + limit > most or start + limit > len(targets):
            break
        for m in range(n, end):
            steps = call(
                address,
                frontier_at + 8 * words * m,
                out_at + 8 * words * edges,
                chosen_at + 8 * edges,
                seen_at,
                base + m,
            )
            for i in range(edges, edges + steps):
                values[i] = entry(out, i * words, words)
                spots[i] = place_of(values[i], U(1), U(places))
                prefetch(keys, spots[i] * wide)
                prefetch(keys, spots[i] * wide + NEXT_LINE)
            edges += steps
            offsets[base + m + 1] = start + edges
        for i in range(edges):
            number = put_numbered(keys, out, i * words, words, values[i], spots[i], count)
            if number == count:
                for k in range(words):
                    next_frontier[added * words + k] = out[i * words + k]
                added += 1
                count += 1
            targets[start + i] = number
            choices[start + i] = chosen[i]
            if carried is not None:
                prefetch(carried.bits, U(number) * U(carried.bits.shape[1]))
        if carried is not None:
            for m in range(base + n, base + end):
                copy_notes(carried, m, m % TOGETHER, seen)
                carry(carried, m, m % TOGETHER, offsets, targets, choices, seen, m + 1)
        n = end
    return n, count


@inner_loop
def find_first(targets: Any, whence: Any) -> None:
    """Finds the first edge to each state; numbers are given in the order of the edges, from 1 on."""
    met = 1
    for e in range(len(targets)):
        if met < len(whence) and targets[e] == met:
            whence[met] = e
            met += 1


class Follower(Protocol):
    """Points of history that a search can follow: :class:`.histories.Histories`."""

    def follow(self, conditions: Sequence[Condition]) -> tuple[Program, Carried]:
        """A program that checks conditions and also writes what a step does to history, and arrays for the initial state."""


@dataclass
class Recorder(Part):
    """The only part of a search, which also records edges.

    With more than ``MOST_EDGES`` edges it goes on as a part that records none.

    Args:
        carried: the values of history to follow, with room for the initial state.

    Attributes:
        records: whether the edges are recorded.
        offsets, targets, choices_taken: the edges: state ``n`` has those from ``offsets[n]`` to ``offsets[n + 1]``.
        linked: the number of states whose edges are recorded.
    """

    carried: Carried | None = None
    records: bool = True
    linked: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._kept_origins, self.traced = self.traced, MOST_STATES  # edges lead to every state
        self.keys = np.zeros((self.places + SLACK) * (self._words + 1), np.uint64)
        self.offsets: NDArray[np.int64] = np.zeros(FIRST, np.int64)
        if self.carried is not None:
            self.carried = lengthened(self.carried, FIRST)
        self.targets: NDArray[np.uint32] = np.empty(FIRST, np.uint32)
        self.choices_taken: NDArray[np.uint16] = np.empty(FIRST, np.uint16)
        self._first_edges: NDArray[np.int64] = np.empty(0, np.int64)
        self._depths_before: list[Words] = []
        self._most_steps = TOGETHER * self.shape.choices
        self._out: Words = np.empty(self._most_steps * self._words, np.uint64)
        self._chosen: NDArray[np.uint64] = np.empty(self._most_steps, np.uint64)

    @property
    def memory(self) -> int:
        """Bytes of the data that grow with the number of states, with those of edges."""
        edges: list[NDArray[Any]] = [self.offsets, self.targets, self.choices_taken, self._first_edges]
        return super().memory + sum(int(a.nbytes) for a in [*edges, *self._depths_before])

    @property
    def edge_count(self) -> int:
        """The number of edges."""
        return int(self.offsets[self.linked])

    def expand(self, address: int, at: int, turn: int) -> int:
        """Takes steps from state ``at`` of this depth on, for about as many steps as a bucket has; returns the next state's index."""
        if not self.records:
            return super().expand(address, at, turn)
        until = self.edge_count + ROOM
        while at < self.size and self.edge_count < until:
            self._make_room()
            room = self.count - self._rows + len(self.next) // self._words
            at, self.count = record(
                address,
                self.now,
                at,
                self.size,
                self.base,
                self._words,
                self.keys,
                self.places,
                min(int(self.places * FULLEST), room, len(self.offsets) - 1),
                self.count,
                self.next,
                self._rows,
                self.offsets,
                self.targets,
                self.choices_taken,
                self._out,
                self._chosen,
                self.seen,
                self.carried,
                until,
            )
            self.linked = self.base + at
        if self.edge_count > MOST_EDGES:
            self._record_no_more()
        return at

    def _make_room(self) -> None:
        """Makes room for the steps of ``TOGETHER`` states."""
        states, edges = self.count + self._most_steps, self.edge_count + self._most_steps
        places = self.places
        while int(places * FULLEST) < states:
            places += places // 4
        if places > self.places:
            wide = self._words + 1
            self.keys = longer(self.keys, (places + SLACK) * wide)
            grow(self.keys, wide, U(1), self.places, places)
            self.places = places
        if states >= len(self.offsets):
            most = states + 1 + states // 4
            resize(self.offsets, most)
            if self.carried is not None:
                self.carried = lengthened(self.carried, most)
        if edges > len(self.targets):
            most = edges + edges // 4
            resize(self.targets, most)
            resize(self.choices_taken, most)
        room = (self._rows + self._most_steps) * self._words
        if room > len(self.next):
            resize(self.next, room + room // 4)

    def take(self, values: Any, states: Any, whence: Any, end: int) -> None:
        """Inserts the initial state; later ones are inserted where they are found."""
        if not self.records:
            super().take(values, states, whence, end)
        elif end:
            assert (self.count, end) == (0, 1), "a recorder takes no states of others"
            put_numbered(self.keys, states, 0, self._words, values[0], place_of(values[0], U(1), U(self.places)), 0)
            self.next[: self._words] = states[: self._words]
            self.count = 1

    def deepen(self) -> None:
        """Begins the next depth, with the states found so far."""
        if self.records:
            self._depths_before.append(self.now)
            self.now = np.empty(0, np.uint64)
        super().deepen()
        if self.records:
            resize(self.now, self.size * self._words)

    def table(self) -> tuple[Words, int]:
        """A table without numbers, and its number of places."""
        if not self.records:
            return super().table()
        return self.keys.reshape(-1, self._words + 1)[:, : self._words].flatten(), self.places

    def origin(self, place: int) -> tuple[int, int]:
        """The number of the predecessor of a state, and the number of the choice, by which it was found first."""
        if not self.records:
            return super().origin(place)
        edge = int(self.first_edges()[place])
        source = int(np.searchsorted(self.offsets[: self.linked + 1], edge, side="right")) - 1
        return source, int(self.choices_taken[edge])

    def first_edges(self) -> NDArray[np.int64]:
        """By state, the first edge to it; -1 for the initial state."""
        if len(self._first_edges) != self.count:
            self._first_edges = np.full(self.count, -1, np.int64)
            find_first(self.targets[: self.edge_count], self._first_edges)
        return self._first_edges

    def words(self) -> Words:
        """The states by number, after all of them were expanded."""
        return np.concatenate([*self._depths_before, self.now])

    def edges(self) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint16]]:
        """The offsets, targets and choices, after all states were expanded; these arrays are no longer than that."""
        resize(self.targets, self.edge_count)
        resize(self.choices_taken, self.edge_count)
        return self.offsets[: self.count + 1], self.targets, self.choices_taken

    def _record_no_more(self) -> None:
        """Goes on as a part without edges, with the predecessors of as many states as are wanted."""
        whence = np.maximum(self.first_edges()[: self._kept_origins], 0)
        sources = np.searchsorted(self.offsets[: self.linked + 1], whence, side="right") - 1
        self.parents, self.choices = sources.astype(np.uint32), self.choices_taken[whence]
        (self.keys, _), self.traced, self.records, self.carried = self.table(), self._kept_origins, False, None
        self.offsets, self.linked, self.targets = np.zeros(1, np.int64), 0, np.empty(0, np.uint32)
        self.choices_taken, self._first_edges = np.empty(0, np.uint16), np.empty(0, np.int64)
        self._depths_before.clear()
