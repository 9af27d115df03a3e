"""Which property notices a mutant: by a step that the model does not take, or by all that the mutant can do.

Most mutants take a step that the model does not take, from a state that the model reaches, and that step or the state after it violates a
property. To see that, no graph of the mutant is needed. The others are explored where their steps are other ones, small places first.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from functools import cache

from schedproof.model.lang import Invariant, LifeCycle, Model, ModelError, StepInvariant
from schedproof.model.lang.check import checked
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.semantics import IllFormed, Moment, Step, Stepper, Undefined
from schedproof.model.semantics.instance import State
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.exploration.safety import Check
from schedproof.proofs.verdict import Verdict
from tests.support.mutants import Caught, Graph, Mutant, Place, concerned, explored, graph_of, seen_at_once

DIFFERS, SAME = "differs", "same"
FEW = 3
"""At so many places a mutant is explored before all properties are checked as ``verify`` does."""


class Noticing:
    """Says which property of a model notices a mutant, and otherwise whether its steps are the model's.

    Args:
        model: what the mutants are mutants of.
        places: where their steps are compared, small ones first.
        whole: the numbers of the places at which ``verify`` explores: only there does it notice what needs the whole graph.
    """

    def __init__(self, model: Model, places: Sequence[Place], whole: Container[int]) -> None:
        self._model, self._places, self._whole = model, places, whole
        self._graph = cache(lambda n: graph_of(model, places[n]))
        self._explored = cache(lambda n: explored(model, places[n]))
        self._verdicts = cache(lambda: _verdicts(model))
        held = [name for name in (p.name for p in model.properties) if name not in model.refuted]
        self._kept = frozenset(held)
        self._at_once = frozenset(p.name for p in seen_at_once(model)) & self._kept
        self._of_one_place = frozenset(p.name for p in model.properties if not isinstance(p, LifeCycle)) & self._kept

    def noticed(self, mutant: Mutant) -> Caught:
        """How ``mutant`` is noticed: "refused", "step", "explored" or "verdict"; else ``DIFFERS`` or ``SAME``.

        A property that is proved for any number of objects counts at any place, since its proof would fail.
        """
        try:
            other = checked(mutant.build())
        except ModelError as error:
            return Caught("refused", str(error))
        names, differing = concerned(self._model, other), {}
        for n, place in enumerate(self._places):
            what, violated = self._steps(other, place, self._graph(n), names)
            if violated:
                return Caught("step", f"{violated} at {place.name}")
            if what:
                differing[n] = what
        if not differing:
            return Caught(SAME, "")
        if (broken := self._broken(other, [n for n in differing if n in self._whole][:FEW])) is not None:
            return broken
        verdicts = _verdicts(other)
        differs = [name for name, verdict in self._verdicts().items() if verdicts[name] is not verdict]
        if differs:
            return Caught("verdict", next((name for name in differs if name in self._kept), differs[0]))
        if (broken := self._broken(other, [n for n in differing if n not in self._whole])) is not None:
            return broken
        n, what = next(iter(differing.items()))
        return Caught(DIFFERS, f"{what} at {self._places[n].name}")

    def _steps(self, other: Model, place: Place, graph: Graph, names: Container[str]) -> tuple[str, str]:
        """The first step that differs, and the property that such a step, or the state after it, violates."""
        instance = place.of(other)
        stepper = Stepper(instance)
        actions = [action for action in other.actions if action.name in names]
        checks = [Check(instance, prop) for prop in seen_at_once(other) if prop.name in self._at_once]
        on_states = [c for c in checks if isinstance(c.prop, Invariant)]
        on_steps = {
            a.name: [c for c in checks if isinstance(c.prop, StepInvariant) and c.concerns(a.name)] for a in actions
        }
        what = ""
        for state, steps in graph.items():
            expected = {choice: after for choice, after in steps.items() if choice.action in names}
            try:
                for step in stepper.steps(state, actions):
                    if expected.pop(step.choice, None) != step.after:
                        what = what or f"takes {step.choice.action} otherwise"
                        if (broken := _violated(state, step, on_steps[step.choice.action], on_states)) is not None:
                            return what, broken
            except (IllFormed, Undefined) as error:
                return str(error), WELL_FORMED
            if expected:
                what = what or f"does not take {next(iter(expected)).action}"
        return what, ""

    def _broken(self, other: Model, places: Sequence[int]) -> Caught | None:
        for n in places:
            if (broken := self._whole_graph(other, n)) is not None:
                return Caught("explored", f"{broken} at {self._places[n].name}")
        return None

    def _whole_graph(self, other: Model, n: int) -> str | None:
        """A property that does not hold any more at a place."""
        asked = self._of_one_place if n in self._whole else self._at_once
        right = self._explored(n)
        kept = [name for name, verdict in right.items() if verdict is Verdict.PROVED and name in asked]
        wrong = explored(other, self._places[n], [*kept, WELL_FORMED])
        broken = [name for name, verdict in wrong.items() if verdict is Verdict.REFUTED]
        return broken[0] if broken else None


def _violated(state: State, step: Step, on_steps: Sequence[Check], on_states: Sequence[Check]) -> str | None:
    for check in on_steps:
        if check.violated(Moment(state, dict(step.choice.parameters), step.fired, step.after)) is not None:
            return check.prop.name
    return next((check.prop.name for check in on_states if check.violated_in(step.after) is not None), None)


def _verdicts(model: Model) -> Mapping[str, Verdict]:
    """The verdicts of exploration at the default scope."""
    return {result.name: result.verdict for result in model_check(model, {})}
