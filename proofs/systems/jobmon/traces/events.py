"""Events in which Jobmon's server, distributor and workers tell what they do: structlog's, as JSON lines or as its console writes them.

The messages that are read are ``MESSAGES``; other lines are skipped and counted. The choices of the reading:

* **An instance, a run** is judged by itself: tasks have no such lines, but for refusals.
* **What is logged**: each move of an instance but those of ``jobmon_life.UNLOGGED``, and each of a run but the reaper's.
* **INSTANTIATED is logged for every instance that was asked for**, also for one that did not move.
* **A refusal** says in which state the object was; it must be one that the tables give: too late (12 moves of instances, 2 of runs), or not allowed.
  An amended variant also refuses what its table allows, from who has no lease (any more).
* **A log may begin in the middle**: an object may be met in any state.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from schedproof.model.lang import Model
from schedproof.model.systems.jobmon.shipped import tables
from schedproof.proofs.traces.engine.candidates import Judgement
from schedproof.proofs.traces.errors import TraceError
from schedproof.proofs.traces.files.lines import Line, TextLine
from schedproof.proofs.traces.files.schema import Shape
from schedproof.proofs.traces.formats.format import Format, Judged, Told
from schedproof.proofs.traces.reports.report import BrokenPromise, Candidate, Departure, Difference, OracleVerdict

from .life import Machine, who_is, with_all_rows
from .words import LETTERS, SCHEMA, Clock, fits, letter, promise_of, refuse_release, state_of, table_of

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
"""What is read of a message; ``number`` is the instance's id, ``state`` what it has come to."""

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
    """What a line tells.

    Args:
        targets: the states that the object may have come to by the logged step; none for a refusal.
        source: the state before; "" if it is not told.
        stays: it may have stayed as it was.
        refused: the refusal: "untimely" or "invalid"; ``requested`` is what was asked for.
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
    """The event of a line that structlog's console renderer wrote: the message, then key=value."""
    found: dict[str, Any] = {"event": text}
    stamp = STAMP.match(text)
    if stamp:
        found["timestamp"] = stamp[1].replace("Z", "+00:00")
    for key, value in CONSOLE.findall(text):
        plain = value.strip("'\"")
        found[key] = (
            None
            if plain == "None"
            else int(plain)
            if plain.isascii() and plain.isdigit() and len(plain) < 19
            else plain
        )
    return found


def _event(line: TextLine) -> Line:
    if line.text.startswith("{"):
        found = line.object()
        stamp = found.value.get("timestamp")
        if isinstance(stamp, str) and stamp.endswith("Z"):
            return Line(found.file, found.number, {**found.value, "timestamp": stamp[:-1] + "+00:00"})
        return found
    if re.match(r"\[\s*[{\]]", line.text):
        raise TraceError(f"{line.file}, line {line.number}: a list; write each event as a line of its own")
    return Line(line.file, line.number, _console(line.text))


def _message(text: str) -> tuple[str, re.Match[str]] | None:
    return next(((name, found) for name, pattern in MESSAGES.items() if (found := pattern.search(text))), None)


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


def _read(line: Line, number: int) -> Entry | None:
    """What a line tells; None if it is none of these messages.

    Raises:
        TraceError: something is missing, or is no status.
    """
    found = _message(line.value["event"])
    if found is None:
        return None
    kind, match = found
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
            raise line.error(f'"error_state": {letter("TaskInstance", state)} is no error')
        return Entry(number, line.number, "TaskInstance", who, frozenset({state}))
    if kind == "killed":
        # It says of which state, and not whether this is over.
        return Entry(number, line.number, "TaskInstance", who, frozenset({"KillSelf", "ErrorFatal"}))
    state = state_of("TaskInstance", match["state"], line, "the message", constants=True)
    source = state_of("TaskInstance", match["source"], line, "the message", constants=True) if kind == "overdue" else ""
    return Entry(number, line.number, "TaskInstance", who, frozenset({state}), source, stays=state == "Instantiated")


