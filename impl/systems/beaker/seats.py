"""The seats of a recipe set: a system of one lab for each of its recipes, none for two of them.

A seat is not held: others may use the system, and a recipe may take another one. But no recipe takes
the seat of a sibling that has no system yet, and a set gets its lab only where its other recipes have
their seats, so that every one of them can still be served there (line 29: nothing is held in vain).
A set may be seated anew as long as it has no lab, when its seats do not serve it: a system of them
left Automated, or it has none, since it is new or gave everything back.
"""

from __future__ import annotations

from collections.abc import Mapping

from schedproof.impl.errors import Refused

from .draft import Draft
from .operations import Operations, Report, What


class Seats(Operations):
    """Base of the loops that seat sets."""

    def unseated(self) -> list[str]:
        """The sets that need seats and can have them."""
        view = self._view()
        return [name for name in view.recipe_sets if view.can_be_seated(name)]

    def seat(self, recipe_set: str, seats: Mapping[str, str] | None = None) -> Report:
        """A set without a lab, two or more of whose recipes need a system, is seated anew.

        Args:
            seats: the system of each of these recipes; those of a matching if not given.

        Raises:
            Refused: the set is unknown or finished, needs no seats, no lab has Automated viable
                systems for them, or ``seats`` are no such systems.
        """

        def work(draft: Draft) -> Report:
            mine = draft.recipe_set(recipe_set)
            if not draft.needs_seats(mine.name):
                raise Refused(
                    f"recipe set {recipe_set} needs no seats: it has a lab, or seats that serve it, "
                    "or less than two recipes that need a system"
                )
            found = draft.seating(mine.name) if seats is None else seats
            if found is None:
                raise Refused(f"no lab has an Automated viable system for each open recipe of {recipe_set}")
            if not draft.is_seating(mine.name, found):
                said = ", ".join(f"{recipe} on {system}" for recipe, system in sorted(found.items())) or "nothing"
                raise Refused(
                    f"{said} cannot be the seats of {recipe_set}: each of its open recipes needs an Automated viable "
                    "system of its own, all of one lab"
                )
            draft.seat(mine.name, found)
            return Report(What.SEATED, recipe_set, seats=tuple(sorted(found.items())))

        return self._transact(work)
