"""What the database holds, as plain values: workflows, their runs, tasks, task instances, and a record of each task's moves.

Columns are named as Jobmon names them. Times are seconds; a deadline is the moment at which a lease runs out.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

Resources = tuple[tuple[str, int], ...]
"""Amounts by name, in the order of the names."""

LARGEST = 2**63 - 1
"""The largest number that every database can keep."""

LONGEST_NAME = 500
"""Characters of a name or a token; databases cannot index much more."""


@dataclass(frozen=True)
class Leases:
    """How many seconds without a heartbeat a run and an instance are believed to be alive."""

    run: float = 93.0
    instance: float = 279.0


class State(StrEnum):
    """A state of an object, by the letter that Jobmon has for it."""

    @property
    def in_words(self) -> str:
        """As a user reads it."""
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
    """The states of a task. "Error" is none of them: what follows from it is settled in the same transaction."""

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
"""An attempt that is over."""

UNFINISHED = frozenset(_I) - FINAL
"""An attempt that is on its way; a task has one at most."""

NOT_YET_RUNNING = UNFINISHED - {_I.RUNNING, _I.TRIAGING}
"""An attempt that a new run waits for, even if it lets go on what is running."""

LAPSED = {_I.INSTANTIATED: _I.NO_DISTRIBUTOR_ID, _I.LAUNCHED: _I.NO_HEARTBEAT, _I.RUNNING: _I.TRIAGING}
"""What becomes of an overdue instance."""

ENDINGS = (_I.DONE, _I.ERROR, _I.RESOURCE_ERROR)
"""How a command ends by itself."""

_ENDED = {_R.DONE, _R.STOPPED, _R.ERROR, _R.TERMINATED, _R.ABORTED}

HOLDING = frozenset(_R) - _ENDED
"""A run that is on its way: it has the workflow, which has one such run at most."""

RESUMABLE = frozenset({_R.BOUND, _R.RUNNING})
"""A run that can be asked to make room for another one."""

RESUMING = frozenset({_R.COLD_RESUME, _R.HOT_RESUME})
"""A run that is asked to make room for another one."""

ENDED = frozenset(_ENDED)
"""A run that is over."""

NEXT = {
    _R.REGISTERED: _R.LINKING,
    _R.LINKING: _R.BOUND,
    _R.BOUND: _R.INSTANTIATED,
    _R.INSTANTIATED: _R.LAUNCHED,
    _R.LAUNCHED: _R.RUNNING,
}
"""A run's way to running."""

TO_BE_QUEUED = frozenset({TaskState.REGISTERING, TaskState.ADJUSTING})
"""A task that waits for its next attempt, if it has one left."""

ON_THEIR_WAY = frozenset({TaskState.QUEUED, TaskState.INSTANTIATING, TaskState.LAUNCHED, TaskState.RUNNING})
"""A task whose latest instance is unfinished."""


@dataclass(frozen=True)
class Workflow:
    """A workflow. Whoever registers one of the same name, with the same tasks, means the same."""

    id: int
    name: str
    status: WorkflowState
    status_date: float


@dataclass(frozen=True)
class WorkflowRun:
    """A run of a workflow, by the client that chose ``token``; ``heartbeat_date`` is the deadline of its lease."""

    id: int
    workflow_id: int
    token: str
    status: RunState
    status_date: float
    heartbeat_date: float


@dataclass(frozen=True)
class Task:
    """A task: a command that is tried until it succeeds or ``max_attempts`` are used up in a run.

    ``upstream`` are the tasks that have to be done before; ``resources`` are those of its next instance.
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

    ``report_by_date`` is the deadline of its lease, from its claim on. ``doomed``: it is to end, and who owns its
    state is to end it. ``fenced``: its worker gets control back no more, so that its job can be removed.
    ``distributor`` claimed it under ``token``; ``distributor_id`` is its job on the cluster, ``process_group_id`` the
    same once its command was let start.
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
    """One state of one task, from when to when (None: it is in it)."""

    id: int
    task_id: int
    workflow_id: int
    previous_status: TaskState | None
    new_status: TaskState
    entered_at: float
    exited_at: float | None = None


@dataclass(frozen=True)
class Records:
    """All records as they are at one moment, each kind in the order of the numbers."""

    workflows: tuple[Workflow, ...] = ()
    runs: tuple[WorkflowRun, ...] = ()
    tasks: tuple[Task, ...] = ()
    instances: tuple[TaskInstance, ...] = ()
    audits: tuple[TaskAudit, ...] = ()
