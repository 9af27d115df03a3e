"""What dumps of Jobmon's tables show, indexed: which rows there are, whose they are, and from which dump to which they are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from schedproof.proofs.traces.engine.partial import Obj
from schedproof.proofs.traces.reports.report import NonconformanceReport

from .words import CALLED, LETTERS

TABLES = {"workflow": "Workflow", "workflow_run": "WorkflowRun", "task": "Task", "task_instance": "TaskInstance"}
"""Table -> the sort of its rows."""

BELONGS = {
    "TaskInstance": ("task_id", "workflow_run_id"),
    "Task": ("workflow_id",),
    "WorkflowRun": ("workflow_id",),
    "Workflow": (),
}
"""The columns that never change."""

OWNER = {"TaskInstance": "task_id", "WorkflowRun": "workflow_id"}
"""The column that says to whose part a row belongs."""


@dataclass(frozen=True)
class Row:
    """What a dump shows of one row: its state ("" if it does not say), and its other columns."""

    state: str
    columns: Mapping[str, Any]


@dataclass(frozen=True)
class Dump:
    """One record: sort -> id -> row, for the tables that it has."""

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
    """The number of the first dump that shows a row."""
    ends: dict[str, int] = field(default_factory=dict)
    """The number of the last dump that has a table."""
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
        self.ids = {sort: sorted(found) for sort, found in ids.items()}

    def _learn(self, dump: Dump, sort: str, number: int, column: str, value: int) -> None:
        known = self.belongs.setdefault((sort, number, column), value)
        if known != value and self.contradiction is None:
            reason = f"{CALLED[sort]} {number} has {column} {value}, but {known} before; it never changes"
            self.contradiction = NonconformanceReport(dump.number, dump.line, reason)

    def of(self, sort: str, column: str, value: int) -> list[int]:
        """The rows that belong to another."""
        return [n for n in self.ids[sort] if self.belongs.get((sort, n, column)) == value]

    def logs(self, sort: str) -> bool:
        """Some dump has this table."""
        return any(sort in dump.tables for dump in self.dumps)

    def counts(self, task: int | None) -> bool:
        """Some dump says how often a task was attempted."""
        rows = (dump.tables.get("Task", {}).get(task) for dump in self.dumps if task is not None)
        return any(row is not None and row.columns.get("num_attempts") is not None for row in rows)

    def knows_all(self, sort: str, dump: Dump) -> bool:
        """Every row that there was by then is known, and whose it is: this dump has the table, or a later one."""
        return dump.number <= self.last(sort) and not self.nameless(sort)

    def last(self, sort: str) -> int:
        """The number of the last dump that has the table; 0 if none has it."""
        return self.ends.get(sort, 0)

    def nameless(self, sort: str) -> bool:
        """There are rows of which no dump says whose they are."""
        return any((sort, number, OWNER[sort]) not in self.belongs for number in self.ids[sort])

    def unobserved(self, sort: str, known: Sequence[int]) -> tuple[Obj, ...]:
        """What stands for the rows of a part that no dump shows as its own: an object with the next number, if there may be any, or none is known."""
        some = not known or not self.knows_all(sort, self.dumps[-1])
        return ((sort, len(known)),) if some else ()

    def shows(self, dump: Dump, sort: str, number: int) -> str | None:
        """The state that a dump shows of a row; "Absent" (or what it is at first) if it has none; None if nobody knows."""
        if sort not in dump.tables:
            return None
        row = dump.tables[sort].get(number)
        if row is None:
            unborn = self.born[sort, number] > dump.number
            return "Registering" if unborn and sort in ("Task", "Workflow") else "Absent"
        return row.state or None
