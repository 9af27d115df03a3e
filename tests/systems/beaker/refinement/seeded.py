"""Beaker schedulers with a bug each, for the exploration to catch.

Each is the reference scheduler with one method spoilt, as a programmer might by mistake. The
questions and changes of a transaction are spoilt in its draft, the loops in themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from schedproof.impl import store
from schedproof.impl.store.protocol import R
from schedproof.impl.systems.beaker import (
    BeakerStore,
    Changes,
    Choice,
    Condition,
    Consistency,
    Draft,
    MemoryStore,
    NewJobs,
    PendingSystems,
    Provisioning,
    Recipe,
    RecipeState,
    Refused,
    Report,
    System,
    Usage,
    UsageEntry,
    View,
    Web,
    What,
)
from schedproof.impl.systems.beaker.store import read_world, write
from schedproof.model.systems.beaker.configurations import Configuration
from schedproof.proofs.systems.beaker.refinement.runner import Sides
from tests.systems.beaker.refinement.seeded_seats import (
    BeginsWithItsSeats,
    EndsTheSearchUnseated,
    FindsNoSeats,
    FinishesWithItsSeat,
    KeepsItsSeats,
    MatchesAcrossLabs,
    SeatsAcrossLabs,
    SeatsAgain,
    SeatsFromWhatItSaw,
    SeatsGreedily,
    SeatsOnAnything,
    SeatsOnce,
    SeatsSingles,
    SeatsSome,
    SeatsTwoOnOne,
)

# Who may take what.


class ByPriority(Draft):
    """Assigned recipes are served by priority, as the document has it (line 213)."""

    def is_for_earlier(self, system: System, recipe: Recipe) -> bool:
        priority = self._priority(recipe)
        return any(
            other.state is RecipeState.ASSIGNED and self._priority(other) > priority and self.suits(system, other)
            for other in self.recipes.values()
        )


class LastComeFirstServed(Draft):
    def _comes_before(self, one: str, other: str) -> bool:
        first, second = self.recipe_sets[one].place, self.recipe_sets[other].place
        return first is not None and (second is None or first > second)


class TakesItsSiblingsSeat(Draft):
    def spares_siblings(self, recipe: Recipe, system: System) -> bool:
        return True


class AnyLabWillDo(Draft):
    """Whether the siblings have their seats in the lab is not asked."""

    def spares_siblings(self, recipe: Recipe, system: System) -> bool:
        return not any(r.seat == system.name for r in self.open_hosts(recipe.recipe_set) if r.name != recipe.name)


class TakesOnlyItsSeat(Draft):
    def spares_siblings(self, recipe: Recipe, system: System) -> bool:
        return recipe.seat in (None, system.name) and super().spares_siblings(recipe, system)


class JumpsTheQueue(Draft):
    """A new recipe takes an idle system past a queued one of a higher priority."""

    def is_outranked(self, recipe: Recipe, system: System) -> bool:
        return False


class WrongLab(Draft):
    """The lab of an assigned set is forgotten when a system is looked at."""

    def suits(self, system: System, recipe: Recipe) -> bool:
        return system.name in recipe.viable


class GivesAwayManualSystems(Draft):
    def in_search(self, recipe_set: str) -> list[tuple[str, ...]]:
        as_if = {n: replace(s, condition=Condition.AUTOMATED) for n, s in self.systems.items()}
        real, self.systems = self.systems, as_if
        seatings = super().in_search(recipe_set)
        self.systems = real
        return seatings


# What happens to recipes, sets and systems.


class CountsFinishedRecipes(Draft):
    """A set begins when all of its recipes are scheduled, the finished ones too (line 226)."""

    def can_begin(self, recipe_set: str) -> bool:
        return all(r.state is RecipeState.SCHEDULED for r in self.recipes.values() if r.recipe_set == recipe_set)


class KeepsItsPlace(Draft):
    """A set that begins stays among the assigned ones."""

    def begin(self, recipe_set: str) -> None:
        for recipe in self.members(recipe_set):
            self.advance(recipe, RecipeState.WAITING)


class LeavesSiblingsQueued(Draft):
    """The siblings of the first scheduled recipe are not assigned."""

    def schedule(self, recipe: Recipe, system: System) -> None:
        before = {r.name: r for r in self.members(recipe.recipe_set) if r.name != recipe.name and r.host is None}
        super().schedule(recipe, system)
        self.recipes |= before


class ForgetsGuests(Draft):
    """Guests are not scheduled with their host."""

    def guests(self, recipe: Recipe) -> list[Recipe]:
        return [] if recipe.state in (RecipeState.NEW, RecipeState.ASSIGNED) else super().guests(recipe)


class GuestsLiveOn(Draft):
    """Guests are left when their host ends."""

    def finish(self, recipe: Recipe, state: RecipeState) -> None:
        guests = {r.name: r for r in self.guests(recipe)}
        super().finish(recipe, state)
        self.recipes |= guests


class LosesTheSystem(Draft):
    """A cancelled recipe's system is idle at once, and nobody looks who waits for it."""

    def _use(self, system: System, usage: Usage) -> None:
        super()._use(system, usage)
        if usage is Usage.PENDING and system.usage is Usage.SCHEDULED:
            self.systems[system.name] = replace(system, usage=Usage.IDLE)


