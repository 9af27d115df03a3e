"""The scheduler's four loops; each method is one transaction.

Each method checks the database in its own transaction, so the loops, the web interface and the labs may act in any
order. The results of an earlier transaction only suggest operations to try. Line numbers are those of the document.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from schedproof.impl.choice import first
from schedproof.impl.errors import Refused

from .choice import Choice, chosen
from .draft import Draft
from .operations import Observer, Operations, Report, What
from .records import Condition, RecipeState, Usage
from .seats import Seats
from .store import BeakerStore
from .view import View


@dataclass(frozen=True)
class InHand:
    """The recipe set that is being processed. ``searched`` is true when no idle system is left for it."""

    recipe_set: str
    searched: bool = False


class NewJobs(Seats):
    """The loop for new jobs (lines 129-145): one recipe set after another, recipe by recipe.

    A set of several recipes is seated before systems are searched for it.

    The set in hand is the only state that the scheduler keeps in memory. A crash loses it, and recovery needs nothing
    more. If the recipes of the set are still new, the set is taken up again. If one was scheduled, its siblings are
    assigned, and the other loops give them systems.
    """

    def __init__(self, store: BeakerStore, *, choose: Choice = first, observer: Observer | None = None) -> None:
        super().__init__(store, observer=observer)
        self._choose = choose
        self.in_hand: InHand | None = None

    def new_sets(self) -> list[str]:
        """Returns the recipe sets that wait to be processed."""
        view = self._view()
        return [name for name in view.recipe_sets if any(r.state is RecipeState.NEW for r in view.members(name))]

    def take_up(self, recipe_set: str) -> Report:
        """Takes up a set that has a new recipe (line 135: the previous set must be done).

        Raises:
            Refused: a set is in hand, or this one has no new recipe.
        """
        if self.in_hand is not None:
            raise Refused(f"recipe set {self.in_hand.recipe_set} is in hand; it comes first")

        def work(draft: Draft) -> Report:
            set_record = draft.recipe_set(recipe_set)
            if not any(r.state is RecipeState.NEW for r in draft.members(set_record.name)):
                raise Refused(f"recipe set {recipe_set} has no new recipe")
            return Report(What.TAKEN_UP, recipe_set)

        report = self._transact(work)
        self.in_hand = InHand(recipe_set)
        return report

    def search(self, choose: Choice | None = None) -> Report:
        """Gives one recipe of the set in hand an idle system (lines 137-143). If there is none, the search ends.

        Args:
            choose: picks (recipe, system); by default that of the scheduler.

        Raises:
            Refused: no set is in hand, its search has ended, or nothing was chosen. Or there is nothing to choose
                because the set is not seated, although it can be.
        """
        pending_search = self._in_hand(searched=False)

        def work(draft: Draft) -> Report:
            option = chosen(choose or self._choose, draft.in_search(pending_search.recipe_set))
            if option is None and draft.can_be_seated(pending_search.recipe_set):
                raise Refused(f"recipe set {pending_search.recipe_set} can be seated; seat it, and search again")
            if option is None:
                return Report(What.SEARCH_ENDED, pending_search.recipe_set)
            recipe, system = option
            draft.schedule(draft.recipe(recipe), draft.system(system))
            return Report(What.FOUND_IDLE, pending_search.recipe_set, recipe, system)

        report = self._transact(work)
        if report.what is What.SEARCH_ENDED:
            self.in_hand = replace(pending_search, searched=True)
        return report

    def settle(self) -> Report:
        """Ends the processing of the set after its search, and queues its recipes that are still new (line 144).

        Raises:
            Refused: no set is in hand, or its search has not ended.
        """
        pending_search = self._in_hand(searched=True)

        def work(draft: Draft) -> Report:
            draft.queue(pending_search.recipe_set)
            return Report(What.SETTLED, pending_search.recipe_set)

        report = self._transact(work)
        self.in_hand = None
        return report

    def crash(self) -> None:
        """Ends the process: the set in hand is lost."""
        self.in_hand = None

    def _in_hand(self, *, searched: bool) -> InHand:
        if self.in_hand is None:
            raise Refused("no recipe set is in hand; take one up first")
        if self.in_hand.searched != searched:
            done = "has ended; settle it" if self.in_hand.searched else "goes on"
            raise Refused(f"the search for recipe set {self.in_hand.recipe_set} {done}")
        return self.in_hand


class PendingSystems(Operations):
    """The loop for pending systems (lines 201-210), one transaction a system."""

    def __init__(self, store: BeakerStore, *, choose: Choice = first, observer: Observer | None = None) -> None:
        super().__init__(store, observer=observer)
        self._choose = choose

    def pending(self) -> list[str]:
        """Returns the systems about which a determination is needed (line 184)."""
        return [s.name for s in self._view().systems.values() if s.usage is Usage.PENDING]

    def process(self, system: str, choose: Choice | None = None) -> Report:
        """Gives the system to an assigned recipe, else to a queued one, else makes it idle.

        Args:
            choose: picks one of the recipes that come first; by default that of the scheduler.

        Raises:
            Refused: the system is unknown or not pending, or no recipe was chosen.
        """

        def work(draft: Draft) -> Report:
            it = draft.system(system)
            if it.usage is not Usage.PENDING:
                raise Refused(f"system {system} is {it.usage}, not pending")
            option = chosen(choose or self._choose, [(recipe.name,) for recipe in draft.takers(it)])
            if option is None:
                draft.use(it, Usage.IDLE)
                return Report(What.MADE_IDLE, system=system)
            recipe = draft.recipe(option[0])
            draft.schedule(recipe, it)
            assigned = recipe.state is RecipeState.ASSIGNED
            what = What.GIVEN_TO_ASSIGNED if assigned else What.GIVEN_TO_QUEUED
            return Report(what, recipe.recipe_set, recipe.name, system)

        return self._transact(work)


class Provisioning(Operations):
    """The loop that begins the sets whose recipes all have their systems (lines 226-232)."""

    def ready(self) -> list[str]:
        """Returns the sets that can begin."""
        view = self._view()
        return [name for name in view.recipe_sets if view.can_begin(name)]

    def begin(self, recipe_set: str) -> Report:
        """Begins to provision all unfinished recipes of the set.

        Raises:
            Refused: the set is unknown or finished, or some recipe of it is not scheduled.
        """

        def work(draft: Draft) -> Report:
            set_record = draft.recipe_set(recipe_set)
            if not draft.can_begin(set_record.name):
                others = [r for r in draft.members(set_record.name) if r.state is not RecipeState.SCHEDULED]
                states = ", ".join(f"{r.name} is {r.state}" for r in others)
                raise Refused(f"recipe set {recipe_set} begins when all of its recipes are scheduled; {states}")
            draft.begin(set_record.name)
            return Report(What.BEGUN, recipe_set)

        return self._transact(work)


class Consistency(Seats):
    """The retained loop (lines 58-61): handles objects that the other loops can no longer see.

    A queued set may need new seats when conditions change, or after it gave its systems back.
    """

    def sleeping(self) -> list[str]:
        """Returns the idle systems that a waiting recipe can take."""
        view = self._view()
        return [s.name for s in view.systems.values() if self._is_asleep(view, s.name)]

    def dead(self) -> list[str]:
        """Returns the waiting recipes that no system can run any more."""
        view = self._view()
        return [r.name for r in view.recipes.values() if view.is_dead(r)]

    def wake(self, system: str) -> Report:
        """Makes an idle system pending that an assigned or queued recipe can take.

        A recipe may be queued in one transaction just after a system that it fits became idle in another. Without this
        operation it would wait for ever.

        Raises:
            Refused: the system is unknown, not idle and Automated, or no recipe can take it.
        """

        def work(draft: Draft) -> Report:
            it = draft.system(system)
            if not self._is_asleep(draft, system):
                raise Refused(
                    f"system {system} is {it.usage} ({it.condition}), and not idle while a recipe can take it"
                )
            draft.use(it, Usage.PENDING)
            return Report(What.WOKEN, system=system)

        return self._transact(work)

    def abort_dead(self, recipe: str) -> Report:
        """Aborts a queued or assigned recipe without a viable Automated system.

        Raises:
            Refused: the recipe is unknown or not waiting, or some system can run it.
        """

        def work(draft: Draft) -> Report:
            it = draft.recipe(recipe)
            if not draft.is_dead(it):
                raise Refused(f"recipe {recipe} is {it.state}; it is not queued without a viable Automated system")
            draft.finish(it, RecipeState.ABORTED)
            return Report(What.DEAD_ABORTED, it.recipe_set, recipe)

        return self._transact(work)

    def _is_asleep(self, view: View, system: str) -> bool:
        it = view.system(system)
        return it.usage is Usage.IDLE and it.condition is Condition.AUTOMATED and bool(view.takers(it))
