"""Sequences as numbers: how the items of a sequence are one number, with some bits for each item.

The lowest bits have the first item. The bits of an item have one more than the code of its value in a function
(:mod:`.functions`), so that bits without an item are 0: the empty sequence is 0, equal sequences are equal numbers, and no
number is too small for one more item.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from schedproof.model.lang.types import Integer, IntRange
from schedproof.model.lang.types import Sequence as SequenceType

from . import functions

AT_ONCE = 16
"""The most items of a sequence that are read or written one by one."""


class Shown(list[Any]):
    """The items of a sequence as a reader sees them: a list in JSON, and ``[1, 2]`` in a text, where a set is ``{1, 2}``."""

    __slots__ = ()


@dataclass(frozen=True)
class Items:
    """How the sequences of one type are numbers.

    Attributes:
        values: how a function has the values of the items.
        bits: for each item.
    """

    values: functions.Packing
    bits: int

    @property
    def low(self) -> int:
        """The value whose bits are 1."""
        return self.values.low

    @property
    def mask(self) -> int:
        """The bits of one item, all set."""
        return (1 << self.bits) - 1

    @property
    def outside(self) -> int:
        """What the bits of an item have for a value outside of an ``IntRange``."""
        return self.values.values + 1

    def length(self, number: int) -> int:
        """The number of items."""
        return -(-number.bit_length() // self.bits)

    def code(self, value: int) -> int:
        """The bits of an item.

        Raises:
            NumberTooGreat: a number without a bound has more than 63 bits.
        """
        if not self.values.values:
            functions.require_fit(value, "sequence")
            return self.values.code(value) + 1
        code = value - self.low + 1
        return code if 0 < code < self.outside else self.outside

    def at(self, number: int, index: int) -> int | None:
        """The item at an index; None if there is none."""
        code = number >> index * self.bits & self.mask if index >= 0 else 0
        return self.values.value(code - 1) if code else None

    def appended(self, number: int, value: int) -> int:
        """The sequence with one more item."""
        return number | self.code(value) << self.length(number) * self.bits

    def sliced(self, number: int, at: int, *, first: bool) -> int:
        """The first items, ``at`` of them, or those after them."""
        place = max(min(at, self.length(number)), 0) * self.bits
        return number & ((1 << place) - 1) if first else number >> place

    def all(self, number: int) -> list[int]:
        """The items, in order. Long sequences are halved: to shift a long number for each item takes a long time."""
        if (many := self.length(number)) > AT_ONCE:
            middle = many // 2 * self.bits
            return [*self.all(number & ((1 << middle) - 1)), *self.all(number >> middle)]
        items = []
        while number:
            items.append(self.values.value((number & self.mask) - 1))
            number >>= self.bits
        return items

    def of(self, items: Sequence[int]) -> int:
        """The sequence of these items: the inverse of :meth:`all`."""
        if len(items) > AT_ONCE:
            middle = len(items) // 2
            return self.of(items[:middle]) | self.of(items[middle:]) << middle * self.bits
        number = 0
        for place, value in enumerate(items):
            number |= self.code(value) << place * self.bits
        return number

    def has(self, number: int, value: int) -> bool:
        """Whether an item has a value."""
        return value in self.all(number)

    def within(self, number: int, kind: SequenceType) -> bool:
        """Whether all items are of the sequence's type."""
        match kind.of:
            case IntRange(low, high):
                return all(low <= value <= high for value in self.all(number))
            case Integer() as integer:
                return all(value in integer for value in self.all(number))
        return True


def items(kind: SequenceType, sizes: Mapping[str, int]) -> Items:
    """How sequences of a type are numbers, with ``sizes`` objects of each sort."""
    return _items(functions.packing_of(kind.of, (), sizes), isinstance(kind.of, IntRange))


@lru_cache(1 << 12)
def _items(values: functions.Packing, may_be_outside: bool) -> Items:
    if not values.values:
        return Items(values, values.bits + 1)
    return Items(values, (values.values + may_be_outside).bit_length())


def moved(number: int, before: Items, after: Items) -> int:
    """The same items where the sorts have other numbers of objects."""
    return number if before == after else after.of(before.all(number))
