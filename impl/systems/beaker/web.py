"""Requests of users: jobs, cancel and abort, priorities, conditions, reservations."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from schedproof.impl.errors import Refused

from .draft import Draft
from .legal import FIRST_USAGE
from .operations import Operations, Report, What
from .records import OPEN, Condition, Recipe, RecipeSet, RecipeState, System, Usage


@dataclass(frozen=True)
class RecipeSpec:
    """A recipe of a job.

    Attributes:
        viable: the systems that meet its requirements; none for a guest.
        host: the host recipe of a guest.
    """

    name: str
    viable: frozenset[str] = frozenset()
    host: str | None = None


@dataclass(frozen=True)
class SetSpec:
    """Recipes that run at the same time, in one lab."""

    name: str
    recipes: tuple[RecipeSpec, ...]
    priority: int = 0


@dataclass(frozen=True)
class Job:
    """One or more recipe sets, submitted together."""

    name: str
    recipe_sets: tuple[SetSpec, ...]


class Web(Operations):
    """The operations of the web interface. Each raises Refused for an unknown or finished object."""

    # Jobs.

    def submit(self, job: Job) -> Report:
        """Submits a job.

        Raises:
            Refused: there is no set, a set has no recipe, a name is in use, or a system is unknown. Or a guest has
                viable systems, or no host recipe in its set.
        """
        _check(job)

        def work(draft: Draft) -> Report:
            for spec in job.recipe_sets:
                self._add(draft, job.name, spec)
            return Report(What.SUBMITTED)

        return self._transact(work)

    def _add(self, draft: Draft, job: str, spec: SetSpec) -> None:
        for recipe in spec.recipes:
            for name in sorted(recipe.viable):
                draft.system(name)  # refuses the job if the system is unknown
        recipes = [Recipe(r.name, spec.name, host=r.host, viable=r.viable) for r in spec.recipes]
        draft.add_set(RecipeSet(spec.name, job, spec.priority), recipes)

    def cancel(self, recipe: str) -> Report:
        """Cancels an unfinished recipe.

        Raises:
            Refused: it is finished.
        """
        return self._transact(lambda draft: self._end(draft, recipe, RecipeState.CANCELLED, What.CANCELLED))

    def abort(self, recipe: str) -> Report:
        """Aborts an unfinished recipe.

        Raises:
            Refused: it is finished.
        """
        return self._transact(lambda draft: self._end(draft, recipe, RecipeState.ABORTED, What.ABORTED))

    def cancel_set(self, recipe_set: str) -> Report:
        """Cancels all unfinished recipes of a set."""
        return self._transact(lambda d: self._end_set(d, recipe_set, RecipeState.CANCELLED, What.SET_CANCELLED))

    def abort_set(self, recipe_set: str) -> Report:
        """Aborts all unfinished recipes of a set."""
        return self._transact(lambda d: self._end_set(d, recipe_set, RecipeState.ABORTED, What.SET_ABORTED))

    def change_priority(self, recipe_set: str, priority: int) -> Report:
        """Changes the priority of a set while a recipe of it waits for a system.

        Raises:
            Refused: it has this priority already, or no recipe waits.
        """

        def work(draft: Draft) -> Report:
            set_record = draft.recipe_set(recipe_set)
            if set_record.priority == priority:
                raise Refused(f"recipe set {recipe_set} has priority {priority} already")
            if not any(r.state in OPEN for r in draft.members(recipe_set)):
                raise Refused(f"no recipe of {recipe_set} waits for a system, so its priority means nothing any more")
            draft.change_priority(set_record, priority)
            return Report(What.PRIORITY_CHANGED, recipe_set, to=priority)

        return self._transact(work)

    def _end(self, draft: Draft, recipe: str, state: RecipeState, what: What) -> Report:
        it = draft.recipe(recipe)
        if not it.unfinished:
            raise Refused(f"recipe {recipe} is {it.state} already")
        draft.finish(it, state)
        return Report(what, it.recipe_set, recipe)

    def _end_set(self, draft: Draft, recipe_set: str, state: RecipeState, what: What) -> Report:
        set_record = draft.recipe_set(recipe_set)
        # Guests first: the end of their host would abort them.
        for recipe in sorted(draft.members(set_record.name), key=lambda r: r.host is None):
            draft.finish(recipe, state)
        return Report(what, recipe_set)

    # Systems.

    def add_system(self, name: str, lab: str, condition: Condition = Condition.AUTOMATED) -> Report:
        """Adds a system: pending if it is Automated (line 195), else idle.

        It is viable for no recipe submitted before.

        Raises:
            Refused: the name is in use.
        """

        def work(draft: Draft) -> Report:
            draft.add_system(System(name, lab, FIRST_USAGE[condition], condition))
            return Report(What.SYSTEM_ADDED, system=name)

        return self._transact(work)

    def change_condition(self, system: str, condition: Condition) -> Report:
        """Changes the condition of a system, and ends uses that the previous condition allowed.

        Raises:
            Refused: it has this condition already. Or a user has the system, which can be Automated only after its
                return.
        """

        def work(draft: Draft) -> Report:
            it = draft.system(system)
            if it.condition is condition:
                raise Refused(f"system {system} is {condition} already")
            if condition is Condition.AUTOMATED and it.usage is not Usage.IDLE:
                raise Refused(f"system {system} is {it.usage} for a user; it can be Automated after its return")
            draft.change_condition(it, condition)
            return Report(What.CONDITION_CHANGED, system=system, to=condition)

        return self._transact(work)

    def reserve(self, system: str) -> Report:
        """Reserves an idle Manual system for a user (line 175).

        Raises:
            Refused: it is not Manual, or not idle.
        """
        return self._use(system, Usage.IDLE, Usage.WAITING, What.RESERVED)

    def install(self, system: str) -> Report:
        """Reports that a reserved system is being provisioned.

        Raises:
            Refused: it does not wait for that.
        """
        return self._use(system, Usage.WAITING, Usage.INSTALLING, What.PROVISIONED)

    def run(self, system: str) -> Report:
        """Hands a reserved system to its user.

        Raises:
            Refused: it is not installing.
        """
        return self._use(system, Usage.INSTALLING, Usage.RUNNING, What.USED)

    def give_back(self, system: str) -> Report:
        """Returns the user's system.

        Raises:
            Refused: no user has it.
        """
        return self._use(system, Usage.RUNNING, Usage.IDLE, What.RETURNED)

    def _use(self, system: str, before: Usage, after: Usage, what: What) -> Report:
        def work(draft: Draft) -> Report:
            it = draft.system(system)
            if it.condition is not Condition.MANUAL or it.usage is not before:
                raise Refused(
                    f"system {system} is {it.usage} ({it.condition}); only a Manual one that is {before} can be {what}"
                )
            draft.use(it, after)
            return Report(what, system=system)

        return self._transact(work)


def _check(job: Job) -> None:
    """Raises Refused for a job that contradicts itself."""
    if not job.recipe_sets or not all(spec.recipes for spec in job.recipe_sets):
        raise Refused(f"job {job.name} needs at least one recipe set, and each of them a recipe")
    for what, names in (
        ("recipe set", [spec.name for spec in job.recipe_sets]),
        ("recipe", [recipe.name for spec in job.recipe_sets for recipe in spec.recipes]),
    ):
        if twice := [name for name, count in Counter(names).items() if count > 1]:
            raise Refused(f"job {job.name} has two of {what} {twice[0]}; names must differ")
    for spec in job.recipe_sets:
        hosts = {recipe.name for recipe in spec.recipes if recipe.host is None}
        for recipe in spec.recipes:
            if recipe.host is not None and recipe.host not in hosts:
                raise Refused(
                    f"recipe {recipe.name} is a guest of {recipe.host}, which is no host recipe of {spec.name}"
                )
            if recipe.host is not None and recipe.viable:
                raise Refused(f"recipe {recipe.name} is a guest, so it needs no system of its own; leave viable empty")
