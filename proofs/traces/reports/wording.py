"""Choices of parameters in words, for the messages of trace validation."""

from __future__ import annotations

from schedproof.model.semantics import Choice, Instance


def show_choice(instance: Instance, choice: Choice) -> str:
    """An action with the values of its parameters."""
    types = {v.name: v.type for v in instance.model.action(choice.action).parameters}
    shown = []
    for name, value in choice.parameters:
        what = instance.show(types[name], value)
        shown.append(f"{name}={{{', '.join(what)}}}" if isinstance(what, list) else f"{name}={what}")
    return f"{choice.action}({', '.join(shown)})"
