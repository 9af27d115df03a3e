"""Validates structlog events of Jobmon's server, distributor and workers, as JSON lines or as its console writes them.

The format reads the messages of ``MESSAGES``; it skips and counts other lines. How the events are interpreted:

* **Each instance and each run** is checked alone. Tasks have no such lines, except refusals.
* **What is logged**: each move of an instance except those of ``life.UNLOGGED``, and each move of a run except the
  reaper's.
* **INSTANTIATED is logged for every instance that was asked for**, even for one that did not move.
* **A refusal** names the object's state. The tables must refuse that move: as too late (12 moves of instances, 2 of
  runs), or as not allowed. An amended variant also refuses moves that its table allows, if the sender has no lease (any
  more).
* **A log may begin in the middle**: an object may first appear in any state.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from schedproof.model.lang import Model
from schedproof.model.systems.jobmon.shipped import tables
from schedproof.proofs.traces.engine.candidates import Candidates, Nonconformance, Path, Record, step
from schedproof.proofs.traces.errors import TraceError
from schedproof.proofs.traces.files.lines import Line, TextLine
from schedproof.proofs.traces.files.schema import Shape
from schedproof.proofs.traces.formats.format import Format, Requested
from schedproof.proofs.traces.reports.report import (
    Candidate,
    Difference,
    LogVerdict,
    NonconformanceReport,
    Validation,
    Violation,
)

from .life import Machine, who_is, with_all_rows
from .words import LETTERS, SCHEMA, Clock, fits, letter, property_of, refuse_release, state_of, table_of

INSTANCE = r"Task instance(?: (?P<number>\d{1,18}))?"
MESSAGES: Mapping[str, re.Pattern[str]] = {
    name: re.compile(pattern)
    for name, pattern in {
        "moved": INSTANCE + r" transitioned to (?P<state>INSTANTIATED|LAUNCHED|RUNNING|DONE)\b",
        "failed": INSTANCE + r" transitioned to error state\b",
        "overdue": INSTANCE + r" .*\b(?P<state>TRIAGING|NO_HEARTBEAT) \(overdue from (?P<source>RUNNING|LAUNCHED)\)",
        "killed": INSTANCE + r" killed \(KILL_SELF\b",
        "run": r"Workflow run transitioned from (?P<source>\w+) to (?P<state>\w+)",
        "untimely": r"Untimely transition rejected",
        "invalid": r"Invalid (?P<machine>TaskInstance|Task|WorkflowRun|Workflow) transition",
    }.items()
}
"""The part of each message that is read; ``number`` is the instance's id, ``state`` the state that it has reached."""

ERRORS = frozenset({"Error", "ResourceError", "UnknownError", "NoDistributorId", "ErrorFatal"})
UNTIMELY = {
    "TaskInstance": tables.TASK_INSTANCE_UNTIMELY,
    "WorkflowRun": tables.WORKFLOW_RUN_UNTIMELY,
    "Workflow": tables.WORKFLOW_UNTIMELY,
    "Task": [],
}
IDS = {
    "TaskInstance": "task_instance_id",
    "Task": "task_id",
    "WorkflowRun": "workflow_run_id",
    "Workflow": "workflow_id",
}
CONSOLE = re.compile(r"(\w+)=('[^']*'|\"[^\"]*\"|\S+)")
STAMP = re.compile(r"^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?)")


@dataclass(frozen=True)
class Entry:
    """The content of a line.

    Args:
        targets: the states that the object may have after the logged step; empty for a refusal.
        source: the state before; "" if the line does not have it.
        stays: the object may have stayed as it was.
        refused: the kind of refusal, "untimely" or "invalid".
        requested: for a refusal, the state that was asked for.
    """

    number: int
    line: int
    sort: str
    who: int
    targets: frozenset[str] = frozenset()
    source: str = ""
    stays: bool = False
    refused: str = ""
    requested: str = ""

    @property
    def says(self) -> str:
        """The line in a few words."""
        if self.refused:
            what = f"{letter(self.sort, self.source)} to {letter(self.sort, self.requested)}"
            return f"{who_is(self.sort, self.who)}: {what} is refused as {self.refused}"
        return (
            f"{who_is(self.sort, self.who)} goes to {' or '.join(letter(self.sort, s) for s in sorted(self.targets))}"
        )


def _console(text: str) -> dict[str, Any]:
    """The event of a line from structlog's console renderer: the message, then key=value."""
    fields: dict[str, Any] = {"event": text}
    stamp = STAMP.match(text)
    if stamp:
        fields["timestamp"] = stamp[1].replace("Z", "+00:00")
    for key, value in CONSOLE.findall(text):
        plain = value.strip("'\"")
        fields[key] = (
            None
            if plain == "None"
            else int(plain)
            if plain.isascii() and plain.isdigit() and len(plain) < 19
            else plain
        )
    return fields


