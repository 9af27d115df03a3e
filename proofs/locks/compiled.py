"""The search of :func:`.explore.interpreted`, compiled: the same states in the same order."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from .automata import Packing
from .kernel import COUNT, CUT, MOVES, NEXT, SUSPECTS, add, search
from .reached import Progress, Reached
from .semantics import State

TURN = 1 << 16
"""States that are expanded at once."""


def compiled(packing: Packing, limit: int, progress: Progress | None, *, reduced: bool, serves: bool) -> Reached:
    """All interleavings of threads, breadth first."""
    first = reduced and serves  # what is found then is searched for again, with all steps
    words = packing.fields.words
    starts = packing.starts().reshape(-1, words)
    room = 2 * len(starts) + 512
    states, parents = np.zeros(room * words, np.uint64), np.zeros(room, np.uint32)
    slots, suspects = np.zeros(1 << (4 * room).bit_length(), np.uint32), np.zeros(64, np.int64)
    numbers = np.zeros(5, np.int64)
    for start in starts:
        add(states, slots, numbers, start)
    roots = int(numbers[COUNT])
    tables, fields = packing.automata.tables, packing.fields
    while numbers[NEXT] < numbers[COUNT] and not (first and numbers[SUSPECTS]):
        until = int(numbers[NEXT]) + TURN
        states, parents, slots, suspects = search(
            tables, fields, states, parents, slots, suspects, numbers, until, limit, reduced, serves, first
        )
        if progress is not None:
            progress(int(numbers[NEXT]), int(numbers[COUNT] - numbers[NEXT]))
    count, moves, cut = (int(numbers[n]) for n in (COUNT, MOVES, CUT))
    found = suspects[: 2 * int(numbers[SUSPECTS])].reshape(-1, 2)
    rows = states[: count * words].reshape(-1, words)

    def unpacked(number: int) -> State:
        return packing.unpack([int(word) for word in rows[number]])

    def path(number: int) -> list[State]:
        back = [number]
        while back[-1] >= roots:
            back.append(int(parents[back[-1]]))
        return [unpacked(n) for n in reversed(back)]

    def each() -> Iterator[tuple[State, partial[list[State]]]]:
        for number in _distinct(packing, rows, found):
            yield unpacked(number), partial(path, number)

    return Reached(count, moves, not cut, each())


def _distinct(packing: Packing, rows: NDArray[np.uint64], suspects: NDArray[np.int64]) -> list[int]:
    """Of suspects that differ only in threads that do not matter the first ones, by number, in their order."""
    numbers, about = suspects.T
    kept = np.zeros((len(numbers), packing.fields.words), np.uint64)
    for thread, (word, shift, mask) in enumerate(packing.places[: len(packing.members)]):
        kept[:, word] |= np.where(about >> thread & 1, np.uint64(mask << shift), np.uint64(0))
    what = np.column_stack([about.astype(np.uint64), rows[numbers] & kept])
    first = np.unique(what, axis=0, return_index=True)[1]
    return [int(n) for n in numbers[np.sort(first)]]
