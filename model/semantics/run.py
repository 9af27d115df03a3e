"""Runs: steps of an instance, one after the other from its initial state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .instance import Instance, State
from .step import Choice


@dataclass(frozen=True)
class Run:
    """A run of an instance: its steps and its states; ``states`` starts with the initial one."""

    instance: Instance
    choices: Sequence[Choice]
    states: Sequence[State]


def parameters(instance: Instance, choice: Choice) -> dict[str, object]:
    """The parameters of a choice, by name, as a reader sees them."""
    types = {v.name: v.type for v in instance.model.action(choice.action).parameters}
    return {name: instance.show(types[name], value) for name, value in choice.parameters}
