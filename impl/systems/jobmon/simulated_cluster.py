"""A cluster as one value, for explorations: jobs come up, run their commands and end by explicit acts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from schedproof.impl.hashed import hashed_once

from .cluster import Ending, Granted
from .records import Resources
from .worker import WorkerMemory


class Phase(StrEnum):
    """The phases of a job's life."""

    SUBMITTED = "submitted"
    UP = "up"
    DYING = "dying"
    OVER = "over"


@hashed_once
@dataclass(frozen=True)
class Job:
    """A job of the simulated cluster.

    A job that is over does not act. One that is ``killed``, or dying because its wrapper is dead, may act for a while.

    Attributes:
        worker: the memory of the job's wrapper.
        acts: whether the command acts, which lasts from its start until its end.
    """

    instance: int
    phase: Phase = Phase.SUBMITTED
    worker: WorkerMemory | None = None
    acts: bool = False
    ending: Ending | None = None
    killed: bool = False


class SimulatedCluster:
    """A :class:`.cluster.Cluster` that keeps all jobs in ``jobs``; a job's name is its index."""

    def __init__(self) -> None:
        self.jobs: tuple[Job, ...] = ()

    def submit(self, instance: int, resources: Resources, queue: str) -> str:
        """Adds a job that has not come up yet."""
        self.jobs = (*self.jobs, Job(instance))
        return str(len(self.jobs) - 1)

    def reaches(self, job: str) -> bool:
        """Returns True: all jobs are here."""
        return True

    def terminate(self, job: str) -> None:
        """Marks the job as killed; it ends later."""
        if self.jobs[int(job)].phase is not Phase.OVER:
            self.put(int(job), killed=True)

    def is_over(self, job: str) -> bool:
        """Whether the job does not act, now or later."""
        return self.jobs[int(job)].phase is Phase.OVER

    def exceeded(self, job: str) -> bool:
        """Whether the job's command ended with a resource error."""
        return self.jobs[int(job)].ending is Ending.RESOURCE_ERROR

    def put(self, number: int, **changes: object) -> None:
        """Changes fields of a job."""
        changed = replace(self.jobs[number], **changes)  # type: ignore[arg-type]
        self.jobs = (*self.jobs[:number], changed, *self.jobs[number + 1 :])


class SimulatedCommands:
    """The :class:`.cluster.Commands` of one job."""

    def __init__(self, cluster: SimulatedCluster, number: int) -> None:
        self._cluster = cluster
        self._number = number

    def start(self, granted: Granted) -> None:
        """Lets the command act from now on."""
        self._cluster.put(self._number, acts=True)

    def ending(self) -> Ending | None:
        """Returns how the command ended; None before."""
        return self._cluster.jobs[self._number].ending

    def kill(self) -> None:
        """Stops the command."""
        self._cluster.put(self._number, acts=False)
