"""Races: two actions that can both be taken, where the order decides what becomes of the objects.

Where the document orders neither, an implementation may take either order, and another order at the next time. The two may be one
action for two objects.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import Any

from schedproof.model.lang import Model
from schedproof.model.lang.check import checked
from schedproof.model.semantics import Instance, State, instances
from schedproof.model.semantics.step import Choice, Stepper, stepper_of
from schedproof.proofs.exploration.symmetry import Symmetry

STATES = 1_000
"""States of a configuration in which actions are compared, those next to the beginning: most races show in few steps."""


class Order(StrEnum):
    """What the order of two actions decides."""

    WHICH = "whichever comes first excludes the other"
    RESULT = "either order is possible, and the objects end in another state"


@dataclass(frozen=True)
class Race:
    """Two actions whose order matters.

    Attributes:
        actions: the names of the two; one name twice for an action whose first parameters are two objects.
        lines: of the document that they cite; None for one that cites none.
        order: what their order decides.
        steps: before both can be taken, at least.
    """

    actions: tuple[str, str]
    lines: tuple[int | None, int | None]
    order: Order
    steps: int

    @property
    def text(self) -> str:
        """The race in one line."""
        one, other = (
            name if line is None else f"{name} (line {line})"
            for name, line in zip(self.actions, self.lines, strict=True)
        )
        both = f"{one} and {self.actions[1]} of another object" if one == other else f"{one} and {other}"
        after = f"after {self.steps} step{'' if self.steps == 1 else 's'}" if self.steps else "at the beginning"
        return f"{both}: {self.order} ({after})"

    def as_json(self) -> dict[str, Any]:
        """The race as ``coverage --silences --json`` prints it."""
        return {"actions": self.actions, "lines": self.lines, "order": str(self.order), "steps": self.steps}


def races(model: Model, scope: Mapping[str, int] | None = None) -> list[Race]:
    """The races of a model; crashes race with everything and are left out.

    In each configuration it compares the choices in at most ``STATES`` states, breadth first. States that differ only in which of
    several interchangeable objects does what count as one. An action races with itself if its first parameters differ, and one
    choice excludes the other.

    Args:
        model: the model.
        scope: sort name -> number of objects, instead of the model's default.

    Raises:
        ScopeError: the scope is impossible.
    """
    least: dict[tuple[str, str, Order], int] = {}
    for instance in instances(checked(model), scope or {}):
        for depth, first, second, order in _races(instance):
            one, other = sorted((first, second))
            key = (one, other, order)
            least[key] = min(depth, least.get(key, depth))
    return [
        Race((one, other), (model.action(one).line, model.action(other).line), order, steps)
        for (one, other, order), steps in sorted(least.items(), key=lambda item: (item[1], item[0]))
    ]


def _races(instance: Instance) -> Iterator[tuple[int, str, str, Order]]:
    stepper, symmetry = stepper_of(instance), Symmetry(instance)
    actions = [action for action in instance.model.actions if not action.crash]
    initial = symmetry.canonical(instance.initial())
    depths: dict[State, int] = {initial: 0}
    queue = deque([initial])
    for _ in range(STATES):
        if not queue:
            break
        state = queue.popleft()
        steps = [(step.choice, step.after) for step in stepper.steps(state, actions)]
        for after in {symmetry.canonical(after) for _, after in steps}:
            if after not in depths:
                depths[after] = depths[state] + 1
                queue.append(after)
        for one, other in combinations(steps, 2):
            first, second = one[0], other[0]
            same = first.action == second.action
            if same and first.parameters[:1] == second.parameters[:1]:
                continue  # one object has a choice
            order = _order(stepper, symmetry, one, other)
            if order is Order.WHICH or (order is not None and not same):
                yield depths[state], first.action, second.action, order


def _order(
    stepper: Stepper, symmetry: Symmetry, one: tuple[Choice, State], other: tuple[Choice, State]
) -> Order | None:
    (first, after_first), (second, after_second) = one, other
    can_follow = stepper.enabled(after_first, second), stepper.enabled(after_second, first)
    if can_follow == (False, False):
        return Order.WHICH
    if can_follow != (True, True):
        return None  # the text says which comes first: the other is not possible before it, or not after it
    ends = {symmetry.canonical(stepper.step(*each).after) for each in ((after_first, second), (after_second, first))}
    return Order.RESULT if len(ends) > 1 else None
