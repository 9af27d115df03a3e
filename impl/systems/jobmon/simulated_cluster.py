"""A cluster as one value, for explorations: jobs come up, run their commands and end when somebody says so."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from .cluster import Ending, Granted
from .records import Resources
from .worker import WorkerMemory


class Phase(StrEnum):
    """The life of a job."""

    SUBMITTED = "submitted"
    UP = "up"
    DYING = "dying"
    OVER = "over"


@dataclass(frozen=True)
class Job:
    """A job; ``worker`` is what its wrapper remembers. The command ``acts`` from its start until it has ended.

    Nothing of a job that is over acts. One that is ``killed``, or whose wrapper is dead (dying), may act a while still.
    """

    instance: int
    phase: Phase = Phase.SUBMITTED
    worker: WorkerMemory | None = None
    acts: bool = False
    ending: Ending | None = None
    killed: bool = False


class SimulatedCluster:
    """A :class:`.cluster.Cluster` with all of its jobs in ``jobs``; the name of a job is its place there."""

    def __init__(self) -> None:
        self.jobs: tuple[Job, ...] = ()

    def submit(self, instance: int, resources: Resources, queue: str) -> str:
        """A job that has not come up yet."""
        self.jobs = (*self.jobs, Job(instance))
        return str(len(self.jobs) - 1)

    def reaches(self, job: str) -> bool:
        """All are here."""
        return True

    def terminate(self, job: str) -> None:
        """The job is killed, which takes a while."""
        if self.jobs[int(job)].phase is not Phase.OVER:
            self.put(int(job), killed=True)

    def is_over(self, job: str) -> bool:
        """Whether nothing of it acts, or ever will."""
        return self.jobs[int(job)].phase is Phase.OVER

    def exceeded(self, job: str) -> bool:
        """Whether its command ended so."""
        return self.jobs[int(job)].ending is Ending.RESOURCE_ERROR

    def put(self, number: int, **changes: object) -> None:
        """A job becomes another one."""
        changed = replace(self.jobs[number], **changes)  # type: ignore[arg-type]
        self.jobs = (*self.jobs[:number], changed, *self.jobs[number + 1 :])


class SimulatedCommands:
    """The :class:`.cluster.Commands` of one job."""

    def __init__(self, cluster: SimulatedCluster, number: int) -> None:
        self._cluster = cluster
        self._number = number

    def start(self, granted: Granted) -> None:
        """It acts from now on."""
        self._cluster.put(self._number, acts=True)

    def ending(self) -> Ending | None:
        """How it ended, if it has."""
        return self._cluster.jobs[self._number].ending

    def kill(self) -> None:
        """It acts no more."""
        self._cluster.put(self._number, acts=False)