def _event(line: TextLine) -> Line:
    if line.text.startswith("{"):
        parsed = line.object()
        stamp = parsed.value.get("timestamp")
        if isinstance(stamp, str) and stamp.endswith("Z"):
            return Line(parsed.file, parsed.number, {**parsed.value, "timestamp": stamp[:-1] + "+00:00"})
        return parsed
    if re.match(r"\[\s*[{\]]", line.text):
        raise TraceError(f"{line.file}, line {line.number}: a list; write each event as a line of its own")
    return Line(line.file, line.number, _console(line.text))


def _message(text: str) -> tuple[str, re.Match[str]] | None:
    return next(((name, match) for name, pattern in MESSAGES.items() if (match := pattern.search(text))), None)


def _id(line: Line, key: str, shown: str | None = None) -> int:
    value = line.value.get(key)
    if value is None and shown is not None:
        return int(shown)
    if value is None:
        raise line.error(f'"{key}" is missing; write the id of what the event is about')
    if shown is not None and value != int(shown):
        raise line.error(f'"{key}" is {value}, but the message speaks of {shown}')
    return int(value)


def _status(line: Line, sort: str, key: str, shown: str | None = None) -> str:
    value = line.value.get(key, shown)
    if value is None:
        raise line.error(f'"{key}" is missing; write the status as a letter')
    state = state_of(sort, value, line, f'"{key}"', constants=True)
    if shown is not None and state_of(sort, shown, line, "the message", constants=True) != state:
        raise line.error(f'"{key}" is {value}, but the message says {shown}')
    return state


def _entry(line: Line, number: int) -> Entry | None:
    """The content of a line; None if it is none of these messages.

    Raises:
        TraceError: a value is missing, or is not a status.
    """
    named = _message(line.value["event"])
    if named is None:
        return None
    kind, match = named
    if kind in ("untimely", "invalid"):
        sort = (
            match["machine"]
            if kind == "invalid"
            else next((s for s, key in IDS.items() if line.value.get(key) is not None), "TaskInstance")
        )
        keys = {
            which: next((k for k in line.value if re.fullmatch(rf"{which}_(.*_)?(status|state)", k)), f"{which}_status")
            for which in ("current", "requested")
        }
        source, requested = (_status(line, sort, keys[which]) for which in ("current", "requested"))
        return Entry(number, line.number, sort, _id(line, IDS[sort]), source=source, refused=kind, requested=requested)
    if kind == "run":
        source, state = (
            _status(line, "WorkflowRun", "old_status", match["source"]),
            _status(line, "WorkflowRun", "new_status", match["state"]),
        )
        return Entry(number, line.number, "WorkflowRun", _id(line, "workflow_run_id"), frozenset({state}), source)
    who = _id(line, "task_instance_id", match["number"])
    if kind == "failed":
        state = _status(line, "TaskInstance", "error_state")
        if state not in ERRORS:
            raise line.error(f'"error_state": {letter("TaskInstance", state)} is not a state of error')
        return Entry(number, line.number, "TaskInstance", who, frozenset({state}))
    if kind == "killed":
        # The line names the killed state, but not whether the instance has reached its final state.
        return Entry(number, line.number, "TaskInstance", who, frozenset({"KillSelf", "ErrorFatal"}))
    state = state_of("TaskInstance", match["state"], line, "the message", constants=True)
    source = state_of("TaskInstance", match["source"], line, "the message", constants=True) if kind == "overdue" else ""
    return Entry(number, line.number, "TaskInstance", who, frozenset({state}), source, stays=state == "Instantiated")


