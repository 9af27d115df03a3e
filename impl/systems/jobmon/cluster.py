"""The interfaces to a cluster: jobs for distributors, commands for workers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from .records import Resources


class Cluster(Protocol):
    """Submits and ends jobs. A job is a worker for one task instance, with every process that it starts."""

    def submit(self, instance: int, resources: Resources, queue: str) -> str:
        """Submits a worker for an instance.

        Returns:
            The job's name, which no other job ever has.

        Raises:
            SubmitFailed: it is certain that there is no job.
        """

    def reaches(self, job: str) -> bool:
        """Whether a job can be ended from here, and :meth:`is_over` is certain about it."""

    def terminate(self, job: str) -> None:
        """Begins to end a job; does nothing if the job is over."""

    def is_over(self, job: str) -> bool:
        """Whether it is certain that nothing is left of a job that was terminated, or that came up and ended."""

    def exceeded(self, job: str) -> bool:
        """Whether the cluster knows that a finished job exceeded its resources. It may answer yes only once."""


class Ending(StrEnum):
    """How a command ended."""

    DONE = "done"
    ERROR = "error"
    RESOURCE_ERROR = "resource error"


@dataclass(frozen=True)
class Granted:
    """The command that a worker may run, and the instance that it belongs to."""

    instance: int
    command: str
    resources: Resources


class Commands(Protocol):
    """Runs one command at a time on the worker's machine."""

    def start(self, granted: Granted) -> None:
        """Starts the command, which lives no longer than the worker."""

    def ending(self) -> Ending | None:
        """How the command ended, once nothing is left of it; None before."""

    def kill(self) -> None:
        """Ends the command, and returns when nothing is left of it. Without a command it does nothing."""
