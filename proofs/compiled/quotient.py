"""Symmetry on packed states: the tables of :class:`schedproof.proofs.exploration.symmetry.Symmetry` for compiled code."""

from __future__ import annotations

from math import factorial, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedproof.proofs.exploration.limits import TooWide
from schedproof.proofs.exploration.symmetry import Symmetry, renamed_bits, renamed_tuples
from schedproof.proofs.inner_loops import inner_loop

from .layout import Layout

PLAIN, REFERENCE, SET = 0, 1, 2
"""The effect of a renaming on a value: none, or the value is an object's number, or a mask of objects."""


class Quotient(NamedTuple):
    """The renamings as tables; slots are those of :class:`schedproof.model.semantics.Instance`.

    Args:
        bits, masks, lows: by slot its first bit, the mask of its values, and its lowest value.
        targets: by renaming and slot, the slot to which the value moves.
        kinds: by slot, the effect of a renaming on its value.
        sorts: by slot, the renamed sort to which its value refers, or after these sorts the tuples that it contains.
        names: by renaming, renamed sort and object, the object's new number; likewise of tuples.
        columns: the first slots of the sort whose objects are sorted.
        size: the number of objects of that sort.
        room: a buffer for three states.
    """

    bits: NDArray[np.int64]
    masks: NDArray[np.uint64]
    lows: NDArray[np.int64]
    targets: NDArray[np.int64]
    kinds: NDArray[np.int64]
    sorts: NDArray[np.int64]
    names: NDArray[np.int64]
    columns: NDArray[np.int64]
    size: int
    room: NDArray[np.int64]


def quotient(symmetry: Symmetry, layout: Layout) -> Quotient:
    """The tables of a symmetry; each thread needs its own, because of the buffer.

    Raises:
        TooWide: the size of an orbit could exceed 64 bits.
    """
    instance, renamings = symmetry.instance, symmetry.renamings
    size = instance.sizes[symmetry.ordered] if symmetry.ordered else 1
    if size * factorial(size) * len(renamings) >= 1 << 63:
        raise TooWide(f"one state could stand for {size}! others and more: explore it interpreted, or without symmetry")
    width = instance.width
    renamed = list(renamings[0])
    # A relation is a set of tuples, which a renaming of their objects renames. A function has several bits for each tuple.
    related = list(dict.fromkeys((f.places, f.bits) for f in symmetry.fields if f.places))
    sizes = [instance.sizes[s] for s in renamed]
    sizes += [bits * prod(size for _, size in places) for places, bits in related]
    most = max(sizes, default=0)
    targets = np.tile(np.arange(width), (len(renamings), 1))
    names = np.zeros((len(renamings), len(sizes), most), np.int64)
    kinds, sorts = np.zeros(width, np.int64), np.zeros(width, np.int64)
    for r, renaming in enumerate(renamings):
        for k, sort in enumerate(renamed):
            names[r, k, : instance.sizes[sort]] = renaming[sort]
        for k, (places, each) in enumerate(related, len(renamed)):
            names[r, k, : sizes[k]] = renamed_bits(renamed_tuples(places, renaming), each)
        for f in symmetry.fields:
            targets[r, f.slot : f.slot + f.size] = [f.slot + to for to in renaming.get(f.sort, range(f.size))]
    for f in symmetry.fields:
        if f.names:
            kinds[f.slot : f.slot + f.size] = SET if f.is_set else REFERENCE
            sorts[f.slot : f.slot + f.size] = renamed.index(f.names)
        if f.places:
            kinds[f.slot : f.slot + f.size] = SET
            sorts[f.slot : f.slot + f.size] = len(renamed) + related.index((f.places, f.bits))
    bits, masks, lows = (np.array(column) for column in zip(*layout.slots, strict=True))
    return Quotient(
        bits.astype(np.int64),
        masks.astype(np.uint64),
        lows.astype(np.int64),
        targets.astype(np.int64),
        kinds,
        sorts,
        names,
        np.array(symmetry.columns, np.int64),
        instance.sizes[symmetry.ordered] if symmetry.ordered else 0,
        np.zeros((3, width), np.int64),
    )


@inner_loop
def _read(q: Any, words: Any, at: int, values: Any) -> None:
    for s in range(len(values)):
        raw = (words[at + (q.bits[s] >> 6)] >> np.uint64(q.bits[s] & 63)) & q.masks[s]
        values[s] = np.int64(raw) + q.lows[s]


@inner_loop
def _write(q: Any, values: Any, words: Any, at: int, count: int) -> None:
    for k in range(count):
        words[at + k] = np.uint64(0)
    for s in range(len(values)):
        words[at + (q.bits[s] >> 6)] |= np.uint64(values[s] - q.lows[s]) << np.uint64(q.bits[s] & 63)


@inner_loop
def _rename(q: Any, r: int, values: Any, image: Any) -> None:
    for s in range(len(values)):
        value = values[s]
        if q.kinds[s] == REFERENCE and value >= 0:
            value = q.names[r, q.sorts[s], value]
        elif q.kinds[s] == SET:
            left, value = value, 0
            for i in range(q.names.shape[2]):
                if left >> i & 1:
                    value |= 1 << q.names[r, q.sorts[s], i]
        image[q.targets[r, s]] = value


@inner_loop
def _compare(q: Any, values: Any, i: int, j: int) -> int:
    """The order of two objects' columns: -1, 0 or 1."""
    for first in q.columns:
        if values[first + i] != values[first + j]:
            return -1 if values[first + i] < values[first + j] else 1
    return 0


@inner_loop
def _order(q: Any, values: Any) -> None:
    """Sorts the objects of the ordered sort."""
    for i in range(1, q.size):
        j = i
        while j > 0 and _compare(q, values, j - 1, j) > 0:
            for first in q.columns:
                values[first + j - 1], values[first + j] = values[first + j], values[first + j - 1]
            j -= 1


@inner_loop
def _less(one: Any, other: Any) -> int:
    for s in range(len(one)):
        if one[s] != other[s]:
            return -1 if one[s] < other[s] else 1
    return 0


@inner_loop
def _copy(values: Any, to: Any) -> None:
    for s in range(len(values)):  # to[:] = values takes 2 s longer to compile, for an error message about shapes
        to[s] = values[s]


@inner_loop
def represent(q: Any, words: Any, at: int, count: int) -> None:
    """Replaces a state of ``count`` words by its representative."""
    values, image, best = q.room[0], q.room[1], q.room[2]
    _read(q, words, at, values)
    for r in range(q.targets.shape[0]):
        _rename(q, r, values, image)
        _order(q, image)
        if r == 0 or _less(image, best) < 0:
            _copy(image, best)
    _write(q, best, words, at, count)


@inner_loop
def orbit(q: Any, words: Any, at: int) -> int:
    """The number of states that are renamings of a state: distinct orders of the columns, times distinct results of renamings."""
    values, image, original = q.room[0], q.room[1], q.room[2]
    _read(q, words, at, values)
    _copy(values, original)
    _order(q, original)
    same = 0
    for r in range(q.targets.shape[0]):
        _rename(q, r, values, image)
        _order(q, image)
        if _less(image, original) == 0:
            same += 1
    ways, alike = 1, 1
    for i in range(1, q.size):
        alike = alike + 1 if _compare(q, original, i - 1, i) == 0 else 1
        ways = ways * (i + 1) // alike
    total: int = ways * (q.targets.shape[0] // same)
    return total
