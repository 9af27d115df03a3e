"""The properties of the document that a run of the model violates, step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from schedproof.model.lang import Invariant, StepInvariant
from schedproof.model.semantics import Moment, State
from schedproof.proofs.exploration.safety import Check
from schedproof.proofs.traces.engine.steps import StepPattern
from schedproof.proofs.traces.reports.report import Requirement, Violation

from .walk_objects import Trail, Walker, trails


class ExportedProperties:
    """The properties that a walk can violate.

    A property counts as violated if every state, or every step, that explains a record violates it. The properties
    are the model's invariants and step invariants that cite the document.
    """

    def __init__(self, walker: Walker) -> None:
        self.walker = walker
        instance = walker.instance
        cited = [p for p in instance.model.properties if p.line is not None]
        self._states = [Check(instance, p) for p in cited if isinstance(p, Invariant)]
        self._steps = [Check(instance, p) for p in cited if isinstance(p, StepInvariant)]

    def breaks(
        self, number: int, line: int, says: str, plan: Sequence[StepPattern]
    ) -> Callable[[Sequence[State], Sequence[State]], list[Violation]]:
        """Returns the function that finds a record's violations, from the states that explain it before and after.

        Args:
            number: the record's number.
            line: its line.
            says: the record in words.
            plan: the steps of the record.
        """
        document = self.walker.instance.model.document.name

        def broken(before: Sequence[State], after: Sequence[State]) -> Iterator[Check]:
            for check in self._states:
                if self._all_violate(check, after) and not self._all_violate(check, before):  # else reported already
                    yield check
            ways = [self._moments(way) for way in self._ways(plan, before, set(after))]
            for check in self._steps:
                if ways and all(any(_breaks(check, action, moment) for action, moment in way) for way in ways):
                    yield check

        def breaks(before: Sequence[State], after: Sequence[State]) -> list[Violation]:
            props = [check.prop for check in broken(before, after)]
            return [
                Violation(number, line, says, Requirement(p.name, p.says, document, p.line, p.sentence)) for p in props
            ]

        return breaks

    def _all_violate(self, check: Check, states: Sequence[State]) -> bool:
        return bool(states) and all(check.violated(Moment(state)) is not None for state in states)

    def _ways(self, plan: Sequence[StepPattern], before: Sequence[State], after: set[State]) -> list[Trail]:
        """The steps that may have happened; an empty trail where nothing changed."""
        complete = [trail for state in before for end, trail in trails(self.walker, state, plan) if end in after]
        return [*complete, *(() for state in before if state in after)]

    def _moments(self, way: Trail) -> list[tuple[str, Moment]]:
        """The steps of a trail as moments for properties, each with its action."""
        steps = [(state, self.walker.stepper.step(state, choice)) for state, choice in way]
        return [
            (step.choice.action, Moment(state, dict(step.choice.parameters), step.fired, step.after))
            for state, step in steps
        ]


def _breaks(check: Check, action: str, moment: Moment) -> bool:
    return check.concerns(action) and check.violated(replace(moment, bound=dict(moment.bound))) is not None
