"""Queries on the records at one moment: which system suits a recipe, and which recipe may take it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import networkx as nx

from schedproof.impl.errors import Refused

from .choice import Option
from .records import EXECUTING, OPEN, Condition, Recipe, RecipeSet, RecipeState, System, Usage, World


class View:
    """The records of ``world`` by name, and queries on them."""

    def __init__(self, world: World) -> None:
        self.recipe_sets = {s.name: s for s in world.recipe_sets}
        self.recipes = {r.name: r for r in world.recipes}
        self.systems = {s.name: s for s in world.systems}
        self._members: dict[str, list[str]] = {name: [] for name in self.recipe_sets}
        for recipe in world.recipes:
            self._members[recipe.recipe_set].append(recipe.name)

    # Records by name.

    def recipe_set(self, name: str) -> RecipeSet:
        """Returns a set that has an unfinished recipe.

        Raises:
            Refused: there is none of this name.
        """
        if name not in self.recipe_sets:
            raise Refused(f"recipe set {name!r} is unknown or finished")
        return self.recipe_sets[name]

    def recipe(self, name: str) -> Recipe:
        """Returns a recipe of a set that has an unfinished one.

        Raises:
            Refused: there is none of this name.
        """
        if name not in self.recipes:
            raise Refused(f"recipe {name!r} is unknown, or its recipe set is finished")
        return self.recipes[name]

    def system(self, name: str) -> System:
        """Returns a system.

        Raises:
            Refused: there is none of this name.
        """
        if name not in self.systems:
            raise Refused(f"unknown system {name!r}; systems: {', '.join(self.systems) or 'none yet'}")
        return self.systems[name]

    def members(self, recipe_set: str) -> list[Recipe]:
        """Returns the unfinished recipes of a set, guests included."""
        return [r for r in (self.recipes[name] for name in self._members[recipe_set]) if r.unfinished]

    def guests(self, recipe: Recipe) -> list[Recipe]:
        """Returns the unfinished guests of a recipe."""
        return [r for r in self.members(recipe.recipe_set) if r.host == recipe.name]

    def holder(self, system: str) -> Recipe | None:
        """Returns the recipe that has a system; it has it from scheduled until it is finished."""
        return next((r for r in self.recipes.values() if r.system == system), None)

    # Which recipe may take which system.

    def suits(self, system: System, recipe: Recipe) -> bool:
        """Whether the system is viable for the recipe and, if the lab of its set is settled, in it (line 142)."""
        lab = self.recipe_sets[recipe.recipe_set].lab
        return system.name in recipe.viable and lab in (None, system.lab)

    def can_take(self, recipe: Recipe, system: System) -> bool:
        """Whether a recipe that needs a system may have this one now. Whether it is free is not checked."""
        return (
            system.condition is Condition.AUTOMATED
            and recipe.state in OPEN
            and self.suits(system, recipe)
            and not self.is_for_earlier(system, recipe)
            and self.spares_siblings(recipe, system)
        )

    def is_for_earlier(self, system: System, recipe: Recipe) -> bool:
        """Whether the system suits an assigned recipe of a set that comes before the recipe's set.

        First come, first served: assigned sets come in the order in which they were assigned, which never changes. They
        come before sets that are not assigned. Priorities (line 213) do not serve for this: they are often equal, and
        users change them while sets wait.
        """
        return any(
            other.state is RecipeState.ASSIGNED
            and other.recipe_set != recipe.recipe_set
            and self._comes_before(other.recipe_set, recipe.recipe_set)
            and self.suits(system, other)
            for other in self.recipes.values()
        )

    def _comes_before(self, one: str, other: str) -> bool:
        first, second = self.recipe_sets[one].place, self.recipe_sets[other].place
        return first is not None and (second is None or first < second)

    def spares_siblings(self, recipe: Recipe, system: System) -> bool:
        """Whether every sibling that needs a system can still get one in the system's lab.

        The system must not be the seat of such a sibling. If the system settles the lab of the set, each such sibling
        must have an Automated seat in that lab.
        """
        settled = self.recipe_sets[recipe.recipe_set].lab is not None
        siblings = [r for r in self.open_hosts(recipe.recipe_set) if r.name != recipe.name]
        return all(
            sibling.seat != system.name and (settled or self.has_seat(sibling, system.lab)) for sibling in siblings
        )

    # Seats (see :mod:`.seats`).

    def open_hosts(self, recipe_set: str) -> list[Recipe]:
        """Returns the recipes of a set that need a system of their own."""
        return [r for r in self.members(recipe_set) if r.state in OPEN and r.host is None]

    def has_seat(self, recipe: Recipe, lab: str | None = None) -> bool:
        """Whether the recipe's seat is an Automated system, in ``lab`` if one is given."""
        seat = None if recipe.seat is None else self.systems[recipe.seat]
        return seat is not None and seat.condition is Condition.AUTOMATED and lab in (None, seat.lab)

    def counts_on(self, recipe: Recipe, system: System) -> bool:
        """Whether the recipe is assigned, waits for its seat, and ``system`` is that seat."""
        return recipe.state is RecipeState.ASSIGNED and recipe.seat == system.name

    def needs_seats(self, recipe_set: str) -> bool:
        """Whether the set has no lab and its seats do not serve it. A single recipe needs no seat."""
        recipes = self.open_hosts(recipe_set)
        unserved = not all(self.has_seat(recipe) for recipe in recipes)
        return self.recipe_sets[recipe_set].lab is None and len(recipes) > 1 and unserved

    def can_be_seated(self, recipe_set: str) -> bool:
        """Whether a set that needs seats can have them."""
        known = recipe_set in self.recipe_sets
        return known and self.needs_seats(recipe_set) and self.seating(recipe_set) is not None

    def seating(self, recipe_set: str) -> dict[str, str] | None:
        """Returns a seat for each open host recipe, in the first lab that has them (:func:`seating`)."""
        viable = {r.name: frozenset(self._seats_for(r)) for r in self.open_hosts(recipe_set)}
        return seating(viable, {name: system.lab for name, system in self.systems.items()})

    def is_seating(self, recipe_set: str, seats: Mapping[str, str]) -> bool:
        """Whether these are seats for exactly the open host recipes, all different and of one lab."""
        recipes = self.open_hosts(recipe_set)
        return (
            set(seats) == {recipe.name for recipe in recipes}
            and all(seats[recipe.name] in self._seats_for(recipe) for recipe in recipes)
            and len(set(seats.values())) == len(seats)
            and len({self.systems[name].lab for name in seats.values()}) == 1
        )

    def _seats_for(self, recipe: Recipe) -> set[str]:
        """The systems that may be the recipe's seat: its Automated viable ones, used or not."""
        return {name for name in recipe.viable if self.systems[name].condition is Condition.AUTOMATED}

    # Queries of the loops.

    def in_search(self, recipe_set: str) -> list[Option]:
        """Returns the recipes of a set in hand with the idle systems that they can take (lines 137-143).

        A queued recipe of a higher priority that can take the system comes first: it may be about to get it (line 21).
        """
        searching = (RecipeState.NEW, RecipeState.ASSIGNED)
        recipes = [r for r in self.members(recipe_set) if r.state in searching] if recipe_set in self._members else []
        idle = [s for s in self.systems.values() if s.usage is Usage.IDLE and s.condition is Condition.AUTOMATED]
        return [(r.name, s.name) for r in recipes for s in idle if self.can_take(r, s) and not self.is_outranked(r, s)]

    def is_outranked(self, recipe: Recipe, system: System) -> bool:
        """Whether a queued recipe of a higher priority can take the system."""
        priority = self._priority(recipe)
        return any(
            r.state is RecipeState.QUEUED and self._priority(r) > priority and self.can_take(r, system)
            for r in self.recipes.values()
        )

    def takers(self, system: System) -> list[Recipe]:
        """Returns the recipes of which one should get a free system (lines 203-213).

        These are the assigned recipes that can take it. If there are none, they are the queued ones of the highest
        priority.
        """
        able = [r for r in self.recipes.values() if r.state is RecipeState.ASSIGNED and self.can_take(r, system)]
        if able:
            return able
        able = [r for r in self.recipes.values() if r.state is RecipeState.QUEUED and self.can_take(r, system)]
        highest = max((self._priority(r) for r in able), default=0)
        return [r for r in able if self._priority(r) == highest]

    def _priority(self, recipe: Recipe) -> int:
        return self.recipe_sets[recipe.recipe_set].priority

    def can_begin(self, recipe_set: str) -> bool:
        """Whether all unfinished recipes of the set are scheduled, and there is at least one (lines 226-228)."""
        members = self.members(recipe_set)
        return bool(members) and all(r.state is RecipeState.SCHEDULED for r in members)

    def is_dead(self, recipe: Recipe) -> bool:
        """Whether a recipe waits in the queue and no system can run it any more (lines 58-61)."""
        return (
            recipe.state in (RecipeState.QUEUED, RecipeState.ASSIGNED)
            and recipe.host is None
            and not any(self.systems[name].condition is Condition.AUTOMATED for name in recipe.viable)
        )

    def is_begun(self, recipe: Recipe) -> bool:
        """Whether the recipe executes: its set has begun."""
        return recipe.state in EXECUTING