class LeavesTheRecipe(Draft):
    """A change of condition leaves the recipe on the system (the document says nothing of it)."""

    def is_begun(self, recipe: Recipe) -> bool:
        return False


class GivesBackTooLittle(Draft):
    """Only the recipe on the broken system is queued again; its siblings keep what they hold."""

    def give_back(self, recipe_set: str) -> None:
        for recipe in self.members(recipe_set):
            if recipe.system is not None and self.systems[recipe.system].condition is not Condition.AUTOMATED:
                self._to(recipe, RecipeState.QUEUED)


class HoldsOn(Draft):
    """A set whose assigned recipe lost its seat keeps what it holds."""

    def counts_on(self, recipe: Recipe, system: System) -> bool:
        return False


class GivesBackTooEasily(Draft):
    """A set gives back for any system that its assigned recipe could have had."""

    def counts_on(self, recipe: Recipe, system: System) -> bool:
        return recipe.state is RecipeState.ASSIGNED and system.name in recipe.viable


class SeesNoDeath(Draft):
    """Broken systems count as viable, so nothing is ever dead."""

    def is_dead(self, recipe: Recipe) -> bool:
        return False


# The loops, and people.


class EndsTheSearchEarly(NewJobs):
    """After the first system found the set is put away."""

    def search(self, choose: Choice | None = None) -> Report:
        report = super().search(choose)
        if report.what is What.FOUND_IDLE and self.in_hand is not None:
            self.in_hand = replace(self.in_hand, searched=True)
        return report


class TakesSeveralUp(NewJobs):
    """A set is taken up while another is in hand."""

    def take_up(self, recipe_set: str) -> Report:
        before, self.in_hand = self.in_hand, None
        try:
            return super().take_up(recipe_set)
        except Exception:
            self.in_hand = before
            raise


class SurvivesACrash(NewJobs):
    """The set in hand is remembered over a crash."""

    def crash(self) -> None:
        pass


class QueuesInPieces(NewJobs):
    """What is left of a set is queued with a transaction for each recipe."""

    def settle(self) -> Report:
        in_hand = self._in_hand(searched=True)

        def piece(draft: Draft) -> Report:
            for recipe in draft.members(in_hand.recipe_set) if in_hand.recipe_set in draft.recipe_sets else ():
                if recipe.state is RecipeState.NEW:
                    draft._to(recipe, RecipeState.QUEUED)
                    break
            return Report(What.SETTLED, in_hand.recipe_set)

        quiet, self._observer = self._observer, None
        while self._view().recipe_sets.get(in_hand.recipe_set) and any(
            r.state is RecipeState.NEW for r in self._view().members(in_hand.recipe_set)
        ):
            self._transact(piece)
        self._observer = quiet
        return super().settle()


class UndoesWhatFails(PendingSystems):
    """What it has written is undone when it fails, even after the commit."""

    def process(self, system: str, choose: Choice | None = None) -> Report:
        before, done = self.store.snapshot(), False
        try:
            report = super().process(system, choose)
            done = True
            return report
        finally:
            if not done and self.store.snapshot() != before:
                self.store.restore(before)


