"""The transition tables of YuniKorn's releases, as far as logs can distinguish them.

The model has the tables of v0.12.2; the changes of later releases are added to its rows (facts 1.6, 2, 4.1 and 4.4).
Releases with the same tables have one name here. Rows that no log shows (what a user or a crash does to an object)
have no logged event, and are left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schedproof.model.lang import Model
from schedproof.proofs.traces.errors import TraceError

EVENTS: Mapping[str, Mapping[str, str]] = {
    "Application": {
        f"{event}Application": event for event in ("run", "reject", "complete", "fail", "expire", "resume")
    },
    "Queue": {"Remove": "remove", "Start": "start", "Stop": "stop"},
    "ShimApplication": {
        event: event
        for event in (
            *("SubmitApplication", "RecoverApplication", "AcceptApplication", "TryReserve", "UpdateReservation"),
            *("ResumingApplication", "AppTaskCompleted", "RunApplication", "ReleaseAppAllocation"),
            *("ReleaseAppAllocationAsk", "CompleteApplication", "RejectApplication", "FailApplication"),
            *("KillApplication", "KilledApplication"),
        )
    },
    "Task": {
        event: event
        for event in (
            *("InitTask", "SubmitTask", "TaskAllocated", "TaskBound", "CompleteTask", "KillTask"),
            *("TaskKilled", "TaskRejected", "TaskFail"),
        )
    },
    "ShimNode": {
        event: event
        for event in ("RecoverNode", "NodeAccepted", "NodeReady", "NodeRejected", "DrainNode", "RestoreNode")
    },
    "ShimScheduler": {
        event: event
        for event in (
            *("RegisterScheduler", "RegisterSchedulerSucceed", "RegisterSchedulerFailed"),
            *("RecoverScheduler", "RecoverSchedulerSucceed", "RecoverSchedulerFailed"),
        )
    },
}
"""By sort: an event's name in a log -> its name in the model. Queues and partitions share a table and a message."""

STATE_STRINGS = {"Task": {"TaskAllocated": "Allocated"}}
"""State names in logs that differ from those of the code and the model."""

Key = tuple[str, str, str]
"""The key of a row: sort, event as logged, state before."""

OLDEST, MIDDLE, NEWEST = "0.11-0.12", "1.0-1.5", "1.6+"
NAMES = (OLDEST, MIDDLE, NEWEST)

SINCE_1_0: Mapping[Key, str] = {
    ("Application", "expireApplication", "Rejected"): "Expired",
    # YUNIKORN-1704 added this in one of these releases: an application can be rejected while it is recovered.
    ("ShimApplication", "RejectApplication", "Recovering"): "Rejected",
}
SINCE_1_6: Mapping[Key, str] = {
    ("Application", "runApplication", "Accepted"): "Running",
    ("Queue", "Start", "Draining"): "Active",
}
GONE_IN_1_6 = (("Application", "Starting"), ("ShimScheduler", None))
"""A state and a machine (None: all its states) that the release removed."""


@dataclass(frozen=True)
class Table:
    """The transition table of one release, or of one variant of the model."""

    name: str
    rows: Mapping[Key, str]

    def events(self, sort: str, source: str, target: str) -> list[str]:
        """Returns the events that take an object from ``source`` to ``target``."""
        return [event for (s, event, now), after in self.rows.items() if (s, now, after) == (sort, source, target)]

    def leaving(self, sort: str, source: str) -> dict[str, str]:
        """Returns the events possible in ``source``, with the state that each leads to."""
        return {event: after for (s, event, now), after in self.rows.items() if (s, now) == (sort, source)}

    def knows(self, sort: str, state: str) -> bool:
        """True if the table has the state."""
        return any(s == sort and state in (now, after) for (s, _, now), after in self.rows.items())


def table_of(model: Model) -> Table:
    """Returns the model's own rows, by the names that logs use."""
    rows: dict[Key, str] = {}
    for sort, events in EVENTS.items():
        logged = {event: name for name, event in events.items()}
        rows |= {(sort, logged[r.event], r.source): r.target for r in model.table(sort) if r.event in logged}
    return Table(model.variant, rows)


def releases_of(model: Model) -> list[Table]:
    """Returns the tables of all releases, from that of v0.12.2 to the newest."""
    oldest = table_of(model).rows
    middle = {**oldest, **SINCE_1_0}
    newest = {
        key: after
        for key, after in {**middle, **SINCE_1_6}.items()
        if not any(key[0] == sort and state in (None, key[2], after) for sort, state in GONE_IN_1_6)
    }
    return [Table(name, rows) for name, rows in zip(NAMES, (oldest, middle, newest), strict=True)]


def release_named(text: str) -> str:
    """Returns the name of the group of releases to which ``text`` (such as 1.5 or v0.12.2) belongs.

    Raises:
        TraceError: it is no release, or is older than any table here.
    """
    if text in NAMES:
        return text
    match = re.fullmatch(r"v?([0-9]{1,4})\.([0-9]{1,4})(?:\.[0-9]{1,4})?", text)
    if match is None:
        raise TraceError(f"{text!r:.40} is not a version of YuniKorn; write one such as 0.12.2, 1.5 or 1.6")
    number = (int(match[1]), int(match[2]))
    if number < (0, 11):
        raise TraceError(f"release {text} has other tables than any that is known here; 0.11 and later can be checked")
    return OLDEST if number < (1, 0) else MIDDLE if number < (1, 6) else NEWEST


def known_states(model: Model, sort: str) -> Sequence[str]:
    """Returns the states that a log may have, as logs name them."""
    strings = {state: string for string, state in STATE_STRINGS.get(sort, {}).items()}
    return [strings.get(state.name, state.name) for state in model.machine(sort).states]
