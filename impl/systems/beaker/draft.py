"""One transaction's work: changes of the records, one object after another.

Whether an operation may happen is for its guard to say (:mod:`.scheduler`, :mod:`.web`,
:mod:`.lab`); what then happens to the objects is said here. Line numbers are the document's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from schedproof.impl.errors import Refused

from .legal import FIRST_USAGE, check_recipe, check_system
from .records import OPEN, Condition, Recipe, RecipeSet, RecipeState, System, Usage, World
from .store import Changes
from .view import View

OF_USAGE = {
    RecipeState.SCHEDULED: Usage.SCHEDULED,
    RecipeState.WAITING: Usage.WAITING,
    RecipeState.INSTALLING: Usage.INSTALLING,
    RecipeState.RUNNING: Usage.RUNNING,
}
"""The usage of a system whose recipe is in a state (lines 180-183 and 238-241)."""


class Draft(View):
    """A view of ``world`` that can be changed; :meth:`changes` says at the end what to write.

    Every method may raise IllegalMove: a draft that raised is thrown away.
    """

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._sets_before = dict(self.recipe_sets)
        self._recipes_before = dict(self.recipes)
        self._systems_before = dict(self.systems)

    def changes(self) -> Changes:
        """What differs from the world that the draft began with."""
        sets = ((self._sets_before.get(name), new) for name, new in self.recipe_sets.items())
        recipes = ((self._recipes_before.get(name), new) for name, new in self.recipes.items())
        systems = ((self._systems_before.get(name), new) for name, new in self.systems.items())
        return Changes(
            tuple((old, new) for old, new in sets if old is not new and old != new),
            tuple((old, new) for old, new in recipes if old is not new and old != new),
            tuple((old, new) for old, new in systems if old is not new and old != new),
        )

    # New objects.

    def add_system(self, system: System) -> None:
        """A new system.

        Raises:
            Refused: there is one of that name.
        """
        if system.name in self.systems:
            raise Refused(f"there is a system {system.name} already")
        self.systems[system.name] = system

    def add_set(self, recipe_set: RecipeSet, recipes: list[Recipe]) -> None:
        """A set that is submitted, with its recipes.

        Raises:
            Refused: a name is taken.
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

    # What may happen to a recipe.

    def seat(self, recipe_set: str, seats: Mapping[str, str]) -> None:
        """Each open host recipe of a set gets another seat, or the same again (:mod:`.seats`)."""
        for recipe in self.open_hosts(recipe_set):
            self.recipes[recipe.name] = replace(recipe, seat=seats[recipe.name])

    def schedule(self, recipe: Recipe, system: System) -> None:
        """The recipe gets the system, its guests with it; the first one of a set settles its lab,
        and its siblings become assigned (lines 137-143 and 203-209)."""
        mine = self.recipe_sets[recipe.recipe_set]
        self._to(recipe, RecipeState.SCHEDULED, system=system.name)
        self._use(system, Usage.SCHEDULED)
        for guest in self.guests(recipe):
            self._to(guest, RecipeState.SCHEDULED)
        if mine.lab is None:
            self.recipe_sets[mine.name] = replace(mine, lab=system.lab, place=self._next_place())
            for sibling in self.members(mine.name):
                if sibling.state in (RecipeState.NEW, RecipeState.QUEUED):
                    self._to(sibling, RecipeState.ASSIGNED)

    def _next_place(self) -> int:
        return 1 + max((s.place for s in self.recipe_sets.values() if s.place is not None), default=0)

    def queue(self, recipe_set: str) -> None:
        """The recipes of a set that found nothing wait in the queue (line 144)."""
        for recipe in self.members(recipe_set) if recipe_set in self._members else ():
            if recipe.state is RecipeState.NEW:
                self._to(recipe, RecipeState.QUEUED)

    def begin(self, recipe_set: str) -> None:
        """Provisioning of a set begins (line 227); it no longer holds a place among the assigned ones."""
        for recipe in self.members(recipe_set):
            self.advance(recipe, RecipeState.WAITING)
        self._unassign(recipe_set)

    def advance(self, recipe: Recipe, state: RecipeState) -> None:
        """A recipe goes on executing, and its system goes with it (lines 239-241)."""
        self._to(recipe, state, system=recipe.system)
        if recipe.system is not None:
            self._use(self.systems[recipe.system], OF_USAGE[state])

    def finish(self, recipe: Recipe, state: RecipeState) -> None:
        """A recipe ends. Its system is pending if it is Automated (lines 197-199); guests that are
        not finished are aborted. A set that is finished has no place among the assigned ones."""
        self._to(recipe, state)
        if recipe.system is not None and self.systems[recipe.system].condition is Condition.AUTOMATED:
            self._use(self.systems[recipe.system], Usage.PENDING)
        for guest in self.guests(recipe):
            self._to(guest, RecipeState.ABORTED)
        if not self.members(recipe.recipe_set):
            self._unassign(recipe.recipe_set)

    def give_back(self, recipe_set: str) -> None:
        """A set that has not begun and lost a system that it holds or counts on: all of it is queued
        again, without seats, and the systems that it held are pending."""
        for recipe in self.members(recipe_set):
            if recipe.state not in (RecipeState.SCHEDULED, RecipeState.ASSIGNED):
                continue
            self._to(replace(recipe, seat=None), RecipeState.QUEUED)
            if recipe.system is not None and self.systems[recipe.system].condition is Condition.AUTOMATED:
                self._use(self.systems[recipe.system], Usage.PENDING)
        self._unassign(recipe_set)

    def _unassign(self, recipe_set: str) -> None:
        self.recipe_sets[recipe_set] = replace(self.recipe_sets[recipe_set], lab=None, place=None)

    # What may happen to a system.

    def change_condition(self, system: System, condition: Condition) -> None:
        """The system is in another condition. When it leaves Automated, the recipe that executes on
        it is aborted, and the sets that hold it without having begun, or whose assigned recipe has
        its seat there, give back."""
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
        """The system is used for something else."""
        self._use(system, usage)

    def change_priority(self, recipe_set: RecipeSet, priority: int) -> None:
        """A set's priority, which matters while it is queued."""
        self.recipe_sets[recipe_set.name] = replace(recipe_set, priority=priority)

    def _to(self, recipe: Recipe, state: RecipeState, *, system: str | None = None) -> None:
        # A seat is for a recipe that has no system yet.
        after = replace(recipe, state=state, system=system, seat=recipe.seat if state in OPEN else None)
        check_recipe(recipe, after)
        self.recipes[recipe.name] = after

    def _use(self, system: System, usage: Usage) -> None:
        after = replace(system, usage=usage)
        check_system(system, after)
        self.systems[system.name] = after
