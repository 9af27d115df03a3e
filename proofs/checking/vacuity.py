"""Why a verdict is vacuous: the condition of a premise that no state meets, or of the actions, if nothing happens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

from schedproof.model.lang import AlwaysCanReach, Invariant, LeadsTo, Property
from schedproof.model.lang import terms as t
from schedproof.model.lang.rules import Action
from schedproof.model.lang.wording import show_term
from schedproof.model.semantics import Instance, Moment, State
from schedproof.model.semantics.instance import domain_size
from schedproof.model.semantics.reasons import FalseCondition, conditions, first_false, holds
from schedproof.proofs.exploration.explore import explore

MOST_STATES = 2_000
"""The most states in which a premise is evaluated. An instance with more gets no reason."""

MOST_VALUES = 4_096
"""The most values of the variables of a premise or an action that are tried in a state."""


MOST_INSTANCES = 20
"""The most configurations in which a premise is evaluated."""


def premise_never_true(instances: Sequence[Instance], prop: Property, count: int) -> str:
    """The condition of a premise that no reachable state meets together with those before it; "" if it takes too long.

    Args:
        instances: the configurations, in all of which the premise is never true. The one with the most conditions met counts.
        prop: the property.
        count: the number of all configurations.
    """
    if not isinstance(prop, Invariant | AlwaysCanReach | LeadsTo) or prop.given is None:
        return ""
    parts, most, number = conditions([prop.given]), -1, 0
    for at, instance in enumerate(instances[:MOST_INSTANCES], start=1):
        met = _met(instance, prop, parts)
        if met is None or met == len(parts):
            return ""
        if met > most:
            most, number = met, at
    if most < 0:
        return ""
    where = "" if count == 1 else f"in configuration {number} of {count}, "
    together = f" together with {show_term(t.both(parts[:most]))}" if most else ""
    return f"{where}no state has {show_term(parts[most])}{together}"


def _met(instance: Instance, prop: Invariant | AlwaysCanReach | LeadsTo, parts: Sequence[t.Term]) -> int | None:
    """How many of these conditions one reachable state meets, in their order; -1 without objects to ask for, None if it takes too long."""
    scope = {v.name: v for v in prop.over}
    reached = explore(instance, limit=MOST_STATES) if _few(instance, prop.over) else None
    if reached is None or not reached.complete:
        return None
    return max(
        (
            next((n for n, part in enumerate(parts) if not holds(instance, moment, part, scope)), len(parts))
            for state in reached.states
            for moment in _moments(instance, state, prop.over)
        ),
        default=-1,
    )


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
    tried = (first_false(instance, m, action.when, scope) for m in _moments(instance, state, action.parameters))
    return max((false for false in tried if false is not None), key=lambda false: false.met, default=None)


def _few(instance: Instance, variables: Sequence[t.Var]) -> bool:
    return prod(domain_size(instance.domain(v.type)) for v in variables) <= MOST_VALUES


def _moments(instance: Instance, state: State, variables: Sequence[t.Var]) -> Iterator[Moment]:
    """The state, with each way to bind the variables."""
    for values in product(*(instance.domain(v.type) for v in variables)):
        yield Moment(state, dict(zip((v.name for v in variables), values, strict=True)))
