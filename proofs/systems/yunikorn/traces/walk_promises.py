"""The promises of the document that a run of the model breaks, step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from schedproof.model.lang import Invariant, StepInvariant
from schedproof.model.semantics import Moment, State
from schedproof.proofs.exploration.safety import Check
from schedproof.proofs.traces.engine.candidates import Record
from schedproof.proofs.traces.engine.steps import Wanted
from schedproof.proofs.traces.reports.report import BrokenPromise, Promise

from .walk_objects import Trail, Walker, trails


@dataclass
class Promises:
    """Watches a run: a promise counts as broken where every state, or every step, that explains the record breaks it.

    Promises are the model's properties of states and of steps that cite the document.
    """

    walker: Walker
    plans: Mapping[int, Sequence[Wanted]]
    broken: list[BrokenPromise] = field(default_factory=list)

    def __post_init__(self) -> None:
        cited = [p for p in self.walker.instance.model.properties if p.line is not None]
        instance = self.walker.instance
        self._states = [Check(instance, p) for p in cited if isinstance(p, Invariant)]
        self._steps = [Check(instance, p) for p in cited if isinstance(p, StepInvariant)]

    def seen(self, record: Record, before: Sequence[State], after: Sequence[State]) -> None:
        """Takes a record that the states ``after`` explain, from the states ``before``."""
        for check in self._states:
            if self._all_violate(check, after) and not self._all_violate(check, before):  # else it has been named
                self._name(record, check)
        ways = [self._moments(way) for way in self._ways(record, before, set(after))]
        for check in self._steps:
            if ways and all(any(_breaks(check, action, moment) for action, moment in way) for way in ways):
                self._name(record, check)

    def _all_violate(self, check: Check, states: Sequence[State]) -> bool:
        return bool(states) and all(check.violated(Moment(state)) is not None for state in states)

    def _ways(self, record: Record, before: Sequence[State], after: set[State]) -> list[Trail]:
        """The steps that may have happened; none at all, where nothing changed."""
        found = [
            trail
            for state in before
            for end, trail in trails(self.walker, state, self.plans[record.number])
            if end in after
        ]
        return [*found, *(() for state in before if state in after)]

    def _moments(self, way: Trail) -> list[tuple[str, Moment]]:
        """The steps of a way as properties see them, each with its action."""
        steps = [(state, self.walker.stepper.step(state, choice)) for state, choice in way]
        return [
            (step.choice.action, Moment(state, dict(step.choice.parameters), step.fired, step.after))
            for state, step in steps
        ]

    def _name(self, record: Record, check: Check) -> None:
        prop, document = check.prop, self.walker.instance.model.document.name
        promise = Promise(prop.name, prop.says, document, prop.line, prop.sentence)
        self.broken.append(BrokenPromise(record.number, record.line, record.says, promise))


def _breaks(check: Check, action: str, moment: Moment) -> bool:
    return check.concerns(action) and check.violated(replace(moment, bound=dict(moment.bound))) is not None
