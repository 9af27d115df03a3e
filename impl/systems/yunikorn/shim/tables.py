"""The transition tables of the shim's four machines: those of v0.12.2, with the repairs.

F: a section of the facts and a line of the code. R: a repair, by its number in the package's docstring. The task's
state Allocated has the string "TaskAllocated" in the code.
"""

from __future__ import annotations

from schedproof.impl.table_machine import Row, TableMachine


def _rows(origin: str, table: str) -> list[Row]:
    """Rows written as ``event | sources | target | line``; the target ``same`` is each source itself."""
    rows = []
    for line in table.strip().splitlines():
        event, sources, target, at = (part.strip() for part in line.split("|"))
        cited = at if at.startswith("R") else f"{origin}:{at}"
        rows += [Row(event, source, source if target == "same" else target, cited) for source in sources.split()]
    return rows


APPLICATION_STATES = (
    *("New", "Submitted", "Recovering", "Accepted", "Reserving", "Resuming", "Running"),
    *("Completed", "Rejected", "Failing", "Failed", "Killing", "Killed"),
)
TASK_STATES = (
    *("New", "Pending", "Scheduling", "Allocated", "Bound"),
    *("Completed", "Killing", "Killed", "Rejected", "Failed"),
)
NODE_STATES = ("New", "Recovering", "Accepted", "Healthy", "Rejected", "Draining")
SCHEDULER_STATES = ("New", "Registering", "Registered", "Stopped", "Recovering", "Running")

TERMINATED = frozenset({"Rejected", "Killed", "Failed", "Completed"})
"""The states in which a task has ended (F 4.2)."""
REGISTERED = frozenset({"Healthy", "Draining", "Rejected"})
"""The states of a node that the core has answered about (F 4.3)."""

APPLICATION = TableMachine(
    "application",
    APPLICATION_STATES,
    _rows(
        "F 4.1, application.go",
        """
        SubmitApplication | New | Submitted | 90
        RecoverApplication | New | Recovering | 93
        AcceptApplication | Submitted Recovering | Accepted | 96
        TryReserve | Accepted | Reserving | 99
        UpdateReservation | Reserving | Reserving | 102
        ResumingApplication | Reserving | Resuming | 105
        AppTaskCompleted | Resuming | Resuming | 108
        RunApplication | Accepted Reserving Resuming Running | Running | 111
        ReleaseAppAllocation | Running Failing Resuming | same | 114
        ReleaseAppAllocation | New Submitted Recovering Accepted Reserving | same | R2
        ReleaseAppAllocation | Completed Rejected Failed Killing Killed | same | R2
        ReleaseAppAllocationAsk | Running Failing Resuming | same | 123
        ReleaseAppAllocationAsk | New Submitted Recovering Accepted Reserving | same | R2
        ReleaseAppAllocationAsk | Completed Rejected Failed Killing Killed | same | R2
        CompleteApplication | Running | Completed | 132
        RejectApplication | Submitted | Rejected | 135
        RejectApplication | Recovering | Rejected | R1
        FailApplication | Submitted Accepted Running Reserving | Failing | 138
        FailApplication | Recovering Resuming | Failing | R3
        FailApplication | Failing Rejected | Failed | 141
        KillApplication | Accepted Running Reserving | Killing | 144
        KilledApplication | Killing | Killed | 147
        """,
    ),
)

TASK = TableMachine(
    "task",
    TASK_STATES,
    _rows(
        "F 4.2, task.go",
        f"""
        InitTask | New | Pending | 101
        SubmitTask | Pending | Scheduling | 104
        TaskAllocated | Scheduling | Allocated | 107
        TaskAllocated | Completed | Completed | 110
        TaskAllocated | Rejected Killed Failed | same | R6
        TaskBound | Allocated | Bound | 113
        CompleteTask | {" ".join(TASK_STATES)} | Completed | 116
        KillTask | Pending Scheduling Allocated Bound | Killing | 119
        TaskKilled | Killing | Killed | 122
        TaskRejected | New Pending Scheduling | Rejected | 125
        TaskFail | Rejected Allocated | Failed | 128
        """,
    ),
)

NODE = TableMachine(
    "node",
    NODE_STATES,
    _rows(
        "F 4.3, node.go",
        """
        RecoverNode | New | Recovering | 72
        NodeAccepted | Recovering | Accepted | 76
        NodeReady | Accepted | Healthy | 80
        NodeRejected | New Recovering | Rejected | 84
        DrainNode | Healthy Accepted | Draining | 88
        RestoreNode | Draining | Healthy | 92
        """,
    ),
)

SCHEDULER = TableMachine(
    "scheduler",
    SCHEDULER_STATES,
    _rows(
        "F 4.4, scheduler.go",
        """
        RegisterScheduler | New | Registering | 88
        RegisterSchedulerSucceed | Registering | Registered | 91
        RegisterSchedulerFailed | Registering | Stopped | 94
        RecoverScheduler | Registered | Recovering | 97
        RecoverSchedulerSucceed | Recovering | Running | 100
        RecoverSchedulerFailed | Recovering | Stopped | 103
        """,
    ),
)
