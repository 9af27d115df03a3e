"""The inner loops of the search, compiled by numba: expanding states and inserting states into tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from schedproof.proofs.inner_loops import inner_loop

from .carry import carry, copy_notes
from .quotient import orbit, represent
from .steps import FIRST_ACTION
from .table import U, entry, find, part_of, place_of, prefetch, put

AHEAD = 12
"""The place of a state is prefetched this many states before it is read."""

BITS = U(16)
"""The bits for the number of the choice in a predecessor; the rest is the number of the state."""

LOW = U(0xFFFF)

HALF = 31
"""Counts of symmetric states consist of two numbers; the second one counts multiples of ``2 ** HALF``."""


@intrinsic
def call(typing: Any, address: Any, state: Any, out: Any, chosen: Any, seen: Any, number: Any) -> Any:
    """Calls a program's function at an address; arrays are passed as addresses."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number = cgutils.ir.IntType(64)
        pointer = cgutils.voidptr_t
        kind = cgutils.ir.FunctionType(number, [pointer, pointer, pointer, pointer, number])
        function = builder.inttoptr(arguments[0], kind.as_pointer())
        pointers = [builder.inttoptr(a, pointer) for a in arguments[1:5]]
        return builder.call(function, [*pointers, arguments[5]])

    return types.int64(*[types.int64] * 6), code


@inner_loop
def expand(
    address: int,
    frontier: Any,
    first: int,
    last: int,
    base: int,
    words: int,
    parts: int,
    me: int,
    out: Any,
    chosen: Any,
    seen: Any,
    quotient: Any,
    weights: Any,
    values: Any,
    states: Any,
    whence: Any,
    counts: Any,
) -> int:
    """Takes the steps of states ``first`` to ``last`` of a frontier, and puts each target into the bucket of its part.

    Args:
        address: of ``steps``.
        base: the number of the frontier's first state in this part, ``me``.
        out, chosen: buffers for the steps of one state.
        quotient: the renamings (:class:`.quotient.Quotient`), or None.
        weights: with a ``quotient``, receives counts in two halves: the represented states, their steps by action, and those
            without a step.
        values, states, whence: the buckets, a row each: entries, states and predecessors.
        counts: the number of states in each bucket.

    Returns:
        The index of the next state: ``last``, or less if a bucket is nearly full.
    """
    n = first
    at, out_at, chosen_at, seen_at = frontier.ctypes.data, out.ctypes.data, chosen.ctypes.data, seen.ctypes.data
    room, most, p = values.shape[1], chosen.shape[0], U(parts)
    while n < last:
        for q in range(parts):
            if counts[q] + most > room:
                return n
        number = (base + n) * parts + me
        if quotient is not None:
            weight = orbit(quotient, frontier, n * words)
            low, high = weight & ((1 << HALF) - 1), weight >> HALF
            weights[0, 0] += low
            weights[1, 0] += high
            for a in range(1, weights.shape[1]):
                before = seen[FIRST_ACTION + a - 1]
                weights[0, a] -= low * before
                weights[1, a] -= high * before
        steps = call(address, at + 8 * words * n, out_at, chosen_at, seen_at, number)
        if quotient is not None:
            for a in range(1, weights.shape[1]):
                after = seen[FIRST_ACTION + a - 1]
                weights[0, a] += low * after
                weights[1, a] += high * after
        for i in range(steps):
            if quotient is not None:
                represent(quotient, out, i * words, words)
            value = entry(out, i * words, words)
            q = part_of(value, p)
            to = counts[q]
            values[q, to] = value
            for k in range(words):
                states[q, to * words + k] = out[i * words + k]
            whence[q, to] = (U(number) << BITS) | chosen[i]
            counts[q] = to + 1
        n += 1
    return n


