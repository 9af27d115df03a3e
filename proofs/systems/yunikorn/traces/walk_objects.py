"""A walk of YuniKorn's Application as an instance of the model: the application, its asks, what they need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from schedproof.model.lang import Action, Invariant, Model, Ref, Rigid, Rule, StepInvariant, Var
from schedproof.model.lang.terms import free_variables
from schedproof.model.semantics import Choice, Instance, State, Stepper
from schedproof.proofs.traces.engine.steps import StepPattern, Steps

APPLICATION, GANG_TIMER, NODE = "the application", "the gang's timer", "the node"
HELD = ("allocated", "releasing")


@dataclass(frozen=True)
class WalkAsks:
    """The asks and the gang of a walk.

    Args:
        asks: key -> whether it is for a placeholder, in the order in which they come.
        style: the gang's, Soft or Hard.
        total: the placeholders that the gang was said to need.
    """

    asks: Mapping[str, bool]
    style: str
    total: int

    def instance(self, model: Model) -> Instance:
        """Returns the model's instance: these objects, one queue, one node with room for all, no shim."""
        asks = list(self.asks) or ["(no ask)"]
        names = {
            "Partition": ["the partition"],
            "Queue": ["the queue"],
            "Application": [APPLICATION],
            "Ask": asks,
            "Wakeup": ["the time-out"],
            "GangTimer": [GANG_TIMER],
            "Node": [NODE],
        }
        rigid: Rigid = {
            ("Queue", "partition"): [0],
            ("Application", "queue"): [0],
            ("Application", "style"): [self.style],
            ("Application", "exact"): [False],  # a walk may ask for more or fewer placeholders than the total
            ("Ask", "application"): [0] * len(asks),
            ("Ask", "placeholder"): [self.asks.get(key, False) for key in asks],
            ("GangTimer", "application"): [0],
            ("Node", "partition"): [0],
        }
        sizes = {sort.name: len(names.get(sort.name, ())) for sort in model.sorts}
        return Instance(model, sizes, rigid, names=names)


SORTS = ("Partition", "Queue", "Application", "Ask", "Wakeup", "GangTimer", "Node")
"""The sorts that a walk has objects of."""


def core_of(model: Model) -> Model:
    """Returns the model without the elements that need objects of sorts outside ``SORTS``.

    The shim is two thirds of the model, and every walk has its own instance.
    """

    def has_objects_of(variables: Iterable[Var]) -> bool:
        return all(not isinstance(v.type, Ref) or v.type.sort.name in SORTS for v in variables)

    actions = [a for a in model.actions if has_objects_of(a.parameters)]
    names = {a.name for a in actions}

    def can_fire(rule: Rule) -> bool:
        terms = [*rule.when, rule.fires, *([] if isinstance(rule.on, Action) else [rule.on])]
        happens = not isinstance(rule.on, Action) or rule.on.name in names
        return happens and has_objects_of(v for term in terms for v in free_variables(term).values())

    properties = [
        p
        for p in model.properties
        if isinstance(p, Invariant | StepInvariant)
        and has_objects_of(p.over)
        and names.issuperset(getattr(p, "on", ()))
    ]
    return replace(
        model,
        actions=actions,
        rules=[rule for rule in model.rules if can_fire(rule)],
        properties=properties,
        refuted=model.refuted & {p.name for p in properties},
        changes=(),
    )


class Walker:
    """An instance of a walk; objects and values are addressed by name."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.stepper = Stepper(instance)
        self.steps = Steps(self.stepper)
        self.states = {m.sort.name: [s.name for s in m.states] for m in instance.model.machines}
        self._asks = {key: number for number, key in enumerate(instance.object_names("Ask"))}

    @cached_property
    def start(self) -> State:
        """The first state of a walk: the application is known, and there is a node."""
        state = self.instance.initial()
        for choice in (Choice("create_node", (("n", 0),)), Choice("submit", (("a", 0),))):
            state = self.stepper.step(state, choice).after
        return state

    def pattern(self, action: str, **given: int) -> StepPattern:
        """Returns a pattern for steps of ``action``; parameters that this variant does not have are left out."""
        modelled = self.instance.model.action(action)
        known = {v.name for v in modelled.parameters}
        return StepPattern(modelled, {name: value for name, value in given.items() if name in known})

    def ask(self, key: str) -> int:
        """Returns the number of an ask."""
        return self._asks[key]

    def slot(self, sort: str, attribute: str = "", number: int = 0) -> int:
        """Returns the slot of a field in the state."""
        return self.instance.slot(sort, attribute) + number

    def state(self, state: State) -> str:
        """Returns the state of the application."""
        return self.states["Application"][state[self.slot("Application")]]

    def ask_is(self, state: State, key: str, *names: str) -> bool:
        """True if the ask is in one of these states."""
        return self.states["Ask"][state[self.slot("Ask", number=self.ask(key))]] in names

    def listed(self, state: State, key: str) -> bool:
        """True if the application still lists the ask, allocated or not."""
        return bool(state[self.slot("Ask", "listed", self.ask(key))])

    def counts(self, state: State, placeholders: Mapping[str, bool]) -> dict[str, int]:
        """Returns the walk's counts: pending, allocated and listed asks."""
        held = {key: self.ask_is(state, key, *HELD) for key in placeholders}
        return {
            "pending": sum(self.ask_is(state, key, "pending") for key in placeholders),
            "allocated": sum(held[key] for key, placeholder in placeholders.items() if not placeholder),
            "allocatedPlaceholder": sum(held[key] for key, placeholder in placeholders.items() if placeholder),
            "asks": sum(self.listed(state, key) for key in placeholders),
            "allocations": sum(held.values()),
        }

    def looked_at(self, state: State, asks: Iterable[str]) -> State:
        """Returns the state after the removal of an allocated ask, except that the ask stays listed."""
        for key in asks:
            if self.listed(state, key) and not self.ask_is(state, key, "pending"):
                for _, after in self.steps.some(state, self.pattern("remove_ask", k=self.ask(key))):
                    slot = self.slot("Ask", "listed", self.ask(key))
                    return (*after[:slot], state[slot], *after[slot + 1 :])
        return state

    def value(self, sort: str, attribute: str, name: str) -> int:
        """Returns the packed form of a state (``attribute`` "") or of a value of an enumeration."""
        if not attribute:
            return self.states[sort].index(name)
        described = self.instance.model.machine(sort).attribute(attribute)
        assert described is not None
        return self.instance.read(described.type, name)


Trail = tuple[tuple[State, Choice], ...]
"""Steps, each as the state before it and its choice."""


def trails(walker: Walker, before: State, plan: Sequence[StepPattern]) -> list[tuple[State, Trail]]:
    """Returns where the steps of ``plan``, in sequence, can lead from ``before``, each with its trail."""
    reached: list[tuple[State, Trail]] = [(before, ())]
    for pattern in plan:
        reached = [
            (after, (*trail, (state, choice)))
            for state, trail in reached
            for choice, after in walker.steps.some(state, pattern)
        ]
    return reached
