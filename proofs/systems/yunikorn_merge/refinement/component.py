"""The implementation's side: a merged scheduler as plain values, and what the resource manager has asked and heard.

The scheduler's objects have locks, which cannot be copied: a scheduler is taken down to what it holds, and put
together again from that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from schedproof.impl.locks import LockOrder
from schedproof.impl.scheduler_interface import (
    ApplicationAccepted,
    ApplicationRejected,
    AskRejected,
    NewAllocation,
    NodeAccepted,
    NodeRejected,
    ReleasedAllocation,
    Response,
)
from schedproof.impl.systems.yunikorn_merge import (
    ORDER,
    Allocation,
    Application,
    MergedScheduler,
    Node,
    Partition,
    Queue,
)

Scheduler = Callable[[LockOrder], MergedScheduler]
"""What makes a scheduler; a test gives one with a bug."""

News = tuple[str, str]
"""What the resource manager is told: a kind of message of the model, and the name of what it is about."""


def news(response: Response) -> News:
    """A response as the model names it.

    Raises:
        TypeError: it has no such.
    """
    match response:
        case ApplicationAccepted(application=name):
            return "ApplicationAccepted", name
        case ApplicationRejected(application=name):
            return "ApplicationRejected", name
        case AskRejected(ask=name):
            return "AskRejected", name
        case NewAllocation(allocation=name):
            return "NewAllocation", name
        case ReleasedAllocation(allocation=name):
            return "AllocationReleased", name
        case NodeAccepted(node=name):
            return "NodeAccepted", name
        case NodeRejected(node=name):
            return "NodeRejected", name
        case _:
            raise TypeError(f"{response!r} is no message of the model")


@dataclass(frozen=True)
class QueueRecord:
    """A queue as plain values."""

    name: str
    allocated: int
    pending: int
    applications: frozenset[str]


@dataclass(frozen=True)
class ApplicationRecord:
    """An application as plain values."""

    name: str
    queue: str
    state: str
    asks: tuple[tuple[str, int], ...]
    allocations: tuple[Allocation, ...]


@dataclass(frozen=True)
class NodeRecord:
    """A node as plain values."""

    name: str
    capacity: int
    allocated: int
    allocations: tuple[Allocation, ...]


@dataclass(frozen=True)
class World:
    """All that a scheduler with at most one partition holds."""

    partition: str | None = None
    queues: tuple[QueueRecord, ...] = ()
    applications: tuple[ApplicationRecord, ...] = ()
    nodes: tuple[NodeRecord, ...] = ()

    @property
    def allocations(self) -> frozenset[tuple[str, str]]:
        """(ask, node) of all that is allocated, as its applications have it."""
        return frozenset((it.name, it.node) for app in self.applications for it in app.allocations)


def taken_down(it: MergedScheduler) -> World:
    """What a scheduler holds."""
    with it.cluster.lock.read():
        partitions = list(it.cluster.partitions.values())
        if not partitions:
            return World()
        (partition,) = partitions
        with partition.lock.read():
            return World(
                partition.name,
                tuple(
                    QueueRecord(q.name, q.allocated, q.pending, frozenset(q.applications))
                    for q in partition.queues.values()
                ),
                tuple(
                    ApplicationRecord(
                        a.name, a.queue.name, a.state, tuple(sorted(a.asks.items())), _sorted(a.allocations.values())
                    )
                    for _, a in sorted(partition.applications.items())
                ),
                tuple(
                    NodeRecord(n.name, n.capacity, n.allocated, _sorted(n.allocations.values()))
                    for _, n in sorted(partition.nodes.items())
                ),
            )


def _sorted(allocations: object) -> tuple[Allocation, ...]:
    return tuple(sorted(allocations, key=lambda it: it.name))  # type: ignore[call-overload]


def put_together(world: World, kind: Scheduler) -> MergedScheduler:
    """A scheduler that holds ``world``."""
    it = kind(LockOrder(ORDER, deepest=1))
    if world.partition is None:
        return it
    with it.cluster.lock.write():
        partition = Partition(it.order, world.partition)
        it.cluster.add(partition)
        with partition.lock.write():
            made: dict[str, Queue] = {}
            for record in world.queues:  # the outer before the inner
                parent = made.get(record.name.rpartition(".")[0])
                queue = made[record.name] = Queue(it.order, partition.name, record.name, parent)
                queue.allocated, queue.pending = record.allocated, record.pending
                queue.applications = set(record.applications)
                partition.add(queue)
                if parent is not None:
                    parent.children[queue.name] = queue
            for app in world.applications:
                application = Application(it.order, partition.name, app.name, made[app.queue])
                application.state = type(application.state)(app.state)
                application.asks = dict(app.asks)
                application.allocations = {a.name: a for a in app.allocations}
                partition.add(application)
            for each in world.nodes:
                node = Node(it.order, partition.name, each.name, each.capacity)
                node.allocated = each.allocated
                node.allocations = {(a.application, a.name): a for a in each.allocations}
                partition.add(node)
    return it


@dataclass(frozen=True)
class Snapshot:
    """The scheduler, what is under way to the resource manager, and what has been asked, told and heard.

    Args:
        outbox: what each operation has told, in the order of the operations. What one operation tells is taken
            without its order, as the model has it.
        asked: requests, by the name of the model's action and of what they are about.
        told, heard: what the scheduler has said, and what of it has arrived.
        held: what has been allocated at some time, (ask, node).
    """

    world: World = World()
    outbox: tuple[frozenset[News], ...] = ()
    asked: frozenset[News] = frozenset()
    told: frozenset[News] = frozenset()
    heard: frozenset[News] = frozenset()
    held: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True)
class Operation:
    """Something that the resource manager or the scheduler does: a step of the model, in words, and what runs it.

    ``run`` says False if nothing was done: the scheduler may find that it cannot be.
    """

    action: str
    about: str
    run: Callable[[MergedScheduler], object]

    @property
    def said(self) -> str:
        """In words."""
        return f"{self.action} {self.about}"


def after(at: Snapshot, operation: Operation, kind: Scheduler) -> Snapshot | None:
    """What comes of an operation; None if nothing was done."""
    it = put_together(at.world, kind)
    if operation.run(it) is False:
        return None
    batch = []
    while not it.outbox.empty():
        batch.append(news(it.outbox.get()))
    world = taken_down(it)
    return replace(
        at,
        world=world,
        outbox=(*at.outbox, frozenset(batch)) if batch else at.outbox,
        asked=at.asked | {(operation.action, operation.about)},
        told=at.told | frozenset(batch),
        held=at.held | world.allocations,
    )


def hear(at: Snapshot, what: News) -> Snapshot:
    """The resource manager hears of something, which is among what was told first."""
    first = at.outbox[0] - {what}
    return replace(at, outbox=(first, *at.outbox[1:]) if first else at.outbox[1:], heard=at.heard | {what})
