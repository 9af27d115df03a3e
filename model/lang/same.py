"""What a variant shares with the checked variant that it amends, so that it is not checked again.

Whether a row, an action, a rule or a property is right depends on itself and on what its terms may name: the machines, and the events
that rows have. What it says of other elements, by their names, is checked in every variant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from .machine import Machine, Row
from .model import Element, Model


@dataclass(frozen=True)
class Checked:
    """What a model had when it was checked. Lists may grow afterwards."""

    machines: Sequence[Machine]
    elements: Sequence[Element]
    events: frozenset[tuple[str, str]]

    @staticmethod
    def of(model: Model) -> Checked:
        """What ``model`` has now."""
        return Checked(tuple(model.machines), tuple(model.elements), _events(model))

    @cached_property
    def numbers(self) -> frozenset[int]:
        """The identities of the machines and elements, which live as long as this object."""
        return frozenset(id(each) for each in (*self.machines, *self.elements))

    def means_the_same_in(self, model: Model) -> bool:
        """Whether a term that is right here is right in ``model``: it has the same machines, and all events."""
        if len(self.machines) != len(model.machines):
            return False
        same = all(one is other for one, other in zip(self.machines, model.machines, strict=True))
        return same and self.events <= _events(model)


def _events(model: Model) -> frozenset[tuple[str, str]]:
    return frozenset((row.sort.name, row.event) for row in model.rows if isinstance(row, Row))


@dataclass(frozen=True)
class Same:
    """The machines and elements that need not be checked again. ``in`` asks for the object itself, not for an equal one."""

    checked: Checked | None

    def __contains__(self, part: object) -> bool:
        return self.checked is not None and id(part) in self.checked.numbers


NOTHING_SAME = Same(None)
