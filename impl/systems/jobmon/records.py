"""The database's records as plain values: workflows, runs, tasks, task instances, and an audit of each task's moves.

Columns have Jobmon's names. Times are in seconds. A deadline is the time at which a lease runs out.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from schedproof.impl.hashed import hashed_once

Resources = tuple[tuple[str, int], ...]
"""Amounts by name, ordered by name."""

LARGEST = 2**63 - 1
"""The largest number that every database can keep."""

LONGEST_NAME = 500
"""The largest number of characters in a name or a token; databases cannot index much more."""


@dataclass(frozen=True)
class Leases:
    """For how many seconds without a heartbeat a run and an instance count as alive."""

    run: float = 93.0
    instance: float = 279.0


class State(StrEnum):
    """A state of an object, with Jobmon's letter for it."""

    @property
    def in_words(self) -> str:
        """The state as a user reads it."""
        return self.name.lower().replace("_", " ")


class InstanceState(State):
    """The states of a task instance: one attempt at a task."""

    QUEUED = "Q"
    INSTANTIATED = "I"
    LAUNCHED = "O"
    RUNNING = "R"
    TRIAGING = "T"
    NO_HEARTBEAT = "X"
    DONE = "D"
    ERROR = "E"
    RESOURCE_ERROR = "Z"
    UNKNOWN_ERROR = "U"
    NO_DISTRIBUTOR_ID = "W"
    FATAL = "F"


class TaskState(State):
    """The states of a task. "Error" is not among them: the same transaction already moves the task on."""

    REGISTERING = "G"
    QUEUED = "Q"
    INSTANTIATING = "I"
    LAUNCHED = "O"
    RUNNING = "R"
    DONE = "D"
    ADJUSTING = "A"
    FAILED = "F"


class RunState(State):
    """The states of a workflow run: one client's attempt at a workflow."""

    REGISTERED = "G"
    LINKING = "L"
    BOUND = "B"
    INSTANTIATED = "I"
    LAUNCHED = "O"
    RUNNING = "R"
    DONE = "D"
    STOPPED = "S"
    ERROR = "E"
    COLD_RESUME = "C"
    HOT_RESUME = "H"
    TERMINATED = "T"
    ABORTED = "A"


class WorkflowState(State):
    """The states of a workflow."""

    REGISTERING = "G"
    QUEUED = "Q"
    INSTANTIATING = "I"
    LAUNCHED = "O"
    RUNNING = "R"
    DONE = "D"
    HALTED = "H"
    FAILED = "F"
    ABORTED = "A"


_I, _R = InstanceState, RunState

FINAL = frozenset({_I.DONE, _I.ERROR, _I.RESOURCE_ERROR, _I.UNKNOWN_ERROR, _I.NO_DISTRIBUTOR_ID, _I.FATAL})
"""States of an attempt that is over."""

UNFINISHED = frozenset(_I) - FINAL
"""States of an attempt that is not over; a task has at most one such attempt."""

NOT_YET_RUNNING = UNFINISHED - {_I.RUNNING, _I.TRIAGING}
"""States of an attempt that a new run waits for, even if it lets running commands go on."""

LAPSED = {_I.INSTANTIATED: _I.NO_DISTRIBUTOR_ID, _I.LAUNCHED: _I.NO_HEARTBEAT, _I.RUNNING: _I.TRIAGING}
"""The state that an overdue instance moves to."""

ENDINGS = (_I.DONE, _I.ERROR, _I.RESOURCE_ERROR)
"""The states in which a command can end by itself."""

_ENDED = {_R.DONE, _R.STOPPED, _R.ERROR, _R.TERMINATED, _R.ABORTED}

HOLDING = frozenset(_R) - _ENDED
"""States of a run that is not over. Such a run holds the workflow; a workflow has at most one."""

RESUMABLE = frozenset({_R.BOUND, _R.RUNNING})
"""States of a run that can be asked to make room for another run."""

RESUMING = frozenset({_R.COLD_RESUME, _R.HOT_RESUME})
"""States of a run that was asked to make room for another run."""

ENDED = frozenset(_ENDED)
"""States of a run that is over."""

NEXT = {
    _R.REGISTERED: _R.LINKING,
    _R.LINKING: _R.BOUND,
    _R.BOUND: _R.INSTANTIATED,
    _R.INSTANTIATED: _R.LAUNCHED,
    _R.LAUNCHED: _R.RUNNING,
}
"""The next state of a run on its way to running."""

TO_BE_QUEUED = frozenset({TaskState.REGISTERING, TaskState.ADJUSTING})
"""States of a task that waits for its next attempt, if one is left."""

ON_THEIR_WAY = frozenset({TaskState.QUEUED, TaskState.INSTANTIATING, TaskState.LAUNCHED, TaskState.RUNNING})
"""States of a task whose latest instance is unfinished."""


@dataclass(frozen=True)
class Workflow:
    """A workflow. Registering one of the same name with the same tasks refers to this one."""

    id: int
    name: str
    status: WorkflowState
    status_date: float


@dataclass(frozen=True)
class WorkflowRun:
    """A run of a workflow.

    Attributes:
        token: chosen by the client that created the run.
        heartbeat_date: the deadline of its lease.
    """

    id: int
    workflow_id: int
    token: str
    status: RunState
    status_date: float
    heartbeat_date: float


@dataclass(frozen=True)
class Task:
    """A task: a command that a run tries until it succeeds, at most ``max_attempts`` times.

    Attributes:
        upstream: the tasks that must be done first.
        resources: those of its next instance.
    """

    id: int
    workflow_id: int
    name: str
    command: str
    upstream: tuple[int, ...]
    resources: Resources
    queue: str
    num_attempts: int
    max_attempts: int
    status: TaskState
    status_date: float


@dataclass(frozen=True)
class TaskInstance:
    """An attempt at a task.

    Attributes:
        report_by_date: the deadline of its lease, from its claim on.
        doomed: it is to end, and the owner of its state must end it.
        fenced: its worker gets no control back, so that its job can be removed.
        distributor: the distributor that claimed it.
        token: names that claim.
        distributor_id: its job on the cluster.
        process_group_id: the same job, once its command may start.
    """

    id: int
    task_id: int
    workflow_id: int
    workflow_run_id: int
    status: InstanceState
    status_date: float
    resources: Resources
    queue: str
    report_by_date: float | None = None
    doomed: bool = False
    fenced: bool = False
    distributor: str | None = None
    token: str | None = None
    distributor_id: str | None = None
    process_group_id: str | None = None


@dataclass(frozen=True)
class TaskAudit:
    """A period in which a task is in one state. ``exited_at`` is None while the task is still in it."""

    id: int
    task_id: int
    workflow_id: int
    previous_status: TaskState | None
    new_status: TaskState
    entered_at: float
    exited_at: float | None = None


@hashed_once
@dataclass(frozen=True)
class Records:
    """All records at one moment, each kind ordered by number."""

    workflows: tuple[Workflow, ...] = ()
    runs: tuple[WorkflowRun, ...] = ()
    tasks: tuple[Task, ...] = ()
    instances: tuple[TaskInstance, ...] = ()
    audits: tuple[TaskAudit, ...] = ()
