"""Runs as numbers that need no instance, to keep in a counterexample and to repeat later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from schedproof.model.lang import Model
from schedproof.model.lang.model import RigidValue
from schedproof.model.semantics import Choice, IllFormed, Instance, Undefined, stepper_of
from schedproof.proofs.verdict import RecordedRun


def recorded_run(instance: Instance, choices: Sequence[Choice], bound: Mapping[str, int]) -> RecordedRun:
    """The run of ``choices`` from the initial state of ``instance``.

    Args:
        bound: the property's variables for which the run violates it.
    """
    rigid = []
    for sort, name in instance.rigid:
        attribute = instance.model.machine(sort).attribute(name)
        assert attribute is not None  # an instance refuses others
        rigid.append((sort, name, tuple(instance.rigid_values(sort, attribute))))
    return RecordedRun(dict(instance.sizes), tuple(rigid), instance.with_history, tuple(choices), dict(bound))


def instance_of(model: Model, run: RecordedRun) -> Instance:
    """The instance of a recorded run of ``model``."""
    sized = Instance(model, run.sizes)
    rigid: dict[tuple[str, str], Sequence[RigidValue]] = {}
    for sort, name, values in run.rigid:
        attribute = model.machine(sort).attribute(name)
        assert attribute is not None
        rigid[sort, name] = [sized.decoded(attribute.type, value) for value in values]
    return Instance(model, run.sizes, rigid, run.with_history)


def repeats(model: Model, run: RecordedRun) -> bool:
    """Whether a recorded run is one of ``model``: it has the sorts and attributes, and can take each step."""
    sorts = {machine.sort.name: machine for machine in model.machines}
    actions = {action.name: action for action in model.actions}
    if set(run.sizes) - set(sorts) or {choice.action for choice in run.choices} - set(actions):
        return False
    if any(sort not in sorts or sorts[sort].attribute(name) is None for sort, name, _ in run.rigid):
        return False
    instance = instance_of(model, run)
    stepper, state = stepper_of(instance), instance.initial()
    try:
        for choice in run.choices:
            if choice not in stepper.choices(state, actions[choice.action]):
                return False
            state = stepper.step(state, choice).after
    except (IllFormed, Undefined):
        return False
    return True
