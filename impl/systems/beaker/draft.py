"""The work of one transaction: changes of the records, one object after another.

The guards of the operations decide whether an operation is allowed (:mod:`.scheduler`, :mod:`.web`, :mod:`.lab`). This
module has the effects on the objects. Line numbers are the document's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from schedproof.impl.errors import Refused

from .legal import FIRST_USAGE, check_recipe, check_system
from .records import OPEN, Condition, Recipe, RecipeSet, RecipeState, System, Usage, World
from .store import Changes
from .view import View

R = TypeVar("R", RecipeSet, Recipe, System)

OF_USAGE = {
    RecipeState.SCHEDULED: Usage.SCHEDULED,
    RecipeState.WAITING: Usage.WAITING,
    RecipeState.INSTALLING: Usage.INSTALLING,
    RecipeState.RUNNING: Usage.RUNNING,
}
"""The usage of a system for each state of its recipe (lines 180-183 and 238-241)."""


class Draft(View):
    """A view of ``world`` that an operation changes; :meth:`changes` returns the writes at the end.

    Every method may raise IllegalMove. Discard a draft that raised.
    """

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._before = world

    def changes(self) -> Changes:
        """Returns the differences from the world with which the draft began."""
        return Changes(
            _changed(self._before.recipe_sets, self.recipe_sets),
            _changed(self._before.recipes, self.recipes),
            _changed(self._before.systems, self.systems),
        )

    # New objects.

    def add_system(self, system: System) -> None:
        """Adds a system.

        Raises:
            Refused: a system of that name exists.
        """
        if system.name in self.systems:
            raise Refused(f"there is a system {system.name} already")
        self.systems[system.name] = system

    def add_set(self, recipe_set: RecipeSet, recipes: list[Recipe]) -> None:
        """Adds a submitted set with its recipes.

        Raises:
            Refused: a name is in use.
        """
        if recipe_set.name in self.recipe_sets:
            raise Refused(f"there is a recipe set {recipe_set.name} already")
        self.recipe_sets[recipe_set.name] = recipe_set
        self._members[recipe_set.name] = []
        for recipe in recipes:
            if recipe.name in self.recipes:
                raise Refused(f"there is a recipe {recipe.name} already")
            self.recipes[recipe.name] = recipe
            self._members[recipe_set.name].append(recipe.name)

    # Effects on recipes.

    def seat(self, recipe_set: str, seats: Mapping[str, str]) -> None:
        """Gives each open host recipe of a set its seat, which may be the one it has (:mod:`.seats`)."""
        for recipe in self.open_hosts(recipe_set):
            self.recipes[recipe.name] = replace(recipe, seat=seats[recipe.name])

    def schedule(self, recipe: Recipe, system: System) -> None:
        """Gives the recipe and its guests the system (lines 137-143 and 203-209).

        The first system of a set settles the lab of the set, and the siblings become assigned.
        """
        set_record = self.recipe_sets[recipe.recipe_set]
        self._to(recipe, RecipeState.SCHEDULED, system=system.name)
        self._use(system, Usage.SCHEDULED)
        for guest in self.guests(recipe):
            self._to(guest, RecipeState.SCHEDULED)
        if set_record.lab is None:
            self.recipe_sets[set_record.name] = replace(set_record, lab=system.lab, place=self._next_place())
            for sibling in self.members(set_record.name):
                if sibling.state in (RecipeState.NEW, RecipeState.QUEUED):
                    self._to(sibling, RecipeState.ASSIGNED)

    def _next_place(self) -> int:
        return 1 + max((s.place for s in self.recipe_sets.values() if s.place is not None), default=0)

    def queue(self, recipe_set: str) -> None:
        """Queues the new recipes of a set after its search (line 144)."""
        for recipe in self.members(recipe_set) if recipe_set in self._members else ():
            if recipe.state is RecipeState.NEW:
                self._to(recipe, RecipeState.QUEUED)

    def begin(self, recipe_set: str) -> None:
        """Begins to provision a set (line 227). It loses its place among the assigned sets."""
        for recipe in self.members(recipe_set):
            self.advance(recipe, RecipeState.WAITING)
        self._unassign(recipe_set)

    def advance(self, recipe: Recipe, state: RecipeState) -> None:
        """Moves an executing recipe to its next state, and its system with it (lines 239-241)."""
        self._to(recipe, state, system=recipe.system)
        if recipe.system is not None:
            self._use(self.systems[recipe.system], OF_USAGE[state])

    def finish(self, recipe: Recipe, state: RecipeState) -> None:
        """Ends a recipe.

        Its system becomes pending if it is Automated (lines 197-199). Its unfinished guests are aborted. A finished set
        loses its place among the assigned sets.
        """
        self._to(recipe, state)
        if recipe.system is not None and self.systems[recipe.system].condition is Condition.AUTOMATED:
            self._use(self.systems[recipe.system], Usage.PENDING)
        for guest in self.guests(recipe):
            self._to(guest, RecipeState.ABORTED)
        if not self.members(recipe.recipe_set):
            self._unassign(recipe.recipe_set)

    def give_back(self, recipe_set: str) -> None:
        """Queues a set again that has not begun and lost a system that it holds or counts on.

        All its scheduled and assigned recipes are queued without seats, and the systems that it held become pending.
        """
        for recipe in self.members(recipe_set):
            if recipe.state not in (RecipeState.SCHEDULED, RecipeState.ASSIGNED):
                continue
            self._to(replace(recipe, seat=None), RecipeState.QUEUED)
            if recipe.system is not None and self.systems[recipe.system].condition is Condition.AUTOMATED:
                self._use(self.systems[recipe.system], Usage.PENDING)
        self._unassign(recipe_set)

    def _unassign(self, recipe_set: str) -> None:
        self.recipe_sets[recipe_set] = replace(self.recipe_sets[recipe_set], lab=None, place=None)

    # Effects on systems.

    def change_condition(self, system: System, condition: Condition) -> None:
        """Changes the condition of a system.

        When it leaves Automated, the recipe that executes on it is aborted. A set that holds it without having begun
        gives back its systems. So does a set whose assigned recipe has its seat there.
        """
        after = replace(system, condition=condition, usage=FIRST_USAGE[condition])
        check_system(system, after)
        self.systems[system.name] = after
        if system.condition is not Condition.AUTOMATED:
            return
        holder = self.holder(system.name)
        if holder is not None and self.is_begun(holder):
            self.finish(holder, RecipeState.ABORTED)
        elif holder is not None:
            self.give_back(holder.recipe_set)
        for recipe in list(self.recipes.values()):
            if self.counts_on(recipe, system):
                self.give_back(recipe.recipe_set)

    def use(self, system: System, usage: Usage) -> None:
        """Changes the usage of a system."""
        self._use(system, usage)

    def change_priority(self, recipe_set: RecipeSet, priority: int) -> None:
        """Changes the priority of a set, which counts while the set is queued."""
        self.recipe_sets[recipe_set.name] = replace(recipe_set, priority=priority)

    def _to(self, recipe: Recipe, state: RecipeState, *, system: str | None = None) -> None:
        # Only a recipe without a system has a seat.
        after = replace(recipe, state=state, system=system, seat=recipe.seat if state in OPEN else None)
        check_recipe(recipe, after)
        self.recipes[recipe.name] = after

    def _use(self, system: System, usage: Usage) -> None:
        after = replace(system, usage=usage)
        check_system(system, after)
        self.systems[system.name] = after


def _changed(before: Iterable[R], after: Mapping[str, R]) -> tuple[tuple[R | None, R], ...]:
    """The pairs of a record before (None if it is new) and after that differ."""
    old_of = {record.name: record for record in before}
    pairs = [(old_of.get(name), new) for name, new in after.items()]
    return tuple([(old, new) for old, new in pairs if old is not new and old != new])
