"""The implementation's side: a merged scheduler as plain values, the requests, and the notifications received.

The scheduler's objects have locks, which cannot be copied. So a scheduler is stored as its contents, and rebuilt from
them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from schedproof.impl.hashed import hashed_once
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
"""Makes a scheduler; a test gives one with a seeded fault."""

News = tuple[str, str]
"""A notification of the resource manager: a kind of message of the model, and the name of its subject."""


def news(response: Response) -> News:
    """Returns a response as the model names it.

    Raises:
        TypeError: the model has no such message.
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
    name: str
    allocated: int
    pending: int
    applications: frozenset[str]


@dataclass(frozen=True)
class ApplicationRecord:
    name: str
    queue: str
    state: str
    asks: tuple[tuple[str, int], ...]
    allocations: tuple[Allocation, ...]


@dataclass(frozen=True)
class NodeRecord:
    name: str
    capacity: int
    allocated: int
    allocations: tuple[Allocation, ...]


@hashed_once
@dataclass(frozen=True)
class World:
    """The contents of a scheduler with at most one partition."""

    partition: str | None = None
    queues: tuple[QueueRecord, ...] = ()
    applications: tuple[ApplicationRecord, ...] = ()
    nodes: tuple[NodeRecord, ...] = ()

    @cached_property
    def allocations(self) -> frozenset[tuple[str, str]]:
        """(ask, node) of all allocations, as its applications have them."""
        return frozenset((it.name, it.node) for app in self.applications for it in app.allocations)


def taken_down(it: MergedScheduler) -> World:
    """Returns the contents of a scheduler."""
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
    """Returns a scheduler with the contents ``world``."""
    it = kind(LockOrder(ORDER, deepest=1))
    if world.partition is None:
        return it
    with it.cluster.lock.write():
        partition = Partition(it.order, world.partition)
        it.cluster.add(partition)
        with partition.lock.write():
            made: dict[str, Queue] = {}
            for record in world.queues:  # parents first
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


@hashed_once
@dataclass(frozen=True)
class Snapshot:
    """The scheduler's contents, the notifications under way, and what has been requested, sent and received.

    Args:
        outbox: each operation's notifications, in the order of the operations; those of one operation are unordered,
            as in the model.
        asked: requests, by the model's action and the name of its subject.
        sent, heard: the notifications sent, and those that have arrived.
        held: the allocations that have existed at some time, (ask, node).
    """

    world: World = World()
    outbox: tuple[frozenset[News], ...] = ()
    asked: frozenset[News] = frozenset()
    sent: frozenset[News] = frozenset()
    heard: frozenset[News] = frozenset()
    held: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True)
class Operation:
    """An operation of the resource manager or the scheduler: a step of the model, and what runs it.

    ``action`` and ``about`` identify it. ``run`` returns False if nothing was done: the scheduler may find that the step is impossible.
    """

    action: str
    about: str
    run: Callable[[MergedScheduler], object]

    @property
    def description(self) -> str:
        """The operation in words."""
        return f"{self.action} {self.about}"


Effect = tuple[World, frozenset[News]]
"""The contents of a scheduler after an operation, and the notifications that it sent."""


class Component:
    """Runs operations on schedulers. An operation runs once for each contents of a scheduler: it can read no more.

    Args:
        kind: makes a scheduler.
    """

    def __init__(self, kind: Scheduler) -> None:
        self._kind = kind
        self._effects: dict[tuple[World, str, str], Effect | None] = {}

    def after(self, at: Snapshot, operation: Operation) -> Snapshot | None:
        """Returns the snapshot after an operation; None if nothing was done."""
        key = at.world, operation.action, operation.about
        if key not in self._effects:
            self._effects[key] = self._run(at.world, operation)
        effect = self._effects[key]
        if effect is None:
            return None
        world, batch = effect
        return Snapshot(
            world,
            (*at.outbox, batch) if batch else at.outbox,
            at.asked | {(operation.action, operation.about)},
            at.sent | batch,
            at.heard,
            at.held | world.allocations,
        )

    def _run(self, world: World, operation: Operation) -> Effect | None:
        it = put_together(world, self._kind)
        if operation.run(it) is False:
            return None
        batch = []
        while not it.outbox.empty():
            batch.append(news(it.outbox.get()))
        return taken_down(it), frozenset(batch)


def hear(at: Snapshot, what: News) -> Snapshot:
    """Returns the snapshot after the arrival of a notification, one of the operation that is first in the outbox."""
    first = at.outbox[0] - {what}
    return replace(at, outbox=(first, *at.outbox[1:]) if first else at.outbox[1:], heard=at.heard | {what})
