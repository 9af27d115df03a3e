"""The objects of the merged scheduler, each with its lock; what changes one asks that its lock is held.

D: line of the document on the merge; O: line of the one on object states.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from schedproof.impl.locks import LockOrder, Mode, OrderedLock

from .lifecycle import APPLICATION, State

ORDER = ("Cluster", "Partition", "Queue", "Application", "Node")
"""The classes of locks, in the order in which they may be acquired (D251-256, repaired)."""


@dataclass(frozen=True)
class Allocation:
    """What an ask has been given; named by its ask."""

    name: str
    application: str
    node: str
    amount: int


class Node:
    """A node; its lock guards what is allocated on it (D236)."""

    def __init__(self, order: LockOrder, partition: str, name: str, capacity: int) -> None:
        self.name = name
        self.lock = OrderedLock(order, "Node", f"{partition}/{name}")
        self.capacity = capacity
        self.allocations: dict[
            tuple[str, str], Allocation
        ] = {}  # asks have names of their own in their application only
        self.allocated = 0

    @property
    def available(self) -> int:
        """What can still be allocated."""
        self.lock.require(Mode.READ)
        return self.capacity - self.allocated

    def resize(self, capacity: int) -> None:
        """Its capacity changes (D200)."""
        self.lock.require(Mode.WRITE)
        self.capacity = capacity

    def add(self, allocation: Allocation) -> None:
        """Something is allocated on it."""
        self.lock.require(Mode.WRITE)
        self.allocations[allocation.application, allocation.name] = allocation
        self.allocated += allocation.amount

    def remove(self, allocation: Allocation) -> None:
        """Something is gone (D317)."""
        self.lock.require(Mode.WRITE)
        del self.allocations[allocation.application, allocation.name]
        self.allocated -= allocation.amount


class Queue:
    """A queue of the tree; its lock guards what is in it, and the sums of all below (D216)."""

    def __init__(self, order: LockOrder, partition: str, name: str, parent: Queue | None) -> None:
        self.name, self.parent = name, parent
        above = [queue.lock.name for queue in parent.path()] if parent is not None else []
        self.lock: OrderedLock = OrderedLock(order, "Queue", f"{partition}/{name}", above)
        self.children: dict[str, Queue] = {}
        self.applications: set[str] = set()
        self.allocated = 0
        self.pending = 0
        self.maximum: int | None = None
        self.for_queues = False

    def path(self) -> list[Queue]:
        """From the root to this queue; what a queue is in never changes, so no lock is needed."""
        return [*(self.parent.path() if self.parent is not None else []), self]

    def below(self) -> Iterator[Queue]:
        """Itself and all below, the outer before the inner; the partition is locked for writing."""
        yield self
        for child in self.children.values():
            yield from child.below()

    def room(self) -> int | None:
        """What can still be allocated in it, by its own maximum; None is no bound."""
        self.lock.require(Mode.READ)
        return None if self.maximum is None else self.maximum - self.allocated

    def add(self, *, allocated: int = 0, pending: int = 0) -> None:
        """What is allocated or pending in it, or below, becomes more or less (D219)."""
        self.lock.require(Mode.WRITE)
        self.allocated += allocated
        self.pending += pending

    def enter(self, application: str) -> None:
        """An application is added (D218)."""
        self.lock.require(Mode.WRITE)
        self.applications.add(application)

    def leave(self, application: str) -> None:
        """An application is removed."""
        self.lock.require(Mode.WRITE)
        self.applications.remove(application)

    def adopt(self, child: Queue) -> None:
        """A queue is added below (D218)."""
        self.lock.require(Mode.WRITE)
        self.children[child.name] = child

    def forget(self, child: Queue) -> None:
        """A queue below is removed."""
        self.lock.require(Mode.WRITE)
        del self.children[child.name]

    def configure(self, maximum: int | None, *, for_queues: bool) -> None:
        """Its configuration changes (D220); ``for_queues``: there can be no application in it, also without queues below."""
        self.lock.require(Mode.WRITE)
        self.maximum, self.for_queues = maximum, for_queues


class Application:
    """An application; its lock guards its state, asks and allocations (D228).

    Its queue never changes, so that it may be read without the lock: it has to be, for queues are locked before (D254).
    """

    def __init__(self, order: LockOrder, partition: str, name: str, queue: Queue) -> None:
        self.name, self.queue = name, queue
        self.lock = OrderedLock(order, "Application", f"{partition}/{name}")
        self.state = State(APPLICATION.initial)
        self.asks: dict[str, int] = {}
        self.allocations: dict[str, Allocation] = {}

    def fire(self, event: str) -> None:
        """An event of the application's table (O14-31).

        Raises:
            IllegalEvent: not in its state.
        """
        self.lock.require(Mode.WRITE)
        self.state = State(APPLICATION.target(self.state, event))

    def ask(self, name: str, amount: int) -> None:
        """Something is asked for."""
        self.lock.require(Mode.WRITE)
        self.asks[name] = amount

    def drop(self, name: str) -> int:
        """An ask is gone; how much it was for."""
        self.lock.require(Mode.WRITE)
        return self.asks.pop(name)

    def add(self, allocation: Allocation) -> None:
        """An ask has been given what it asked for."""
        self.lock.require(Mode.WRITE)
        self.allocations[allocation.name] = allocation

    def remove(self, allocation: Allocation) -> None:
        """An allocation is gone (D318)."""
        self.lock.require(Mode.WRITE)
        del self.allocations[allocation.name]


class Partition:
    """A partition; its lock guards which queues, applications and nodes there are (D185)."""

    def __init__(self, order: LockOrder, name: str) -> None:
        self.name = name
        self.lock = OrderedLock(order, "Partition", name)
        self._queues: dict[str, Queue] = {}
        self._applications: dict[str, Application] = {}
        self._nodes: dict[str, Node] = {}

    @property
    def queues(self) -> Mapping[str, Queue]:
        """By name (D208)."""
        self.lock.require(Mode.READ)
        return self._queues

    @property
    def applications(self) -> Mapping[str, Application]:
        """By name (D208)."""
        self.lock.require(Mode.READ)
        return self._applications

    @property
    def nodes(self) -> Mapping[str, Node]:
        """By name (D208)."""
        self.lock.require(Mode.READ)
        return self._nodes

    def add(self, one: Queue | Application | Node) -> None:
        """A queue, an application or a node is added (D186)."""
        self.lock.require(Mode.WRITE)
        match one:
            case Queue():
                self._queues[one.name] = one
            case Application():
                self._applications[one.name] = one
            case Node():
                self._nodes[one.name] = one

    def remove(self, one: Queue | Application | Node) -> None:
        """A queue, an application or a node is removed (D186)."""
        self.lock.require(Mode.WRITE)
        match one:
            case Queue():
                del self._queues[one.name]
            case Application():
                del self._applications[one.name]
            case Node():
                del self._nodes[one.name]


class Cluster:
    """The cluster; its lock guards which partitions there are (D177)."""

    def __init__(self, order: LockOrder) -> None:
        self.lock = OrderedLock(order, "Cluster", "cluster")
        self._partitions: dict[str, Partition] = {}

    @property
    def partitions(self) -> Mapping[str, Partition]:
        """By name (D179)."""
        self.lock.require(Mode.READ)
        return self._partitions

    def add(self, partition: Partition) -> None:
        """A partition is added (D178)."""
        self.lock.require(Mode.WRITE)
        self._partitions[partition.name] = partition

    def remove(self, partition: Partition) -> None:
        """A partition is removed (D178)."""
        self.lock.require(Mode.WRITE)
        del self._partitions[partition.name]
