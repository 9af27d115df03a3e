"""Replays a run of a model, step by step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schedproof.model.errors import require
from schedproof.model.lang import Action, Invariant, Model, Rigid, Var
from schedproof.model.lang.check import checked
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.registry.errors import UserError, unknown
from schedproof.model.semantics import (
    Choice,
    IllFormed,
    Instance,
    Moment,
    State,
    Step,
    Undefined,
    check_scope,
    instances,
    stepper_of,
)
from schedproof.model.semantics.instance import fitted
from schedproof.proofs.exploration.guards import why_disabled
from schedproof.proofs.exploration.safety import Check, checks_of

Replayed = Sequence[tuple[str, Mapping[str, Any]]]
"""The steps of a run: each an action's name, and its parameters as a reader sees them."""


@dataclass(frozen=True)
class Replay:
    """A replayed run.

    Attributes:
        states: the initial state, and the state after each step: ``{sort: {object: {field: value}}}``.
        violated: the names of the safety properties that the run violates, in the model's order. Properties of whole
            runs, such as ``LeadsTo``, are not checked.
    """

    states: Sequence[Mapping[str, Mapping[str, Mapping[str, Any]]]]
    violated: Sequence[str]


def replay(
    model: Model,
    steps: Replayed,
    *,
    scope: Mapping[str, int] | None = None,
    configuration: Rigid | None = None,
) -> Replay:
    """Replays a run from the initial state, and checks the safety properties of the model along it.

    A page of a counterexample has such a run, as a test to copy.

    Args:
        model: the model.
        steps: the run: an action's name, and its parameters by name. Objects are names, sets are lists of names.
        scope: sort name -> number of objects; overrides the model's default.
        configuration: the rigid values; by default the model's only configuration at the scope.

    Returns:
        The states, and the violated properties. An ill-formed last step violates ``well-formed``, and has no state.

    Raises:
        AssertionError: a step is not enabled, or follows an ill-formed one.
        ArgumentError: an argument has the wrong type.
        UserError: a step names an action, a parameter or a value that the model does not have, or the model has several
            configurations.
        ScopeError: the scope or the configuration is impossible.
    """
    __tracebackhide__ = True
    checked(model)
    require("steps", steps, (list, tuple), "a list of steps, for example [('start', {'j': 'j0'})]")
    instance = _instance(model, scope or {}, configuration)
    stepper, now = stepper_of(instance), instance.initial()
    states = [instance.describe(now)]
    checks = [(prop.name, check) for prop in model.properties for check in checks_of(instance, prop)]
    violated = set(_violated_in(checks, now))
    for number, step in enumerate(steps, 1):
        if WELL_FORMED in violated:
            raise AssertionError(f"step {number} follows an ill-formed step, after which there is no state")
        choice = _choice(instance, now, number, step)
        try:
            moved = stepper.step(now, choice)
        except (IllFormed, Undefined):
            violated.add(WELL_FORMED)
            continue
        violated |= {*_violated_by(checks, now, moved), *_violated_in(checks, moved.after)}
        now = moved.after
        states.append(instance.describe(now))
    names = [WELL_FORMED, *(prop.name for prop in model.properties)]
    return Replay(tuple(states), tuple(name for name in names if name in violated))


def _instance(model: Model, scope: Mapping[str, int], configuration: Rigid | None) -> Instance:
    if configuration is not None:
        return Instance(model, fitted(check_scope(model, scope), configuration), configuration, with_history=True)
    declared = list(instances(model, scope, with_history=True))
    if len(declared) != 1:
        raise UserError(f"{model.system} has {len(declared)} configurations at this scope; write configuration={{...}}")
    return declared[0]


def _violated_in(checks: Sequence[tuple[str, Check]], state: State) -> Iterator[str]:
    for name, check in checks:
        if isinstance(check.prop, Invariant) and check.violated(Moment(state)) is not None:
            yield name


def _violated_by(checks: Sequence[tuple[str, Check]], before: State, step: Step) -> Iterator[str]:
    for name, check in checks:
        if check.concerns(step.choice.action):
            moment = Moment(before, dict(step.choice.parameters), step.fired, step.after)
            if check.violated(moment) is not None:
                yield name


def _choice(instance: Instance, state: State, number: int, step: tuple[str, Mapping[str, Any]]) -> Choice:
    """A step as a choice that is enabled.

    Raises:
        AssertionError: it is not enabled.
    """
    __tracebackhide__ = True
    if not (isinstance(step, list | tuple) and len(step) == 2 and isinstance(step[1], Mapping)):
        raise UserError(f"step {number} is {step!r:.60}; write an action and its parameters: ('start', {{'j': 'j0'}})")
    name, parameters = step
    actions = {action.name: action for action in instance.model.actions}
    if name not in actions:
        raise unknown("action", str(name), actions, of=f"{instance.model.system} {instance.model.variant}")
    values = _values(instance, number, actions[name], parameters)
    choice = Choice(name, tuple((v.name, values[v.name]) for v in actions[name].parameters))
    if choice not in stepper_of(instance).choices(state, actions[name]):
        shown_step = f"{name}({', '.join(f'{n}={v!r}' for n, v in parameters.items())})"
        raise AssertionError(
            f"step {number}, {shown_step}, is not enabled; {why_disabled(instance, state, actions[name], values)}"
        )
    return choice


def _values(instance: Instance, number: int, action: Action, parameters: Mapping[str, Any]) -> dict[str, int]:
    names = [v.name for v in action.parameters]
    if sorted(parameters) != sorted(names):
        given = ", ".join(map(str, parameters)) or "no parameters"
        raise UserError(f"step {number}: {action.name} gets {given}; write {', '.join(names) or 'no parameters'}")
    return {v.name: _value(instance, number, action, v, parameters[v.name]) for v in action.parameters}


def _value(instance: Instance, number: int, action: Action, variable: Var, value: object) -> int:
    try:
        return instance.read(variable.type, value)
    except (ValueError, TypeError) as error:
        raise UserError(f"step {number}: {variable.name} of {action.name}: {error}") from None