@inner_loop
def insert(
    keys: Any,
    places: int,
    words: int,
    parts: int,
    values: Any,
    states: Any,
    whence: Any,
    start: int,
    end: int,
    most: int,
    count: int,
    frontier: Any,
    added: int,
    parents: Any,
    choices: Any,
) -> tuple[int, int]:
    """Inserts the states ``start`` to ``end`` of a bucket into a table; new ones also into the next frontier.

    Args:
        keys, places: the table.
        most: the greatest number of states in the table.
        count, added: the numbers of states in the table and in the frontier.
        parents, choices: by number, the predecessor of a state and the choice that leads from there; of the first states only.

    Returns:
        The index of the next state in the bucket, and the number of states in the table.
    """
    p, size, traced = U(parts), U(places), len(parents)
    i = start
    while i < end and count < most:
        if i + AHEAD < end:
            prefetch(keys, place_of(values[i + AHEAD], p, size) * U(words))
        value = values[i]
        if put(keys, states, i * words, words, value, place_of(value, p, size)):
            for k in range(words):
                frontier[added * words + k] = states[i * words + k]
            if count < traced:
                parents[count] = whence[i] >> BITS
                choices[count] = whence[i] & LOW
            added += 1
            count += 1
        i += 1
    return i, count


TOGETHER = 16
"""The number of states that are linked together: their table accesses are prefetched in the meantime."""


@inner_loop
def link(
    address: int,
    first: int,
    last: int,
    words: int,
    keys: Any,
    places: Any,
    numbers: Any,
    states: Any,
    depths: Any,
    whence: Any,
    count: int,
    offsets: Any,
    targets: Any,
    choices: Any,
    out: Any,
    chosen: Any,
    seen: Any,
    carried: Any,
) -> int:
    """Repeats the steps of states ``first`` to ``last``, now that the tables have all states, and records the edges.

    Args:
        address: of ``steps``.
        keys, places: the tables of the parts, with all reachable states.
        numbers: by part and place, the number of the state plus one; 0 means not yet met.
        states, depths, whence: by number; ``whence`` is the first edge to the state.
        count: the number of states met so far.
        offsets, targets, choices: the edges, complete for states before ``first``.
        out, chosen, seen: buffers for the steps of ``TOGETHER`` states.
        carried: the values of history (:class:`.carry.Carried`), or None.

    Returns:
        The number of states met.
    """
    parts = U(len(keys))
    state_at, out_at, chosen_at, seen_at = states.ctypes.data, out.ctypes.data, chosen.ctypes.data, seen.ctypes.data
    values, spots = np.empty(len(chosen), np.uint64), np.empty(len(chosen), np.uint64)
    n = first
    while n < last:
        end, start, edges = min(n + TOGETHER, last, count), offsets[n], 0
        for m in range(n, end):
            steps = call(
                address, state_at + 8 * words * m, out_at + 8 * words * edges, chosen_at + 8 * edges, seen_at, m
            )
            for i in range(edges, edges + steps):
                value = entry(out, i * words, words)
                q = part_of(value, parts)
                values[i], spots[i] = value, place_of(value, parts, U(places[q]))
                prefetch(keys[q], spots[i] * U(words))
            edges += steps
            offsets[m + 1] = start + edges
        for i in range(edges):
            q = part_of(values[i], parts)
            spots[i] = find(keys[q], out, i * words, words, values[i], spots[i])
            prefetch(numbers[q], spots[i])
        for m in range(n, end):
            for to in range(offsets[m], offsets[m + 1]):
                i = to - start
                q = part_of(values[i], parts)
                if numbers[q][spots[i]] == 0:
                    for k in range(words):
                        states[count * words + k] = out[i * words + k]
                    depths[count], whence[count] = depths[m] + 1, to
                    count += 1
                    numbers[q][spots[i]] = count
                targets[to] = numbers[q][spots[i]] - 1
                choices[to] = chosen[i]
                if carried is not None:
                    prefetch(carried.bits, U(targets[to]) * U(carried.bits.shape[1]))
        if carried is not None:
            for m in range(n, end):
                copy_notes(carried, m, m % TOGETHER, seen)
                carry(carried, m, m % TOGETHER, offsets, targets, choices, seen, m + 1)
        n = end
    return count


@inner_loop
def check(address: int, states: Any, words: int, out: Any, truths: Any) -> None:
    """Evaluates formulas in states.

    Args:
        address: of ``holds``.
        out: a buffer for one state.
        truths: receives the values, by formula and state.
    """
    state_at, out_at = states.ctypes.data, out.ctypes.data
    for n in range(truths.shape[1]):
        call(address, state_at + 8 * words * n, out_at, out_at, out_at, n)
        for k in range(truths.shape[0]):
            truths[k, n] = out[k]
