"""The handler of node events (F 4.3)."""

from __future__ import annotations

from dataclasses import replace

from schedproof.impl.scheduler_interface import CreateNode, ExistingAllocation, NodeAction, UpdateNode

from .applications import DONE
from .context import Context
from .events import Event, Target
from .kubernetes import ENDED, KubeNode
from .records import Node


class Nodes:
    """The handler of node events, and of Kubernetes' changes of nodes."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def handle(self, event: Event) -> None:
        """Handles an event, if the table has a row for it."""
        if self._context.move(event) is None:
            return
        it = self._context.nodes[event.name]
        match event.event:
            case "RecoverNode":
                self._create(it)
            case "NodeAccepted":
                # Read now, not when the object was made, so a cordon in between is not lost (R5).
                to = "DrainNode" if it.kube.unschedulable else "NodeReady"
                self._context.post(Target.NODE, it.name, to)
            case "NodeReady" | "RestoreNode":
                self._context.send(UpdateNode(it.name, NodeAction.DRAIN_TO_SCHEDULABLE))
                self._follow(it)
            case "DrainNode":
                self._context.send(UpdateNode(it.name, NodeAction.DRAIN_NODE))
                self._follow(it)

    def changed(self, kube: KubeNode, *, removed: bool) -> None:
        """Handles a change of a node: it is new, has been cordoned or uncordoned, or is gone."""
        it = self._context.nodes.get(kube.name)
        if removed:
            if it is not None:
                del self._context.nodes[kube.name]
                if it.state not in ("New", "Rejected"):
                    self._context.send(UpdateNode(kube.name, NodeAction.DECOMMISSION))
            return
        if it is None:
            self._context.nodes[kube.name] = Node(kube)
            if self._context.scheduler == "Running":
                self._context.post(Target.NODE, kube.name, "RecoverNode")
            return
        it = replace(it, kube=kube)
        self._context.nodes[kube.name] = it
        self._follow(it)

    def _follow(self, it: Node) -> None:
        """Notifies the core of a cordon or uncordon, once the node is in a state that allows it (R5)."""
        if it.state == "Healthy" and it.kube.unschedulable:
            self._context.post_once(Event(Target.NODE, it.name, "DrainNode"))
        elif it.state == "Draining" and not it.kube.unschedulable:
            self._context.post_once(Event(Target.NODE, it.name, "RestoreNode"))

    def _create(self, it: Node) -> None:
        """Sends the node with the pods on it; a pod that the core cannot know only occupies room."""
        # Not a pod that has gone since it was listed: only its completed task is left.
        listed = [t for t in self._context.tasks.values() if t.pod.node == it.name and t.pod.phase not in ENDED]
        live = [t for t in listed if t.state != "Completed"]
        known = [t for t in live if self._context.applications[t.pod.application].state not in (*DONE, "New")]
        existing = tuple(
            ExistingAllocation(
                t.pod.application, t.name, t.pod.amount, t.pod.placeholder, t.pod.task_group, t.pod.required_node
            )
            for t in known
        )
        occupied = sum(t.pod.amount for t in live) - sum(t.pod.amount for t in known)
        self._context.send(CreateNode(it.name, it.kube.capacity, occupied=occupied, existing=existing))
