"""The dispatcher's items: events of the four machines, and messages of the core and of Kubernetes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from schedproof.impl.scheduler_interface import Response, TerminationType

from .kubernetes import Change


class Target(StrEnum):
    """The kind of object that an event is for."""

    APPLICATION = "application"
    TASK = "task"
    NODE = "node"
    SCHEDULER = "scheduler"


@dataclass(frozen=True)
class Event:
    """An event of one object; ``event`` is as in its table, the other fields as the event needs them.

    ``task`` and ``termination`` belong to the two releases, ``allocation`` and ``node`` to TaskAllocated.
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
    """The kinds of work on Kubernetes: done outside the dispatcher, over the network, and slow."""

    CREATE = "create a placeholder's pod"
    BIND = "bind a pod"
    DELETE = "delete a pod"


@dataclass(frozen=True)
class Job:
    """One job on the pod of a task; ``node`` is for a binding."""

    work: Work
    task: str
    node: str = ""


@dataclass(frozen=True)
class Dropped:
    """An event for which its object's table has no row in its state, or whose object does not exist (state "")."""

    event: Event
    state: str
