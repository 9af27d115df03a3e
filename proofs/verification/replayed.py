"""Replays a run of one variant in another: whether the other can take the same steps, with the same changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from schedproof.model.lang import Action, Model, Property
from schedproof.model.lang.types import Type
from schedproof.model.semantics import Choice, IllFormed, Instance, State, Undefined, instances, stepper_of
from schedproof.proofs.exploration.recorded_run import recorded_run
from schedproof.proofs.exploration.safety import SAFETY
from schedproof.proofs.verdict import Counterexample, ObjectFacts, TraceStep

Fields = Mapping[tuple[str, str], object]
"""(object, field) -> value, as reports show it."""


def replays(model: Model, prop: Property, run: Counterexample) -> bool:
    """Whether a run to a violation of ``prop`` is also a run of ``model``, as :func:`replayed`."""
    return replayed(model, prop, run) is not None


def replayed(model: Model, prop: Property, run: Counterexample) -> Counterexample | None:
    """A run to a violation of ``prop`` as a run of ``model``, at its default scope; None if it is not one.

    What one state or step refutes is then refuted in ``model`` as well. Whether something can still be reached after the run
    depends on the variant: of such properties no run counts as replayed.
    """
    if not isinstance(prop, SAFETY):
        return None
    known = {action.name: action for action in model.actions}
    if any(step.action not in known for step in run.steps):
        return None
    with_history = run.recorded is not None and run.recorded.with_history  # the property may read history
    for instance in instances(model, {}, with_history=with_history):
        choices = _choices(instance, known, run)
        if choices is not None:
            bound = run.recorded.bound if run.recorded is not None else {}
            return replace(run, recorded=recorded_run(instance, choices, bound))
    return None


def _choices(instance: Instance, known: Mapping[str, Action], run: Counterexample) -> tuple[Choice, ...] | None:
    """The choices with which the instance takes the run; None if it cannot."""
    names = {name for machine in instance.model.machines for name in instance.object_names(machine.sort.name)}
    if not {each.object for each in run.objects} <= names:
        return None
    initial = instance.initial()
    begins = _fields(instance, initial)
    if not all(_has(begins, each) for each in [*run.objects, *run.initial]):
        return None
    paths: dict[State, tuple[Choice, ...]] = {initial: ()}
    for step in run.steps:
        paths = {
            after: (*path, choice)
            for state, path in paths.items()
            for after, choice in _after(instance, known[step.action], state, step).items()
        }
    ends = (path for state, path in paths.items() if all(_has(_fields(instance, state), each) for each in run.end))
    return next(ends, None)


def _after(instance: Instance, action: Action, state: State, step: TraceStep) -> dict[State, Choice]:
    """The states to which a choice of the action with the step's parameters leads, with the step's changes."""
    stepper = stepper_of(instance)
    types = {v.name: v.type for v in action.parameters}
    states = {}
    try:
        for choice in stepper.choices(state, action):
            if _same(instance, types, choice, step):
                after = stepper.step(state, choice).after
                fields = _fields(instance, after)
                if all(fields.get((c.object, c.field), c.after) == c.after for c in step.changes):
                    states[after] = choice
    except (IllFormed, Undefined):
        return {}
    return states


def _same(instance: Instance, types: Mapping[str, Type], choice: Choice, step: TraceStep) -> bool:
    return all(
        instance.show(types[name], value) == step.parameters[name]
        for name, value in choice.parameters
        if name in step.parameters
    )


def _fields(instance: Instance, state: State) -> Fields:
    described = instance.describe(state)
    return {
        (name, field): value
        for some in described.values()
        for name, fields in some.items()
        for field, value in fields.items()
    }


def _has(fields: Fields, facts: ObjectFacts) -> bool:
    """Whether an object is as a report says; fields that a variant lacks do not count."""
    return all(fields.get((facts.object, name), value) == value for name, value in facts.fields.items())
