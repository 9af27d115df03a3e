"""The shim's tables against the facts, written out here a second time: pictures (section 0) and code (4.1 to 4.4)."""

from collections import Counter

import pytest

from schedproof.model.lang import Durability, Machine, Row
from schedproof.model.systems.yunikorn import shim_machines as shim

# Section 0: "source: targets" of each picture, as the facts list its arrows.
FIGURES = {
    "application": """
        New: Submitted Recovering
        Submitted: Accepted Rejected Failing
        Recovering: Accepted
        Accepted: Reserving Running Failing Killing
        Reserving: Resuming Running Failing Killing
        Resuming: Running
        Running: Completed Failing Killing
        Rejected: Failed
        Failing: Failed
        Killing: Killed
    """,
    # "as code", less two self loops on Completed
    "task": """
        New: Pending Completed Rejected
        Pending: Scheduling Completed Killing Rejected
        Scheduling: Allocated Completed Killing Rejected
        Allocated: Bound Completed Killing Failed
        Bound: Completed Killing
        Killing: Killed Completed
        Killed: Completed
        Rejected: Failed Completed
        Failed: Completed
    """,
    "node": """
        New: Recovering Rejected
        Recovering: Accepted Rejected
        Accepted: Healthy Draining
        Healthy: Draining
        Draining: Healthy
    """,
    "scheduler": """
        New: Registering
        Registering: Registered Stopped
        Registered: Recovering
        Recovering: Running Stopped
    """,
}

# Sections 4.1 to 4.4: event, sources, destination, line of the code; "same" is each source itself.
CODE = {
    "application": """
        SubmitApplication | New | Submitted | 90
        RecoverApplication | New | Recovering | 93
        AcceptApplication | Submitted Recovering | Accepted | 96
        TryReserve | Accepted | Reserving | 99
        UpdateReservation | Reserving | Reserving | 102
        ResumingApplication | Reserving | Resuming | 105
        AppTaskCompleted | Resuming | Resuming | 108
        RunApplication | Accepted Reserving Resuming Running | Running | 111
        ReleaseAppAllocation | Running Failing Resuming | same | 114-122
        ReleaseAppAllocationAsk | Running Accepted Reserving | Running | 123
        ReleaseAppAllocationAsk | Failing Resuming | same | 126-131
        CompleteApplication | Running | Completed | 132
        RejectApplication | Submitted | Rejected | 135
        FailApplication | Submitted Accepted Running Reserving | Failing | 138
        FailApplication | Failing Rejected | Failed | 141
        KillApplication | Accepted Running Reserving | Killing | 144
        KilledApplication | Killing | Killed | 147
    """,
    "task": """
        InitTask | New | Pending | 101
        SubmitTask | Pending | Scheduling | 104
        TaskAllocated | Scheduling | Allocated | 107
        TaskAllocated | Completed | Completed | 110
        TaskBound | Allocated | Bound | 113
        CompleteTask | New Pending Scheduling Allocated Bound Killing Killed Rejected Failed Completed | Completed | 116
        KillTask | Pending Scheduling Allocated Bound | Killing | 119
        TaskKilled | Killing | Killed | 122
        TaskRejected | New Pending Scheduling | Rejected | 125
        TaskFail | Rejected Allocated | Failed | 128
    """,
    "node": """
        RecoverNode | New | Recovering | 72
        NodeAccepted | Recovering | Accepted | 76
        NodeReady | Accepted | Healthy | 80
        NodeRejected | New Recovering | Rejected | 84
        DrainNode | Healthy Accepted | Draining | 88
        RestoreNode | Draining | Healthy | 92
    """,
    "scheduler": """
        RegisterScheduler | New | Registering | 88
        RegisterSchedulerSucceed | Registering | Registered | 91
        RegisterSchedulerFailed | Registering | Stopped | 94
        RecoverScheduler | Registered | Recovering | 97
        RecoverSchedulerSucceed | Recovering | Running | 100
        RecoverSchedulerFailed | Recovering | Stopped | 103
    """,
}