@dataclass
class _Events:
    """The objects of a log as far as it is read, with the states that explain it."""

    model: Model
    machines: dict[str, Machine] = field(default_factory=dict)
    """By sort, as far as the log tells of it."""
    now: dict[tuple[str, int], frozenset[str]] = field(default_factory=dict)
    breaks: list[BrokenPromise] = field(default_factory=list)

    def goes_on(self, told: Entry) -> Departure | None:
        """Takes the line, unless nothing explains it."""
        if told.refused:
            departure = self._refusal(told)
            if departure is not None or told.sort in ("Task", "Workflow"):
                return departure
        if told.sort not in self.machines:
            self.machines[told.sort] = Machine(self.model, told.sort)
        machine = self.machines[told.sort]
        key = (told.sort, told.who)
        states = self.now.get(key, frozenset(machine.states))
        before = frozenset({told.source}) & machine.between(states) if told.source else states
        if told.source and not before:
            return self._departure(told, machine, states, f"it cannot be {letter(told.sort, told.source)}")
        if told.refused:
            self.now[key] = before
            return None
        after = self._after(machine, before, told)
        if not after:
            were = " or ".join(letter(told.sort, s) for s in sorted(before))
            why = f"it was {were}; no row of the machine {told.sort} leads there, with what is not logged between"
            return self._departure(told, machine, before, why)
        if not told.stays and len(told.targets) == 1:
            self.breaks += [
                BrokenPromise(told.number, told.line, told.says, promise_of(p))
                for p in machine.broken(before, told.targets)
            ]
        self.now[key] = after
        return None

    def _after(self, machine: Machine, before: frozenset[str], told: Entry) -> frozenset[str]:
        if told.targets == {"KillSelf", "ErrorFatal"}:
            dying = machine.between(before) & {"KillSelf"}
            return machine.between(dying) & told.targets
        logged = self._directly(machine, before, told) if told.source else machine.after(before, told.targets)
        return logged | (before if told.stays else frozenset())

    def _directly(self, machine: Machine, before: frozenset[str], told: Entry) -> frozenset[str]:
        """By one step from the state that is told."""
        rows = {(row.source, row.target) for row in table_of(self.model, told.sort)}
        return frozenset(t for s, t, _ in machine.moves if s in before and t in told.targets and (s, t) in rows)

    def _refusal(self, told: Entry) -> Departure | None:
        """A refusal that the tables do not give."""
        letters = {name: short for short, name in LETTERS[told.sort].items()}
        late = f"{letters[told.source]}>{letters[told.requested]}" in UNTIMELY[told.sort]
        row = any((r.source, r.target) == (told.source, told.requested) for r in table_of(self.model, told.sort))
        if row and self.model.changes:
            return None  # the lease was another's
        if told.refused == "untimely" and not late:
            why = "the table has such a row" if row else "it is none of those that come too late, but is not allowed"
        elif told.refused == "invalid" and (row or late):
            why = "the table has such a row" if row else "it is one of those that come too late, which are passed over"
        else:
            return None
        return Departure(told.number, told.line, f"{told.says}: {why} (facts 2)")

    def _departure(self, told: Entry, machine: Machine, states: frozenset[str], why: str) -> Departure:
        who = who_is(told.sort, told.who)
        shown = " or ".join(sorted(told.targets)) or told.source
        candidates = [
            Candidate(
                (),
                {told.sort: {who: {"state": s}}},
                [Difference(who, "state", " or ".join(machine.leads(s)) or s, shown)],
                (),
                None,
            )
            for s in sorted(states)[:3]
        ]
        return Departure(told.number, told.line, f"{told.says}: {why}", (), candidates)


def _judge(model: Model, lines: Sequence[TextLine], told: Told) -> Judged:
    refuse_release(told.release)
    shape, clock, events = Shape.load(SCHEMA, "event"), Clock(), _Events(with_all_rows(model))
    size, skipped, departure = 0, 0, None
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
        entry = _read(line, size + 1)
        assert entry is not None
        size += 1
        departure = departure or events.goes_on(entry)
    verdict = OracleVerdict.CONFORMS if departure is None else OracleVerdict.DEPARTS
    note = f"{skipped} line{'s' if skipped > 1 else ''} without a known message skipped" if skipped else ""
    return Judged(Judgement(verdict, departure), size, note, tuple(events.breaks))


def _recognises(lines: Sequence[TextLine]) -> bool:
    return any(_message(line.text) is not None for line in lines)


EVENTS = Format(
    "jobmon-events",
    'log events with "Task instance transitioned to" or "Workflow run transitioned from"',
    _recognises,
    judge=_judge,
    judged_by="shipped",
    fits=fits,
    text=True,
)
"""Log events."""
