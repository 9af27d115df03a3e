"""Tuples of objects as numbers: how the value of a relation is one bit mask.

The tuples over sorts with ``dimensions`` objects are numbered from 0, and the last object varies fastest. The mask of a
relation has the bit of each of its tuples.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod


class Names(tuple[str, ...]):
    """The names of the objects of a tuple: a list in JSON, and ``(g0, c1)`` in a text."""

    __slots__ = ()

    def __str__(self) -> str:
        return f"({', '.join(self)})"


def names_in(shown: object) -> Iterator[str]:
    """The names in a shown value: of an object, of the elements of a set, or of those of a relation's tuples."""
    if isinstance(shown, list | tuple):
        for each in shown:
            yield from names_in(each)
    elif shown is not None:
        yield str(shown)


def number_of(dimensions: Sequence[int]) -> int:
    """How many tuples there are."""
    return prod(dimensions)


def number(objects: Sequence[int], dimensions: Sequence[int]) -> int:
    """The number of a tuple of objects."""
    result = 0
    for each, size in zip(objects, dimensions, strict=True):
        result = result * size + each
    return result


def objects(number: int, dimensions: Sequence[int]) -> tuple[int, ...]:
    """The objects of the tuple of that number."""
    result = []
    for size in reversed(dimensions):
        number, each = divmod(number, size)
        result.append(each)
    return tuple(reversed(result))


def of_mask(mask: int, dimensions: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """The tuples of a mask, by number."""
    while mask:
        lowest = mask & -mask
        yield objects(lowest.bit_length() - 1, dimensions)
        mask ^= lowest


def encoded(tuples: Iterable[Sequence[int]], dimensions: Sequence[int]) -> int:
    """The mask of some tuples."""
    mask = 0
    for each in tuples:
        mask |= 1 << number(each, dimensions)
    return mask


def decoded(mask: int, dimensions: Sequence[int]) -> frozenset[tuple[int, ...]]:
    """The tuples of a mask: the inverse of :func:`encoded`."""
    return frozenset(of_mask(mask, dimensions))


def moved(mask: int, before: Sequence[int], after: Sequence[int]) -> int:
    """The same tuples where the sorts have other numbers of objects; none of them may be beyond."""
    return mask if before == after else encoded(of_mask(mask, before), after)