FIGURE_TABLES = {
    "application": (shim.APPLICATION_FIGURE, 72),
    "task": (shim.TASK_FIGURE, 76),
    "node": (shim.NODE_FIGURE, 80),
    "scheduler": (shim.SCHEDULER_FIGURE, 84),
}
CODE_TABLES = {
    "application": (shim.APPLICATION_SHIPPED, "4.1, application.go"),
    "task": (shim.TASK_SHIPPED, "4.2, task.go"),
    "node": (shim.NODE_SHIPPED, "4.3, node.go"),
    "scheduler": (shim.SCHEDULER_SHIPPED, "4.4, scheduler.go"),
}
MACHINES = {"application": 13, "task": 10, "node": 6, "scheduler": 6}
"""How many states each has."""


def arrows(text: str) -> set[tuple[str, str]]:
    edges = set()
    for line in filter(None, map(str.strip, text.splitlines())):
        source, targets = line.split(":")
        edges |= {(source, target) for target in targets.split()}
    return edges


def moves(text: str) -> dict[tuple[str, str, str], tuple[int, int]]:
    """(event, source, destination) -> the lines of code that may be cited for it."""
    cited = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        event, sources, target, at = (part.strip() for part in line.split("|"))
        first, _, last = at.partition("-")
        for source in sources.split():
            cited[event, source, source if target == "same" else target] = (int(first), int(last or first))
    return cited


def keys(rows: list[Row]) -> list[tuple[str, str, str]]:
    return [(row.event, row.source, row.target) for row in rows]


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_table_has_the_arrows_of_its_picture(name):
    rows, line = FIGURE_TABLES[name]
    assert {(row.source, row.target) for row in rows} == arrows(FIGURES[name])
    assert len(rows) == len(arrows(FIGURES[name]))  # no two events share an arrow in these four
    assert {row.line for row in rows} == {line}


@pytest.mark.parametrize("name", CODE)
def test_a_shipped_table_has_the_rows_of_the_code(name):
    rows, cited = CODE_TABLES[name]
    expected = moves(CODE[name])
    assert Counter(keys(rows)) == Counter(list(expected))
    for row in rows:
        file, _, at = row.fact.rpartition(":")
        first, last = expected[row.event, row.source, row.target]
        assert file == cited and first <= int(at) <= last, row.name
        assert row.line is None  # the document has no word on it


def test_the_pictures_lack_what_the_facts_say_and_nothing_else():
    """Section 0, its last column."""
    lacking = {name: set(moves(CODE[name])) - set(keys(FIGURE_TABLES[name][0])) for name in CODE}
    more = {name: set(keys(FIGURE_TABLES[name][0])) - set(moves(CODE[name])) for name in CODE}
    assert not any(more.values())
    loops = {move for move in moves(CODE["application"]) if move[1] == move[2]}
    assert lacking["application"] == loops | {
        ("ReleaseAppAllocationAsk", "Accepted", "Running"),
        ("ReleaseAppAllocationAsk", "Reserving", "Running"),
    }
    assert lacking["task"] == {
        ("TaskAllocated", "Completed", "Completed"),
        ("CompleteTask", "Completed", "Completed"),
    }
    assert not lacking["node"] and not lacking["scheduler"]


@pytest.mark.parametrize("machines", [shim.SHIM_MACHINES, shim.SHIM_MACHINES_SHIPPED])
def test_the_states_are_those_of_the_facts(machines: list[Machine]):
    for name, machine in zip(MACHINES, machines, strict=True):
        code = moves(CODE[name])
        assert {s.name for s in machine.states} == {s for _, *ends in code for s in ends}
        assert len(machine.states) == MACHINES[name]
        assert machine.states[0].name == "New"


def test_a_crash_brings_everything_back_to_new():
    for machine in shim.SHIM_MACHINES:
        volatile = {s.name for s in machine.states if s.durability is Durability.VOLATILE}
        assert volatile == {s.name for s in machine.states} - {"New"}
        crashes = {r.source: r.target for r in shim.CRASH_TABLE if r.sort == machine.sort}
        assert crashes == dict.fromkeys(volatile, "New")


def test_what_is_beside_the_tables_is_no_event_of_theirs():
    events = {(row.sort.name, row.event) for row in shim.SHIM_TABLE}
    assert not events & {(row.sort.name, row.event) for row in shim.SHIM_BESIDE}
