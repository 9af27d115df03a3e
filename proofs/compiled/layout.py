"""A state in a few 64-bit words: every slot of an instance as so many bits as its values need."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from schedproof.model.lang.types import BoolType, EnumType, IntRange, Ref, SetOf, Type
from schedproof.model.semantics import Instance, State
from schedproof.proofs.exploration.limits import TooWide

Words = NDArray[np.uint64]

GREATEST = 1 << 48
"""Numbers are not greater, so that their sums are in 64 bits, too."""

USABLE = 63
"""Bits of a word that hold a state; the last one tells a state from an empty place."""


@dataclass(frozen=True)
class Field:
    """The state, or an attribute, of all objects of a sort.

    Args:
        slot: where its values begin in a state.
        low: what is subtracted from a value, so that the lowest is 0.
        values: how many values there are.
        bits: of one value.
        positions: for each object the number of its value's first bit, 64 to a word.
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
        """The distance between two objects' values if all are in one word, else None."""
        at = self.positions
        if not at or at[0] // 64 != at[-1] // 64:
            return None
        return at[1] - at[0] if len(at) > 1 else 0


@dataclass(frozen=True)
class Layout:
    """Where everything of an instance's states is."""

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
        found = [
            (f.slot + i, (at, (1 << f.bits) - 1, f.low))
            for f in self.fields.values()
            for i, at in enumerate(f.positions)
        ]
        return [each for _, each in sorted(found)]


def layout(instance: Instance) -> Layout:
    """The narrowest layout in which no value stands in two words, and as many fields as fit are in one."""
    fields: dict[tuple[str, str], Field] = {}
    at = bits = 0
    for machine in instance.model.machines:
        sort = machine.sort.name
        size = instance.sizes[sort]
        named = [("", 0, len(machine.states))] if machine.states else []
        named += [(a.name, *span(instance, a.type)) for a in instance.attributes(sort)]
        for name, low, values in named:
            width = (values - 1).bit_length()
            positions = []
            if at % 64 + size * width > USABLE and size * width <= USABLE // 2:
                at = (at // 64 + 1) * 64  # in a word of its own, where that leaves little empty
            for _ in range(size):
                if at % 64 + width > USABLE:
                    at = (at // 64 + 1) * 64
                positions.append(at)
                at += width
            bits += size * width
            fields[sort, name] = Field(sort, name, instance.slot(sort, name), low, values, width, tuple(positions))
    return Layout(fields, (at - 1) // 64 + 1 if at else 1, bits)


def span(instance: Instance, kind: Type) -> tuple[int, int]:
    """The lowest encoded value of a type, and how many there are.

    Raises:
        TooWide: sums of such numbers could be more than 64 bits hold.
    """
    match kind:
        case Ref(sort):
            return -1, instance.sizes[sort.name] + 1
        case SetOf(sort):
            return 0, 1 << instance.sizes[sort.name]
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
