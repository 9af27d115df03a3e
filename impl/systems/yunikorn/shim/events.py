"""What the dispatcher carries: events of the four machines, and news of the core and of Kubernetes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from schedproof.impl.scheduler_interface import Response, TerminationType

from .kubernetes import Change


class Target(StrEnum):
    """Whose event it is."""

    APPLICATION = "application"
    TASK = "task"
    NODE = "node"
    SCHEDULER = "scheduler"


@dataclass(frozen=True)
class Event:
    """An event of one object; ``event`` as in its table, the other fields as the event needs them.

    ``task`` and ``termination`` are of the two releases, ``allocation`` and ``node`` of TaskAllocated.
    """

    target: Target
    name: str
    event: str
    reason: str = ""
    task: str = ""
    allocation: str = ""
    node: str = ""
    termination: TerminationType = TerminationType.UNKNOWN


@dataclass(frozen=True)
class CoreNews:
    """A message of the core."""

    response: Response


@dataclass(frozen=True)
class KubernetesNews:
    """A change of a pod or a node."""

    change: Change


Item = Event | CoreNews | KubernetesNews


class Work(StrEnum):
    """What is done beside the dispatcher, over the network, and takes its time."""

    CREATE = "create a placeholder's pod"
    BIND = "bind a pod"
    DELETE = "delete a pod"


@dataclass(frozen=True)
class Job:
    """One such piece of work on the pod of a task; ``node`` for a binding."""

    work: Work
    task: str
    node: str = ""


@dataclass(frozen=True)
class Dropped:
    """An event that its object's table has no row for in its state, or whose object is not there (state "")."""

    event: Event
    state: str
