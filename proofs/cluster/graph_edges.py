"""The edges of a worker's part of a graph: the steps of its states, and those that lead to them.

The graph is that of :mod:`schedproof.proofs.compiled.graph`; nodes have other numbers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedproof.proofs.compiled.layout import Words
from schedproof.proofs.compiled.llvm import Machine
from schedproof.proofs.compiled.part import Part
from schedproof.proofs.compiled.steps import Shape
from schedproof.proofs.compiled.table import read_back

from . import spread
from .room import edges_of

BATCH = 4 << 20
"""The bytes of messages to one worker in a turn."""

ROWS = 1 << 14
"""The number of states that are read from the table at once."""

Nodes = NDArray[np.bool_]
Numbers = NDArray[np.uint32]
Buckets = tuple[Any, ...]
"""For each worker what is sent to it, None for the worker itself; and at the end a standing for the process that searches."""

NO_NUMBERS: Numbers = np.empty(0, np.uint32)


class EdgesPart:
    """The nodes of one worker, numbered in the order of their states in the table, with their edges.

    ``ask``, ``answer`` and ``fill`` make the edges; ``turn`` and ``give`` the reversed ones.

    Args:
        part: the states.
        text, shape: the steps, with or without conditions.
        states: the number of states of all workers.
    """

    def __init__(self, part: Part, text: str, shape: Shape, states: int) -> None:
        self._parts, self._me, self._words = part.parts, part.me, shape.words
        self._keys, self._places = part.table()
        self._total, self.count = states, part.count
        self._machine = Machine([text], states=states)
        edges = edges_of(part)
        self._offsets = np.zeros(self.count + 1, np.int64)
        self._targets: Numbers = np.empty(edges, np.uint32)
        self._choices: NDArray[np.uint16] = np.empty(edges, np.uint16)
        self._back = np.zeros(self.count + 1, np.int64)
        self._sources, self._by = NO_NUMBERS, np.empty(0, np.uint16)
        used = self._keys[:: self._words] != 0
        self._ranks: Numbers = np.cumsum(used, dtype=np.uint32) - np.uint32(1)
        self._out = np.empty(shape.choices * self._words, np.uint64)
        self._chosen = np.empty(shape.choices, np.uint64)
        self._seen = np.zeros(shape.seen.size, np.int64)
        self._width = shape.choices
        room = max(BATCH // (8 * self._words), 2 * shape.choices)
        self._questions = np.empty((self._parts, room * self._words), np.uint64)
        self._asked: deque[tuple[int, int, Numbers, NDArray[np.int64]]] = deque()
        self._blocks = self._block(ROWS)
        self._now: tuple[Words, int, int] = np.empty(0, np.uint64), 0, 0
        self._node = self._edge = 0
        self._held: dict[str, NDArray[np.uint8]] = {}

    def _block(self, rows: int) -> Iterator[tuple[Words, int, int]]:
        """All states, some at a time: their words, the number of the first, and how many they are."""
        place, states = 0, np.empty(rows * self._words, np.uint64)
        for first in range(0, self.count, rows):
            some = min(rows, self.count - first)
            place = int(read_back(self._keys, self._words, place, states, some))
            yield states, first, some

    def ask(self) -> Buckets:
        """Takes the steps of some more states, and asks the owners of their targets for the numbers of these.

        Returns:
            The targets; and whether there are more states.
        """
        counts = np.zeros(self._parts, np.int64)
        begin = int(self._offsets[self._node])
        address, room = self._machine.address("steps"), self._questions.shape[1] // self._words
        while self._node < self.count and counts.max() + self._width <= room:
            states, first, rows = self._now
            if self._node == first + rows:
                states, first, rows = self._now = next(self._blocks)
            at = self._node - first
            self._node += int(
                spread.ask(
                    address, states[at * self._words :], self._node, rows - at, self._words, self._parts, self._offsets,
                    self._targets, self._choices, self._out, self._chosen, self._seen, self._questions, counts,
                )
            )  # fmt: skip
        local = self._answer(self._questions[self._me], int(counts[self._me]))
        self._asked.append((begin, int(self._offsets[self._node]), local, counts))
        questions = (None if q == self._me else self._questions[q, : counts[q] * self._words] for q in self._everyone)
        return (*questions, self._node < self.count)

    @property
    def _everyone(self) -> range:
        return range(self._parts)

    @property
    def _others(self) -> list[int]:
        return [q for q in self._everyone if q != self._me]

    def _answer(self, states: Words, end: int) -> Numbers:
        degrees = self._back[1:]
        numbers: Numbers = spread.answer(
            self._keys, self._places, self._words, self._parts, self._me, self._ranks, degrees, states, end
        )
        return numbers

    def answer(self, *asked: Words) -> Buckets:
        """The numbers of states that others ask for."""
        answers: dict[int, Numbers] = {
            q: self._answer(writable(states), len(states) // self._words)
            for q, states in zip(self._others, asked, strict=True)
        }
        return tuple(answers.get(q) for q in self._everyone)

    def fill(self, *answers: Numbers) -> int:
        """Takes the numbers of the targets that this worker has asked for first; returns how many states are linked."""
        begin, end, local, counts = self._asked.popleft()
        each = list(answers)
        each.insert(self._me, local)
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
        spread.fill(self._targets, begin, end, np.concatenate(each), starts)
        return self._node

    def turn(self) -> None:
        """Begins to send each edge to the owner of its target."""
        np.cumsum(self._back, out=self._back)
        self._sources, self._by = np.empty(self._back[-1], np.uint32), np.empty(self._back[-1], np.uint16)
        self._ranks = NO_NUMBERS
        self._questions = np.empty((1, 0), np.uint64)
        self._free = self._back[:-1].copy()
        self._node = self._edge = 0
        room = BATCH // 10
        self._sent = tuple(np.empty((self._parts, room), kind) for kind in (np.uint32, np.uint32, np.uint16))

    def give(self, *arrived: tuple[Numbers, Numbers, NDArray[np.uint16]]) -> Buckets:
        """Takes edges to its nodes, and sends some more; at the end whether there are more."""
        for nodes, whence, by in arrived:
            self._take_turned(writable(nodes), writable(whence), writable(by))
        counts = np.zeros(self._parts, np.int64)
        while self._node < self.count and not (self._others and counts[self._others].max() == self._sent[0].shape[1]):
            self._node, self._edge = spread.turn(
                self._offsets,
                self._targets,
                self._choices,
                self._node,
                self._edge,
                self._parts,
                self._me,
                *self._sent,
                counts,
            )
            self._take_turned(*(each[self._me, : counts[self._me]] for each in self._sent))
            counts[self._me] = 0
        return (
            *(None if q == self._me else tuple(each[q, : counts[q]] for each in self._sent) for q in self._everyone),
            self._node < self.count,
        )

    def _take_turned(self, nodes: Any, whence: Any, by: Any) -> None:
        spread.turned(self._free, self._sources, self._by, nodes, whence, by, len(nodes))


def writable(array: Any) -> Any:
    """A copy of an array: compiled code is made for arrays that can be written, and those that arrive cannot."""
    return np.array(array)
