"""The objects of the merged scheduler, each with its lock; a method that changes one requires that its lock is held.

D: a line of the document on the merge; O: a line of the one on object states.
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
    """An allocation, named by its ask."""

    name: str
    application: str
    node: str
    amount: int


class Node:
    """A node; its lock guards its allocations (D236)."""

    def __init__(self, order: LockOrder, partition: str, name: str, capacity: int) -> None:
        self.name = name
        self.lock = OrderedLock(order, "Node", f"{partition}/{name}")
        self.capacity = capacity
        self.allocations: dict[tuple[str, str], Allocation] = {}  # ask names are unique only within an application
        self.allocated = 0

    @property
    def available(self) -> int:
        """The amount that can still be allocated."""
        self.lock.require(Mode.READ)
        return self.capacity - self.allocated

    def resize(self, capacity: int) -> None:
        """Changes its capacity (D200)."""
        self.lock.require(Mode.WRITE)
        self.capacity = capacity

    def add(self, allocation: Allocation) -> None:
        """Adds an allocation."""
        self.lock.require(Mode.WRITE)
        self.allocations[allocation.application, allocation.name] = allocation
        self.allocated += allocation.amount

    def remove(self, allocation: Allocation) -> None:
        """Removes an allocation (D317)."""
        self.lock.require(Mode.WRITE)
        del self.allocations[allocation.application, allocation.name]
        self.allocated -= allocation.amount


class Queue:
    """A queue of the tree; its lock guards its contents, and the sums of all below (D216)."""

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
        """Returns the queues from the root to this one; a queue's parent never changes, so no lock is needed."""
        return [*(self.parent.path() if self.parent is not None else []), self]

    def below(self) -> Iterator[Queue]:
        """Yields itself and all queues below, parents first; the partition must be locked for writing."""
        yield self
        for child in self.children.values():
            yield from child.below()

    def room(self) -> int | None:
        """The amount that its own maximum still allows; None without a maximum."""
        self.lock.require(Mode.READ)
        return None if self.maximum is None else self.maximum - self.allocated

    def add(self, *, allocated: int = 0, pending: int = 0) -> None:
        """Changes its allocated and pending sums, which include the queues below (D219)."""
        self.lock.require(Mode.WRITE)
        self.allocated += allocated
        self.pending += pending

    def enter(self, application: str) -> None:
        """Adds an application (D218)."""
        self.lock.require(Mode.WRITE)
        self.applications.add(application)

    def leave(self, application: str) -> None:
        """Removes an application."""
        self.lock.require(Mode.WRITE)
        self.applications.remove(application)

    def adopt(self, child: Queue) -> None:
        """Adds a queue below (D218)."""
        self.lock.require(Mode.WRITE)
        self.children[child.name] = child

    def remove_child(self, child: Queue) -> None:
        """Removes a queue below."""
        self.lock.require(Mode.WRITE)
        del self.children[child.name]

    def configure(self, maximum: int | None, *, for_queues: bool) -> None:
        """Changes its configuration (D220).

        Args:
            maximum: the largest amount; None for no bound.
            for_queues: whether applications are refused, even without queues below.
        """
        self.lock.require(Mode.WRITE)
        self.maximum, self.for_queues = maximum, for_queues


class Application:
    """An application; its lock guards its state, asks and allocations (D228).

    Its queue never changes, so it can be read without the lock. That is necessary, as queues are locked first (D254).
    """

    def __init__(self, order: LockOrder, partition: str, name: str, queue: Queue) -> None:
        self.name, self.queue = name, queue
        self.lock = OrderedLock(order, "Application", f"{partition}/{name}")
        self.state = State(APPLICATION.initial)
        self.asks: dict[str, int] = {}
        self.allocations: dict[str, Allocation] = {}

    def fire(self, event: str) -> None:
        """Fires an event of the application's table (O14-31).

        Raises:
            IllegalEvent: its state does not allow the event.
        """
        self.lock.require(Mode.WRITE)
        self.state = State(APPLICATION.target(self.state, event))

    def ask(self, name: str, amount: int) -> None:
        """Adds an ask."""
        self.lock.require(Mode.WRITE)
        self.asks[name] = amount

    def drop(self, name: str) -> int:
        """Removes an ask; returns its amount."""
        self.lock.require(Mode.WRITE)
        return self.asks.pop(name)

    def add(self, allocation: Allocation) -> None:
        """Replaces an ask by its allocation."""
        self.lock.require(Mode.WRITE)
        self.allocations[allocation.name] = allocation

    def remove(self, allocation: Allocation) -> None:
        """Removes an allocation (D318)."""
        self.lock.require(Mode.WRITE)
        del self.allocations[allocation.name]


class Partition:
    """A partition; its lock guards the sets of its queues, applications and nodes (D185)."""

    def __init__(self, order: LockOrder, name: str) -> None:
        self.name = name
        self.lock = OrderedLock(order, "Partition", name)
        self._queues: dict[str, Queue] = {}
        self._applications: dict[str, Application] = {}
        self._nodes: dict[str, Node] = {}

    @property
    def queues(self) -> Mapping[str, Queue]:
        """The queues by name (D208)."""
        self.lock.require(Mode.READ)
        return self._queues

    @property
    def applications(self) -> Mapping[str, Application]:
        """The applications by name (D208)."""
        self.lock.require(Mode.READ)
        return self._applications

    @property
    def nodes(self) -> Mapping[str, Node]:
        """The nodes by name (D208)."""
        self.lock.require(Mode.READ)
        return self._nodes

    def add(self, one: Queue | Application | Node) -> None:
        """Adds a queue, an application or a node (D186)."""
        self.lock.require(Mode.WRITE)
        match one:
            case Queue():
                self._queues[one.name] = one
            case Application():
                self._applications[one.name] = one
            case Node():
                self._nodes[one.name] = one

    def remove(self, one: Queue | Application | Node) -> None:
        """Removes a queue, an application or a node (D186)."""
        self.lock.require(Mode.WRITE)
        match one:
            case Queue():
                del self._queues[one.name]
            case Application():
                del self._applications[one.name]
            case Node():
                del self._nodes[one.name]


class Cluster:
    """The cluster; its lock guards the set of partitions (D177)."""

    def __init__(self, order: LockOrder) -> None:
        self.lock = OrderedLock(order, "Cluster", "cluster")
        self._partitions: dict[str, Partition] = {}

    @property
    def partitions(self) -> Mapping[str, Partition]:
        """The partitions by name (D179)."""
        self.lock.require(Mode.READ)
        return self._partitions

    def add(self, partition: Partition) -> None:
        """Adds a partition (D178)."""
        self.lock.require(Mode.WRITE)
        self._partitions[partition.name] = partition

    def remove(self, partition: Partition) -> None:
        """Removes a partition (D178)."""
        self.lock.require(Mode.WRITE)
        del self._partitions[partition.name]
