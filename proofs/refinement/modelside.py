"""The model's side of a refinement check: its reachable graph, and its states in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from schedproof.model.semantics import Choice, Instance, ScopeError, State, Stepper, bounds_of, parameters

Edge = tuple[Choice, State]
"""A step of the model from a given state: its label and the state after."""


Normal = Callable[[State], State]
"""Maps a state to its normal form, without values that no step reads."""


Urgent = Mapping[str, frozenset[str]]
"""Action -> the actions that are taken at once after it, until none is enabled; the key ``""`` means every action."""


class NotAQuotient(Exception):
    """States with the same normal form have different steps."""


class NotConfluent(Exception):
    """The result of urgent actions depends on their order."""


class Settling:
    """Takes urgent actions until none is enabled."""

    def __init__(self, instance: Instance, urgent: Urgent) -> None:
        self._stepper, self._urgent = Stepper(instance), urgent
        self._known: dict[tuple[frozenset[str], State], State] = {}

    def after(self, action: str, state: State) -> State:
        """The state after a step of ``action`` to ``state`` and all urgent actions.

        Raises:
            NotConfluent: there are several such states.
        """
        urgent = self._urgent.get("", frozenset()) | self._urgent.get(action, frozenset())
        return self._settled(urgent, state) if urgent else state

    def _settled(self, urgent: frozenset[str], state: State) -> State:
        if (urgent, state) not in self._known:
            urgent_steps = [step for step in self._stepper.steps(state) if step.choice.action in urgent]
            ends = {self._settled(urgent, step.after) for step in urgent_steps}
            if len(ends) > 1:
                raise NotConfluent(
                    f"{', '.join(str(step.choice) for step in urgent_steps)}: their order matters, in {state}"
                )
            self._known[urgent, state] = ends.pop() if ends else state
        return self._known[urgent, state]


@dataclass(frozen=True)
class ModelGraph:
    """All reachable states of ``instance``, each with its steps in a fixed order.

    The states are normal forms if :meth:`explore` got a function ``normal``.
    An implementation may do several steps of the model in one operation: the steps after the first one are ``urgent``.
    """

    instance: Instance
    initial: State
    steps: dict[State, tuple[Edge, ...]]
    urgent: Urgent = field(default_factory=dict)

    @staticmethod
    def explore(instance: Instance, normal: Normal | None = None, urgent: Urgent | None = None) -> ModelGraph:
        """The graph, explored breadth first from the initial state.

        Args:
            instance: the model at a scope.
            normal: maps a state to its normal form. All states with the same normal form must have the same steps, up
                to normal forms; this is checked.
            urgent: the actions that are taken at once. Their order must not matter; this is checked.

        Raises:
            NotAQuotient: states with the same normal form have different steps.
            NotConfluent: the order of urgent actions matters.
            ScopeError: the model has integers without a bound, a disposable sort, or a sequence longer than its ``at_most``.
        """
        if instance.model.integers:
            sort, name = next(iter(instance.model.integers))
            raise ScopeError(
                f"{sort}.{name} has integers without a bound, and a refinement explores all of the model; give it an IntRange"
            )
        for kind in instance.model.sorts:
            if kind.disposable:
                raise ScopeError(
                    f"{kind} is disposable, and a refinement explores all of the model; "
                    "leave out disposable=True and write a row back to the first state"
                )
        same: Normal = normal or (lambda state: state)
        stepper, settle, bounds = Stepper(instance), Settling(instance, urgent or {}), bounds_of(instance)
        steps: dict[State, tuple[Edge, ...]] = {}
        states = [settle.after("", instance.initial())]
        known = set(states)
        for state in states:
            moves = [(step.choice, settle.after(step.choice.action, step.after)) for step in stepper.steps(state)]
            edges = tuple((choice, same(after)) for choice, after in moves)
            if set(steps.setdefault(same(state), edges)) != set(edges):
                raise NotAQuotient(f"{state} has other steps than states of the same normal form")
            for _, after in moves:
                if after not in known:
                    if not bounds.has(after):
                        raise ScopeError(
                            f"the model goes beyond {bounds.text}, and a refinement explores all of the model; "
                            "let guards bound its sequences, or write a greater at_most"
                        )
                    known.add(after)
                    states.append(after)
        return ModelGraph(instance, same(states[0]), steps, urgent or {})

    def walk(self, state: State, choices: Sequence[Choice]) -> State | None:
        """The state after ``choices`` in order and then the urgent actions; None if a choice is not enabled."""
        stepper = Stepper(self.instance)
        for choice in choices:
            after = [step.after for step in stepper.steps(state) if step.choice == choice]
            if not after:
                return None
            state = after[0]
        return Settling(self.instance, self.urgent).after("", state)

    def say_state(self, state: State) -> str:
        """A state in one line of text."""
        parts: list[str] = []
        for objects in self.instance.describe(state).values():
            for name, fields in objects.items():
                if "state" not in fields:  # it has rigid attributes only, such as a lab
                    continue
                shown = {k: v for k, v in fields.items() if k not in ("state", "record") and v not in (None, [])}
                extra = ", ".join(f"{k} {' '.join(v) if isinstance(v, list) else v}" for k, v in shown.items())
                record = f"on record {fields['record']}" if "record" in fields else ""
                inside = ", ".join(part for part in (record, extra) if part)
                parts.append(f"{name} {fields['state']}" + (f" ({inside})" if inside else ""))
        return "; ".join(parts)

    def say_choice(self, choice: Choice) -> str:
        """A label in words: the action and the names of its parameters."""
        shown = parameters(self.instance, choice).values()
        names = ["{" + ", ".join(v) + "}" if isinstance(v, list) else str(v) for v in shown]
        return f"{choice.action}({', '.join(names)})"
