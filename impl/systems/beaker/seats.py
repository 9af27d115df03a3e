"""The seats of a recipe set: for each recipe one system, all different and in one lab.

A recipe does not hold its seat: others may use the system, and the recipe may take another one. Two rules keep every
recipe of a set servable (line 29: no system is held in vain):

- No recipe takes the seat of a sibling that has no system yet.
- A set gets its lab only where its other recipes have their seats.

A set without a lab may be seated again when its seats do not serve it. That is so when the system of a seat left
Automated. It is also so when the set has no seats, because it is new or gave everything back.
"""

from __future__ import annotations

from collections.abc import Mapping

from schedproof.impl.errors import Refused

from .draft import Draft
from .operations import Operations, Report, What


class Seats(Operations):
    """Base of the loops that seat sets."""

    def unseated(self) -> list[str]:
        """Returns the sets that need seats and can have them."""
        view = self._view()
        return [name for name in view.recipe_sets if view.can_be_seated(name)]

    def seat(self, recipe_set: str, seats: Mapping[str, str] | None = None) -> Report:
        """Seats a set that has no lab and at least two recipes that need a system.

        Args:
            seats: the system of each of these recipes; by default those of a matching.

        Raises:
            Refused: the set is unknown or finished, or needs no seats. Or no lab has Automated viable systems for its
                recipes, or ``seats`` are not such systems.
        """

        def work(draft: Draft) -> Report:
            set_record = draft.recipe_set(recipe_set)
            if not draft.needs_seats(set_record.name):
                raise Refused(
                    f"recipe set {recipe_set} needs no seats: it has a lab, or seats that serve it, "
                    "or less than two recipes that need a system"
                )
            chosen_seats = draft.seating(set_record.name) if seats is None else seats
            if chosen_seats is None:
                raise Refused(f"no lab has an Automated viable system for each open recipe of {recipe_set}")
            if not draft.is_seating(set_record.name, chosen_seats):
                proposed = (
                    ", ".join(f"{recipe} on {system}" for recipe, system in sorted(chosen_seats.items())) or "nothing"
                )
                raise Refused(
                    f"{proposed} cannot be the seats of {recipe_set}: each of its open recipes needs an Automated viable "
                    "system of its own, all of one lab"
                )
            draft.seat(set_record.name, chosen_seats)
            return Report(What.SEATED, recipe_set, seats=tuple(sorted(chosen_seats.items())))

        return self._transact(work)
