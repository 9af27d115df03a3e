"""A copy of the records that one operation may change; it keeps the sums right and answers queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from schedproof.impl.scheduler_interface import Response

from .events import Outbox
from .records import Allocation, Application, Ask, Node, Partition, Queue, World

K = TypeVar("K", bound=Any)
R = TypeVar("R")


class Ledger:
    """The records of ``world`` by name; :meth:`world` returns the changed ones.

    An operation that raises discards its ledger.
    """

    def __init__(self, world: World, now: int) -> None:
        self.rm = world.rm
        self.partitions: dict[str, Partition] = {p.name: p for p in world.partitions}
        self.queues: dict[tuple[str, str], Queue] = {(q.partition, q.name): q for q in world.queues}
        self.nodes: dict[str, Node] = {n.name: n for n in world.nodes}
        self.applications: dict[str, Application] = {a.name: a for a in world.applications}
        self.tracked: dict[int, Application] = {a.serial: a for a in world.tracked}
        self.asks: dict[str, Ask] = {a.name: a for a in world.asks}
        self.allocations: dict[str, Allocation] = {a.name: a for a in world.allocations}
        self.serial = world.serial
        self.now = now
        self.out = Outbox()

    def world(self) -> World:
        """Returns the current records."""
        return World(
            self.rm,
            _in_order(self.partitions),
            _in_order(self.queues),
            _in_order(self.nodes),
            _in_order(self.applications),
            _in_order(self.tracked),
            _in_order(self.asks),
            _in_order(self.allocations),
            self.serial,
        )

    def next_serial(self) -> int:
        """Returns a number that was never given before."""
        self.serial += 1
        return self.serial

    def send(self, response: Response) -> None:
        """Adds a message to the RM."""
        self.out.send(response)

    # Applications.

    def numbered(self, serial: int) -> Application | None:
        """Returns the application of this number, live or tracked; None if there is none."""
        live = next((a for a in self.applications.values() if a.serial == serial), None)
        return live or self.tracked.get(serial)

    def keep(self, application: Application) -> None:
        """Stores a changed record, among the live or the tracked ones."""
        if application.serial in self.tracked:
            self.tracked[application.serial] = application
        else:
            self.applications[application.name] = application

    def pending(self, application: str) -> list[Ask]:
        """Returns its asks that wait for a decision, oldest first."""
        return sorted(
            (a for a in self.asks.values() if a.application == application and a.pending), key=lambda a: a.serial
        )

    def swaps(self, application: str) -> list[Allocation]:
        """Returns its real asks that wait for a placeholder to end."""
        return [a for a in self._allocations_of(application) if not a.confirmed]

    def real(self, application: str) -> list[Allocation]:
        """Returns its real allocations, including those being released."""
        return [a for a in self._allocations_of(application) if a.confirmed and not a.placeholder]

    def placeholders(self, application: str) -> list[Allocation]:
        """Returns its allocated placeholders, including those being released."""
        return [a for a in self._allocations_of(application) if a.placeholder]

    def _allocations_of(self, application: str) -> list[Allocation]:
        return [a for a in self.allocations.values() if a.application == application]

    def swap_for(self, placeholder: str) -> Allocation | None:
        """Returns the swap that waits for this placeholder to end; None if there is none."""
        return next((a for a in self.allocations.values() if a.replaces == placeholder), None)

    # The sums.

    def book(self, allocation: Allocation) -> None:
        """Adds an allocation, or a swap that reserves its amount on another node."""
        self.allocations[allocation.name] = allocation
        if not allocation.confirmed:
            if allocation.held:
                self._on_node(allocation.node, allocation.amount)
            return
        self._on_node(allocation.node, allocation.amount)
        self._in_application(allocation, allocation.amount)

    def unbook(self, allocation: Allocation) -> None:
        """Removes an allocation, or a swap that was not confirmed."""
        if allocation.confirmed or allocation.held:
            self._on_node(allocation.node, -allocation.amount)
        if allocation.confirmed:
            self._in_application(allocation, -allocation.amount)
        del self.allocations[allocation.name]

    def _on_node(self, name: str, amount: int) -> None:
        # A node that is being decommissioned is removed before its allocations.
        if name in self.nodes:
            self.nodes[name] = replace(self.nodes[name], allocated=self.nodes[name].allocated + amount)

    def _in_application(self, allocation: Allocation, amount: int) -> None:
        application = self.applications[allocation.application]
        if allocation.placeholder:
            application = replace(application, reserved=application.reserved + amount)
        else:
            application = replace(application, real=application.real + amount)
        self.applications[application.name] = application
        queue: Queue | None = self.queues[application.partition, application.queue]
        while queue is not None:
            self.queues[queue.partition, queue.name] = replace(queue, allocated=queue.allocated + amount)
            queue = self.queues.get((queue.partition, queue.parent))


def _in_order(records: Mapping[K, R]) -> tuple[R, ...]:
    """The records in the order of their keys."""
    return tuple([records[key] for key in sorted(records)])
