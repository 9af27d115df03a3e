"""The model's side: its reachable graph, and its states in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...model.semantics import Choice, Instance, State, Stepper

Edge = tuple[Choice, State]
"""A model step from a given state: its label and the state after."""


Normal = Callable[[State], State]
"""Takes away what a state remembers but no step ever asks for."""


class NotAQuotient(Exception):
    """States that were taken for the same can do different things."""


@dataclass(frozen=True)
class ModelGraph:
    """All reachable states of ``instance``, each with its steps in a fixed order.

    States are normal ones, where a function to make them normal was given.
    """

    instance: Instance
    initial: State
    steps: dict[State, tuple[Edge, ...]]

    @staticmethod
    def explore(instance: Instance, normal: Normal | None = None) -> ModelGraph:
        """Breadth first from the initial state.

        Args:
            normal: which states count as the same. That they are is checked: all states with the
                same normal form must have the same steps, up to normal forms.

        Raises:
            NotAQuotient: they have not.
        """
        same: Normal = normal or (lambda state: state)
        stepper = Stepper(instance)
        steps: dict[State, tuple[Edge, ...]] = {}
        found = [instance.initial()]
        known = set(found)
        for state in found:
            taken = [(step.choice, step.after) for step in stepper.steps(state)]
            edges = tuple((choice, same(after)) for choice, after in taken)
            if set(steps.setdefault(same(state), edges)) != set(edges):
                raise NotAQuotient(f"{state} has other steps than states of the same normal form")
            for _, after in taken:
                if after not in known:
                    known.add(after)
                    found.append(after)
        return ModelGraph(instance, same(found[0]), steps)

    def say_state(self, state: State) -> str:
        """A state in one line."""
        found: list[str] = []
        for objects in self.instance.describe(state).values():
            for name, fields in objects.items():
                if "state" not in fields:  # what never changes, such as a lab
                    continue
                shown = {k: v for k, v in fields.items() if k not in ("state", "record") and v not in (None, [])}
                extra = ", ".join(f"{k} {' '.join(v) if isinstance(v, list) else v}" for k, v in shown.items())
                record = f"on record {fields['record']}" if "record" in fields else ""
                inside = ", ".join(part for part in (record, extra) if part)
                found.append(f"{name} {fields['state']}" + (f" ({inside})" if inside else ""))
        return "; ".join(found)

    def say_choice(self, choice: Choice) -> str:
        """A label in words: the action and its parameters' names."""
        action = self.instance.model.action(choice.action)
        kinds = {v.name: v.type for v in action.parameters}
        shown = [self.instance.show(kinds[name], value) for name, value in choice.parameters]
        names = ["{" + ", ".join(v) + "}" if isinstance(v, list) else str(v) for v in shown]
        return f"{choice.action}({', '.join(names)})"
