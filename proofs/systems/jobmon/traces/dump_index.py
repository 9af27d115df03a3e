"""An index of dumps of Jobmon's tables: which rows exist, which object each belongs to, and in which dumps it is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from schedproof.proofs.traces.engine.partial import Obj
from schedproof.proofs.traces.reports.report import NonconformanceReport

from .words import CALLED, LETTERS

TABLES = {"workflow": "Workflow", "workflow_run": "WorkflowRun", "task": "Task", "task_instance": "TaskInstance"}
"""Maps a table to the sort of its rows."""

BELONGS = {
    "TaskInstance": ("task_id", "workflow_run_id"),
    "Task": ("workflow_id",),
    "WorkflowRun": ("workflow_id",),
    "Workflow": (),
}
"""For each sort, the columns that never change."""

OWNER = {"TaskInstance": "task_id", "WorkflowRun": "workflow_id"}
"""The column that says which part of the database a row belongs to."""


@dataclass(frozen=True)
class Row:
    """A row in one dump: its state ("" if the dump has none), and its other columns."""

    state: str
    columns: Mapping[str, Any]


@dataclass(frozen=True)
class Dump:
    """One record. ``tables`` has, for each table of the dump, its rows by sort and id."""

    number: int
    line: int
    time: Any
    tables: Mapping[str, Mapping[int, Row]]


@dataclass
class DumpIndex:
    """All rows of all dumps: the object map of a database."""

    dumps: Sequence[Dump]
    ids: dict[str, list[int]] = field(default_factory=dict)
    belongs: dict[tuple[str, int, str], int] = field(default_factory=dict)
    born: dict[tuple[str, int], int] = field(default_factory=dict)
    """By row, the number of the first dump that shows it."""
    ends: dict[str, int] = field(default_factory=dict)
    """By sort, the number of the last dump that has its table."""
    contradiction: NonconformanceReport | None = None

    def __post_init__(self) -> None:
        ids: dict[str, set[int]] = {sort: set() for sort in LETTERS}
        for dump in self.dumps:
            for sort, rows in dump.tables.items():
                self.ends[sort] = dump.number
                for number, row in rows.items():
                    ids[sort].add(number)
                    self.born.setdefault((sort, number), dump.number)
                    for column in BELONGS[sort]:
                        if row.columns.get(column) is not None:
                            self._learn(dump, sort, number, column, row.columns[column])
        self.ids = {sort: sorted(numbers) for sort, numbers in ids.items()}

    def _learn(self, dump: Dump, sort: str, number: int, column: str, value: int) -> None:
        known = self.belongs.setdefault((sort, number, column), value)
        if known != value and self.contradiction is None:
            reason = f"{CALLED[sort]} {number} has {column} {value}, but {known} before; it never changes"
            self.contradiction = NonconformanceReport(dump.number, dump.line, reason)

    def of(self, sort: str, column: str, value: int) -> list[int]:
        """Returns the rows of ``sort`` whose ``column`` is ``value``."""
        return [n for n in self.ids[sort] if self.belongs.get((sort, n, column)) == value]

    def logs(self, sort: str) -> bool:
        """Whether some dump has this table."""
        return any(sort in dump.tables for dump in self.dumps)

    def counts(self, task: int | None) -> bool:
        """Whether some dump has the number of a task's attempts."""
        rows = (dump.tables.get("Task", {}).get(task) for dump in self.dumps if task is not None)
        return any(row is not None and row.columns.get("num_attempts") is not None for row in rows)

    def knows_all(self, sort: str, dump: Dump) -> bool:
        """Whether all rows up to this dump are known, with what they belong to: this dump or a later one has the table."""
        return dump.number <= self.last(sort) and not self.nameless(sort)

    def last(self, sort: str) -> int:
        """Returns the number of the last dump that has the table; 0 if none has it."""
        return self.ends.get(sort, 0)

    def nameless(self, sort: str) -> bool:
        """Whether there are rows of which no dump says what they belong to."""
        return any((sort, number, OWNER[sort]) not in self.belongs for number in self.ids[sort])

    def unobserved(self, sort: str, known: Sequence[int]) -> tuple[Obj, ...]:
        """Returns an object for the rows of a part that no dump shows as its own.

        The object has the next number. It is left out if ``known`` has rows and there can be no others.
        """
        some = not known or not self.knows_all(sort, self.dumps[-1])
        return ((sort, len(known)),) if some else ()

    def shows(self, dump: Dump, sort: str, number: int) -> str | None:
        """Returns the state of a row in a dump.

        Returns:
            "Absent" (or its initial state) if the dump's table lacks the row; None if the state is unknown.
        """
        if sort not in dump.tables:
            return None
        row = dump.tables[sort].get(number)
        if row is None:
            unborn = self.born[sort, number] > dump.number
            return "Registering" if unborn and sort in ("Task", "Workflow") else "Absent"
        return row.state or None
