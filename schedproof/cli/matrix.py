"""The state x event outcome matrix of a machine, from the rows of its table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schedproof.model.lang import Model, Row

NO_OP = "no-op"
"""The outcome of a row that stays in its state and writes nothing."""

NO_ROW = "-"
"""The outcome if the event has no row from this state: it is an error there, or cannot happen."""


@dataclass(frozen=True)
class Matrix:
    """The effect of each event in each state.

    Args:
        sort: the name of the machine's sort.
        states: the states, in the order of the machine.
        events: the events with a row that changes the state or does nothing, in the order of the table.
        outcomes: (state, event) -> the state after it, ``NO_OP`` or ``NO_ROW``. For a row that stays but writes
            attributes, it is the row's own state.
        bookkeeping: the other events, which only write attributes, each with the states that it has rows for.
    """

    sort: str
    states: Sequence[str]
    events: Sequence[str]
    outcomes: Mapping[tuple[str, str], str]
    bookkeeping: Mapping[str, Sequence[str]]

    @property
    def moves(self) -> int:
        """The number of cells with a row that does something."""
        return len(self.outcomes) - self.no_ops - self.errors

    @property
    def no_ops(self) -> int:
        """The number of cells with a row that does nothing."""
        return sum(outcome == NO_OP for outcome in self.outcomes.values())

    @property
    def errors(self) -> int:
        """The number of cells without a row."""
        return sum(outcome == NO_ROW for outcome in self.outcomes.values())

    def row(self, state: str) -> list[str]:
        """The outcomes of ``state``, in the order of the events."""
        return [self.outcomes[state, event] for event in self.events]

    def as_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "sort": self.sort,
            "events": list(self.events),
            "outcomes": {state: dict(zip(self.events, self.row(state), strict=True)) for state in self.states},
            "moves": self.moves,
            "no_ops": self.no_ops,
            "errors": self.errors,
            "bookkeeping": {event: list(states) for event, states in self.bookkeeping.items()},
        }


def matrix(model: Model, sort: str) -> Matrix:
    """The matrix of a sort's machine.

    Raises:
        KeyError: the model has no such sort.
    """
    machine, rows = model.machine(sort), model.table(sort)
    history = {a.name for a in machine.attributes if a.history}  # records of events, not part of the state
    outcome = {row: _outcome(row, history) for row in rows}
    shown = {row.event for row in rows if row.source != row.target or outcome[row] == NO_OP}
    every = list(dict.fromkeys(row.event for row in rows))
    events = [event for event in every if event in shown]
    states = [state.name for state in machine.states]
    outcomes = {(state, event): NO_ROW for state in states for event in events}
    outcomes |= {(row.source, row.event): outcome[row] for row in rows if row.event in shown}
    bookkeeping = {e: [row.source for row in rows if row.event == e] for e in every if e not in shown}
    return Matrix(sort, states, events, outcomes, bookkeeping)


def _outcome(row: Row, history: set[str]) -> str:
    stays = row.source == row.target and all(name in history for name, _ in row.sets)
    return NO_OP if stays else row.target