class LooksIntoTheHand(PendingSystems):
    """No system is processed while no set is in the hand of another loop."""

    new_jobs: NewJobs

    def process(self, system: str, choose: Choice | None = None) -> Report:
        if self.new_jobs.in_hand is None:
            raise Refused("no set is in hand")
        return super().process(system, choose)


class Linked(Sides):
    """The loop for pending systems knows the one for new jobs."""

    pending_type = LooksIntoTheHand

    def __init__(self, store: BeakerStore, observer: Callable[[Report], object]) -> None:
        super().__init__(store, observer)
        self.pending.new_jobs = self.new_jobs  # type: ignore[attr-defined]


class DecidesBeforehand(PendingSystems):
    """What the system goes to is decided in one transaction and written in another."""

    def process(self, system: str, choose: Choice | None = None) -> Report:
        seen = self._view()
        it = seen.system(system)
        if it.usage is Usage.PENDING and not seen.takers(it):

            def write(draft: Draft) -> Report:
                draft.use(draft.system(system), Usage.IDLE)
                return Report(What.MADE_IDLE, system=system)

            return self._transact(write)
        return super().process(system, choose)


class NeverLooksAtTheQueue(Draft):
    """A pending system goes to assigned recipes only, and is idle otherwise."""

    def takers(self, system: System) -> list[Recipe]:
        return [r for r in super().takers(system) if r.state is RecipeState.ASSIGNED]


class WakesEverybody(Consistency):
    """Every idle system is looked at again."""

    def _is_asleep(self, view: View, system: str) -> bool:
        it = view.system(system)
        return it.usage is Usage.IDLE and it.condition is Condition.AUTOMATED


class LetsThemSleep(Consistency):
    """The retained loop wakes nobody: the lost wakeups."""

    def _is_asleep(self, view: View, system: str) -> bool:
        view.system(system)
        return False


class ReportsBeforeCommit(Provisioning):
    """It notifies the observer before it commits the transaction."""

    def _transact(self, work: Callable[[Draft], Report]) -> Report:
        with self.store.transaction() as transaction:
            draft = self.draft_type(read_world(transaction))
            report = work(draft)
            write(transaction, draft.changes())
            if self._observer is not None:
                self._observer(report)
        return report


class TakesReservedSystems(Web):
    """A system becomes Automated while a user has it."""

    def change_condition(self, system: str, condition: Condition) -> Report:
        def work(draft: Draft) -> Report:
            draft.change_condition(draft.system(system), condition)
            return Report(What.CONDITION_CHANGED, system=system, to=condition)

        it = self._view().system(system)
        if it.condition is Condition.MANUAL and it.usage is not Usage.IDLE and condition is Condition.AUTOMATED:
            return self._transact(work)
        return super().change_condition(system, condition)


class WritesDownRefusals(Web):
    """A request that comes too late changes the priority of some set."""

    def cancel(self, recipe: str) -> Report:
        try:
            return super().cancel(recipe)
        except Refused:
            with self.store.transaction() as transaction:
                for old in read_world(transaction).recipe_sets[:1]:
                    write(transaction, Changes(recipe_sets=((old, replace(old, priority=1 - old.priority)),)))
            raise


class ForgetsUsage(store.MemoryTransaction):
    def add(self, record: R) -> R:
        is_forgotten = isinstance(record, UsageEntry) and record.usage is Usage.RUNNING
        return record if is_forgotten else super().add(record)


class WithoutUsage(MemoryStore):
    """The system usage is not written when a recipe begins to run."""

    transaction_type = ForgetsUsage


class NoRollback(MemoryStore):
    """A transaction that fails is committed all the same."""

    @contextmanager
    def _committed(self) -> Iterator[store.Transaction]:
        transaction = store.MemoryTransaction(self.schema, self._records)
        try:
            yield transaction
        finally:
            self._commit(transaction)


# The bugs, where they show, and how.

