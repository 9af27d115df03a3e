"""The run of a counterexample beside the same actions in another variant."""

from __future__ import annotations

from collections.abc import Collection

from schedproof.model.lang import Action, Model
from schedproof.model.lang.disposable import least
from schedproof.model.semantics import (
    Choice,
    IllFormed,
    Instance,
    State,
    Undefined,
    parameters,
    stepper_of,
)
from schedproof.proofs.exploration.guards import why_disabled
from schedproof.proofs.exploration.runs import changes, trace_step
from schedproof.proofs.verdict import RecordedRun

from .cascades import Cascades, play
from .data import Comparison, PlayedStep
from .lanes import lanes_among


def comparison(instance: Instance, run: RecordedRun, other: Model, names: Collection[str]) -> Comparison:
    """The actions of a run in another variant, as far as they are enabled there.

    Args:
        instance: the instance of the run.
        other: the other variant; it has the run's numbers of objects, and those of its rigid values that have the same names.
        names: the objects to compare.
    """
    counterpart = _counterpart(instance, other)
    cascades, state = Cascades(stepper_of(counterpart)), counterpart.initial()
    steps: list[PlayedStep] = []
    stops = ""
    for choice in run.choices:
        try:
            same = _same_choice(instance, counterpart, state, choice)
            after, changed = changes(cascades.stepper, state, same)
        except (_Disabled, IllFormed, Undefined) as error:
            stops = str(error)
            break
        _, played_step = play(cascades, state, same, trace_step(counterpart, same, state, changed))
        steps.append(played_step)
        state = after
    return Comparison(other.variant, lanes_among(counterpart, names), tuple(steps), stops)


class _Disabled(Exception):
    """The other variant does not enable a step."""


def _counterpart(instance: Instance, other: Model) -> Instance:
    """The other variant with the objects and the rigid values of an instance."""
    sizes = {
        sort.name: instance.sizes.get(sort.name, other.default_scope.get(sort.name, least(other.actions, sort)))
        for sort in other.sorts
    }
    known = {(s, name): a.type for (s, name), a in instance.model.rigid_attributes.items()}
    rigid = {
        key: values
        for key, values in instance.rigid.items()
        if key in other.rigid_attributes and str(other.rigid_attributes[key].type) == str(known[key])
    }
    return Instance(other, sizes, rigid, instance.with_history)


def _same_choice(instance: Instance, counterpart: Instance, state: State, choice: Choice) -> Choice:
    """The choice with the same action and parameters in the other variant.

    Raises:
        _Disabled: the variant has no such action, or does not enable it.
    """
    action = next((a for a in counterpart.model.actions if a.name == choice.action), None)
    if action is None:
        raise _Disabled(f"{counterpart.model.variant} has no action {choice.action}")
    given = _parameters(instance, counterpart, choice, action)
    enabled = [
        each
        for each in stepper_of(counterpart).choices(state, action)
        if all(dict(each.parameters)[name] == value for name, value in given.items())
    ]
    if not enabled:
        raise _Disabled(why_disabled(counterpart, state, action, given))
    return enabled[0]


def _parameters(instance: Instance, counterpart: Instance, choice: Choice, action: Action) -> dict[str, int]:
    """The values of the parameters that the action has in both variants, encoded for the other one."""
    types = {v.name: v.type for v in action.parameters}
    try:
        return {
            name: counterpart.read(types[name], value)
            for name, value in parameters(instance, choice).items()
            if name in types
        }
    except ValueError as error:
        raise _Disabled(f"{choice.action} cannot have the same parameters: {error}") from None
