"""The results of an exploration that pictures need: reachable states, steps, and states that violate a property."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from schedproof.model.lang import Model, Rigid
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.semantics import (
    Choice,
    IllFormed,
    Instance,
    State,
    Step,
    Stepper,
    Undefined,
    bounds_of,
    check_scope,
    instances,
    scope_text,
)
from schedproof.proofs.checking.engine import Exploring
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.exploration.explore import Progress, explore
from schedproof.proofs.verdict import Counterexample, Verdict

from .errors import DiagramError

OnStep = Callable[[State, Step], None]


def reachable(
    instance: Instance, on_step: OnStep = lambda state, step: None, progress: Progress | None = None
) -> list[State]:
    """The reachable states of ``instance``, one for each class of interchangeable states.

    Args:
        instance: the model at a scope.
        on_step: called with every step from these states.
        progress: called during the exploration.

    Raises:
        ModelError: an integer has no bound.
        DiagramError: some step is ill-formed.
    """
    exploration = explore(instance, progress=progress, on_step=lambda state, _, step: on_step(state, step))
    if exploration.ill_formed is not None:
        model = instance.model
        raise DiagramError(
            f"{model.system} ({model.variant}) is not well-formed: {exploration.ill_formed[2]}; "
            f"run: schedproof explain {model.system} {WELL_FORMED} --variant {model.variant}"
        )
    return exploration.states


def explored_at(model: Model, scope: Mapping[str, int]) -> str:
    """What explorations of a model have, in words: the numbers of objects, and the bounds of integers.

    Raises:
        ScopeError: the scope is impossible.
        ModelError: an integer has no bound.
    """
    sizes = check_scope(model, scope)
    at = scope_text(sizes)
    return next((f"{at} within {bounds.text}" for bounds in map(bounds_of, instances(model, sizes)) if bounds), at)


def broken_states(
    model: Model, scope: Mapping[str, int], names: Sequence[str], progress: Progress | None = None
) -> dict[str, tuple[Instance, State]]:
    """The last state of a shortest run that violates it, for each property in ``names`` that such a run refutes.

    ``schedproof explain`` prints the same run.

    Raises:
        ScopeError: the scope is impossible.
        DiagramError: a run ends in an ill-formed step.
    """
    best: dict[str, tuple[Instance, Counterexample]] = {}
    for instance in instances(model, check_scope(model, scope)):
        alone = replace(model, configurations=partial(_just, instance.rigid))
        for result in model_check(alone, scope, only=names, how=Exploring(progress=progress)):
            example = result.counterexample
            if result.name not in names or result.verdict is not Verdict.REFUTED or example is None:
                continue
            if result.name not in best or len(example.steps) < len(best[result.name][1].steps):
                best[result.name] = instance, example
    return {name: (instance, _end(instance, example)) for name, (instance, example) in best.items()}


def _just(rigid: Rigid, sizes: Mapping[str, int]) -> list[Rigid]:
    """The configurations of a model that is explored in one configuration only."""
    return [rigid]


def _end(instance: Instance, example: Counterexample) -> State:
    """The state after the run of a counterexample."""
    stepper, state = Stepper(instance), instance.initial()
    for reported_step in example.steps:
        kinds = [(v.name, v.type) for v in instance.model.action(reported_step.action).parameters]
        choice = Choice(
            reported_step.action, tuple((n, instance.read(kind, reported_step.parameters[n])) for n, kind in kinds)
        )
        try:
            state = stepper.step(state, choice).after
        except (IllFormed, Undefined) as error:
            raise DiagramError(
                f"the run ends in a step that the model must not allow: {error}; correct the model"
            ) from error
    return state
