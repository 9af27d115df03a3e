"""Carrying the values of history along the edges of a graph: the inner loops of :mod:`.histories`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Bits = NDArray[np.int64]
"""By state, a set of bits in a few numbers."""


class Carried(NamedTuple):
    """What a pass over the graph needs and changes.

    Args:
        bits: by state, the values that the points of history can have.
        later: the states that got bits after their steps were taken.
        silent: by choice, whether its steps write no history.
        effects, notes: the indices in ``seen`` of what steps do, and of what is noted of conditions.
        choices: the number of choices.
        met, failed: by condition and state, the bits with which a step meets the premise, and violates the condition.
    """

    bits: Bits
    later: NDArray[np.bool_]
    silent: NDArray[np.bool_]
    effects: int
    notes: int
    choices: int
    met: Bits
    failed: Bits


@njit(nogil=True, cache=True)
def carry(c: Any, n: int, place: int, offsets: Any, targets: Any, choices: Any, seen: Any, done: int) -> None:
    """Carries the values of a state along its edges.

    Args:
        c: a :class:`Carried`.
        n: the state.
        place: its place among the states whose steps are in ``seen``.
        done: the states before this number have taken their steps.
    """
    numbers, first = c.bits.shape[1], offsets[n]
    for e in range(first, offsets[n + 1]):
        to, is_new = targets[e], False
        is_silent = c.silent[choices[e]]
        at = c.effects + (place * c.choices + e - first) * 2 * numbers
        for k in range(numbers):
            bits = c.bits[n, k]
            if not is_silent:
                bits = bits & seen[at + k] | seen[at + numbers + k]
            if bits & ~c.bits[to, k]:
                c.bits[to, k] |= bits
                is_new = True
        if is_new and to < done:
            c.later[to] = True


@njit(nogil=True, cache=True)
def copy_notes(c: Any, n: int, place: int, seen: Any) -> None:
    """Copies what the steps of a state say of conditions."""
    numbers = c.bits.shape[1]
    at = c.notes + place * len(c.met) * 2 * numbers
    for i in range(len(c.met)):
        for k in range(numbers):
            c.met[i, n, k] = seen[at + (2 * i) * numbers + k]
            c.failed[i, n, k] = seen[at + (2 * i + 1) * numbers + k]
