"""Validates rows of Jobmon's table ``task_status_audit``, one for each status of a task, as JSON lines or as CSV.

How the rows are interpreted:

* **Moves**: a row must be a move of one of two tables, or a write of a resume. The tables are the present one (fact
  2.2) and the one that comes with the audit (``NEWER``). Only these logs show the state E, which the model passes
  through within a step. So rows are checked against these tables and not against the model's steps.
* **E is written on a retry only**, with no duration: another attempt follows it. Only a task that was Instantiating may
  fail for good from E, because no row leads from Instantiating to ErrorFatal at once. An amended variant may also write
  a move of its machine as one row.
* **Rows of a task fit together**: each begins with the status and at the time with which the row before it ends. Times
  are whole seconds, so they may differ by one.
* **The file may begin and end in the middle**: the first row of a task is accepted as it is if it has a previous
  status.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Any

from schedproof.model.lang import Model
from schedproof.proofs.traces.engine.candidates import Candidates, Nonconformance, Path, Record, step
from schedproof.proofs.traces.errors import TraceError
from schedproof.proofs.traces.files.lines import Line, TextLine
from schedproof.proofs.traces.files.schema import Shape
from schedproof.proofs.traces.formats.format import Format, Requested, first_object
from schedproof.proofs.traces.reports.report import Candidate, Difference, LogVerdict, NonconformanceReport, Validation

from .words import SCHEMA, as_time, fits, letter, refuse_release, state_of, table_of

COLUMNS = ("id", "task_id", "workflow_id", "previous_status", "new_status", "entered_at", "exited_at")
NUMBERS = ("id", "task_id", "workflow_id")
NULLS = ("", "null", "NULL", "None", "\\N")

NEWER = frozenset(
    {
        ("AdjustingResources", "ErrorFatal"),
        ("Launched", "ErrorFatal"),
        *(("Running", to) for to in ("Registering", "AdjustingResources", "ErrorFatal")),
    }
)
"""The moves that the newer table (19 in all, facts 2.2) has and the present table lacks."""

FIRST, ERROR = "Registering", "ErrorRecoverable"
SECOND = 1.0
"""How far the end of one row may be from the beginning of the next: one second, for rounding."""


@dataclass(frozen=True)
class Entry:
    """One row: a task's move, and its times.

    Attributes:
        source: the state before; None if the task is new.
        target: the state after.
        entered: when the task entered ``target``.
        exited: when it left ``target``; None if it has not.
    """

    number: int
    line: int
    task: int
    source: str | None
    target: str
    entered: float
    exited: float | None

    @property
    def says(self) -> str:
        """The row in a few words."""
        source = letter("Task", self.source) if self.source is not None else "nothing"
        return f"task {self.task} goes from {source} to {letter('Task', self.target)}"


def moves_of(model: Model) -> Set[tuple[str, str]]:
    """Returns every move that a row may show."""
    of_variant = [row for row in model.table("Task") if row.event == "reset" or model.changes]
    through_error = {(row.source, ERROR) for row in of_variant if row.event == "retry"}
    return {(row.source, row.target) for row in (*of_variant, *table_of(model, "Task"))} | through_error | NEWER


@dataclass(frozen=True)
class _Chain:
    """The last row of a task so far, and the row before it."""

    last: Entry | None = None
    before: Entry | None = None


@dataclass(frozen=True)
class _Audit:
    """The rows of all tasks. Each task is checked alone; its rows so far are the candidate that explains it."""

    moves: Set[tuple[str, str]]
    entries: Sequence[Entry]

    def check(self) -> Validation:
        """Returns the verdict on all rows."""
        chains: dict[int, Candidates[_Chain]] = {}
        for entry in self.entries:
            after = step(chains.get(entry.task, Candidates((_Chain(),))), self.record(entry))
            if isinstance(after, Nonconformance):
                nonconformance = self.against(after.before.states[0], entry)
                return Validation(LogVerdict.VIOLATES, nonconformance, size=len(self.entries))
            chains[entry.task] = after
        lasts = [chain.states[0].last for chain in chains.values()]
        over = sum(last is not None and last.exited is not None and last.target != ERROR for last in lasts)
        what = "1 task has" if over == 1 else f"{over} tasks have"
        note = f"{what} left the last status that the rows show: the file ends before they do" if over else ""
        return Validation(LogVerdict.CONFORMS, note=note, size=len(self.entries))

    def record(self, entry: Entry) -> Record[_Chain]:
        """Returns the row as a record: it extends each chain that it fits."""

        def successors(chain: _Chain) -> Iterator[Path]:
            if self.against(chain, entry) is None:
                yield Path((), _Chain(entry, chain.last))

        return Record(entry.number, entry.line, entry.says, successors)

    def against(self, chain: _Chain, entry: Entry) -> NonconformanceReport | None:
        """Returns why a row cannot be the next row of its task; None if it can."""
        last = chain.last
        if last is not None and entry.source != last.target:
            now = letter("Task", last.target)
            return self.nonconformance(entry, f"the task is {now} since line {last.line}", last.target)
        if entry.source is None and entry.target != FIRST:
            return self.nonconformance(entry, f"a task that is new is {letter('Task', FIRST)}", FIRST)
        if entry.source is not None and (entry.source, entry.target) not in self.moves:
            why = "neither table of the machine Task has such a row (fact 2.2), and no resume writes that (fact 3.5)"
            return self.nonconformance(entry, why, entry.source)
        before = chain.before
        if (
            last is not None
            and last.target == ERROR
            and entry.target == "ErrorFatal"
            and before is not None
            and before.target != "Instantiating"
        ):
            why = f"{letter('Task', ERROR)} is written on a retry only; what fails for good goes from {letter('Task', before.target)} at once (fact 3.2)"
            return self.nonconformance(entry, why, ERROR)
        return self.times(last, entry)

    def times(self, last: Entry | None, entry: Entry) -> NonconformanceReport | None:
        """Returns why the times of a row do not fit; None if they do."""
        if entry.exited is not None and entry.exited < entry.entered:
            return self.nonconformance(entry, "it ends before it begins")
        if entry.target == ERROR and entry.exited != entry.entered:
            return self.nonconformance(
                entry, f"a row of {letter('Task', ERROR)} has no length: it is passed through (fact 4)"
            )
        if last is not None and last.exited is None:
            return self.nonconformance(
                entry, f"by line {last.line} the task has not left {letter('Task', last.target)}"
            )
        if last is not None and last.exited is not None and abs(entry.entered - last.exited) > SECOND:
            return self.nonconformance(
                entry, f"by line {last.line} the task left {letter('Task', last.target)} at another time"
            )
        return None

    def nonconformance(self, entry: Entry, why: str, now: str | None = None) -> NonconformanceReport:
        """Returns the nonconformance, with the states that the task could have moved to from ``now``."""
        who = f"task {entry.task}"
        could = sorted({to for source, to in self.moves if source == now} - {entry.target}) if now else []
        candidates = [
            Candidate(
                (),
                {"Task": {who: {"state": now}}},
                [Difference(who, "state", " or ".join(could), entry.target)],
                (),
                None,
            )
        ]
        return NonconformanceReport(entry.number, entry.line, f"{entry.says}: {why}", (), candidates if could else ())


# --- Reading


def _fields(text: TextLine) -> list[str]:
    try:
        return [value.strip() for value in next(csv.reader([text.text], strict=True))]
    except csv.Error as error:
        raise TraceError(f"{text.file}, line {text.number}: not CSV: {error}") from None


def _csv_lines(lines: Sequence[TextLine]) -> Iterator[Line]:
    """Yields the lines of a CSV file, each as the object that a JSON line would be.

    Raises:
        TraceError: the header lacks a column or repeats one, a line has another number of columns than the header, or
            an id is not a number.
    """
    header = _fields(lines[0])
    twice = next((name for at, name in enumerate(header) if name in header[:at]), None)
    missing = next((name for name in COLUMNS if name not in (*header, "workflow_id")), None)
    if twice is not None or missing is not None:
        problem = f'"{missing}" is missing' if twice is None else f'"{twice}" is written twice'
        raise Line(lines[0].file, lines[0].number, {}).error(f"the header: {problem}; write {','.join(COLUMNS)}")
    for text in lines[1:]:
        fields = _fields(text)
        line = Line(text.file, text.number, {})
        if len(fields) != len(header):
            raise line.error(f"{len(fields)} columns where the header has {len(header)}")
        row: dict[str, Any] = {
            name: None if value in NULLS else value for name, value in zip(header, fields, strict=True)
        }
        for name in NUMBERS:
            value = row.get(name)
            if value is not None and not (value.isascii() and value.isdigit() and len(value) < 19):
                raise line.error(f'"{name}": {value!r:.60} is not a whole number; write an id')
            if value is not None:
                row[name] = int(value)
        yield Line(text.file, text.number, row)


def _is_csv(lines: Sequence[TextLine]) -> bool:
    try:
        return {"task_id", "new_status"} <= set(_fields(lines[0]))
    except TraceError:
        return False


def _entries(lines: Sequence[TextLine]) -> Iterator[Entry]:
    shape = Shape.load(SCHEMA, "audit")
    rows = _csv_lines(lines) if _is_csv(lines) else (line.object() for line in lines)
    before, entered_last = -1, dict[int, tuple[float, int]]()
    for number, line in enumerate(rows, start=1):
        shape.check(line)
        row = line.value
        if row["id"] <= before:
            raise line.error(f"id {row['id']} after id {before}; rows stand in the order of their ids")
        before = row["id"]
        source = row["previous_status"]
        entered, exited = as_time(row["entered_at"], line, '"entered_at"'), row["exited_at"]
        earlier, earlier_line = entered_last.get(row["task_id"], (entered, 0))
        if entered < earlier:
            raise line.error(
                f'"entered_at" is before that of line {earlier_line}, of the same task; ids are given in the order of time'
            )
        entered_last[row["task_id"]] = entered, line.number
        yield Entry(
            number,
            line.number,
            row["task_id"],
            None if source is None else state_of("Task", source, line, '"previous_status"'),
            state_of("Task", row["new_status"], line, '"new_status"'),
            entered,
            None if exited is None else as_time(exited, line, '"exited_at"'),
        )


def _read(model: Model, lines: Sequence[TextLine], requested: Requested) -> _Audit:
    refuse_release(requested.release)
    return _Audit(moves_of(model), list(_entries(lines)))


def _recognises(lines: Sequence[TextLine]) -> bool:
    names = first_object(lines).keys()
    return _is_csv(lines) or ({"task_id", "new_status"} <= names and "event" not in names)


AUDIT = Format(
    "jobmon-audit",
    'a row of task_status_audit has "task_id" and "new_status"',
    _recognises,
    _read,
    validated_by="shipped",
    fits=fits,
    text=True,
    by_release=True,
)
"""The format of rows of task_status_audit."""