PEOPLE = Configuration("one recipe on one system; people do what they can", [["A"]], [0], [0], [0], [0])
TWO = Configuration("a set of two, and either system suits one of them", [["AB", "A"]], [0, 0], [0])
GUEST = Configuration("a host with its guest, and a sibling", [["A", 0, "B"]], [0, 0], [0])
LABS = Configuration("a set of two that only one of two labs can hold", [["AC", "AB"]], [0, 0, 1])
BREAKS = Configuration("two recipes and one system, whose condition changes", [["A"], ["A"]], [0], [], [], [0])
RANKS = Configuration("two recipes for two systems; priorities change", [["AB"], ["A"]], [0, 0], [], [0, 1])
ABBA = Configuration("two sets of two need the same two systems", [["A", "B"], ["A", "B"]], [0, 0], [], [0])
SHARED = Configuration("two sets of two share a system", [["A", "B"], ["B", "C"]], [0] * 3)
LEAVES = Configuration("a set of two with a spare system; a condition changes", [["A", "BC"]], [0] * 3, [], [], [1])
THREE = Configuration("a set of three of which one may be ended", [["AB", "A", "B"]], [0, 0], [0])
APART = Configuration("a set of two that no lab can hold", [["A", "B"]], [0, 1])


def drafted(draft: type[Draft]) -> type[Sides]:
    """The sides with another draft."""
    return type(draft.__name__, (Sides,), {"draft_type": draft})


def with_side(**types: type) -> type[Sides]:
    """The sides with other types of them."""
    return type("Spoilt", (Sides,), {f"{name}_type": kind for name, kind in types.items()})


@dataclass(frozen=True)
class Seeded:
    """A bug, where it shows, and what its mismatch must speak of."""

    bug: str
    shows: str
    configuration: Configuration
    sides: type[Sides] = Sides
    store: Callable[[], BeakerStore] = MemoryStore


NO_STEP = "the model cannot take "
NO_MORE = "the scheduler can no longer take "
OTHER = " leads to another state than in the model"

