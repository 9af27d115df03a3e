"""Rows of Jobmon's audit and events of its log, checked by hand: the tables of the facts as letters, one object at a time.

It shares no code with the package.
"""

from __future__ import annotations

import re
from typing import Any

TASK = {"GQ", "AQ", "QI", "IO", "IE", "IR", "OR", "OE", "RD", "RE", "EA", "EQ", "EF", "EG"}
NEWER = {
    "GQ",
    "AQ",
    "AF",
    "QI",
    "IO",
    "IR",
    "IE",
    "OR",
    "OE",
    "OF",
    "RD",
    "RE",
    "RG",
    "RA",
    "RF",
    "EG",
    "EA",
    "EF",
    "EQ",
}
RESET = {before + "G" for before in "QIORAF"}


def validate_audit(rows: list[dict[str, Any]]) -> int | None:
    """The number of the first row that cannot be; ids and times have to increase."""
    for at, row in enumerate(rows):
        before, after, entered, exited = (row[k] for k in ("previous_status", "new_status", "entered_at", "exited_at"))
        earlier = [other for other in rows[:at] if other["task_id"] == row["task_id"]]
        if before is None:
            if earlier or after != "G":
                return at + 1
        elif before + after not in TASK | NEWER | RESET:
            return at + 1
        if exited is not None and exited < entered:
            return at + 1
        if after == "E" and exited != entered:
            return at + 1
        if earlier:
            last = earlier[-1]
            if last["new_status"] != before or last["exited_at"] is None or abs(last["exited_at"] - entered) > 1:
                return at + 1
            # nothing fails for good by way of E but what could not be submitted
            if before + after == "EF" and len(earlier) > 1 and earlier[-2]["new_status"] != "I":
                return at + 1
    return None


INSTANCE = {
    "QI",
    "QK",
    "IO",
    "IW",
    "IK",
    "IR",
    "OR",
    "OU",
    "OZ",
    "OX",
    "OK",
    "OF",
    "RT",
    "RE",
    "RU",
    "RZ",
    "RK",
    "RD",
    "TR",
    "TZ",
    "TU",
    "TF",
    "KF",
    "KD",
    "XE",
}
PAST_THE_TABLE = {"QF", "IF", "FI", "-Q"}
"""A resume ends what is queued or instantiated; a bulk update takes up what a resume has ended; an instance is inserted."""
SILENT = {"-Q", "QK", "IK", "OK", "RK", "QF", "IF", "TR", "KF"}
LATE = {"RO", "EO", "EU", "EE", "UD", "UE", "UZ", "ZU", "DU", "KE", "KZ", "KU"}

RUN = {"GL", "LB", "LA", "BI", "IO", "OR", "IE", "OE", "BE", "BC", "BH", "RD", "RS", "RC", "RH", "RE", "CT", "HT"}
REAPED = {"LA", "RE", "CT", "HT"}
RUN_SILENT = {"-G", *REAPED}

SAYS = {"INSTANTIATED": "I", "LAUNCHED": "O", "RUNNING": "R", "DONE": "D", "TRIAGING": "T", "NO_HEARTBEAT": "X"}


def beyond(states: set[str], moves: set[str]) -> set[str]:
    reached = set(states)
    while more := {m[1] for m in moves if m[0] in reached} - reached:
        reached |= more
    return reached


def validate_events(lines: list[dict[str, Any]]) -> int | None:
    """The number of the first event that cannot be."""
    instances: dict[int, set[str]] = {}
    runs: dict[int, set[str]] = {}
    moves = INSTANCE | PAST_THE_TABLE
    for at, line in enumerate(lines, start=1):
        text = line["event"]
        if text.startswith("Workflow run"):
            source, target = line["old_status"], line["new_status"]
            who = line["workflow_run_id"]
            before_it = beyond(runs.get(who, set("-GLBIORDSECHTA")), RUN_SILENT)
            if source not in before_it or source + target not in RUN - {"LA"} | REAPED:
                return at
            runs[who] = {target}
            continue
        who = line["task_instance_id"]
        before_it = instances.get(who, set("-QIORTDEZUWXKF"))
        if text.startswith(("Untimely", "Invalid")):
            source, target = line["current_status"], line["requested_status"]
            late, row = source + target in LATE, source + target in INSTANCE
            if late != text.startswith("Untimely") or row or source not in beyond(before_it, SILENT):
                return at
            instances[who] = {source}
            continue
        if "killed" in text:
            after = {"K", "F"} if "K" in beyond(before_it, SILENT) else set()
        else:
            word = re.search("|".join(SAYS), text)
            target = line["error_state"] if "error state" in text else SAYS[word.group() if word else ""]
            before = beyond(before_it, SILENT)
            if "overdue from" in text:
                before &= {"R" if "from RUNNING" in text else "O"}
            after = {m[1] for m in moves if m[0] in before and m[1] == target}
            if target == "I":
                after |= before_it
        if not after:
            return at
        instances[who] = after
    return None
