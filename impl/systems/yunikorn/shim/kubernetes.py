"""The Kubernetes API that the shim uses, and a cluster in memory that has it.

Kubernetes is the shim's only durable store. Pods and nodes survive a crash of the shim, which learns all that it
knows from them again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol

from schedproof.impl.scheduler_interface import GangStyle

from .errors import KubernetesError


class Phase(StrEnum):
    """The phase of a pod; Succeeded and Failed are final."""

    PENDING = "Pending"
    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"


ENDED = frozenset({Phase.SUCCEEDED, Phase.FAILED})


@dataclass(frozen=True)
class TaskGroup:
    """A number of placeholders of one size."""

    name: str
    members: int
    amount: int = 1


@dataclass(frozen=True)
class Gang:
    """What a pod's annotations say about its application's gang; ``timeout`` in seconds, 0 for the default."""

    groups: tuple[TaskGroup, ...]
    style: GangStyle = GangStyle.SOFT
    timeout: float = 0

    @property
    def amount(self) -> int:
        """The amount of all placeholders together."""
        return sum(group.members * group.amount for group in self.groups)


@dataclass(frozen=True)
class Pod:
    """A pod. ``node`` is where it is bound; ``deleting`` says that its deletion was requested."""

    name: str
    application: str
    amount: int = 1
    queue: str = "root.default"
    placeholder: bool = False
    task_group: str = ""
    required_node: str | None = None
    gang: Gang | None = None
    node: str | None = None
    phase: Phase = Phase.PENDING
    deleting: bool = False


@dataclass(frozen=True)
class KubeNode:
    """A node; ``unschedulable`` says that it is cordoned."""

    name: str
    capacity: int
    unschedulable: bool = False


@dataclass(frozen=True)
class PodChange:
    """A pod has been added or has changed, or (``deleted``) is deleted."""

    pod: Pod
    deleted: bool = False


@dataclass(frozen=True)
class NodeChange:
    """A node has been added or has changed, or (``removed``) is removed."""

    node: KubeNode
    removed: bool = False


Change = PodChange | NodeChange
Watcher = Callable[[Change], None]


class Kubernetes(Protocol):
    """The API that the shim uses. Every call may raise KubernetesError."""

    def list_pods(self) -> list[Pod]:
        """Returns all pods, the ended ones too."""

    def list_nodes(self) -> list[KubeNode]:
        """Returns all nodes."""

    def create_pod(self, pod: Pod) -> None:
        """Creates a pod."""

    def bind_pod(self, name: str, node: str) -> None:
        """Binds a pod to a node."""

    def delete_pod(self, name: str) -> None:
        """Requests the deletion of a pod; one that does not exist is no error."""

    def watch(self, watcher: Watcher | None) -> None:
        """Sends ``watcher``, and no other watcher, every change from now on."""


@dataclass(frozen=True)
class ClusterState:
    """All that a :class:`Cluster` remembers."""

    pods: tuple[Pod, ...] = ()
    nodes: tuple[KubeNode, ...] = ()


class Cluster:
    """Kubernetes in memory: the shim's calls, and what users, operators and kubelets do.

    ``failing`` names calls that are refused from now on ("create_pod", "bind_pod", "delete_pod"). Tests and
    explorations use it to make Kubernetes fail.
    """

    def __init__(self) -> None:
        self._pods: dict[str, Pod] = {}
        self._nodes: dict[str, KubeNode] = {}
        self._watcher: Watcher | None = None
        self.failing: set[str] = set()

    # The shim's calls.

    def list_pods(self) -> list[Pod]:
        """See :class:`Kubernetes`."""
        return list(self._pods.values())

    def list_nodes(self) -> list[KubeNode]:
        """See :class:`Kubernetes`."""
        return list(self._nodes.values())

    def watch(self, watcher: Watcher | None) -> None:
        """See :class:`Kubernetes`."""
        self._watcher = watcher

    def create_pod(self, pod: Pod) -> None:
        """Creates a pod, of a user or of the shim.

        Raises:
            KubernetesError: the name is taken, or ``failing`` names the call.
        """
        self._refuse("create_pod", pod.name)
        if pod.name in self._pods:
            raise KubernetesError(f"there is a pod {pod.name} already")
        self._put(pod)

    def bind_pod(self, name: str, node: str) -> None:
        """Binds a pod to a node, where it runs from now on.

        Raises:
            KubernetesError: the pod or the node does not exist, the pod has a node or is being deleted, or
                ``failing`` names the call.
        """
        self._refuse("bind_pod", name)
        pod = self.pod(name)
        if node not in self._nodes:
            raise KubernetesError(f"there is no node {node}")
        if pod.node is not None or pod.deleting:
            raise KubernetesError(f"pod {name} is on {pod.node}" if pod.node else f"pod {name} is being deleted")
        self._put(replace(pod, node=node, phase=Phase.RUNNING))

    def delete_pod(self, name: str) -> None:
        """Deletes a pod that has no node or has ended at once; for any other, its kubelet decides when.

        Raises:
            KubernetesError: ``failing`` names the call.
        """
        self._refuse("delete_pod", name)
        pod = self._pods.get(name)
        if pod is None or pod.deleting:
            return
        if pod.node is None or pod.phase in ENDED:
            self._drop(pod)
        else:
            self._put(replace(pod, deleting=True))

    # Users, operators and kubelets.

    def pod(self, name: str) -> Pod:
        """Returns the pod of that name.

        Raises:
            KubernetesError: there is none.
        """
        if name not in self._pods:
            raise KubernetesError(f"there is no pod {name}")
        return self._pods[name]

    def end_pod(self, name: str, phase: Phase = Phase.SUCCEEDED) -> None:
        """Ends a running pod, as if by itself.

        Raises:
            KubernetesError: it does not exist or does not run.
        """
        pod = self.pod(name)
        if pod.phase is not Phase.RUNNING:
            raise KubernetesError(f"pod {name} is {pod.phase}, not running")
        self._put(replace(pod, phase=phase))

    def reap_pod(self, name: str) -> None:
        """Removes a pod whose deletion was requested, as its kubelet does.

        Raises:
            KubernetesError: it does not exist, or its deletion was not requested.
        """
        pod = self.pod(name)
        if not pod.deleting:
            raise KubernetesError(f"pod {name} was not deleted")
        self._drop(pod)

    def add_node(self, node: KubeNode) -> None:
        """Adds a node, or changes a known one."""
        self._nodes[node.name] = node
        self._notify(NodeChange(node))

    def cordon(self, name: str, unschedulable: bool = True) -> None:
        """Cordons or uncordons a node.

        Raises:
            KubernetesError: there is none of that name.
        """
        if name not in self._nodes:
            raise KubernetesError(f"there is no node {name}")
        self.add_node(replace(self._nodes[name], unschedulable=unschedulable))

    def remove_node(self, name: str) -> None:
        """Removes a node, and its pods with it.

        Raises:
            KubernetesError: there is none of that name.
        """
        if name not in self._nodes:
            raise KubernetesError(f"there is no node {name}")
        node = self._nodes.pop(name)
        for pod in [p for p in self._pods.values() if p.node == name]:
            self._drop(pod)
        self._notify(NodeChange(node, removed=True))

    def snapshot(self) -> ClusterState:
        """Returns pods and nodes, for :meth:`restore`."""
        return ClusterState(tuple(self._pods.values()), tuple(self._nodes.values()))

    def restore(self, state: ClusterState) -> None:
        """Goes back to a snapshot; the watcher is not notified."""
        self._pods = {pod.name: pod for pod in state.pods}
        self._nodes = {node.name: node for node in state.nodes}

    def _refuse(self, call: str, name: str) -> None:
        if call in self.failing:
            raise KubernetesError(f"{call} of {name} is refused")

    def _put(self, pod: Pod) -> None:
        self._pods[pod.name] = pod
        self._notify(PodChange(pod))

    def _drop(self, pod: Pod) -> None:
        del self._pods[pod.name]
        self._notify(PodChange(pod, deleted=True))

    def _notify(self, change: Change) -> None:
        if self._watcher is not None:
            self._watcher(change)
