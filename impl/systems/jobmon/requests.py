"""What agents ask of the server: each request is one transaction, and says all that it depends on.

A request that is asked twice, since its answer was lost, is answered alike the second time.
"""

from __future__ import annotations

from dataclasses import dataclass

from .records import InstanceState, Resources, RunState, Task, TaskInstance, Workflow, WorkflowRun


@dataclass(frozen=True)
class TaskSpec:
    """A task of a workflow to be registered; ``upstream`` names tasks before it."""

    name: str
    command: str
    upstream: tuple[str, ...] = ()
    resources: Resources = ()
    queue: str = "all"
    max_attempts: int = 3


# By clients.


@dataclass(frozen=True)
class Register:
    """A workflow with its tasks; its name says whether it is there already."""

    name: str
    tasks: tuple[TaskSpec, ...]


@dataclass(frozen=True)
class CreateRun:
    """A new run of a workflow, by the client that chose ``token``.

    ``cold``: it waits until nothing of earlier runs is on its way; else (hot) what is running goes on.
    """

    workflow: int
    token: str
    cold: bool = True


@dataclass(frozen=True)
class AdvanceRun:
    """A run's next state on its way from registered to running."""

    run: int
    to: RunState


@dataclass(frozen=True)
class RenewRun:
    """The heartbeat of a client whose run is in ``status``."""

    run: int
    status: RunState


@dataclass(frozen=True)
class QueueTask:
    """The attempt of that number at a task, with new resources only if the task is adjusting them."""

    run: int
    task: int
    attempt: int
    resources: Resources | None = None
    queue: str | None = None


@dataclass(frozen=True)
class FinishRun:
    """A running run is done, stopped by its user, or in error (``failed``: since the client cannot go on)."""

    run: int
    to: RunState
    failed: bool = False


@dataclass(frozen=True)
class AskResume:
    """Somebody who wants to run the workflow asks the run that has it to make room.

    ``cold``: what is running is to end as well.
    """

    run: int
    cold: bool


@dataclass(frozen=True)
class WindUp:
    """A run that was asked to make room has done so."""

    run: int


@dataclass(frozen=True)
class Clear:
    """What is left by a workflow's runs, of which this was the latest, is to end.

    It names the run since it may come late, when another one has been and left what is to go on.
    """

    run: int


@dataclass(frozen=True)
class ReadWorkflow:
    """A workflow, its latest run, if any, its tasks, and its instances that are on their way."""

    workflow: int


@dataclass(frozen=True)
class ReadRun:
    """A run, its workflow, and all tasks of that."""

    run: int


# By distributors.


@dataclass(frozen=True)
class FindWork:
    """Instances that a distributor has something to do with, at most ``limit``; and which of them are overdue.

    Those that it is ``busy`` with it does not want to hear of.
    """

    limit: int = 1000
    busy: tuple[int, ...] = ()


@dataclass(frozen=True)
class Claim:
    """A distributor takes a queued instance; ``token`` is of this process and this claim."""

    instance: int
    distributor: str
    token: str


@dataclass(frozen=True)
class Launched:
    """The distributor that holds the claim has a job on the cluster."""

    instance: int
    token: str
    job: str


@dataclass(frozen=True)
class SubmissionFailed:
    """The distributor that holds the claim could not submit, and there is no job."""

    instance: int
    token: str


@dataclass(frozen=True)
class GiveUp:
    """The distributor that holds the claim has no job for the doomed instance, or has removed it."""

    instance: int
    token: str


@dataclass(frozen=True)
class RenewLaunched:
    """The heartbeat of a distributor for what it has launched and what has not started yet."""

    instances: tuple[int, ...]
    distributor: str


@dataclass(frozen=True)
class Fence:
    """An instance in triage is overdue: its worker is to get control back no more, since its job will be removed."""

    instance: int


@dataclass(frozen=True)
class JobOver:
    """Nothing is left of the job of an instance that is in the state ``seen``, for certain.

    ``resource_error``: the cluster says that it exceeded its resources.
    """

    instance: int
    seen: InstanceState
    resource_error: bool = False


@dataclass(frozen=True)
class HandBack:
    """The worker of an instance in triage has been heard of again: it is to go on."""

    instance: int


# By workers; ``identity`` is the job that asks, by the name that was noted when it was launched.


@dataclass(frozen=True)
class Start:
    """May the command start?"""

    instance: int
    identity: str


@dataclass(frozen=True)
class RenewInstance:
    """The heartbeat of a worker."""

    instance: int
    identity: str


@dataclass(frozen=True)
class End:
    """The command is over: done, error, or resource error."""

    instance: int
    identity: str
    status: InstanceState


@dataclass(frozen=True)
class Killed:
    """The worker of a doomed instance has killed its command."""

    instance: int
    identity: str


# By distributors and the reaper.


@dataclass(frozen=True)
class Lapse:
    """An instance is overdue: the server moves it on."""

    instance: int


@dataclass(frozen=True)
class FindDead:
    """Runs and instances that are overdue; a run that makes room only when it can be wound up."""


@dataclass(frozen=True)
class ReapRun:
    """A run is overdue: it is over."""

    run: int


Request = (
    Register
    | CreateRun
    | AdvanceRun
    | RenewRun
    | QueueTask
    | FinishRun
    | AskResume
    | WindUp
    | Clear
    | ReadWorkflow
    | ReadRun
    | FindWork
    | Claim
    | Launched
    | SubmissionFailed
    | GiveUp
    | RenewLaunched
    | Fence
    | JobOver
    | HandBack
    | Start
    | RenewInstance
    | End
    | Killed
    | Lapse
    | FindDead
    | ReapRun
)

READS = (ReadWorkflow, ReadRun, FindWork, FindDead)
"""Requests that change nothing."""


@dataclass(frozen=True)
class Report:
    """What a request did, and the records that it is about as they are then.

    ``changed`` is False if there was nothing to change: it only reads, or was asked before. ``lease`` is for how long
    the asker's lease is good. ``overdue`` are numbers of instances.
    """

    request: str
    changed: bool = False
    workflow: Workflow | None = None
    runs: tuple[WorkflowRun, ...] = ()
    tasks: tuple[Task, ...] = ()
    instances: tuple[TaskInstance, ...] = ()
    overdue: tuple[int, ...] = ()
    lease: float = 0.0
