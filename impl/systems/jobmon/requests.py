"""The requests that agents send to the server. Each is one transaction, and contains everything that it depends on.

A request that is sent twice, because its answer was lost, gets the same answer the second time.
"""

from __future__ import annotations

from dataclasses import dataclass

from .records import InstanceState, Resources, RunState, Task, TaskInstance, Workflow, WorkflowRun


@dataclass(frozen=True)
class TaskSpec:
    """A task of a workflow to register; ``upstream`` names tasks before it."""

    name: str
    command: str
    upstream: tuple[str, ...] = ()
    resources: Resources = ()
    queue: str = "all"
    max_attempts: int = 3


# From clients.


@dataclass(frozen=True)
class Register:
    """Registers a workflow with its tasks; the name identifies a workflow that is already there."""

    name: str
    tasks: tuple[TaskSpec, ...]


@dataclass(frozen=True)
class CreateRun:
    """Creates a run of a workflow.

    Attributes:
        token: chosen by the client; it names this run.
        cold: the run waits until no instance of earlier runs is unfinished; else (hot) running commands go on.
    """

    workflow: int
    token: str
    cold: bool = True


@dataclass(frozen=True)
class AdvanceRun:
    """Moves a run to its next state on its way from registered to running."""

    run: int
    to: RunState


@dataclass(frozen=True)
class RenewRun:
    """Renews the lease of a run that its client believes to be in ``status``."""

    run: int
    status: RunState


@dataclass(frozen=True)
class QueueTask:
    """Queues an attempt at a task.

    Attributes:
        attempt: the number of the attempt.
        resources: new resources, given only if the task is adjusting.
        queue: a new queue, given only if the task is adjusting.
    """

    run: int
    task: int
    attempt: int
    resources: Resources | None = None
    queue: str | None = None


@dataclass(frozen=True)
class FinishRun:
    """Ends a running run: done, stopped by its user, or in error.

    Attributes:
        failed: it ends in error because the client cannot go on.
    """

    run: int
    to: RunState
    failed: bool = False


@dataclass(frozen=True)
class AskResume:
    """Asks the run that holds a workflow to make room for another client's run.

    Attributes:
        cold: running commands must end as well.
    """

    run: int
    cold: bool


@dataclass(frozen=True)
class WindUp:
    """Reports that a run has made room, as it was asked to."""

    run: int


@dataclass(frozen=True)
class Clear:
    """Dooms all that a workflow's runs left.

    Attributes:
        run: the workflow's latest run. A late request is refused by it, if a newer run has left commands that are to go
            on.
    """

    run: int


@dataclass(frozen=True)
class ReadWorkflow:
    """Reads a workflow, its latest run, if any, its tasks, and its unfinished instances."""

    workflow: int


@dataclass(frozen=True)
class ReadRun:
    """Reads a run, its workflow, all tasks of the workflow, and the last instances of failed tasks."""

    run: int


# From distributors.


@dataclass(frozen=True)
class FindWork:
    """Reads the instances that need a distributor, and which of them are overdue.

    Attributes:
        limit: how many instances to report at most.
        busy: instances to leave out, because the distributor already handles them.
    """

    limit: int = 1000
    busy: tuple[int, ...] = ()


@dataclass(frozen=True)
class Claim:
    """Claims a queued instance for a distributor; ``token`` names this process and this claim."""

    instance: int
    distributor: str
    token: str


@dataclass(frozen=True)
class Launched:
    """Reports that the holder of the claim has a job on the cluster."""

    instance: int
    token: str
    job: str


@dataclass(frozen=True)
class SubmissionFailed:
    """Reports that the holder of the claim could not submit, and that there is no job."""

    instance: int
    token: str


@dataclass(frozen=True)
class GiveUp:
    """Reports that the holder of the claim has no job for the doomed instance, or has removed it."""

    instance: int
    token: str


@dataclass(frozen=True)
class RenewLaunched:
    """Renews the leases of instances that a distributor has launched and that have not started yet."""

    instances: tuple[int, ...]
    distributor: str


@dataclass(frozen=True)
class Fence:
    """Fences an overdue instance in triage: its worker gets no control back, because its job will be removed."""

    instance: int


@dataclass(frozen=True)
class JobOver:
    """Reports that it is certain that nothing is left of an instance's job.

    Attributes:
        seen: the state of the instance when the distributor found it.
        resource_error: the cluster says that the job exceeded its resources.
    """

    instance: int
    seen: InstanceState
    resource_error: bool = False


@dataclass(frozen=True)
class HandBack:
    """Gives control back to the worker of an instance in triage, which has renewed its lease."""

    instance: int


# From workers; ``identity`` is the job that sends the request, by the name recorded when it was launched.


@dataclass(frozen=True)
class Start:
    """Asks whether the command may start."""

    instance: int
    identity: str


@dataclass(frozen=True)
class RenewInstance:
    """Renews the lease of a worker's instance."""

    instance: int
    identity: str


@dataclass(frozen=True)
class End:
    """Reports that the command ended: done, error, or resource error."""

    instance: int
    identity: str
    status: InstanceState


@dataclass(frozen=True)
class Killed:
    """Reports that the worker of a doomed instance has killed its command."""

    instance: int
    identity: str


# From distributors and the reaper.


@dataclass(frozen=True)
class Lapse:
    """Moves an overdue instance on."""

    instance: int


@dataclass(frozen=True)
class FindDead:
    """Reads the runs and instances that are overdue; a run that makes room only when it can be wound up."""


@dataclass(frozen=True)
class ReapRun:
    """Ends an overdue run."""

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
    """What a request did, and the records that it is about, as they are afterwards.

    Attributes:
        request: the request in words.
        changed: False if the request only reads, or was carried out before.
        overdue: numbers of instances.
        lease: the length of the sender's lease, in seconds.
    """

    request: str
    changed: bool = False
    workflow: Workflow | None = None
    runs: tuple[WorkflowRun, ...] = ()
    tasks: tuple[Task, ...] = ()
    instances: tuple[TaskInstance, ...] = ()
    overdue: tuple[int, ...] = ()
    lease: float = 0.0