@dataclass
class _Events:
    """The entries of a log. Each object is checked alone, by the states that explain its entries."""

    model: Model
    entries: Sequence[Entry]
    note: str
    machines: dict[str, Machine] = field(default_factory=dict)
    """By sort, for the sorts in the log."""

    def check(self) -> Validation:
        """Returns the verdict on all entries."""
        objects: dict[tuple[str, int], Candidates[str]] = {}
        nonconformance, breaks = None, list[Violation]()
        for entry in self.entries:
            nonconformance = self._refusal(entry) if entry.refused else None
            if nonconformance is None and not (entry.refused and entry.sort in ("Task", "Workflow")):
                machine, key = self.machine(entry.sort), (entry.sort, entry.who)
                before = objects.get(key) or Candidates(tuple(machine.states))
                record = self.record(machine, entry)
                after = step(before, record)
                if isinstance(after, Nonconformance):
                    nonconformance = self._nonconformance(entry, machine, frozenset(before.states))
                else:
                    breaks += record.breaks(before.states, after.states)
                    objects[key] = after
            if nonconformance is not None:
                break
        verdict = LogVerdict.CONFORMS if nonconformance is None else LogVerdict.VIOLATES
        return Validation(verdict, nonconformance, self.note, len(self.entries), tuple(breaks))

    def machine(self, sort: str) -> Machine:
        """Returns how objects of a sort move."""
        if sort not in self.machines:
            self.machines[sort] = Machine(self.model, sort)
        return self.machines[sort]

    def record(self, machine: Machine, entry: Entry) -> Record[str]:
        """Returns the entry as a record of one object."""

        def successors(state: str) -> Iterator[Path]:
            return (Path((), after) for after in self._after(machine, self._source(machine, {state}, entry), entry))

        def breaks(before: Sequence[str], after: Sequence[str]) -> list[Violation]:
            if entry.refused or entry.stays or len(entry.targets) != 1:
                return []
            broken = machine.broken(self._source(machine, before, entry), entry.targets)
            return [Violation(entry.number, entry.line, entry.says, property_of(p)) for p in broken]

        return Record(entry.number, entry.line, entry.says, successors, breaks=breaks)

    def _source(self, machine: Machine, states: Iterable[str], entry: Entry) -> frozenset[str]:
        """The states from which the logged step begins: the state in the line, if the object can be in it."""
        return frozenset({entry.source}) & machine.between(states) if entry.source else frozenset(states)

    def _after(self, machine: Machine, before: frozenset[str], entry: Entry) -> frozenset[str]:
        if entry.refused:
            return before
        if entry.targets == {"KillSelf", "ErrorFatal"}:
            dying = machine.between(before) & {"KillSelf"}
            return machine.between(dying) & entry.targets
        logged = self._directly(machine, before, entry) if entry.source else machine.after(before, entry.targets)
        return logged | (before if entry.stays else frozenset())

    def _directly(self, machine: Machine, before: frozenset[str], entry: Entry) -> frozenset[str]:
        """The states after one step from the state in the line."""
        rows = {(row.source, row.target) for row in table_of(self.model, entry.sort)}
        return frozenset(t for s, t, _ in machine.moves if s in before and t in entry.targets and (s, t) in rows)

    def _nonconformance(self, entry: Entry, machine: Machine, states: frozenset[str]) -> NonconformanceReport:
        """Why none of ``states`` explains the entry."""
        before = self._source(machine, states, entry)
        if not before:
            return self._nonconforming(entry, machine, states, f"it cannot be {letter(entry.sort, entry.source)}")
        were = " or ".join(letter(entry.sort, s) for s in sorted(before))
        why = f"it was {were}; no row of the machine {entry.sort} leads there, with what is not logged between"
        return self._nonconforming(entry, machine, before, why)

    def _refusal(self, entry: Entry) -> NonconformanceReport | None:
        """A nonconformance for a refusal that the tables do not give."""
        letters = {name: short for short, name in LETTERS[entry.sort].items()}
        late = f"{letters[entry.source]}>{letters[entry.requested]}" in UNTIMELY[entry.sort]
        row = any((r.source, r.target) == (entry.source, entry.requested) for r in table_of(self.model, entry.sort))
        if row and self.model.changes:
            return None  # the sender had no lease
        if entry.refused == "untimely" and not late:
            why = "the table has such a row" if row else "it is none of those that come too late, but is not allowed"
        elif entry.refused == "invalid" and (row or late):
            why = "the table has such a row" if row else "it is one of those that come too late, which are passed over"
        else:
            return None
        return NonconformanceReport(entry.number, entry.line, f"{entry.says}: {why} (facts 2.1, 2.2, 2.3 and 2.4)")

    def _nonconforming(self, entry: Entry, machine: Machine, states: frozenset[str], why: str) -> NonconformanceReport:
        who = who_is(entry.sort, entry.who)
        shown = " or ".join(sorted(entry.targets)) or entry.source
        candidates = [
            Candidate(
                (),
                {entry.sort: {who: {"state": s}}},
                [Difference(who, "state", " or ".join(machine.leads(s)) or s, shown)],
                (),
                None,
            )
            for s in sorted(states)[:3]
        ]
        return NonconformanceReport(entry.number, entry.line, f"{entry.says}: {why}", (), candidates)


def _read(model: Model, lines: Sequence[TextLine], requested: Requested) -> _Events:
    refuse_release(requested.release)
    shape, clock, entries, skipped = Shape.load(SCHEMA, "event"), Clock(), list[Entry](), 0
    for text in lines:
        line = _event(text)
        if "event" not in line.value and text.text.startswith("{"):
            raise TraceError(f'{line.file}, line {line.number}: "event" is missing; write the message')
        if _message(str(line.value["event"])) is None:
            skipped += 1
            continue
        shape.check(line)
        if line.value.get("timestamp") is not None:
            clock.goes_on(line.value["timestamp"], line, '"timestamp"')
        entry = _entry(line, len(entries) + 1)
        assert entry is not None
        entries.append(entry)
    note = f"{skipped} line{'s' if skipped > 1 else ''} without a known message skipped" if skipped else ""
    return _Events(with_all_rows(model), entries, note)


def _recognises(lines: Sequence[TextLine]) -> bool:
    return any(_message(line.text) is not None for line in lines)


EVENTS = Format(
    "jobmon-events",
    'log events with "Task instance transitioned to" or "Workflow run transitioned from"',
    _recognises,
    _read,
    validated_by="shipped",
    fits=fits,
    text=True,
    by_release=True,
)
"""The format of log events."""
