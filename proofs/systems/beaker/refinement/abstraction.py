"""The abstraction function: maps the database and the process's memory to states of the model.

It shares no code with the scheduler.
"""

from __future__ import annotations

from schedproof.impl.systems.beaker import Report, What, World
from schedproof.model.semantics import Choice, Instance, State
from schedproof.model.semantics.instance import NO_OBJECT
from schedproof.proofs.refinement.mismatch import Broken
from schedproof.proofs.refinement.modelside import Normal

from .runner import Snapshot
from .seatings import Seatings, rigid

LABELS: dict[What, tuple[str, dict[str, str]]] = {
    What.TAKEN_UP: ("take_up", {"j": "recipe_set"}),
    What.FOUND_IDLE: ("find_idle", {"r": "recipe", "s": "system"}),
    What.SEARCH_ENDED: ("search_ends", {"j": "recipe_set"}),
    What.SETTLED: ("settle", {"j": "recipe_set"}),
    What.GIVEN_TO_ASSIGNED: ("give_to_assigned", {"s": "system", "r": "recipe"}),
    What.GIVEN_TO_QUEUED: ("give_to_queued", {"s": "system", "r": "recipe"}),
    What.MADE_IDLE: ("make_idle", {"s": "system"}),
    What.BEGUN: ("begin", {"j": "recipe_set"}),
    What.WOKEN: ("wake", {"s": "system"}),
    What.DEAD_ABORTED: ("abort_dead", {"r": "recipe"}),
    What.INSTALLING: ("install", {"r": "recipe"}),
    What.RUNNING: ("run", {"r": "recipe"}),
    What.COMPLETED: ("complete", {"r": "recipe"}),
    What.CANCELLED: ("cancel", {"r": "recipe"}),
    What.ABORTED: ("abort", {"r": "recipe"}),
    What.SET_CANCELLED: ("cancel_set", {"j": "recipe_set"}),
    What.SET_ABORTED: ("abort_set", {"j": "recipe_set"}),
    What.PRIORITY_CHANGED: ("reprioritize", {"j": "recipe_set", "n": "to"}),
    What.RESERVED: ("reserve", {"s": "system"}),
    What.PROVISIONED: ("install_reserved", {"s": "system"}),
    What.USED: ("run_reserved", {"s": "system"}),
    What.RETURNED: ("give_back", {"s": "system"}),
}
"""The model's action for each operation, and its parameters in their order."""

CONDITIONS = {"Automated": "automate", "Manual": "make_manual", "Broken": "break_down"}


