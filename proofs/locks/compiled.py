"""The compiled search: it reaches the same states as :mod:`.interpreted`, in the same order."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from .automata import Packing
from .kernel import COUNT, CUT, MOVES, NEXT, SUSPECTS, gathered, rehashed, search
from .reached import Progress, Reached, Steps, Suspect
from .semantics import State

TURN = 1 << 16
"""The number of states that are expanded between two calls of progress."""


def compiled(packing: Packing, steps: Steps, limit: int, progress: Progress | None) -> Reached:
    """Explores all interleavings of threads, breadth first."""
    renamed = steps is Steps.RENAMED
    code, serves = packing.automata, any(one.program.serves for one in packing.each)
    states = packing.starts(ordered=renamed)
    roots = len(states)
    parents, suspects = np.zeros((roots, 1), np.uint32), np.zeros((64, 2), np.int64)
    slots = rehashed(states, roots, 1 << (512 + 4 * roots).bit_length())
    numbers = np.zeros(5, np.int64)
    numbers[COUNT] = roots
    while numbers[NEXT] < numbers[COUNT] and not (renamed and numbers[SUSPECTS]):
        states, parents, slots, suspects = search(
            code.table, code.then, packing.fields, len(packing.members), states, parents, slots, suspects, numbers,
            int(numbers[NEXT]) + TURN, limit, steps is not Steps.ALL, serves, renamed,
        )  # fmt: skip
        if progress is not None:
            progress(int(numbers[NEXT]), int(numbers[COUNT] - numbers[NEXT]))

    def unpacked(number: int) -> State:
        return packing.unpack([int(word) for word in states[number]])

    def path(number: int) -> list[State]:
        back = [number]
        while back[-1] >= roots:
            back.append(int(parents[back[-1], 0]))
        return [unpacked(n) for n in reversed(back)]

    def gather(bits: NDArray[np.int64], *, moves: bool) -> NDArray[np.int64]:
        changed = True
        while changed:
            changed = False
            for last in range(len(bits), 0, -TURN):
                changed |= gathered(
                    code.table, code.then, packing.fields, len(packing.members), states, slots, bits,
                    max(0, last - TURN), last, steps is not Steps.ALL, renamed, moves,
                )  # fmt: skip
                if progress is not None:
                    progress(len(bits), last)
        return bits

    def each() -> Iterator[Suspect]:
        for number in _distinct(packing, states, suspects[: int(numbers[SUSPECTS])]):
            yield Suspect(unpacked(number), partial(path, number))
        if not serves or numbers[CUT] or numbers[SUSPECTS]:
            return
        able = gather(np.zeros(int(numbers[COUNT]), np.int64), moves=True)
        never = ~able & ((1 << len(packing.members)) - 1)
        if not never.any():
            return
        settled = np.flatnonzero((never != 0) & (gather(never.copy(), moves=False) == never))
        for number in _distinct(packing, states, np.column_stack([settled, never[settled]])):
            stuck = frozenset(n for n in range(len(packing.members)) if never[number] >> n & 1)
            yield Suspect(unpacked(number), partial(path, number), stuck)

    return Reached(int(numbers[COUNT]), int(numbers[MOVES]), not numbers[CUT], each())


def _distinct(packing: Packing, states: NDArray[np.uint64], suspects: NDArray[np.int64]) -> list[int]:
    """The numbers of the suspects, in order; only the first of those that differ in irrelevant threads only."""
    numbers, about = suspects.T
    kept = np.zeros((len(numbers), packing.words), np.uint64)
    for thread, (word, shift, mask) in enumerate(packing.places[: len(packing.members)]):
        kept[:, word] |= np.where(about >> thread & 1, np.uint64(mask << shift), np.uint64(0))
    what = np.column_stack([about.astype(np.uint64), states[numbers] & kept])
    first = np.unique(what, axis=0, return_index=True)[1]
    return [int(n) for n in numbers[np.sort(first)]]