def seating(viable: Mapping[str, frozenset[str]], lab_of: Mapping[str, str]) -> dict[str, str] | None:
    """Returns a system for each recipe, all different, in the first lab by name that has them.

    Args:
        viable: the systems that may be the seat of each recipe.
        lab_of: the lab of each of these systems.

    Returns:
        The system of each recipe; None if no lab has one for each, or there is no system at all.
    """
    for lab in sorted({lab_of[system] for systems in viable.values() for system in systems}):
        matching = _matched({recipe: [s for s in systems if lab_of[s] == lab] for recipe, systems in viable.items()})
        if matching is not None:
            return matching
    return None


def _matched(viable: Mapping[str, list[str]]) -> dict[str, str] | None:
    """A system for each recipe, all different; None if there are too few."""
    # Numbers, because recipes and systems may have the same names, and the result must not depend on their hashes.
    recipes = sorted(viable)
    systems = sorted({system for those in viable.values() for system in those})
    number = {system: len(recipes) + n for n, system in enumerate(systems)}
    graph: Any = nx.Graph()
    graph.add_nodes_from(range(len(recipes)))
    graph.add_edges_from((n, number[s]) for n, recipe in enumerate(recipes) for s in sorted(viable[recipe]))
    matching = nx.bipartite.hopcroft_karp_matching(graph, range(len(recipes)))
    if any(n not in matching for n in range(len(recipes))):
        return None
    return {recipe: systems[matching[n] - len(recipes)] for n, recipe in enumerate(recipes)}
