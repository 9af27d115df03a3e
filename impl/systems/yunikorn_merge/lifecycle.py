"""The application's states and transition table, as far as the merged scheduler uses them.

The document on the merge leaves the states to the one on object states. O: a line of the latter; F: a section of the
facts.
"""

from __future__ import annotations

from enum import StrEnum

from schedproof.impl.table_machine import Row, TableMachine


class State(StrEnum):
    """The states of an application (O18-22)."""

    NEW = "New"
    ACCEPTED = "Accepted"
    STARTING = "Starting"
    RUNNING = "Running"
    COMPLETING = "Completing"


SCHEDULED = frozenset({State.ACCEPTED, State.STARTING, State.RUNNING})
"""The states that are part of the scheduling cycle (O19-21)."""

RUN = "runApplication"
COMPLETE = "completeApplication"

APPLICATION = TableMachine(
    "application",
    State,
    (
        Row(RUN, State.NEW, State.ACCEPTED, "O18; F 1"),
        Row(RUN, State.ACCEPTED, State.STARTING, "O19; F 1"),
        Row(RUN, State.STARTING, State.RUNNING, "O20; F 1"),
        Row(RUN, State.RUNNING, State.RUNNING, "O21; F 1, a loop: no state is entered"),
        Row(RUN, State.COMPLETING, State.RUNNING, "F 0 and 1"),
        Row(COMPLETE, State.ACCEPTED, State.COMPLETING, "O22; F 1"),
        Row(COMPLETE, State.STARTING, State.COMPLETING, "O22; F 1"),
        Row(COMPLETE, State.RUNNING, State.COMPLETING, "O22; F 1"),
    ),
)
