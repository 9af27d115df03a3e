"""A brute-force check of YuniKorn's state logs, events and log lines: the validator's independent second opinion.

It shares no code with the package. The tables are copied by hand from what was observed of the real machines; the rules
of the formats are applied word by word. Every release is checked from the first record to the last, and the one that
comes farthest gives the verdict.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

OLD, MIDDLE, NEW = "0.11-0.12", "1.0-1.5", "1.6+"
RELEASES = (OLD, MIDDLE, NEW)

CORE = """
New         Accepted   Rejected  -           Failing  -        Resuming
Accepted    Starting   -         Completing  Failing  -        Resuming
Starting    Running    -         Completing  Failing  -        -
Running     Running    -         Completing  Failing  -        -
Completing  Running    -         Completed   -        -        -
Completed   -          -         -           -        Expired  -
Failing     -          -         -           Failed   -        -
Failed      -          -         -           -        Expired  -
Resuming    Accepted   -         -           -        -        -
"""
CORE_EVENTS = ("runApplication", "rejectApplication", "completeApplication", "failApplication", "expireApplication",
               "resumeApplication")  # fmt: skip

OBJECT = {("Active", "Remove"): "Draining", ("Draining", "Remove"): "Draining", ("Active", "Start"): "Active",
          ("Stopped", "Start"): "Active", ("Active", "Stop"): "Stopped", ("Stopped", "Stop"): "Stopped"}  # fmt: skip

SHIM_APPLICATION = """
SubmitApplication: New > Submitted
RecoverApplication: New > Recovering
AcceptApplication: Submitted Recovering > Accepted
TryReserve: Accepted > Reserving
UpdateReservation: Reserving > Reserving
ResumingApplication: Reserving > Resuming
AppTaskCompleted: Resuming > Resuming
RunApplication: Accepted Reserving Resuming Running > Running
ReleaseAppAllocation: Running > Running
ReleaseAppAllocation: Failing > Failing
ReleaseAppAllocation: Resuming > Resuming
ReleaseAppAllocationAsk: Running Accepted Reserving > Running
ReleaseAppAllocationAsk: Failing > Failing
ReleaseAppAllocationAsk: Resuming > Resuming
CompleteApplication: Running > Completed
RejectApplication: Submitted > Rejected
FailApplication: Submitted Accepted Running Reserving > Failing
FailApplication: Failing Rejected > Failed
KillApplication: Accepted Running Reserving > Killing
KilledApplication: Killing > Killed
"""
TASK = """
InitTask: New > Pending
SubmitTask: Pending > Scheduling
TaskAllocated: Scheduling > TaskAllocated
TaskAllocated: Completed > Completed
TaskBound: TaskAllocated > Bound
CompleteTask: New Pending Scheduling TaskAllocated Bound Completed Killing Killed Rejected Failed > Completed
KillTask: Pending Scheduling TaskAllocated Bound > Killing
TaskKilled: Killing > Killed
TaskRejected: New Pending Scheduling > Rejected
TaskFail: Rejected TaskAllocated > Failed
"""
SHIM_NODE = """
RecoverNode: New > Recovering
NodeAccepted: Recovering > Accepted
NodeReady: Accepted > Healthy
NodeRejected: New Recovering > Rejected
DrainNode: Healthy Accepted > Draining
RestoreNode: Draining > Healthy
"""
SHIM_SCHEDULER = """
RegisterScheduler: New > Registering
RegisterSchedulerSucceed: Registering > Registered
RegisterSchedulerFailed: Registering > Stopped
RecoverScheduler: Registered > Recovering
RecoverSchedulerSucceed: Recovering > Running
RecoverSchedulerFailed: Recovering > Stopped
"""

Table = dict[tuple[str, str], str]
"""(state, event) -> state."""


def _matrix(text: str) -> Table:
    table = {}
    for line in text.split("\n"):
        if line.strip():
            state, *outcomes = line.split()
            table |= {(state, e): o for e, o in zip(CORE_EVENTS, outcomes, strict=True) if o != "-"}
    return table


def _listed(text: str) -> Table:
    table = {}
    for line in text.strip().split("\n"):
        event, rest = line.split(": ")
        sources, target = rest.split(" > ")
        table |= {(source, event): target for source in sources.split()}
    return table


def tables(release: str) -> dict[str, Table]:
    """Every machine of a release: what the log calls it -> its table; a machine that is gone is empty."""
    core, shim, scheduler, objects = _matrix(CORE), _listed(SHIM_APPLICATION), _listed(SHIM_SCHEDULER), dict(OBJECT)
    if release != OLD:
        core["Rejected", "expireApplication"] = "Expired"
        shim["Recovering", "RejectApplication"] = "Rejected"
    if release == NEW:
        core = {(s, e): t for (s, e), t in core.items() if "Starting" not in (s, t)}
        core["Accepted", "runApplication"] = "Running"
        objects["Draining", "Start"] = "Active"
        scheduler = {}
    return {
        "Application": core,
        "object": objects,
        "app": shim,
        "task": _listed(TASK),
        "node": _listed(SHIM_NODE),
        "scheduler": scheduler,
    }


def _states(table: Table) -> set[str]:
    return {s for s, _ in table} | set(table.values())


Verdict = tuple[str, int | None, tuple[str, ...]]
"""conforms or does not conform; the record; the releases that explain it."""


def _best(checked: dict[str, int | None]) -> Verdict:
    """A log conforms if it does in some release; else it does not conform where the last release gives up."""
    fine = tuple(r for r in RELEASES if checked[r] is None)
    if fine:
        return "conforms", None, fine
    return "violates", max(n for n in checked.values() if n is not None), ()


# --- The state log


def validate_statelog(text: str) -> Verdict:
    """One application, or a list of them."""
    document = json.loads(text)
    applications = document if isinstance(document, list) else [document]
    return _best({release: _statelog(applications, release) for release in RELEASES})


def _statelog(applications: Sequence[dict[str, Any]], release: str) -> int | None:
    table, number = tables(release)["Application"], 0
    for application in applications:
        entries = application.get("stateLog") or []
        state, time = "New", None
        for entry in entries:
            number += 1
            after = entry["applicationState"]
            if release == OLD or after == "New" or after == state or (time is not None and entry["time"] < time):
                return number
            if after not in {t for (s, _), t in table.items() if s == state}:
                return number
            state, time = after, entry["time"]
        number += 1
        if "stateLog" not in application:
            if application["applicationState"] != "New" and release != OLD:
                return number
        elif application["applicationState"] != state or release == OLD or (not entries and release != MIDDLE):
            return number
    return None


# --- Events

CODES = {202: "Rejected", 203: "New", 204: "Accepted", 205: "Starting", 206: "Running", 207: "Completing",
         208: "Completed", 209: "Failing", 210: "Failed", 211: "Resuming", 212: "Expired"}  # fmt: skip


def validate_events(lines: Sequence[str]) -> Verdict:
    """A stream, or a batch on one line."""
    records = []
    for line in lines:
        value = json.loads(line)
        records += value.get("EventRecords", [value]) or []
    return _best({release: _events(records, release) for release in RELEASES})


def _events(records: Sequence[dict[str, Any]], release: str) -> int | None:
    table, number = tables(release)["Application"], 0
    state: dict[str, str] = {}
    removed: set[str] = set()
    for record in records:
        kind, who = record.get("type"), record.get("objectID")
        change, code = record.get("eventChangeType", 0), record.get("eventChangeDetail", 0)
        if kind == 3 and code in (300, 302):
            number += 1
            if release == OLD or who in removed:
                return number
            if code == 300:
                removed.add(who)
        elif kind == 3 and change == 2 and code == 0:
            number += 1
            if release == OLD:
                return number
            removed.discard(who)
        elif kind == 2 and code in CODES and (change == 1 or (change == 2 and code == 203)):
            number += 1
            after, before = CODES[code], state.get(who)
            if before in ("Completed", "Expired", "Failed", "Rejected") and after == "New":
                before = None
            if release == OLD or after not in _states(table):
                return number
            if before is not None:
                reachable = {t for (s, _), t in table.items() if s == before}
                if after == before or after not in reachable:
                    return number
            state[who] = after
    return None


# --- Log lines

MESSAGES = {
    "Application state transition": ("Application", ["appID"]),
    "object transition": ("object", ["object"]),
    "shim app state transition": ("app", ["app"]),
    "shim task state transition": ("task", ["app", "task"]),
    "shim node state transition": ("node", ["nodeID"]),
    "scheduler shim state transition": ("scheduler", []),
}
OVER = {
    "Application": {"Completed", "Expired", "Failed", "Rejected"},
    "object": {"Draining"},
    "app": {"Completed", "Rejected", "Failed", "Killed"},
    "task": {"Completed", "Rejected", "Failed", "Killed"},
}


def _changes(lines: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...], dict[str, Any]]]:
    for number, line in enumerate(lines):
        if line.startswith("{"):
            fields = json.loads(line)
            message = fields.get("msg") or fields.get("M")
        else:
            match = re.search(r"(?:^|\s)((?:\w+ )+transition)\s+(\{.*\})$", line)
            if match is None:
                continue
            message = next((m for m in MESSAGES if match[1].endswith(m)), None)
            fields = json.loads(match[2])
        if message in MESSAGES:
            kind, names = MESSAGES[message]
            who = tuple(fields[n] for n in names)
            yield kind, who if all(isinstance(n, str) for n in who) else (f"line {number}",), fields


def validate_log(lines: Sequence[str]) -> Verdict:
    """Lines in text or in JSON."""
    changes = list(_changes(lines))
    return _best({release: _log(changes, release) for release in RELEASES})


def _log(changes: Sequence[tuple[str, tuple[str, ...], dict[str, Any]]], release: str) -> int | None:
    now: dict[tuple[str, tuple[str, ...]], str] = {}
    every = tables(release)
    for number, (kind, who, fields) in enumerate(changes, start=1):
        source, target, event = fields["source"], fields["destination"], fields["event"]
        begins = source == ("Active" if kind == "object" else "New")
        before = now.get((kind, who))
        renewed = begins and (kind in ("node", "scheduler") or before in OVER.get(kind, set()))
        if before is not None and before != source and not renewed:
            return number
        if every[kind].get((source, event)) != target or (kind == "Application" and source == target):
            return number
        if kind == "scheduler" and source == "New":
            now = {k: v for k, v in now.items() if k[0] in ("Application", "object")}
        now[kind, who] = target
    return None
