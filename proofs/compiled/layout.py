"""The layout of a state in a few 64-bit words: each slot takes as many bits as its values need."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from schedproof.model.lang.machine import Attribute
from schedproof.model.lang.types import BoolType, EnumType, Function, Integer, IntRange, Ref, Relation, SetOf, Type
from schedproof.model.lang.types import Sequence as SequenceType
from schedproof.model.semantics import Instance, State, range_of, tuples
from schedproof.proofs.exploration.limits import TooWide

Words = NDArray[np.uint64]

GREATEST = 1 << 48
"""The limit of absolute values, so that sums fit into 64 bits."""

USABLE = 63
"""The bits of a word that hold a state; the last bit distinguishes a state from an empty place."""


MOST_TUPLES = USABLE - 1
"""The most tuples that a relation may have, so that its mask fits into a signed word."""


@dataclass(frozen=True)
class Field:
    """The field of all objects of a sort: the machine's state, or an attribute.

    Args:
        slot: where its values begin in a state.
        low: the lowest value, which is encoded as 0.
        values: the number of values.
        bits: the width of one value.
        positions: for each object the number of its value's first bit, with 64 bits to a word.
    """

    sort: str
    name: str
    slot: int
    low: int
    values: int
    bits: int
    positions: tuple[int, ...]

    @property
    def stride(self) -> int | None:
        """The distance in bits between two objects' values if all are in one word, else None."""
        at = self.positions
        if not at or at[0] // 64 != at[-1] // 64:
            return None
        return at[1] - at[0] if len(at) > 1 else 0


@dataclass(frozen=True)
class Layout:
    """The place of each field of an instance's states."""

    fields: dict[tuple[str, str], Field]
    words: int
    bits: int

    def pack(self, state: State) -> tuple[int, ...]:
        """A state as words."""
        words = [0] * self.words
        for f in self.fields.values():
            for i, at in enumerate(f.positions):
                words[at // 64] |= (state[f.slot + i] - f.low) << at % 64
        return tuple(words)

    def unpack(self, words: tuple[int, ...]) -> State:
        """The inverse of :meth:`pack`."""
        return tuple((words[at // 64] >> at % 64 & mask) + low for at, mask, low in self.slots)

    @cached_property
    def slots(self) -> list[tuple[int, int, int]]:
        """The first bit, mask and lowest value of each slot, in the order of a state."""
        places = [
            (f.slot + i, (at, (1 << f.bits) - 1, f.low))
            for f in self.fields.values()
            for i, at in enumerate(f.positions)
        ]
        return [each for _, each in sorted(places)]


def layout(instance: Instance) -> Layout:
    """A narrow layout in which no value crosses a word boundary, and fields stay in one word where that wastes little."""
    fields: dict[tuple[str, str], Field] = {}
    at = bits = 0
    for machine in instance.model.machines:
        sort = machine.sort.name
        size = instance.sizes[sort]
        named = [("", 0, len(machine.states))] if machine.states else []
        named += [(a.name, *span_of(instance, sort, a)) for a in instance.attributes(sort)]
        for name, low, values in named:
            width = (values - 1).bit_length()
            positions = []
            if at % 64 + size * width > USABLE and size * width <= USABLE // 2:
                at = (at // 64 + 1) * 64  # start a new word, so that the whole field is in one
            for _ in range(size):
                if at % 64 + width > USABLE:
                    at = (at // 64 + 1) * 64
                positions.append(at)
                at += width
            bits += size * width
            fields[sort, name] = Field(sort, name, instance.slot(sort, name), low, values, width, tuple(positions))
    return Layout(fields, (at - 1) // 64 + 1 if at else 1, bits)


def span_of(instance: Instance, sort: str, attribute: Attribute) -> tuple[int, int]:
    """The lowest encoded value of an attribute, and the number of values; of integers, within their bound.

    Raises:
        ModelError: an integer has no bound.
        TooWide: sums of such numbers could exceed 64 bits.
    """
    if not isinstance(attribute.type, Integer):
        return span(instance, attribute.type)
    return span(instance, IntRange(*range_of(instance.model, sort, attribute.name)))


def span(instance: Instance, kind: Type) -> tuple[int, int]:
    """The lowest encoded value of a type, and the number of values.

    Raises:
        TooWide: sums of such numbers could exceed 64 bits, or there are infinitely many.
    """
    match kind:
        case Integer():
            raise TooWide(f"values of {kind} are more than compiled code counts to; explore it interpreted")
        case Ref(sort):
            return -1, instance.sizes[sort.name] + 1
        case SetOf(sort):
            return 0, 1 << instance.sizes[sort.name]
        case Relation():
            number = tuples.number_of(instance.dimensions(kind))
            if number > MOST_TUPLES:
                raise TooWide(
                    f"a {kind} of up to {number} tuples is more than compiled code keeps in a word; explore it interpreted"
                )
            return 0, 1 << number
        case Function():
            packing = instance.packing(kind)
            if not packing.values:
                raise TooWide(f"a {kind} is more than compiled code keeps in a word; explore it interpreted")
            if packing.width > MOST_TUPLES:
                raise TooWide(
                    f"a {kind} of {packing.width} bits is more than compiled code keeps in a word; explore it interpreted"
                )
            if isinstance(kind.to, IntRange):
                span(instance, kind.to)
            return 0, 1 << packing.width
        case SequenceType():
            bits, width = instance.items(kind).bits, instance.items(kind).bits * kind.at_most
            if bits > MOST_TUPLES:
                raise TooWide(f"a {kind} is more than compiled code keeps in a word; explore it interpreted")
            if width > MOST_TUPLES:
                raise TooWide(
                    f"a {kind} of up to {kind.at_most} items, {width} bits, is more than compiled code keeps in a word; "
                    "explore it interpreted"
                )
            return 0, 1 << width
        case IntRange(low, high):
            if max(-low, high) > GREATEST:
                raise TooWide(
                    f"numbers from {low} to {high} are more than compiled code counts to; explore it interpreted"
                )
            return low, high - low + 1
        case EnumType(values):
            return 0, len(values)
        case BoolType():
            return 0, 2
