"""Beaker schedulers with a bug each in how sets are seated, for the exploration to catch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from schedproof.impl.systems.beaker import Consistency, Draft, Recipe, RecipeState, Report
from schedproof.impl.systems.beaker.view import seating


class SeatsTwoOnOne(Draft):
    """That two seats may not be the same system is not asked."""

    def is_seating(self, recipe_set: str, seats: Mapping[str, str]) -> bool:
        hosts = self.open_hosts(recipe_set)
        return set(seats) == {r.name for r in hosts} and all(seats[r.name] in self._seats_for(r) for r in hosts)


class SeatsAcrossLabs(Draft):
    """That all seats are in one lab is not asked."""

    def is_seating(self, recipe_set: str, seats: Mapping[str, str]) -> bool:
        hosts = self.open_hosts(recipe_set)
        suits = set(seats) == {r.name for r in hosts} and all(seats[r.name] in self._seats_for(r) for r in hosts)
        return suits and len(set(seats.values())) == len(seats)


class SeatsSome(Draft):
    """A seating of only a part of the open recipes is taken."""

    def is_seating(self, recipe_set: str, seats: Mapping[str, str]) -> bool:
        hosts = {r.name: r for r in self.open_hosts(recipe_set)}
        return (
            set(seats) < set(hosts)
            and all(system in self._seats_for(hosts[name]) for name, system in seats.items())
            and len(set(seats.values())) == len(seats)
        ) or super().is_seating(recipe_set, seats)

    def seat(self, recipe_set: str, seats: Mapping[str, str]) -> None:
        for recipe in self.open_hosts(recipe_set):
            self.recipes[recipe.name] = replace(recipe, seat=seats.get(recipe.name))


class SeatsOnAnything(Draft):
    """Systems that are not Automated are seats as well."""

    def _seats_for(self, recipe: Recipe) -> set[str]:
        return set(recipe.viable)


class MatchesAcrossLabs(Draft):
    """The matching looks at all labs at once."""

    def seating(self, recipe_set: str) -> dict[str, str] | None:
        viable = {r.name: frozenset(self._seats_for(r)) for r in self.open_hosts(recipe_set)}
        return seating(viable, dict.fromkeys(self.systems, "any"))


class SeatsGreedily(Draft):
    """Each recipe gets its first viable system: no matching."""

    def seating(self, recipe_set: str) -> dict[str, str] | None:
        if super().seating(recipe_set) is None:
            return None
        return {r.name: min(self._seats_for(r)) for r in self.open_hosts(recipe_set)}


class FindsNoSeats(Draft):
    """A set that can be seated is taken for one that can not."""

    def seating(self, recipe_set: str) -> dict[str, str] | None:
        return None


class EndsTheSearchUnseated(Draft):
    """Whether the set could be seated is not asked when its search ends."""

    def can_be_seated(self, recipe_set: str) -> bool:
        return False


class SeatsOnce(Draft):
    """A set that has seats is never seated anew."""

    def needs_seats(self, recipe_set: str) -> bool:
        return super().needs_seats(recipe_set) and not any(r.seat for r in self.open_hosts(recipe_set))


class SeatsAgain(Draft):
    """A set is seated anew though its seats serve it."""

    def needs_seats(self, recipe_set: str) -> bool:
        return self.recipe_sets[recipe_set].lab is None and len(self.open_hosts(recipe_set)) > 1


class SeatsSingles(Draft):
    """A single recipe is seated too."""

    def needs_seats(self, recipe_set: str) -> bool:
        alone = self.open_hosts(recipe_set)
        return super().needs_seats(recipe_set) or (len(alone) == 1 and alone[0].seat is None)


class KeepsItsSeats(Draft):
    """A set that gives back keeps its seats."""

    def give_back(self, recipe_set: str) -> None:
        seats = {r.name: r.seat for r in self.members(recipe_set)}
        super().give_back(recipe_set)
        for recipe in self.members(recipe_set):
            self.recipes[recipe.name] = replace(recipe, seat=seats[recipe.name])


class BeginsWithItsSeats(Draft):
    """A recipe keeps its seat when it gets its system, and until its end."""

    def _to(self, recipe: Recipe, state: RecipeState, *, system: str | None = None) -> None:
        super()._to(recipe, state, system=system)
        self.recipes[recipe.name] = replace(self.recipes[recipe.name], seat=recipe.seat)


class FinishesWithItsSeat(Draft):
    """A recipe that is finished keeps its seat."""

    def finish(self, recipe: Recipe, state: RecipeState) -> None:
        super().finish(recipe, state)
        self.recipes[recipe.name] = replace(self.recipes[recipe.name], seat=recipe.seat)


class SeatsFromWhatItSaw(Consistency):
    """The matching is found in one transaction and written in another."""

    def seat(self, recipe_set: str, seats: Mapping[str, str] | None = None) -> Report:
        seen = self._view()
        if seats is None and recipe_set in seen.recipe_sets:
            seats = seen.seating(recipe_set)
        return super().seat(recipe_set, seats)
