"""Nodes: capacity, the schedulable flag, decommission, and the recovery of the allocations on them."""

from __future__ import annotations

from dataclasses import replace

from schedproof.impl.errors import Refused
from schedproof.impl.scheduler_interface import (
    CreateNode,
    ExistingAllocation,
    NodeAccepted,
    NodeAction,
    TerminationType,
    UpdateNode,
)

from .allocations import Allocations
from .records import Allocation, Node, ObjectState, State, Status
from .tables import RUN


class Nodes(Allocations):
    """The operations on nodes."""

    def repeat_all(self) -> None:
        """Sends a RM that has lost its memory the nodes, then the allocations, then the releases asked for (R11)."""
        for node in self.nodes:
            self.send(NodeAccepted(node))
        for it in sorted(self.allocations.values(), key=lambda a: a.status is Status.RELEASING):
            self.repeat(it)

    def create_node(self, request: CreateNode) -> None:
        """Adds a node with its allocations; a core that has lost its memory learns of all allocations this way.

        A known node stays as it is (R11).

        Raises:
            Refused: the partition is unknown, is another one or takes no additions; or an existing allocation belongs
                to no live application; or the allocations do not fit.
        """
        known = self.nodes.get(request.node)
        if known is not None and known.partition == request.partition:
            return
        if known is not None:
            raise Refused(f"there is a node {request.node} in partition {known.partition} already")
        partition = self.partitions.get(request.partition)
        if partition is None:
            raise Refused(
                f"there is no partition {request.partition}; there are {', '.join(self.partitions) or 'none'}"
            )
        if partition.state is not ObjectState.ACTIVE:
            raise Refused(f"partition {partition.name} is {partition.state}: it takes no nodes")
        used = request.occupied + sum(it.amount for it in request.existing)
        if request.occupied < 0 or used > request.capacity:
            raise Refused(
                f"node {request.node} has a capacity of {request.capacity}, and {used} of it is said to be used"
            )
        self.nodes[request.node] = Node(request.node, request.partition, request.capacity, request.occupied)
        for it in request.existing:
            self.recover(it, request)

    def recover(self, existing: ExistingAllocation, node: CreateNode) -> None:
        """Recovers an allocation of the RM: its ask is satisfied, and the application moves on accordingly.

        Raises:
            Refused: the application is not live or is of another partition, or the ask's name is taken.
        """
        name = existing.application
        application = self.applications.get(name)
        if application is None or application.partition != node.partition:
            raise Refused(f"allocation {existing.ask} is of application {name}, which partition {node.partition} lacks")
        ask = self._add(existing, pending=False)
        if application.state in (State.NEW, State.COMPLETING):
            self.fire(name, RUN)
        allocation = Allocation(ask.name, name, node.node, ask.amount, ask.placeholder, ask.task_group)
        self.book(allocation)
        self.allocated(name, placeholder=ask.placeholder)
        if application.state is State.FAILING:
            self.release([allocation], TerminationType.TIMEOUT)

    def update_node(self, request: UpdateNode) -> None:
        """Sets a node's status as the RM reports it (D66); does nothing if the node is unknown."""
        node = self.nodes.get(request.node)
        if node is None:
            return
        match request.action:
            case NodeAction.DRAIN_NODE:
                self.nodes[node.name] = replace(node, schedulable=False)
            case NodeAction.DRAIN_TO_SCHEDULABLE:
                self.nodes[node.name] = replace(node, schedulable=True)
            case NodeAction.DECOMMISSION:
                self.decommission(node)

    def decommission(self, node: Node) -> None:
        """Removes the node at once, with all allocations on it (F 3).

        A swap that was to end on this node is cancelled: its ask is pending again. A swap that was to end on another
        node is confirmed there, since its placeholder is gone.
        """
        del self.nodes[node.name]
        on_node = [a for a in self.allocations.values() if a.node == node.name]
        for it in on_node:
            if not it.confirmed:
                self.call_off(it)
        # Placeholders first, so that the RM is not asked to release one that is gone.
        for it in sorted((a for a in on_node if a.confirmed), key=lambda a: not a.placeholder):
            self.end_allocation(it, TerminationType.STOPPED_BY_RM)
