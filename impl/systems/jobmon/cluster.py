"""What distributors and workers need of a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from .records import Resources


class Cluster(Protocol):
    """Jobs: each is a worker for one task instance, with all that it starts."""

    def submit(self, instance: int, resources: Resources, queue: str) -> str:
        """Submits a worker for an instance, and gives its job's name, which no other job ever has.

        Raises:
            SubmitFailed: there is no job, for certain.
        """

    def reaches(self, job: str) -> bool:
        """Whether a job can be ended from here, and what is said of it is certain."""

    def terminate(self, job: str) -> None:
        """Begins to end a job; nothing if it is over."""

    def is_over(self, job: str) -> bool:
        """Whether nothing is left of a job that is terminated, or that had come up and ended, for certain."""

    def exceeded(self, job: str) -> bool:
        """Whether the cluster knows that a job that is over exceeded its resources; it need not know that twice."""


class Ending(StrEnum):
    """How a command ended."""

    DONE = "done"
    ERROR = "error"
    RESOURCE_ERROR = "resource error"


@dataclass(frozen=True)
class Granted:
    """What a worker is to run, for which instance."""

    instance: int
    command: str
    resources: Resources


class Commands(Protocol):
    """What a worker needs of the machine that it is on: one command at a time."""

    def start(self, granted: Granted) -> None:
        """Starts the command, which lives no longer than the worker."""

    def ending(self) -> Ending | None:
        """How the command ended, when nothing is left of it; None before."""

    def kill(self) -> None:
        """Ends the command; returns when nothing is left of it. Nothing if there is none."""
