"""Carrying the values of history along the edges of a graph: the inner loops of :mod:`.histories`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedproof.proofs.inner_loops import inner_loop

Bits = NDArray[np.int64]
"""By state, a set of bits in a few numbers."""


SILENT, UNKNOWN, FIXED, VARIED = 0, 1, 2, 3
"""What the steps of a choice do to history: nothing, not yet known, or they keep the same bits in all states, or not."""


class Carried(NamedTuple):
    """What a pass over the graph needs and changes.

    Args:
        bits: by state, the values that the points of history can have.
        later: the states that got bits after their steps were taken.
        kinds: by choice, what its steps do to history.
        kept: by choice, the bits that its steps keep, if they are FIXED.
        effects, notes: the indices in ``seen`` of what steps do, and of what is noted of conditions.
        met, failed: by state and condition, the bits with which a step meets the premise, and violates the condition.
    """

    bits: Bits
    later: NDArray[np.bool_]
    kinds: NDArray[np.int8]
    kept: Bits
    effects: int
    notes: int
    met: Bits
    failed: Bits

    def first(self, states: int) -> Carried:
        """The values of the first states."""
        parts = {name: getattr(self, name)[:states] for name in ("bits", "later", "met", "failed")}
        return self._replace(**parts)


@inner_loop
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
        to, choice, is_new = targets[e], choices[e], False
        at = c.effects + (place * len(c.kinds) + e - first) * 2 * numbers
        for k in range(numbers):
            bits = c.bits[n, k]
            if c.kinds[choice] != SILENT:
                bits = bits & seen[at + k] | seen[at + numbers + k]
            if bits & ~c.bits[to, k]:
                c.bits[to, k] |= bits
                is_new = True
        if is_new and to < done:
            c.later[to] = True
        if c.kinds[choice] == UNKNOWN:
            c.kinds[choice] = FIXED
            for k in range(numbers):
                c.kept[choice, k] = seen[at + k]
        elif c.kinds[choice] == FIXED:
            for k in range(numbers):
                if c.kept[choice, k] != seen[at + k]:
                    c.kinds[choice] = VARIED


@inner_loop
def carry_kept(c: Any, n: int, offsets: Any, targets: Any, choices: Any) -> bool:
    """Carries new values of a state along its edges, without its steps: what they make was carried before.

    Returns:
        Whether it did; if false, the state has a choice that is VARIED, and its steps are needed.
    """
    for e in range(offsets[n], offsets[n + 1]):
        if c.kinds[choices[e]] == VARIED:
            return False
    for e in range(offsets[n], offsets[n + 1]):
        to, choice = targets[e], choices[e]
        for k in range(c.bits.shape[1]):
            bits = c.bits[n, k]
            if c.kinds[choice] != SILENT:
                bits &= c.kept[choice, k]
            if bits & ~c.bits[to, k]:
                c.bits[to, k] |= bits
                c.later[to] = True
    return True


@inner_loop
def copy_notes(c: Any, n: int, place: int, seen: Any) -> None:
    """Copies what the steps of a state say of conditions."""
    numbers = c.bits.shape[1]
    at = c.notes + place * c.met.shape[1] * 2 * numbers
    for i in range(c.met.shape[1]):
        for k in range(numbers):
            c.met[n, i, k] = seen[at + (2 * i) * numbers + k]
            c.failed[n, i, k] = seen[at + (2 * i + 1) * numbers + k]


def lengthened(c: Carried, states: int) -> Carried:
    """The values with room for more states. The bits are read at random: see :func:`.part.longer`."""
    for each in (c.later, c.met, c.failed):
        each.resize((states, *each.shape[1:]), refcheck=False)
    bits = np.zeros((states, c.bits.shape[1]), np.int64)
    bits[: len(c.bits)] = c.bits
    return c._replace(bits=bits)