class Abstraction:
    """Maps states of the scheduler to states of ``instance``; objects have the same names in both."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self._numbers = {
            sort: {name: n for n, name in enumerate(instance.object_names(sort))}
            for sort in ("Lab", "RecipeSet", "Recipe", "System")
        }
        self._states = {
            sort: {s.name: n for n, s in enumerate(instance.model.machine(sort).states)}
            for sort in ("RecipeSet", "Recipe", "System")
        }
        self._seatings = Seatings(instance)
        self._conditions = {name: n for n, name in enumerate(CONDITIONS)}
        self._rigid: tuple[object, ...] | None = None

    def image(self, at: Snapshot) -> State:
        """Returns the model state of a state of the scheduler.

        Raises:
            Broken: a rigid attribute has changed, a set has a lab without a place or the reverse, or the seats are not
                a seating.
        """
        self._check_rigid(at.world)
        slot, number = self.instance.slot, self._numbers
        state = list(self.instance.initial())
        in_hand = at.in_hand
        for n, each in enumerate(at.world.recipe_sets):
            is_handled = in_hand is not None and in_hand.recipe_set == each.name
            where = "at_rest" if not (is_handled and in_hand) else "searched" if in_hand.searched else "in_hand"
            state[slot("RecipeSet") + n] = self._states["RecipeSet"][where]
            state[slot("RecipeSet", "priority") + n] = each.priority
            if (each.lab is None) != (each.place is None):
                raise Broken(f"{each.name} has a lab without a place in the order, or the reverse", actual=f"{each}")
            if each.lab is not None and each.place is not None:
                state[slot("RecipeSet", "lab") + n] = number["Lab"][each.lab]
                state[slot("RecipeSet", "behind") + n] = sum(
                    1 << number["RecipeSet"][other.name]
                    for other in at.world.recipe_sets
                    if other.place is not None and other.place < each.place
                )
        for n, recipe in enumerate(at.world.recipes):
            state[slot("Recipe") + n] = self._states["Recipe"][recipe.state]
            if recipe.system is not None:
                state[slot("Recipe", "system") + n] = number["System"][recipe.system]
        for n, system in enumerate(at.world.systems):
            state[slot("System") + n] = self._states["System"][system.usage]
            state[slot("System", "condition") + n] = self._conditions[system.condition]
        for n, each in enumerate(at.world.recipe_sets):
            rows = ((r.name, r.seat) for r in at.world.recipes if r.recipe_set == each.name and r.seat is not None)
            seats = {number["Recipe"][recipe]: number["System"][seat] for recipe, seat in rows}
            state[slot("RecipeSet", "seating") + n] = self._seatings.of_rows(tuple(state), n, seats)
        return tuple(state)

    def labels(self, report: Report) -> list[Choice]:
        """Returns the model's choices for an operation: several if the report names only a part of a seating.

        Raises:
            Broken: the model has no such action, or no such seating.
        """
        if report.what is What.SEATED and report.recipe_set is not None:
            recipe_set = self._numbers["RecipeSet"][report.recipe_set]
            seats = {self._numbers["Recipe"][r]: self._numbers["System"][s] for r, s in report.seats}
            seatings = self._seatings.with_seats(recipe_set, seats)
            return [Choice("seat", (("j", recipe_set), ("p", seating))) for seating in seatings]
        return [self._label(report)]

    def _label(self, report: Report) -> Choice:
        if report.what is What.CONDITION_CHANGED and report.system is not None:
            return Choice(CONDITIONS[str(report.to)], (("s", self._numbers["System"][report.system]),))
        if report.what not in LABELS:
            raise Broken(f"the operation reports '{report.what}', which the model has no action for")
        action, fields = LABELS[report.what]
        return Choice(action, tuple((name, self._parameter(report, of)) for name, of in fields.items()))

    def _parameter(self, report: Report, of: str) -> int:
        value = getattr(report, of)
        if of == "to":
            return int(value)
        sort = {"recipe_set": "RecipeSet", "recipe": "Recipe", "system": "System"}[of]
        return self._numbers[sort][value]

    def _check_rigid(self, world: World) -> None:
        rigid = (
            tuple((s.name, s.job) for s in world.recipe_sets),
            tuple((r.name, r.recipe_set, r.host, r.viable) for r in world.recipes),
            tuple((s.name, s.lab) for s in world.systems),
        )
        self._rigid = self._rigid or rigid
        if rigid != self._rigid:
            raise Broken("something changed that never does", expected=f"{self._rigid}", actual=f"{rigid}")


def without_bygones(instance: Instance) -> Normal:
    """Returns a function that drops records of sets that are no longer assigned from model states.

    "The sets that were assigned before this one" still has sets that have begun since, and a cancelled set keeps its
    lab. No step reads either, and the scheduler keeps neither. Nor does it keep the seats of recipes that have their
    system or are finished (see :mod:`.seatings`).
    """
    sets, recipes = range(instance.sizes["RecipeSet"]), range(instance.sizes["Recipe"])
    lab, behind, recipe = (
        instance.slot("RecipeSet", "lab"),
        instance.slot("RecipeSet", "behind"),
        instance.slot("Recipe"),
    )
    states = [s.name for s in instance.model.machine("Recipe").states]
    finished = {n for n, name in enumerate(states) if name in ("completed", "cancelled", "aborted")}
    of = rigid(instance, "Recipe", "recipe_set")
    seatings = Seatings(instance)

    def normal(state: State) -> State:
        live = {of[n] for n in recipes if state[recipe + n] not in finished}
        assigned = sum(1 << n for n in sets if n in live and state[lab + n] != NO_OBJECT)
        new = list(state)
        for n in sets:
            new[lab + n] = state[lab + n] if assigned >> n & 1 else NO_OBJECT
            new[behind + n] = state[behind + n] & assigned if assigned >> n & 1 else 0
        return seatings.normal(tuple(new))

    return normal
