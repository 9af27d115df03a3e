"""The merged scheduler: one object for each thing; each operation is one step under locks.

Any thread may call any operation at any time. Locks are acquired from the outside in: cluster, partition, the queues
of a path from the root down, application, node. An operation that changes more than one object holds the partition
for writing (D187).

Under the locks an operation puts its notifications of the resource manager into an outbox that is never full. So they
keep the order of the operations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from queue import SimpleQueue

from schedproof.impl.errors import Refused
from schedproof.impl.locks import LockOrder
from schedproof.impl.scheduler_interface import (
    ROOT,
    ApplicationAccepted,
    ApplicationRejected,
    AskRejected,
    NewAllocation,
    NodeAccepted,
    NodeRejected,
    PartitionSpec,
    QueueSpec,
    ReleasedAllocation,
    Response,
    TerminationType,
)

from .lifecycle import COMPLETE, RUN, SCHEDULED, State
from .objects import Allocation, Application, Cluster, Node, Partition, Queue


@dataclass(frozen=True)
class Proposal:
    """An ask that fits on a node, found by the scheduling logic. When it is committed it may no longer fit."""

    partition: str
    application: str
    ask: str
    node: str


class MergedScheduler:
    """A scheduler without copies.

    Args:
        order: of its locks; two schedulers must not share one.
    """

    def __init__(self, order: LockOrder) -> None:
        self.order = order
        self.cluster = Cluster(order)
        self.outbox: SimpleQueue[Response] = SimpleQueue()

    # --- Partitions and queues (D261-294)

    def configure(self, specs: Sequence[PartitionSpec]) -> None:
        """Applies a new configuration: adds, updates and deletes partitions; a deleted one with all its contents.

        Raises:
            Refused: it contradicts itself, or wants queues below one that has applications; nothing has changed.
        """
        with self.cluster.lock.write():
            requested = {spec.name: spec for spec in specs}
            if len(requested) < len(specs):
                raise Refused("two partitions have one name; name each of them once")
            if "" in requested:
                raise Refused("a partition has no name; give it one")
            for spec in specs:
                if spec.root.name != ROOT:
                    raise Refused(f"partition {spec.name}: its queue is {spec.root.name!r}; call it {ROOT!r}")
                self._check_queue(self.cluster.partitions.get(spec.name), spec.root, ROOT)
            for name in [name for name in self.cluster.partitions if name not in requested]:
                self._delete_partition(self.cluster.partitions[name])
            for name, spec in requested.items():
                partition = self.cluster.partitions.get(name)
                if partition is None:
                    partition = Partition(self.order, name)
                    self.cluster.add(partition)
                with partition.lock.write():
                    self._configure_queue(partition, None, spec.root)

    def _check_queue(self, partition: Partition | None, spec: QueueSpec, path: str) -> None:
        """Checks a queue and those below; the cluster's write lock prevents changes before the configuration."""
        names = [child.name for child in spec.children]
        if len(set(names)) < len(names) or not all(name and "." not in name for name in names):
            raise Refused(f"queues below {path}: {names}; give each a name of its own, not empty and without a dot")
        if spec.maximum is not None and spec.maximum < 0:
            raise Refused(f"queue {path}: its maximum is {spec.maximum}; make it 0 or more, or leave it out")
        if partition is not None and (names or spec.parent):
            with partition.lock.read():
                queue = partition.queues.get(path)
                if queue is not None:
                    with queue.lock.read():
                        if queue.applications:
                            raise Refused(f"queue {path} has applications, and is to be no leaf; remove them first")
        for child in spec.children:
            self._check_queue(partition, child, f"{path}.{child.name}")

    def _configure_queue(self, partition: Partition, parent: Queue | None, spec: QueueSpec) -> None:
        """Changes a queue and those below (D272); empty queues that are left out are deleted."""
        name = spec.name if parent is None else f"{parent.name}.{spec.name}"
        queue = partition.queues.get(name)
        if queue is None:
            queue = Queue(self.order, partition.name, name, parent)
            partition.add(queue)
            if parent is not None:
                parent.adopt(queue)
        with queue.lock.write():
            queue.configure(spec.maximum, for_queues=spec.parent)
            for child in spec.children:
                self._configure_queue(partition, queue, child)
            for name in [n for n in queue.children if n not in {f"{queue.name}.{c.name}" for c in spec.children}]:
                dropped = queue.children[name]
                if self._is_empty(dropped):
                    queue.remove_child(dropped)
                    for each in dropped.below():
                        partition.remove(each)

    def _is_empty(self, queue: Queue) -> bool:
        """True if no application is in the queue or below."""
        with queue.lock.read():
            return not queue.applications and all(self._is_empty(child) for child in queue.children.values())

    def _delete_partition(self, partition: Partition) -> None:
        """Deletes a partition with its applications, queues and nodes (D276-278)."""
        with partition.lock.write():
            for application in list(partition.applications.values()):
                self._delete_application(partition, application, TerminationType.PREEMPTED_BY_SCHEDULER)
            for queue in list(partition.queues.values()):
                partition.remove(queue)
            for node in list(partition.nodes.values()):
                partition.remove(node)
        self.cluster.remove(partition)

    # --- Applications

    def add_application(self, partition: str, name: str, queue: str) -> None:
        """Adds an application to a leaf queue, at the resource manager's request."""
        with self._changing(partition) as live_partition:
            if live_partition is None:
                return self._reject(name, f"there is no partition {partition}")
            leaf = live_partition.queues.get(queue)
            if name in live_partition.applications:
                return self._reject(name, "it is there already")
            if leaf is None:
                return self._reject(name, f"there is no queue {queue}")
            with leaf.lock.write():
                if leaf.children or leaf.for_queues:
                    return self._reject(name, f"{queue} is no leaf queue")
                leaf.enter(name)
            live_partition.add(Application(self.order, live_partition.name, name, leaf))
            self.outbox.put(ApplicationAccepted(name))

    def _reject(self, name: str, reason: str) -> None:
        self.outbox.put(ApplicationRejected(name, reason))

    def remove_application(self, partition: str, name: str) -> None:
        """Removes an application with its asks and allocations, at the resource manager's request."""
        with self._changing(partition) as live_partition:
            if live_partition is not None and name in live_partition.applications:
                self._delete_application(
                    live_partition, live_partition.applications[name], TerminationType.STOPPED_BY_RM
                )

    def _delete_application(self, partition: Partition, application: Application, why: TerminationType) -> None:
        """D300: removes its asks and allocations, then the application. The partition is locked for writing."""
        with self._along(application.queue), application.lock.write():
            for ask in list(application.asks):
                self._pending(application, -application.drop(ask))
            for allocation in list(application.allocations.values()):
                self._take_back(partition, application, allocation, why)
            application.queue.leave(application.name)
        partition.remove(application)

    # --- Asks

    def add_ask(self, partition: str, application: str, ask: str, amount: int) -> None:
        """Adds an ask; its queues count it in the same step (D196)."""
        with self._changing(partition) as live_partition:
            asking = live_partition.applications.get(application) if live_partition is not None else None
            if asking is None:
                self.outbox.put(AskRejected(application, ask, f"there is no application {application}"))
                return
            with self._along(asking.queue), asking.lock.write():
                if ask in asking.asks or ask in asking.allocations or amount <= 0:
                    self.outbox.put(AskRejected(application, ask, "it is there already, or for nothing"))
                    return
                asking.ask(ask, amount)
                self._pending(asking, amount)
                if asking.state in (State.NEW, State.COMPLETING):
                    asking.fire(RUN)

    def remove_ask(self, partition: str, application: str, ask: str) -> None:
        """Withdraws an ask; does nothing if it does not exist or is allocated."""
        with self._changing(partition) as live_partition:
            asking = live_partition.applications.get(application) if live_partition is not None else None
            if asking is None:
                return
            with self._along(asking.queue), asking.lock.write():
                if ask in asking.asks:
                    self._pending(asking, -asking.drop(ask))
                    self._idle(asking)

    # --- Scheduling

    def find(self, partition: str) -> Proposal | None:
        """Returns the first ask that fits somewhere, found under read locks only (D209); None if none fits."""
        with self._reading(partition) as live_partition:
            if live_partition is None:
                return None
            for application in live_partition.applications.values():
                with ExitStack() as locks:
                    room = None
                    for queue in application.queue.path():
                        locks.enter_context(queue.lock.read())
                        own_room = queue.room()
                        room = own_room if room is None else room if own_room is None else min(room, own_room)
                    locks.enter_context(application.lock.read())
                    if application.state not in SCHEDULED:
                        continue
                    for ask, amount in application.asks.items():
                        if room is not None and room < amount:
                            continue
                        node = self._node_for(live_partition, amount)
                        if node is not None:
                            return Proposal(partition, application.name, ask, node)
        return None

    def _node_for(self, partition: Partition, amount: int) -> str | None:
        for node in partition.nodes.values():
            with node.lock.read():
                if node.available >= amount:
                    return node.name
        return None

    def commit(self, proposal: Proposal) -> bool:
        """Carries out a proposal if it still fits; returns whether it did.

        The locks under which it was found have been released meanwhile (D193).
        """
        with self._changing(proposal.partition) as partition:
            application = partition.applications.get(proposal.application) if partition is not None else None
            node = partition.nodes.get(proposal.node) if partition is not None else None
            if application is None or node is None:
                return False
            with self._along(application.queue), application.lock.write(), node.lock.write():
                amount = application.asks.get(proposal.ask)
                rooms = [queue.room() for queue in application.queue.path()]
                if (
                    amount is None
                    or application.state not in SCHEDULED
                    or node.available < amount
                    or any(room is not None and room < amount for room in rooms)
                ):
                    return False
                application.drop(proposal.ask)
                self._pending(application, -amount)
                self._put(application, node, Allocation(proposal.ask, application.name, node.name, amount))
                self.outbox.put(NewAllocation(application.name, proposal.ask, proposal.ask, node.name))
                return True

    def schedule(self, partition: str) -> bool:
        """Finds and commits one proposal; returns whether it did."""
        proposal = self.find(partition)
        return proposal is not None and self.commit(proposal)

    # --- Allocations

    def release(
        self,
        partition: str,
        application: str,
        allocation: str,
        why: TerminationType = TerminationType.STOPPED_BY_RM,
    ) -> bool:
        """Ends an allocation, for the resource manager or, preempted, for the scheduler; False if it has ended."""
        with self._changing(partition) as live_partition:
            its = live_partition.applications.get(application) if live_partition is not None else None
            if live_partition is None or its is None:
                return False
            with self._along(its.queue), its.lock.write():
                released = its.allocations.get(allocation)
                if released is None:
                    return False
                self._take_back(live_partition, its, released, why)
                self._idle(its)
                return True

    # --- Nodes

    def add_node(self, partition: str, name: str, capacity: int, existing: Sequence[Allocation] = ()) -> None:
        """Adds a node with its running allocations, which are recovered in the same step (D125).

        An allocation of a missing application, or on a node that is not added, has to end: the resource manager is
        notified. A node that exists already is rejected, without a notification about its allocations.
        """
        with self._changing(partition) as live_partition:
            if live_partition is not None and name in live_partition.nodes:
                self.outbox.put(NodeRejected(name, "it is there already"))
                return
            if live_partition is None or sum(allocation.amount for allocation in existing) > capacity:
                reason = (
                    "there is no such partition" if live_partition is None else "more runs on it than it has room for"
                )
                self.outbox.put(NodeRejected(name, reason))
                self._not_recovered(existing)
                return
            node = Node(self.order, live_partition.name, name, capacity)
            live_partition.add(node)
            self.outbox.put(NodeAccepted(name))
            for allocation in existing:
                self._recover(live_partition, node, allocation)

    def _recover(self, partition: Partition, node: Node, allocation: Allocation) -> None:
        application = partition.applications.get(allocation.application)
        if application is None:
            return self._not_recovered([allocation])
        with self._along(application.queue), application.lock.write(), node.lock.write():
            if allocation.name in application.allocations:
                return  # it is known, here or on another node: nothing to recover or to end
            if allocation.name in application.asks:
                return self._not_recovered([allocation])
            if application.state in (State.NEW, State.COMPLETING):
                application.fire(RUN)
            self._put(application, node, replace(allocation, node=node.name))

    def _not_recovered(self, existing: Sequence[Allocation]) -> None:
        for allocation in existing:
            why = TerminationType.PREEMPTED_BY_SCHEDULER
            self.outbox.put(ReleasedAllocation(allocation.application, allocation.name, why))

    def update_node(self, partition: str, name: str, capacity: int) -> bool:
        """Changes the capacity of a node; returns False without such a node, or if more is allocated on it."""
        with self._changing(partition) as live_partition:
            node = live_partition.nodes.get(name) if live_partition is not None else None
            if node is None:
                return False
            with node.lock.write():
                if node.allocated > capacity:
                    return False
                node.resize(capacity)
                return True

    def remove_node(self, partition: str, name: str) -> None:
        """Removes a node and its allocations, in one step."""
        with self._changing(partition) as live_partition:
            node = live_partition.nodes.get(name) if live_partition is not None else None
            if live_partition is None or node is None:
                return
            with node.lock.read():
                ended = list(node.allocations.values())
            for allocation in ended:
                application = live_partition.applications[allocation.application]
                with self._along(application.queue), application.lock.write():
                    self._take_back(live_partition, application, allocation, TerminationType.PREEMPTED_BY_SCHEDULER)
                    self._idle(application)
            live_partition.remove(node)

    # --- Shared by operations

    @contextmanager
    def _changing(self, name: str) -> Iterator[Partition | None]:
        """Locks a partition for writing; yields None if there is none of that name."""
        with self.cluster.lock.read():
            partition = self.cluster.partitions.get(name)
            if partition is None:
                yield None
                return
            with partition.lock.write():
                yield partition

    @contextmanager
    def _reading(self, name: str) -> Iterator[Partition | None]:
        """Locks a partition for reading; yields None if there is none of that name."""
        with self.cluster.lock.read():
            partition = self.cluster.partitions.get(name)
            if partition is None:
                yield None
                return
            with partition.lock.read():
                yield partition

    @contextmanager
    def _along(self, leaf: Queue) -> Iterator[None]:
        """Locks the queues from the root to ``leaf`` for writing."""
        with ExitStack() as locks:
            for queue in leaf.path():
                locks.enter_context(queue.lock.write())
            yield

    def _pending(self, application: Application, amount: int) -> None:
        for queue in application.queue.path():
            queue.add(pending=amount)

    def _put(self, application: Application, node: Node, allocation: Allocation) -> None:
        """Adds an allocation; queues, application and node are locked."""
        for queue in application.queue.path():
            queue.add(allocated=allocation.amount)
        application.add(allocation)
        node.add(allocation)
        if application.state in SCHEDULED:
            application.fire(RUN)

    def _take_back(
        self, partition: Partition, application: Application, allocation: Allocation, why: TerminationType
    ) -> None:
        """D312: removes an allocation; partition, queues and application are locked."""
        node = partition.nodes[allocation.node]
        with node.lock.write():
            node.remove(allocation)
        application.remove(allocation)
        for queue in application.queue.path():
            queue.add(allocated=-allocation.amount)
        self.outbox.put(ReleasedAllocation(application.name, allocation.name, why))

    def _idle(self, application: Application) -> None:
        """Completes an application without asks and allocations (O22)."""
        if application.state in SCHEDULED and not application.asks and not application.allocations:
            application.fire(COMPLETE)