SEEDED: Sequence[Seeded] = [
    Seeded("assigned recipes are served by priority", NO_STEP + "(find_idle|give_to_assigned)", SHARED, drafted(ByPriority)),
    Seeded("last come, first served", NO_STEP + "give_to_assigned", SHARED, drafted(LastComeFirstServed)),
    Seeded("a recipe takes its sibling's seat", NO_STEP + "(find_idle|give_to_queued)", TWO, drafted(TakesItsSiblingsSeat)),
    Seeded("a set goes to a lab that cannot hold it", NO_STEP + "(find_idle|give_to_queued)", LABS, drafted(AnyLabWillDo)),
    Seeded("a recipe takes only its own seat", NO_MORE + "(find_idle|give_to_queued)|" + NO_STEP + "(search_ends|make_idle)", LEAVES, drafted(TakesOnlyItsSeat)),
    Seeded("two on one seat", "seated as no seating of the model is", TWO, drafted(SeatsTwoOnOne)),
    Seeded("seats in two labs", "seated as no seating of the model is", LABS, drafted(SeatsAcrossLabs)),
    Seeded("a seat for some of them", NO_STEP + "seat", THREE, drafted(SeatsSome)),
    Seeded("seats on systems that are not Automated", NO_STEP + "seat", LEAVES, drafted(SeatsOnAnything)),
    Seeded("the matching goes across labs", NO_MORE + "search_ends", APART, drafted(MatchesAcrossLabs)),
    Seeded("the first that fits is the seat", "refused, though there is something to choose", TWO, drafted(SeatsGreedily)),
    Seeded("seats are not found", "refused, though there is something to choose", TWO, drafted(FindsNoSeats)),
    Seeded("the search ends unseated", NO_STEP + "search_ends", TWO, drafted(EndsTheSearchUnseated)),
    Seeded("seated once and for all", NO_STEP + "search_ends", LEAVES, drafted(SeatsOnce)),
    Seeded("seated anew without need", NO_STEP + "seat", TWO, drafted(SeatsAgain)),
    Seeded("a single recipe is seated", "seated as no seating of the model is", PEOPLE, drafted(SeatsSingles)),
    Seeded("seats are kept when all is given back", "the seats of a set are no seating.*becomes (Manual|Broken)\n", LEAVES, drafted(KeepsItsSeats)),
    Seeded("a recipe begins with its seat", "a recipe has a seat that is not", TWO, drafted(BeginsWithItsSeats)),
    Seeded("a finished recipe has its seat", "a recipe has a seat that is not", TWO, drafted(FinishesWithItsSeat)),
    Seeded("seats found in one transaction, written in another", "not one transaction but", TWO, with_side(consistency=SeatsFromWhatItSaw)),
    Seeded("a new recipe jumps the queue", NO_STEP + "find_idle", RANKS, drafted(JumpsTheQueue)),
    Seeded("a recipe leaves the lab of its set", NO_STEP, LABS, drafted(WrongLab)),
    Seeded("Manual systems are given away", "IllegalMove|" + NO_STEP + "find_idle", PEOPLE, drafted(GivesAwayManualSystems)),
    Seeded("finished recipes hold their set up", NO_MORE + "begin", TWO, drafted(CountsFinishedRecipes)),
    Seeded("a set that begins keeps its place", "begin.*" + OTHER, PEOPLE, drafted(KeepsItsPlace)),
    Seeded("siblings are not assigned", OTHER, TWO, drafted(LeavesSiblingsQueued)),
    Seeded("guests are not scheduled with their host", OTHER, GUEST, drafted(ForgetsGuests)),
    Seeded("guests outlive their host", OTHER, GUEST, drafted(GuestsLiveOn)),
    Seeded("a cancelled recipe's system is idle at once", "cancel.*" + OTHER, PEOPLE, drafted(LosesTheSystem)),
    Seeded("a recipe stays on a broken system", "(make_manual|break_down).*" + OTHER, PEOPLE, drafted(LeavesTheRecipe)),
    Seeded("a set gives back too little", "(make_manual|break_down).*" + OTHER, LEAVES, drafted(GivesBackTooLittle)),
    Seeded("a set holds on though it cannot be served", "(make_manual|break_down).*" + OTHER, LEAVES, drafted(HoldsOn)),
    Seeded("a set gives back for any system", "(make_manual|break_down).*" + OTHER, LEAVES, drafted(GivesBackTooEasily)),
    Seeded("the dead are not buried", NO_MORE + "abort_dead", PEOPLE, drafted(SeesNoDeath)),
    Seeded("the search ends too early", "find_idle.*" + OTHER, PEOPLE, with_side(new_jobs=EndsTheSearchEarly)),
    Seeded("several sets are in hand", NO_STEP + "take_up", BREAKS, with_side(new_jobs=TakesSeveralUp)),
    Seeded("the set in hand survives a crash", "crash.*" + OTHER, PEOPLE, with_side(new_jobs=SurvivesACrash)),
    Seeded("a set is queued in pieces", "not one transaction but", TWO, with_side(new_jobs=QueuesInPieces)),
    Seeded("decided in one transaction, written in another", "not one transaction but", PEOPLE, with_side(pending=DecidesBeforehand)),
    Seeded("the queue is not looked at", NO_STEP + "make_idle|" + NO_MORE, PEOPLE, drafted(NeverLooksAtTheQueue)),
    Seeded("every idle system is woken", NO_STEP + "wake", PEOPLE, with_side(consistency=WakesEverybody)),
    Seeded("nobody is woken", NO_MORE + "wake", PEOPLE, with_side(consistency=LetsThemSleep)),
    Seeded("reported before it is committed", "reports what it did before", PEOPLE, with_side(provisioning=ReportsBeforeCommit)),
    Seeded("a user's system becomes Automated", NO_STEP + "automate|not one transaction", PEOPLE, with_side(web=TakesReservedSystems)),
    Seeded("refused, and yet written", "refused, but it changed something", TWO, with_side(web=WritesDownRefusals)),
    Seeded("usage is not recorded", "the system usage of s0 does not show what happened", PEOPLE, store=WithoutUsage),
    Seeded("no rollback", "something of the operation is left", PEOPLE, store=NoRollback),
    Seeded("undone after the commit", "something of the operation is lost", PEOPLE, with_side(pending=UndoesWhatFails)),
    Seeded("a loop depends on the memory of another", "the operation fails: AttributeError", PEOPLE, Linked),
]  # fmt: skip
