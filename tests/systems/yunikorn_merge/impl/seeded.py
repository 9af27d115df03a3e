"""Merged schedulers with one bug each; every one must be caught, and by what it is caught is part of the test."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from schedproof.impl.locks import LockOrder, Mode, OrderedLock
from schedproof.impl.scheduler_interface import NewAllocation, ReleasedAllocation, TerminationType
from schedproof.impl.systems.yunikorn_merge import Allocation, Application, MergedScheduler, Partition, Proposal, Queue
from schedproof.impl.systems.yunikorn_merge.lifecycle import COMPLETE, SCHEDULED


class FromTheLeafUp(MergedScheduler):
    """Queues are locked from the leaf to the root (core pull request 50, YUNIKORN-2548)."""

    @contextmanager
    def _along(self, leaf: Queue) -> Iterator[None]:
        with ExitStack() as locks:
            for queue in reversed(leaf.path()):
                locks.enter_context(queue.lock.write())
            yield


class OnlyTheLeaf(MergedScheduler):
    """The queues above are changed without their locks."""

    @contextmanager
    def _along(self, leaf: Queue) -> Iterator[None]:
        with leaf.lock.write():
            yield


class ReadingIsEnough(MergedScheduler):
    """Queues are changed under read locks."""

    @contextmanager
    def _along(self, leaf: Queue) -> Iterator[None]:
        with ExitStack() as locks:
            for queue in leaf.path():
                locks.enter_context(queue.lock.read())
            yield


class PartitionOnlyRead(MergedScheduler):
    """What changes several objects holds the partition for reading only (line 187)."""

    @contextmanager
    def _changing(self, name: str) -> Iterator[Partition | None]:
        with self._reading(name) as partition:
            yield partition


class CommitsInsideTheSearch(MergedScheduler):
    """The proposal is committed with the read lock of the search still held."""

    def schedule(self, partition: str) -> bool:
        with self._reading(partition):
            proposal = self.find_without_locks(partition)
            return proposal is not None and self.commit(proposal)

    def find_without_locks(self, partition: str) -> Proposal | None:
        return Proposal(partition, "app", "ask", "node")


class BelievesTheProposal(MergedScheduler):
    """What was found is not looked at again when it is committed."""

    def commit(self, proposal: Proposal) -> bool:
        time.sleep(0)
        with self._changing(proposal.partition) as partition:
            if partition is None:
                return False
            application, node = partition.applications[proposal.application], partition.nodes[proposal.node]
            with self._along(application.queue), application.lock.write(), node.lock.write():
                amount = application.drop(proposal.ask)
                self._pending(application, -amount)
                self._put(application, node, Allocation(proposal.ask, application.name, node.name, amount))
                self.outbox.put(NewAllocation(application.name, proposal.ask, proposal.ask, node.name))
                return True


class NotifiesAfterUnlocking(MergedScheduler):
    """It notifies the resource manager of an allocation when it has released the locks."""

    def commit(self, proposal: Proposal) -> bool:
        with self._changing(proposal.partition) as partition:
            application = partition.applications.get(proposal.application) if partition is not None else None
            node = partition.nodes.get(proposal.node) if partition is not None else None
            if application is None or node is None:
                return False
            with self._along(application.queue), application.lock.write(), node.lock.write():
                amount = application.asks.get(proposal.ask)
                if amount is None or application.state not in SCHEDULED or node.available < amount:
                    return False
                application.drop(proposal.ask)
                self._pending(application, -amount)
                self._put(application, node, Allocation(proposal.ask, application.name, node.name, amount))
        time.sleep(0.001)
        self.outbox.put(NewAllocation(proposal.application, proposal.ask, proposal.ask, proposal.node))
        return True


class ForgetsTheQueue(MergedScheduler):
    """What is taken back stays counted in the queues (the document's own remove_alloc, line 312)."""

    def _take_back(
        self, partition: Partition, application: Application, allocation: Allocation, why: TerminationType
    ) -> None:
        node = partition.nodes[allocation.node]
        with node.lock.write():
            node.remove(allocation)
        application.remove(allocation)
        self.outbox.put(ReleasedAllocation(application.name, allocation.name, why))


class ForgetsTheNode(MergedScheduler):
    """What is taken back stays on its node."""

    def _take_back(
        self, partition: Partition, application: Application, allocation: Allocation, why: TerminationType
    ) -> None:
        application.remove(allocation)
        for queue in application.queue.path():
            queue.add(allocated=-allocation.amount)
        self.outbox.put(ReleasedAllocation(application.name, allocation.name, why))


class LocksTheNodeFirst(MergedScheduler):
    """A node that goes is locked while the applications on it are changed."""

    def remove_node(self, partition: str, name: str) -> None:
        with self._changing(partition) as locked:
            node = locked.nodes.get(name) if locked is not None else None
            if locked is None or node is None:
                return
            with node.lock.write():
                for allocation in list(node.allocations.values()):
                    application = locked.applications[allocation.application]
                    with application.lock.write():
                        application.remove(allocation)
            locked.remove(node)


class NeverLetsGo(MergedScheduler):
    """A lock is acquired where it is to be released (YUNIKORN-974)."""

    def remove_ask(self, partition: str, application: str, ask: str) -> None:
        self.cluster.lock.acquire(Mode.READ)


class AskIsNotCounted(MergedScheduler):
    """A withdrawn ask stays pending in the queues."""

    def remove_ask(self, partition: str, application: str, ask: str) -> None:
        with self._changing(partition) as locked:
            asking = locked.applications.get(application) if locked is not None else None
            if asking is None:
                return
            with self._along(asking.queue), asking.lock.write():
                if ask in asking.asks:
                    asking.drop(ask)
                    if asking.state in SCHEDULED and not asking.asks and not asking.allocations:
                        asking.fire(COMPLETE)


class NodeGoesAlone(MergedScheduler):
    """A node goes, and what was allocated on it stays with its applications (line 157: "cache remove the node first (!!)")."""

    def remove_node(self, partition: str, name: str) -> None:
        with self._changing(partition) as locked:
            if locked is not None and name in locked.nodes:
                locked.remove(locked.nodes[name])


class ReleasedTwice(MergedScheduler):
    """It notifies the resource manager twice that an allocation has ended."""

    def release(
        self, partition: str, application: str, allocation: str, why: TerminationType = TerminationType.STOPPED_BY_RM
    ) -> bool:
        if released := super().release(partition, application, allocation, why):
            self.outbox.put(ReleasedAllocation(application, allocation, why))
        return released


class NoExclusion(OrderedLock):
    """A lock that lets everybody in."""

    def _begin_to_read(self) -> None:
        pass

    def _begin_to_write(self) -> None:
        time.sleep(0)

    def _end_reading(self) -> None:
        pass

    def _end_writing(self) -> None:
        pass


class Unlocked(MergedScheduler):
    """Its partitions' locks exclude nobody."""

    def __init__(self, order: LockOrder) -> None:
        super().__init__(order)
        self.cluster.lock.__class__ = NoExclusion


BUGS: dict[type[MergedScheduler], str] = {
    FromTheLeafUp: "LockOrderError",
    OnlyTheLeaf: "NotHeldError",
    ReadingIsEnough: "NotHeldError",
    PartitionOnlyRead: "NotHeldError",
    CommitsInsideTheSearch: "LockOrderError",
    BelievesTheProposal: "KeyError",
    NotifiesAfterUnlocking: "never began",
    ForgetsTheQueue: "but its applications have",
    ForgetsTheNode: "of no application",
    LocksTheNodeFirst: "LockOrderError",
    NeverLetsGo: "still held",
    AskIsNotCounted: "but its applications have",
    NodeGoesAlone: "is not on its node",
    ReleasedTwice: "never began",
}
"""Each bug, and what the complaint about it has to contain."""

OF_LOCKS = Unlocked
"""A bug that only the log of acquisitions shows for sure."""
