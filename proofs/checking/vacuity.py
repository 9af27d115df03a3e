"""Why a verdict is vacuous: the condition of a premise that no state meets, or of the actions, if nothing happens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import prod

from schedproof.model.lang import AlwaysCanReach, Invariant, LeadsTo, Property, StepInvariant
from schedproof.model.lang import terms as t
from schedproof.model.lang.model import common_parameters
from schedproof.model.lang.rules import Action
from schedproof.model.lang.wording import show_term
from schedproof.model.semantics import Instance, Moment, State, Step, Undefined, compile_term
from schedproof.model.semantics.evaluate import Eval
from schedproof.model.semantics.instance import domain_size
from schedproof.model.semantics.reasons import FalseCondition, conditions, first_false
from schedproof.proofs.exploration.explore import explore

MOST_STATES = 2_000
"""The most states in which a premise is evaluated. An instance with more gets no reason."""

MOST_VALUES = 4_096
"""The most values of the variables of a premise or an action that are tried in a state."""


MOST_INSTANCES = 20
"""The most configurations in which a premise is evaluated."""

MOST_MOMENTS = 500_000
"""The most states or steps, times values of the variables, in which a premise is evaluated."""

Premised = Invariant | StepInvariant | AlwaysCanReach | LeadsTo
"""The kinds of properties whose verdict can be vacuous, and has a reason."""


def premise_never_true(instances: Sequence[Instance], prop: Property, count: int) -> str:
    """The condition of a premise that no reachable state or step meets together with those before it; "" if it takes too long.

    Args:
        instances: the configurations, in all of which the premise is never true. The one with the most conditions met counts.
        prop: the property.
        count: the number of all configurations.
    """
    if not isinstance(prop, Invariant | StepInvariant | AlwaysCanReach | LeadsTo):
        return ""
    of_step = isinstance(prop, StepInvariant)
    parts, most, number = conditions([prop.given] if prop.given is not None else []), NOTHING, 0
    if not parts and not of_step:
        return ""
    for at, instance in enumerate(instances[:MOST_INSTANCES], start=1):
        met = _met(instance, prop, parts)
        if met is None or met == len(parts):
            return ""
        if met > most:
            most, number = met, at
    if most == NOTHING:
        named = f" of {' or '.join(prop.on)}" if isinstance(prop, StepInvariant) and prop.on else ""
        return f"no step{named} is taken" if of_step and all(map(_has_values(prop), instances)) else ""
    where = "" if count == 1 else f"in configuration {number} of {count}, "
    together = f" together with {show_term(t.both(parts[:most]))}" if most else ""
    return f"{where}no {'step' if of_step else 'state'} has {show_term(parts[most])}{together}"


NOTHING = -1
"""Without objects to ask for, or without a step, no condition is met."""


def _has_values(prop: Premised) -> Callable[[Instance], bool]:
    """Whether an instance has objects to ask for."""
    return lambda instance: all(domain_size(instance.domain(v.type)) for v in prop.over)


def _met(instance: Instance, prop: Premised, parts: Sequence[t.Term]) -> int | None:
    """How many of these conditions one reachable state or step meets, in their order; None if it takes too long."""
    parameters = common_parameters(instance.model, prop.on) if isinstance(prop, StepInvariant) else []
    scope = {v.name: v for v in [*parameters, *prop.over]}
    tests = [compile_term(instance, part, scope) for part in parts]
    most, asked = NOTHING, 0

    def ask(moments: Iterable[Moment]) -> None:
        nonlocal most, asked
        for moment in moments:
            asked += 1
            if asked > MOST_MOMENTS:
                return
            most = max(most, next((n for n, test in enumerate(tests) if not _true(test, moment)), len(parts)))

    def of_step(state: State, number: int, step: Step) -> None:
        if isinstance(prop, StepInvariant) and (not prop.on or step.choice.action in prop.on):
            before = Moment(state, dict(step.choice.parameters), step.fired, step.after)
            ask(_moments(instance, before, prop.over))

    if not _few(instance, prop.over):
        return None
    reached = explore(instance, limit=MOST_STATES, on_step=of_step)
    if not isinstance(prop, StepInvariant):
        for state in reached.states:
            ask(_moments(instance, Moment(state), prop.over))
    return most if reached.complete and asked <= MOST_MOMENTS else None


def _true(test: Eval, moment: Moment) -> bool:
    """The value of a formula; False if it reads an attribute of NONE."""
    try:
        return bool(test(moment))
    except Undefined:
        return False


def nothing_enabled(instance: Instance) -> str:
    """Why no action is enabled in the initial state: of each action, the closest condition that is false."""
    state = instance.initial()
    reasons = [(action, _closest(instance, state, action)) for action in instance.model.actions]
    shown = [f"{action.name} needs {false.text()}" for action, false in reasons if false is not None]
    return "; ".join(shown[:MOST_ACTIONS] + ([f"and {len(shown) - MOST_ACTIONS} more"] * (len(shown) > MOST_ACTIONS)))


MOST_ACTIONS = 3
"""The most actions of which it is said why they are not enabled."""


def _closest(instance: Instance, state: State, action: Action) -> FalseCondition | None:
    """The first false condition of an action's guard, for the parameters that meet most; None if it has none to try."""
    if not _few(instance, action.parameters):
        return None
    scope = {v.name: v for v in action.parameters}
    moments = _moments(instance, Moment(state), action.parameters)
    tried = (first_false(instance, moment, action.when, scope) for moment in moments)
    return max((false for false in tried if false is not None), key=lambda false: false.met, default=None)


def _few(instance: Instance, variables: Sequence[t.Var]) -> bool:
    return prod(domain_size(instance.domain(v.type)) for v in variables) <= MOST_VALUES


def _moments(instance: Instance, before: Moment, variables: Sequence[t.Var]) -> Iterator[Moment]:
    """A moment, with each way to bind the variables."""
    for values in product(*(instance.domain(v.type) for v in variables)):
        bound = dict(zip((v.name for v in variables), values, strict=True))
        yield replace(before, bound={**before.bound, **bound})
