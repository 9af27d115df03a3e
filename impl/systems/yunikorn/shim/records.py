"""The shim's records of applications, pods and nodes. The values are frozen, so a snapshot is a copy."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from schedproof.impl.scheduler_interface import TerminationType

from .dispatcher import NOTHING, Queued
from .events import Job
from .kubernetes import Gang, KubeNode, Pod


@dataclass(frozen=True)
class Application:
    """An application; ``state`` is one of tables.APPLICATION_STATES. ``reason`` says why it was rejected or failed."""

    name: str
    queue: str
    gang: Gang | None = None
    state: str = "New"
    reason: str = ""

    @property
    def placeholders(self) -> tuple[Pod, ...]:
        """The gang's placeholder pods."""
        if self.gang is None:
            return ()
        return tuple(
            Pod(
                f"{self.name}-{group.name}-{number}",
                self.name,
                group.amount,
                self.queue,
                placeholder=True,
                task_group=group.name,
                gang=self.gang,
            )
            for group in self.gang.groups
            for number in range(group.members)
        )


@dataclass(frozen=True)
class Task:
    """A pod's task; ``state`` is one of tables.TASK_STATES.

    ``allocation`` is "" until the core has allocated it. ``termination`` is the type with which the core asked for
    its release; the answer repeats it.
    """

    pod: Pod
    state: str = "New"
    allocation: str = ""
    node: str = ""
    termination: TerminationType | None = None
    reason: str = ""

    @property
    def name(self) -> str:
        """The name of the pod, and of the ask."""
        return self.pod.name


@dataclass(frozen=True)
class Node:
    """A node; ``state`` is one of tables.NODE_STATES. ``kube.unschedulable`` is always Kubernetes' latest value."""

    kube: KubeNode
    state: str = "New"

    @property
    def name(self) -> str:
        """The name of the node in Kubernetes."""
        return self.kube.name


class Recovery(StrEnum):
    """The phases of the recovery: applications first, then nodes (F 4.4)."""

    APPLICATIONS = "applications"
    NODES = "nodes"


@dataclass(frozen=True)
class World:
    """All that the shim remembers, including the dispatcher's contents and the pending jobs."""

    scheduler: str = "New"
    recovery: Recovery = Recovery.APPLICATIONS
    why_stopped: str = ""
    applications: tuple[Application, ...] = ()
    tasks: tuple[Task, ...] = ()
    nodes: tuple[Node, ...] = ()
    jobs: tuple[Job, ...] = ()
    queued: Queued = NOTHING
