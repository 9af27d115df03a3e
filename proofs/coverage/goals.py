"""Goals of a test suite: states, rows and pairs of rows of the machines, and actions."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from schedproof.model.lang import Model, Row
from schedproof.model.semantics import Choice, Instance, parameters

Key = tuple[str, str, str]
"""The sort, event and source of a row, which identify it."""


class Cover(enum.Enum):
    """The kinds of goals."""

    STATES = "states"
    TRANSITIONS = "transitions"
    PAIRS = "transition-pairs"
    ACTIONS = "actions"


@dataclass(frozen=True)
class Goal:
    """One goal of a test suite.

    Args:
        name: in words, unique in its model.
        sort, state: a state of a machine.
        rows: one row of a table, or two that the same object takes in succession.
        action: an action.
    """

    name: str
    sort: str = ""
    state: str = ""
    rows: tuple[Row, ...] = ()
    action: str = ""


def key(row: Row) -> Key:
    """The key that identifies a row."""
    return row.sort.name, row.event, row.source


def show_row(row: Row) -> str:
    """A row as text: ``PodGroup.e0: Pending -> Allocated``."""
    return f"{row.sort}.{row.event}: {row.source} -> {row.target}"


def goals_of(model: Model, cover: Cover) -> list[Goal]:
    """The goals of one kind for a model, in the model's order.

    Two rows are a pair if the second starts in the state that the first leads to. The object takes them in succession;
    other objects may move in between.
    """
    match cover:
        case Cover.STATES:
            states = [(m.sort.name, state.name) for m in model.machines for state in m.states]
            return [Goal(f"{sort}.{state}", sort=sort, state=state) for sort, state in states]
        case Cover.TRANSITIONS:
            return [Goal(show_row(row), rows=(row,)) for m in model.machines for row in model.table(m.sort)]
        case Cover.PAIRS:
            return [
                Goal(f"{show_row(first)}, then {then.event}: {then.source} -> {then.target}", rows=(first, then))
                for m in model.machines
                for first in model.table(m.sort)
                for then in model.table(m.sort)
                if first.target == then.source
            ]
        case Cover.ACTIONS:
            return [Goal(action.name, action=action.name) for action in model.actions]


def show_choice(instance: Instance, choice: Choice) -> str:
    """A choice as text: ``allocate(p=g0, K=[c0, c1])``."""
    shown = parameters(instance, choice)
    values = (f"[{', '.join(v)}]" if isinstance(v, list) else v for v in shown.values())
    return f"{choice.action}({', '.join(f'{name}={value}' for name, value in zip(shown, values, strict=True))})"
