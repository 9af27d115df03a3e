"""The inner loops of the search, compiled by numba: expand states, and put what comes of them into tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from .quotient import orbit, represent
from .steps import FIRST_ACTION
from .table import U, entry, find, part_of, place_of, prefetch, put

AHEAD = 12
"""So many states before it is looked for, the place of one is asked for."""

BITS = U(16)
"""Of where a state comes from, so many are the number of the choice, and the others that of the state."""

LOW = U(0xFFFF)

HALF = 31
"""Counts of symmetric states are kept in two numbers, of which the second one counts so many bits more."""


@intrinsic
def call(typing: Any, address: Any, state: Any, out: Any, chosen: Any, seen: Any, number: Any) -> Any:
    """Calls a function of a program at an address; the arrays are given by theirs."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number = cgutils.ir.IntType(64)
        pointer = cgutils.voidptr_t
        kind = cgutils.ir.FunctionType(number, [pointer, pointer, pointer, pointer, number])
        function = builder.inttoptr(arguments[0], kind.as_pointer())
        pointers = [builder.inttoptr(a, pointer) for a in arguments[1:5]]
        return builder.call(function, [*pointers, arguments[5]])

    return types.int64(*[types.int64] * 6), code


@njit(nogil=True, cache=True)
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
    """Takes the steps of states ``first`` to ``last`` of a frontier, to the bucket of the part that each belongs to.

    Args:
        address: of ``steps``.
        base: the number of the frontier's first state in this part, ``me``.
        out, chosen: room for the steps of one state.
        quotient: how states are renamed (:class:`.quotient.Quotient`), or None.
        weights: gets in two halves how many states, steps of each action, and states without a step these states stand for,
            if there is a ``quotient``.
        values, states, whence: the buckets, a row each: entries, states, and where these come from.
        counts: how much is in each.

    Returns:
        Where it stopped, because all is done or a bucket is nearly full.
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
        found = call(address, at + 8 * words * n, out_at, chosen_at, seen_at, number)
        if quotient is not None:
            for a in range(1, weights.shape[1]):
                after = seen[FIRST_ACTION + a - 1]
                weights[0, a] += low * after
                weights[1, a] += high * after
        for i in range(found):
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


@njit(nogil=True, cache=True)
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
    found: int,
    parents: Any,
    choices: Any,
) -> tuple[int, int]:
    """Puts a bucket's states ``start`` to ``end`` into a table; new ones also to the next frontier.

    Args:
        keys, places: the table.
        most: so many states at most may be in it.
        count, found: how many are in the table and in the frontier.
        parents, choices: by number, the state that a state comes from, and the choice that leads here; empty if that is not kept.

    Returns:
        Where it stopped, and how many are in the table then.
    """
    p, size, traced = U(parts), U(places), len(parents) > 0
    i = start
    while i < end and count < most:
        if i + AHEAD < end:
            prefetch(keys, place_of(values[i + AHEAD], p, size) * U(words))
        value = values[i]
        if put(keys, states, i * words, words, value, place_of(value, p, size)):
            for k in range(words):
                frontier[found * words + k] = states[i * words + k]
            if traced:
                parents[count] = whence[i] >> BITS
                choices[count] = whence[i] & LOW
            found += 1
            count += 1
        i += 1
    return i, count


TOGETHER = 16
"""So many states are linked at once: what one asks of the tables, comes near while others are asked for."""


@njit(nogil=True, cache=True)
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
) -> int:
    """Takes the steps of states ``first`` to ``last`` once more, now that all states are in tables, and keeps the edges.

    Args:
        address: of ``steps``.
        keys, places: the tables of the parts, which have all that is reached.
        numbers: by part and place, one more than the number of the state; 0: not yet met.
        states, depths, whence: by number; ``whence`` is the edge by which it was met first. ``count`` have been met.
        offsets, targets, choices: the edges, of those before ``first``.
        out, chosen, seen: room for the steps of ``TOGETHER`` states.

    Returns:
        How many states have been met.
    """
    parts = U(len(keys))
    state_at, out_at, chosen_at, seen_at = states.ctypes.data, out.ctypes.data, chosen.ctypes.data, seen.ctypes.data
    values, spots = np.empty(len(chosen), np.uint64), np.empty(len(chosen), np.uint64)
    n = first
    while n < last:
        end, start, edges = min(n + TOGETHER, last, count), offsets[n], 0
        for m in range(n, end):
            found = call(
                address, state_at + 8 * words * m, out_at + 8 * words * edges, chosen_at + 8 * edges, seen_at, m
            )
            for i in range(edges, edges + found):
                value = entry(out, i * words, words)
                q = part_of(value, parts)
                values[i], spots[i] = value, place_of(value, parts, U(places[q]))
                prefetch(keys[q], spots[i] * U(words))
            edges += found
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
        n = end
    return count


@njit(nogil=True, cache=True)
def check(address: int, states: Any, words: int, out: Any, found: Any) -> None:
    """What formulas are in states.

    Args:
        address: of ``holds``.
        out: room for what it writes.
        found: by formula and state.
    """
    state_at, out_at = states.ctypes.data, out.ctypes.data
    for n in range(found.shape[1]):
        call(address, state_at + 8 * words * n, out_at, out_at, out_at, n)
        for k in range(found.shape[0]):
            found[k, n] = out[k]
