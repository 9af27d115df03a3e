"""Common parts of the log formats of the shipped Beaker: an instance of its model, and clues about it.

The logs name recipes, and some of them sets or systems. This module names the rest. A recipe of no known set is alone
in one. A recipe of no known system has one of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from schedproof.model.lang import Model, Rigid
from schedproof.model.semantics import Instance, State, Stepper
from schedproof.model.systems.beaker.shipped.machines import MACHINES
from schedproof.proofs.traces.engine.candidates import Observation
from schedproof.proofs.traces.engine.explain import Complaint, Explainer
from schedproof.proofs.traces.engine.steps import StepPattern, Steps


def fits(model: Model) -> bool:
    """Whether the model has the shipped machines."""
    return model.machines == MACHINES


@dataclass(frozen=True)
class NamedObjects:
    """The objects that a log names.

    Attributes:
        sets: recipe -> its set.
        candidates: recipe -> its candidate systems.
        hosts: recipe -> its host, "" for none.
    """

    sets: Mapping[str, str]
    candidates: Mapping[str, Sequence[str]]
    hosts: Mapping[str, str]

    def instance(self, model: Model, systems: Iterable[str] = ()) -> Instance:
        """Returns the model with these objects; ``systems`` are those that no recipe has."""
        recipes = list(self.sets)
        sets = list(dict.fromkeys(self.sets.values())) or ["(no set)"]
        every = list(dict.fromkeys([*systems, *(s for r in recipes for s in self.candidates[r])])) or ["(no system)"]
        rigid: Rigid = {
            ("Recipe", "recipe_set"): [sets.index(self.sets[r]) for r in recipes] or [0],
            ("Recipe", "candidates"): [frozenset(every.index(s) for s in self.candidates[r]) for r in recipes]
            or [frozenset()],
            ("Recipe", "host"): [recipes.index(self.hosts[r]) if self.hosts[r] else None for r in recipes] or [None],
        }
        names = {"RecipeSet": sets, "Recipe": recipes or ["(no recipe)"], "System": every}
        return Instance(model, {sort: len(n) for sort, n in names.items()}, rigid, names=names)


class Shipped:
    """An instance of the shipped machine, addressed by the names of its objects."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.explainer = Explainer(Steps(Stepper(instance)))
        self._numbers = {
            sort: {name: i for i, name in enumerate(instance.object_names(sort))}
            for sort in ("RecipeSet", "Recipe", "System")
        }
        self.statuses = [s.name for s in instance.model.machine("Recipe").states]

    def knows(self, sort: str, name: str) -> bool:
        """Whether there is such an object."""
        return name in self._numbers[sort]

    def pattern(self, action: str, *, recipe: str = "", system: str = "", recipe_set: str = "") -> StepPattern:
        """Returns the pattern of a step of ``action`` with the given objects."""
        given = {"r": ("Recipe", recipe), "s": ("System", system), "j": ("RecipeSet", recipe_set)}
        return StepPattern(
            self.instance.model.action(action),
            {name: self._numbers[sort][value] for name, (sort, value) in given.items() if value},
        )

    def status(self, state: State, recipe: str) -> str:
        """Returns the status of a recipe."""
        return self.statuses[state[self.instance.slot("Recipe") + self._numbers["Recipe"][recipe]]]

    def held(self, state: State, recipe: str) -> str:
        """Returns the system that a recipe holds, or ""."""
        number = state[self.instance.slot("Recipe", "system") + self._numbers["Recipe"][recipe]]
        return "" if number < 0 else self.instance.object_names("System")[number]

    def observed(self, recipe: str, *, status: str = "", system: str | None = None) -> Observation:
        """Returns the observation that a recipe has a status, and that it holds a system ("" for none)."""
        number, slots = self._numbers["Recipe"][recipe], {}
        if status:
            slots[self.instance.slot("Recipe") + number] = self.statuses.index(status)
        if system is not None:
            held = self._numbers["System"][system] if system else -1
            slots[self.instance.slot("Recipe", "system") + number] = held
        return Observation(slots)

    def was(self, recipe: str, *statuses: str) -> Complaint:
        """Returns the check that a recipe is in one of ``statuses``; it reports a complaint otherwise."""

        def complaint(state: State) -> str:
            now = self.status(state, recipe)
            return "" if now in statuses else f"{recipe} is {now}, not {' or '.join(statuses)}"

        return complaint
