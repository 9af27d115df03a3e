"""An exact hash table of states: a sorted array with gaps, which grows in place.

A permutation of the 64-bit numbers mixes a state's first word, so an entry encodes the whole state: equal entries are equal
states, and there are no collisions. Entries are in ascending order, each at or after the place that its value points to; 0 is
an empty place.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from schedproof.proofs.inner_loops import inner_loop

U = np.uint64
TOP = U(1 << 63)
"""Set in the first word before mixing, so that no entry is 0: only 0 is mixed to 0."""

SLACK = 4096
"""Extra places at the end, into which the last entries can move."""

_A, _B = U(0xFF51AFD7ED558CCD), U(0xC4CEB9FE1A85EC53)
_S33, _S32 = U(33), U(32)
_LOW32 = U(0xFFFFFFFF)
_ZERO = U(0)


@njit(inline="always")
def mix(x: Any) -> Any:
    """A permutation of the 64-bit numbers in which every bit depends on all others (MurmurHash3's finalizer)."""
    x ^= x >> _S33
    x *= _A
    x ^= x >> _S33
    x *= _B
    x ^= x >> _S33
    return x


@njit(inline="always")
def entry(state: Any, at: int, words: int) -> Any:
    """The first word of a state as the table stores it; the other words are stored unchanged."""
    first = state[at] | TOP
    if words > 1:
        others = _ZERO
        for k in range(words - 1, 0, -1):
            others = mix(others ^ state[at + k]) + _A
        first ^= others & ~TOP
    return mix(first)


_INVERSE_A, _INVERSE_B = (U(pow(int(factor), -1, 1 << 64)) for factor in (_A, _B))


@njit(inline="always")
def unmix(x: Any) -> Any:
    """The inverse of :func:`mix`."""
    x ^= x >> _S33
    x *= _INVERSE_B
    x ^= x >> _S33
    x *= _INVERSE_A
    x ^= x >> _S33
    return x


@inner_loop
def read_back(keys: Any, words: int, place: int, states: Any, rows: int) -> Any:
    """Reads states from a table, in the order of its places: the inverse of :func:`entry`.

    Args:
        keys: the table.
        place: the place to begin at.
        states: receives ``rows`` states.

    Returns:
        The place behind the last one that was read.
    """
    n = 0
    while n < rows:
        at = place * words
        if keys[at] != 0:
            first = unmix(keys[at])
            if words > 1:
                others = _ZERO
                for k in range(words - 1, 0, -1):
                    others = mix(others ^ keys[at + k]) + _A
                first ^= others
            states[n * words] = first & ~TOP
            for k in range(1, words):
                states[n * words + k] = keys[at + k]
            n += 1
        place += 1
    return place


@njit(inline="always")
def part_of(value: Any, parts: Any) -> Any:
    """The number of the table, out of ``parts``, that an entry belongs to."""
    return ((value >> _S32) * parts) >> _S32


@njit(inline="always")
def place_of(value: Any, parts: Any, places: Any) -> Any:
    """The place that an entry's value points to."""
    return ((((value >> _S32) * parts) & _LOW32) * places) >> _S32


@intrinsic
def prefetch(typing: Any, array: Any, index: Any) -> Any:
    """Prefetches an element of an array into the processor's cache."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        address = builder.bitcast(builder.gep(data, [arguments[1]]), cgutils.voidptr_t)
        number = cgutils.int32_t
        function = cgutils.get_or_insert_function(
            builder.module,
            cgutils.ir.FunctionType(cgutils.ir.VoidType(), [cgutils.voidptr_t, number, number, number]),
            "llvm.prefetch.p0",
        )
        builder.call(function, [address, number(1), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, types.uint64), code


@njit(inline="always")
def insert(keys: Any, state: Any, at: int, words: int, wide: int, value: Any, place: Any) -> Any:
    """Looks for a state and inserts it if it is new; returns where its entry begins and whether it was new.

    Args:
        keys: the table, with ``wide`` numbers to an entry, of which the first ``words`` are the state's.
        value: the state's first word as :func:`entry` encodes it.
        place: the place that ``value`` points to.
    """
    w = U(wide)
    i = place * w
    while keys[i] != 0 and keys[i] < value:
        i += w
    while keys[i] == value:
        same = True
        for k in range(1, words):
            if keys[i + U(k)] != state[at + k]:
                same = False
                break
        if same:
            return i, False
        i += w
    end = i
    while keys[end] != 0:
        end += w
    while end > i:
        for k in range(wide):
            keys[end + U(k)] = keys[end - w + U(k)]
        end -= w
    keys[i] = value
    for k in range(1, words):
        keys[i + U(k)] = state[at + k]
    return i, True


@inner_loop
def put(keys: Any, state: Any, at: int, words: int, value: Any, place: Any) -> Any:
    """Inserts a state; returns whether it was new. Arguments as for :func:`insert`."""
    return insert(keys, state, at, words, words, value, place)[1]


@inner_loop
def put_numbered(keys: Any, state: Any, at: int, words: int, value: Any, place: Any, number: int) -> Any:
    """The number of a state, which is inserted with ``number`` if it is new; arguments as for :func:`insert`.

    Args:
        keys: the table, in which the number of a state follows its words.
    """
    i, new = insert(keys, state, at, words, words + 1, value, place)
    if new:
        keys[i + U(words)] = U(number)
        return number
    return np.int64(keys[i + U(words)])


@inner_loop
def find(keys: Any, state: Any, at: int, words: int, value: Any, place: Any) -> Any:
    """The place of a state that the table contains; arguments as for :func:`insert`."""
    w = U(words)
    i = place * w
    while True:
        while keys[i] != value:
            i += w
        same = True
        for k in range(1, words):
            if keys[i + U(k)] != state[at + k]:
                same = False
                break
        if same:
            return i // w
        i += w


@inner_loop
def grow(keys: Any, words: int, parts: Any, places: int, more: int) -> None:
    """Grows a table in place from ``places`` to ``more`` places; the array's rest must be 0.

    Entries first move to the end of the array, and then to their places.
    """
    to = (more + SLACK) * words
    for i in range((places + SLACK) * words - words, -1, -words):
        if keys[i] != 0:
            to -= words
            for k in range(words):
                keys[to + k] = keys[i + k]
                if to != i:
                    keys[i + k] = _ZERO
    free = 0
    for i in range(to, (more + SLACK) * words, words):
        at = int(place_of(keys[i], parts, U(more))) * words
        at = max(at, free)
        for k in range(words):
            value = keys[i + k]
            keys[i + k] = _ZERO
            keys[at + k] = value
        free = at + words
