"""Searches over a worker's part of a graph: life cycles, reachability, and shortest runs.

A search goes on in turns: a worker takes the messages of others, and sends its own (:mod:`.spread`), until no worker has any.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedproof.proofs.compiled.kernel import check
from schedproof.proofs.compiled.layout import Words
from schedproof.proofs.compiled.llvm import Machine
from schedproof.proofs.compiled.predicates import TRUE, UNDEFINED

from . import graph_edges, spread
from .graph_edges import NO_NUMBERS, Buckets, EdgesPart, Nodes, Numbers, writable
from .spread import NONE

SENT = 1 << 16
"""The number of messages that a worker remembers to have sent."""

_NOTHING: NDArray[np.bool_] = np.empty(0, np.bool_)


def _nothing(*_: Any) -> None:
    """No search has begun."""


class SearchPart(EdgesPart):
    """The nodes of one worker, with searches."""

    def linked(self) -> None:
        """Frees what only making the graph needs, and prepares searches."""
        self._free = np.empty(0, np.int64)
        self._sent = ()
        room = graph_edges.BATCH // 8
        self._messages = np.empty((2, self._parts, room), np.uint32)
        self._state = np.array([-1, 0, 0, 0], np.int64)
        self._stack: NDArray[Any] = np.empty(self.count, np.uint32)
        self._later: Numbers = np.empty(self.count, np.uint32)
        self._recent = np.full((SENT, 2), NONE, np.uint32)
        self._stuck: NDArray[np.int32] = np.full(self.count, -1, np.int32)

    def _begin(
        self,
        take: Callable[..., None],
        *arrays: Any,
        allowed: Nodes,
        first: NDArray[Any],
        values: NDArray[Any] = NO_NUMBERS,
        backward: bool = False,
        once: bool = True,
        queued: Nodes = _NOTHING,
        later: bool = False,
    ) -> None:
        """Begins a search from the nodes ``first``.

        Args:
            take: what a message does, with ``arrays``.
            allowed: by choice, whether its edges count.
            values: by node, what to send.
            backward: against the edges.
            once: the same message need not be sent twice.
            later: the nodes that messages reach wait for :meth:`_deepen`.
        """
        self._state[:] = -1, 0, len(first), 0
        self._stack[: len(first)] = first
        self._recent[:] = NONE
        edges = (self._back, self._sources, self._by) if backward else (self._offsets, self._targets, self._choices)
        recent = self._recent if once else self._recent[:0]

        def emit(counts: NDArray[np.int64]) -> None:
            spread.emit(
                *edges, allowed, values, self._parts, self._me, self.count, self._stack, self._state, queued, recent,
                self._messages[0], self._messages[1], counts,
            )  # fmt: skip

        def absorb(numbers: Any, payloads: Any) -> None:
            where = () if take is spread.take_count else (self._later if later else self._stack, self._state)
            take(numbers, payloads, len(numbers), self._parts, *where, *arrays)

        self._emit: Callable[..., None] = emit
        self._absorb: Callable[..., None] = absorb

    def go(self, *arrived: tuple[Numbers, Numbers]) -> Buckets:
        """Takes messages, and sends some more.

        Returns:
            The messages; and how many were sent, and whether there is more to send.
        """
        for numbers, payloads in arrived:
            self._absorb(writable(numbers), writable(payloads))
        counts, me, room = np.zeros(self._parts, np.int64), self._me, self._messages.shape[2]
        state = self._state
        while state[spread.NODE] >= 0 or state[spread.SIZE] > 0:
            self._emit(counts)
            self._absorb(self._messages[0, me, : counts[me]], self._messages[1, me, : counts[me]])
            counts[me] = 0
            if counts.max() == room:
                break
        buckets = (
            None if q == me else (self._messages[0, q, : counts[q]], self._messages[1, q, : counts[q]])
            for q in self._everyone
        )
        return *buckets, (int(counts.sum()), bool(state[spread.NODE] >= 0 or state[spread.SIZE] > 0))

    def _deepen(self, more: NDArray[Any] = NO_NUMBERS) -> int:
        """Puts the nodes that waited on the stack, and ``more``; returns how many they are."""
        waiting = int(self._state[spread.LATER])
        size = waiting + len(more)
        self._stack, self._later = self._later, self._stack
        self._stack[waiting:size] = more
        self._state[:] = -1, 0, size, 0
        return size

    def measure(self, home: int, state: Words) -> None:
        """Begins to find the depths of the nodes, from the initial state, which worker ``home`` has."""
        self._depths: NDArray[np.int32] = np.full(self.count, -1, np.int32)
        first = np.empty(0, np.int64)
        if home == self._me:
            first = np.array([self._node_of(writable(state))])
            self._depths[first] = 0
        self._initial = first
        self._begin(
            spread.take_length, self._depths, np.zeros(self.count, np.bool_), allowed=np.ones(self._width, np.bool_),
            first=first, values=self._depths, later=True,
        )  # fmt: skip

    def _node_of(self, state: Words) -> int:
        for states, first, some in self._block(graph_edges.ROWS):
            rows = states[: some * self._words].reshape(-1, self._words)
            if len(same := np.flatnonzero((rows == state).all(axis=1))):
                return first + int(same[0])
        raise AssertionError("the initial state is known to its owner")

    def deepen(self, more: int = -1) -> int:
        """Goes on with the nodes of the next length, and with start nodes of depth ``more``; returns how many they are."""
        starts = NO_NUMBERS
        if more >= 0:
            starts = np.flatnonzero(self._start & (self._depths == more)).astype(np.uint32)
        return self._deepen(starts)

    # --- Formulas and values ---------------------------------------------------------------------------------------------

    def hold(self, name: str, text: str, formulas: int) -> tuple[int, Words] | None:
        """Evaluates formulas in all states; the results replace those of an earlier call.

        Args:
            name: of the function, and for :meth:`_holding`.
            text: the function as LLVM assembly.

        Returns:
            The first formula that is undefined in a state, and the state; None if there is none.
        """
        machine = Machine([text], states=self._total)
        held = np.zeros((formulas, (self.count + 7) // 8), np.uint8)
        out, worst = np.empty(formulas, np.int64), (formulas, np.empty(0, np.uint64))
        for states, first, some in self._block(graph_edges.ROWS):
            truths = np.empty((formulas, some), np.uint8)
            check(machine.address(name), states, self._words, out, truths)
            held[:, first // 8 : (first + some + 7) // 8] = np.packbits(truths == TRUE, axis=1)
            undefined = np.argwhere(truths[: worst[0]] == UNDEFINED)
            if len(undefined):
                number, at = (int(n) for n in undefined[0])
                worst = number, states[at * self._words : (at + 1) * self._words].copy()
        self._held = {name: held}
        return worst if worst[0] < formulas else None

    def _holding(self, name: str, formula: int) -> Nodes:
        """The nodes in which a formula holds; all of them for formula -1."""
        if formula < 0:
            return np.ones(self.count, np.bool_)
        return np.unpackbits(self._held[name][formula], count=self.count).astype(np.bool_)

    # --- Life cycles -----------------------------------------------------------------------------------------------------

    def live(self, slot: tuple[int, int, int], life: NDArray[np.int64]) -> None:
        """Begins a search for the life cycle of the object whose state is in a slot: its first bit, mask and lowest value."""
        self.died()  # before this takes memory, what the search for another object has taken is freed
        at, mask, low = slot
        values: NDArray[np.int64] = np.empty(self.count, np.int64)
        for states, first, some in self._block(graph_edges.ROWS):
            words = states[at // 64 : some * self._words : self._words]
            values[first : first + some] = ((words >> np.uint64(at % 64)) & np.uint64(mask)).astype(np.int64) + low
        life = writable(life)
        self._life_seen: Nodes = np.zeros((len(life), self.count), np.bool_)
        first = self._initial[values[self._initial] == life[0]]
        self._life_seen[0, first] = True
        self._stack = np.empty(len(life) * self.count, np.int64)
        self._begin(
            spread.take_life, self._life_seen, values, life, allowed=np.ones(self._width, np.bool_), first=first
        )

    def lived(self) -> int:
        """How many states of the life an object has gone through where it came furthest; 0 if nowhere through one."""
        return int(np.flatnonzero(self._life_seen.any(axis=1)).max(initial=-1)) + 1

    def died(self) -> None:
        """Frees what only life cycles need."""
        self._stack, self._life_seen = np.empty(self.count, np.uint32), np.zeros((0, 0), np.bool_)
        self._emit, self._absorb = _nothing, _nothing

    # --- Reachability of a goal ------------------------------------------------------------------------------------------

    def reach(self, name: str, goal: int, allowed: Nodes) -> None:
        """Begins a search against the edges from the nodes in which a formula holds."""
        self._mark = self._holding(name, goal)
        self._begin(
            spread.take_reach, self._mark, allowed=writable(allowed), first=np.flatnonzero(self._mark), backward=True
        )

    def stuck(self, name: str, given: int, binding: int) -> tuple[bool, int]:
        """Whether some node is given; and the least depth of one that is, and from which no goal was reached (-1: none).

        Args:
            binding: noted for those nodes, unless another one was noted before.
        """
        start = self._holding(name, given)
        stuck = start & ~self._mark
        self._stuck[stuck & (self._stuck < 0)] = binding
        return bool(start.any()), least(self._depths[stuck])

    def avoid(self, name: str, goal: int, given: int) -> tuple[bool, bool, int]:
        """Begins to find shortest runs that pass a node in which ``given`` holds, and no goal from there on.

        Returns:
            Whether it holds in some node; whether in one without the goal, and the greatest depth of one (-1: none).
        """
        ends, start = self._holding(name, goal), self._holding(name, given)
        met = bool(start.any())
        self._start = start & ~ends
        self._lengths: NDArray[np.int32] = np.where(self._start, self._depths, np.int32(-1)).astype(np.int32)
        self._fair: Numbers = np.full(self.count, NONE, np.uint32)
        self._begin(
            spread.take_length, self._lengths, ends, allowed=np.ones(self._width, np.bool_), first=NO_NUMBERS,
            values=self._lengths, later=True,
        )  # fmt: skip
        return met, bool(self._start.any()), int(self._depths[self._start].max(initial=-1))

    def candidates(self, depth: int, length: int) -> None:
        """Begins to find the first of some nodes of a depth: marks them, and then the nodes before them.

        Args:
            length: of the fair loops to find the first of; -1: find the first node from which no goal can be reached.
        """
        chosen = self._stuck >= 0 if length < 0 else (self._fair != NONE) & (self._lengths == length)
        self._mark = chosen & (self._depths == depth)
        self._begin(
            spread.take_layer, self._mark, self._depths, allowed=np.ones(self._width, np.bool_),
            first=np.flatnonzero(self._mark), values=self._depths, backward=True,
        )  # fmt: skip

    def marked(self, nodes: NDArray[np.int64], depth: int) -> Nodes:
        """Which nodes of a depth are marked."""
        marked: Nodes = self._mark[nodes] & (self._depths[nodes] == depth)
        return marked

    def first(self) -> int | None:
        """The number of the initial node, if this worker has it."""
        return int(self._initial[0]) * self._parts + self._me if len(self._initial) else None

    def binding(self, node: int) -> int:
        """What :meth:`stuck` has noted of a node."""
        return int(self._stuck[node])

    def clear(self) -> None:
        """Forgets what :meth:`stuck` has noted."""
        self._stuck[:] = -1

    def rows(self, nodes: NDArray[np.int64]) -> list[tuple[Numbers, NDArray[np.uint16]]]:
        """The targets and choices of nodes."""
        spans = [slice(int(self._offsets[n]), int(self._offsets[n + 1])) for n in nodes]
        return [(self._targets[each], self._choices[each]) for each in spans]

    def before(self, node: int) -> tuple[int, bool, Numbers, NDArray[np.uint16]]:
        """The length of a shortest run to a node, whether it is a start, and the sources and choices of the edges to it."""
        edges = slice(int(self._back[node]), int(self._back[node + 1]))
        return int(self._lengths[node]), bool(self._start[node]), self._sources[edges], self._by[edges]

    def lengths(self, nodes: NDArray[np.int64]) -> NDArray[np.int32]:
        """The lengths of shortest runs to nodes."""
        return self._lengths[nodes]

    def depths(self, nodes: NDArray[np.int64]) -> NDArray[np.int32]:
        """The depths of nodes."""
        return self._depths[nodes]


def least(numbers: NDArray[np.int32]) -> int:
    """The least of some numbers; -1 without any."""
    return int(numbers.min()) if len(numbers) else -1
