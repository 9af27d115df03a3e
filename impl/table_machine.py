"""Transition tables, and ``transitions`` machines that give the effect of an event in a state.

Records hold the objects' states; a machine checks one event at a time and stores no state.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from transitions import Machine, MachineError


@dataclass(frozen=True)
class Row:
    """One row: ``event`` leads from ``source`` to ``target``. ``origin`` is the line or section it comes from."""

    event: str
    source: str
    target: str
    origin: str


class IllegalEvent(Exception):
    """An object was to take an event in a state without a row for it; nothing has been changed."""


class _Subject:
    """The ``transitions`` model of one event; ``transitions`` writes ``state``."""

    state: str


class TableMachine:
    """The machine of a table, for one kind of objects; the first of ``states`` is initial.

    Raises:
        ValueError: two rows have the same event and source.
    """

    def __init__(self, kind: str, states: Iterable[str], rows: Iterable[Row]) -> None:
        self.kind = kind
        # Plain strings: of an enumeration, ``transitions`` would take the names, not the values.
        self.states = tuple(str(state) for state in states)
        self.rows = tuple(Row(row.event, str(row.source), str(row.target), row.origin) for row in rows)
        if len({(row.event, row.source) for row in self.rows}) < len(self.rows):
            raise ValueError(f"{kind}: two rows for the same event in the same state")
        self._machine = Machine(
            model=None,
            states=list(self.states),
            initial=self.states[0],
            transitions=[{"trigger": row.event, "source": row.source, "dest": row.target} for row in self.rows],
            auto_transitions=False,
        )
        self.events = tuple(self._machine.events)
        self._targets: dict[tuple[str, str], str] = {}

    @property
    def initial(self) -> str:
        """The state of a new object."""
        return self.states[0]

    def target(self, state: str, event: str) -> str:
        """The state after ``event`` in ``state``; the same one if the row is a loop.

        Raises:
            IllegalEvent: there is no row.
        """
        # Tables are immutable, so the answers are cached.
        next_state = self._targets.get((state, event))
        if next_state is None:
            next_state = self._targets[state, event] = self._moved(state, event)
        return next_state

    def _moved(self, state: str, event: str) -> str:
        known = self._machine.events.get(event)
        if known is None:
            raise IllegalEvent(f"unknown event {event!r} of {self.kind}; choose from {', '.join(self.events)}")
        subject = _Subject()
        self._machine.add_model(subject, initial=str(state))
        try:
            known.trigger(subject)
        except MachineError:
            possible = ", ".join(row.event for row in self.rows if row.source == state) or "no event"
            raise IllegalEvent(f"{self.kind} cannot take {event} in state {state}; possible: {possible}") from None
        finally:
            self._machine.remove_model(subject)
        return subject.state

    def allows(self, state: str, event: str) -> bool:
        """True if the table has a row for ``event`` in ``state``."""
        return any(row.event == event and row.source == state for row in self.rows)
