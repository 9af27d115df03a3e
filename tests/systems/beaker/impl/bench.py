"""All sides of the Beaker scheduler on one store, and short ways to fill and read it (for tests)."""

from __future__ import annotations

from collections.abc import Sequence

from schedproof.impl.systems.beaker import (
    BeakerStore,
    Condition,
    Consistency,
    Job,
    Lab,
    NewJobs,
    PendingSystems,
    Provisioning,
    RecipeSpec,
    Refused,
    Report,
    SetSpec,
    Web,
)


class Bench:
    """The four loops, the web side and the labs; ``reports`` has what they did, in order.

    A recipe is written as its viable systems in letters ("AB"), or, a guest, as "@" and its host's
    name; recipes of set ``s`` are named s.0, s.1, ...
    """

    def __init__(self, store: BeakerStore) -> None:
        self.store = store
        self.reports: list[Report] = []
        seen = self.reports.append
        self.new = NewJobs(store, observer=seen)
        self.pending = PendingSystems(store, observer=seen)
        self.provisioning = Provisioning(store, observer=seen)
        self.consistency = Consistency(store, observer=seen)
        self.web = Web(store, observer=seen)
        self.lab = Lab(store, observer=seen)

    # Filling it.

    def systems(self, *names: str, lab: str = "lab", condition: Condition = Condition.AUTOMATED) -> None:
        for name in names:
            self.web.add_system(name, lab, condition)

    def idle(self, *names: str, lab: str = "lab") -> None:
        """Adds Automated systems for which there is nothing to do yet."""
        self.systems(*names, lab=lab)
        for name in names:
            self.pending.process(name)

    def submit(self, priority: int = 0, **sets: Sequence[str]) -> None:
        self.web.submit(job(priority, **sets))

    def take_up(self, name: str) -> None:
        """Takes a set up, and seats it if it needs that and can be."""
        self.new.take_up(name)
        if name in self.new.unseated():
            self.new.seat(name)

    def queue(self, *sets: str) -> None:
        """Takes sets up, gives them what is idle, and queues the rest."""
        for name in sets:
            self.take_up(name)
            while self.new.in_hand and not self.new.in_hand.searched:
                self.new.search()
            self.new.settle()

    def execute(self, recipe: str, until: str = "completed") -> None:
        """Carries a waiting recipe on."""
        self.lab.installs(recipe)
        if until in ("running", "completed"):
            self.lab.runs(recipe)
        if until == "completed":
            self.lab.completes(recipe)

    # Reading it.

    def states(self, *names: str) -> dict[str, str]:
        """Recipes as "state" or "state on system", systems as "usage" with the condition if not
        Automated; all of them, or those that are named."""
        world = self.store.snapshot()
        shown = {r.name: f"{r.state} on {r.system}" if r.system else str(r.state) for r in world.recipes}
        for s in world.systems:
            shown[s.name] = str(s.usage) if s.condition is Condition.AUTOMATED else f"{s.usage} {s.condition}"
        return {name: shown[name] for name in names} if names else shown

    def assigned(self) -> dict[str, tuple[str | None, int | None]]:
        """The lab and the place of each set that has one."""
        return {s.name: (s.lab, s.place) for s in self.store.snapshot().recipe_sets if s.lab or s.place is not None}

    def seats(self) -> dict[str, str]:
        """The seat of each recipe that has one."""
        return {r.name: r.seat for r in self.store.snapshot().recipes if r.seat}

    def usage(self, system: str) -> list[str]:
        """The system usage in words, the entry that holds marked with "..."."""
        entries = self.store.usage(system)
        return [f"{e.usage} {e.condition}{'' if e.finished else ' ...'}" for e in entries]

    def settle_down(self) -> None:
        """Runs the loops until none of them finds anything to do; labs and people do nothing."""
        busy = True
        while busy:
            sets = self.new.new_sets()
            self.queue(*sets)
            pending = self.pending.pending()
            for system in pending:
                self.pending.process(system)
            ready = self.provisioning.ready()
            for name in ready:
                self.provisioning.begin(name)
            unseated = self.consistency.unseated()
            for name in unseated:
                self.consistency.seat(name)
            sleeping, dead = self.consistency.sleeping(), self.consistency.dead()
            for system in sleeping:
                self.consistency.wake(system)
            for recipe in dead:
                self.consistency.abort_dead(recipe)
            busy = bool(sets or pending or ready or unseated or sleeping or dead)

    def finish_all(self) -> None:
        """Runs loops and labs until everything that can finish has."""
        moves = {"waiting": self.lab.installs, "installing": self.lab.runs, "running": self.lab.completes}
        busy = True
        while busy:
            self.settle_down()
            busy = False
            for recipe in self.store.snapshot().recipes:
                if recipe.state in moves:
                    try:
                        moves[recipe.state](recipe.name)
                        busy = True
                    except Refused:  # a guest whose host does not run yet, or is over
                        continue


def job(priority: int = 0, **sets: Sequence[str]) -> Job:
    """A job named after its first set."""
    specs = tuple(SetSpec(name, _recipes(name, recipes), priority) for name, recipes in sets.items())
    return Job(f"job of {next(iter(sets))}", specs)


def _recipes(name: str, recipes: Sequence[str]) -> tuple[RecipeSpec, ...]:
    return tuple(
        RecipeSpec(f"{name}.{n}", host=text[1:]) if text.startswith("@") else RecipeSpec(f"{name}.{n}", frozenset(text))
        for n, text in enumerate(recipes)
    )
