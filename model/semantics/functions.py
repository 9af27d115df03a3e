"""Functions as numbers: how the values of a function are one number, with some bits for each tuple of objects.

The tuples are numbered as those of relations (:mod:`.tuples`). The bits of a tuple have the code of its value: the distance from
the first value of the type, so that the function that has the first value everywhere is 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from schedproof.model.errors import SchedproofError
from schedproof.model.lang.types import BoolType, EnumType, Function, Integer, IntRange, Ref, Scalar

from . import tuples

INTEGER_BITS = 64
"""The bits of a number without a bound, of which one is the sign."""


class NumberTooGreat(SchedproofError, OverflowError):
    """A number without a bound is more than a function or a sequence holds."""


def fits(value: int) -> bool:
    """Whether a function holds this number without a bound."""
    return value.bit_length() < INTEGER_BITS


def require_fit(value: int, holder: str) -> None:
    """Refuses a number without a bound that is too great for ``holder``.

    Raises:
        NumberTooGreat: it has more than 63 bits.
    """
    if not fits(value):
        raise NumberTooGreat(f"{value} is more than a {holder} holds, whose numbers have 63 bits; write less")


class Entry(tuple[object, object]):
    """The names of the objects of a tuple, and the value there: a list in JSON, and ``n1: 2`` in a text."""

    __slots__ = ()

    def __str__(self) -> str:
        names, value = self
        value = str(value).lower() if isinstance(value, bool) else "none" if value is None else value
        return f"{names}: {value}"


@dataclass(frozen=True)
class Packing:
    """How the functions of one type are numbers.

    Attributes:
        dimensions: the number of objects of each argument's sort.
        bits: for each tuple.
        low: the value whose code is 0.
        values: the number of values; 0 for numbers without a bound. An ``IntRange`` has one code more, for a value outside.
    """

    dimensions: tuple[int, ...]
    bits: int
    low: int
    values: int

    @property
    def mask(self) -> int:
        """The greatest code."""
        return (1 << self.bits) - 1

    @property
    def tuples(self) -> int:
        """The number of tuples."""
        return tuples.number_of(self.dimensions)

    @property
    def width(self) -> int:
        """The bits of a whole function."""
        return self.tuples * self.bits

    def code(self, value: int) -> int:
        """The code of a value.

        Raises:
            NumberTooGreat: a number without a bound has more than 63 bits.
        """
        if not self.values:
            require_fit(value, "function")
            return value & self.mask
        code = value - self.low
        return code if 0 <= code < self.values else self.mask

    def value(self, code: int) -> int:
        """The value of a code."""
        if not self.values:
            return code - (1 << self.bits) if code >> (self.bits - 1) else code
        return code + self.low

    def at(self, number: int, place: int) -> int:
        """The value of a function at the tuple of a number."""
        return self.value(number >> place * self.bits & self.mask)

    def put(self, number: int, place: int, value: int) -> int:
        """The function with another value at the tuple of a number."""
        at = place * self.bits
        return number & ~(self.mask << at) | self.code(value) << at

    def all(self, number: int) -> list[int]:
        """The values of a function, by number of the tuple."""
        return [self.at(number, place) for place in range(self.tuples)]

    def of(self, values: Iterable[int]) -> int:
        """The function with these values, by number of the tuple: the inverse of :meth:`all`."""
        number = 0
        for place, value in enumerate(values):
            number |= self.code(value) << place * self.bits
        return number

    def places(self) -> list[tuple[int, ...]]:
        """The tuples, by number."""
        return [tuples.objects(place, self.dimensions) for place in range(self.tuples)]

    def within(self, number: int, kind: Function) -> bool:
        """Whether all values of a function are of its type."""
        match kind.to:
            case IntRange():
                return all(number >> place * self.bits & self.mask != self.mask for place in range(self.tuples))
            case Integer() as integer:
                return integer.low is None or all(value in integer for value in self.all(number))
        return True


def packing(kind: Function, sizes: Mapping[str, int]) -> Packing:
    """How functions of a type are numbers, with ``sizes`` objects of each sort."""
    return packing_of(kind.to, tuple([sizes[sort.name] for sort in kind.sorts]), sizes)


def packing_of(to: Scalar, dimensions: tuple[int, ...], sizes: Mapping[str, int]) -> Packing:
    """How functions to a type are numbers, from tuples of ``dimensions``."""
    return _packing(to, dimensions, sizes[to.sort.name] if isinstance(to, Ref) else 0)


@lru_cache(1 << 12)
def _packing(to: Scalar, dimensions: tuple[int, ...], objects: int) -> Packing:
    match to:
        case BoolType():
            return Packing(dimensions, 1, 0, 2)
        case EnumType(values):
            return Packing(dimensions, max(1, (len(values) - 1).bit_length()), 0, len(values))
        case Ref():
            return Packing(dimensions, max(1, objects.bit_length()), -1, objects + 1)
        case IntRange(low, high):
            return Packing(dimensions, (high - low + 1).bit_length(), low, high - low + 1)
        case Integer():
            return Packing(dimensions, INTEGER_BITS, 0, 0)


def moved(number: int, before: Packing, after: Packing) -> int:
    """The same values where the sorts have other numbers of objects; a tuple that is beyond is left out."""
    if before == after:
        return number
    result = after.of([after.low if after.values else 0] * after.tuples)
    for place, objects in enumerate(before.places()):
        if all(one < size for one, size in zip(objects, after.dimensions, strict=True)):
            result = after.put(result, tuples.number(objects, after.dimensions), before.at(number, place))
    return result
