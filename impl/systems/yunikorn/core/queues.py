"""The tree of queues: states, additions, draining, removal of empty queues, and the placement of applications."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from schedproof.impl.errors import Refused
from schedproof.impl.scheduler_interface import ROOT, AddApplication, PlacementRule, QueueSpec, RuleKind, SortPolicy

from .ledger import Ledger
from .records import ObjectState, Queue
from .tables import OBJECT, REMOVE


class Queues(Ledger):
    """The operations on queues. A queue is named by its path, like ``root.a.b``."""

    # The tree.

    def queue(self, partition: str, name: str) -> Queue:
        """Returns a queue.

        Raises:
            Refused: there is none of this name.
        """
        record = self.queues.get((partition, name))
        if record is None:
            raise Refused(f"partition {partition} has no queue {name!r}; it has {self._names(partition)}")
        return record

    def _names(self, partition: str) -> str:
        return ", ".join(q.name for q in self.queues.values() if q.partition == partition) or "none"

    def path(self, queue: Queue) -> Iterator[Queue]:
        """Yields the queue and those above it."""
        above: Queue | None = queue
        while above is not None:
            yield above
            above = self.queues.get((queue.partition, above.parent))

    def children(self, queue: Queue) -> list[Queue]:
        """Returns the queues directly below."""
        return [q for q in self.queues.values() if q.partition == queue.partition and q.parent == queue.name]

    def is_draining(self, queue: Queue) -> bool:
        """True if the queue, or one above it, is being removed: it accepts no additions (D51, R8)."""
        return any(q.state is ObjectState.DRAINING for q in self.path(queue))

    def is_scheduled(self, queue: Queue) -> bool:
        """True if neither the queue nor one above it is Stopped: its asks are scheduled (D50)."""
        return all(q.state is not ObjectState.STOPPED for q in self.path(queue))

    def room(self, queue: Queue) -> int | None:
        """Returns the amount that the maxima of the queue and of those above still allow; None without a maximum."""
        rooms = [q.maximum - q.allocated for q in self.path(queue) if q.maximum is not None]
        return min(rooms, default=None)

    # States.

    def fire_queue(self, queue: Queue, event: str) -> Queue:
        """Fires an event of one queue.

        Raises:
            IllegalEvent: its state does not allow the event.
        """
        self.queues[queue.partition, queue.name] = replace(queue, state=ObjectState(OBJECT.target(queue.state, event)))
        return self.queues[queue.partition, queue.name]

    def remove_queue(self, queue: Queue) -> None:
        """Begins to remove the queue and the managed ones below it; each is removed when it is empty (F 2).

        Dynamic queues are removed by themselves; below a Draining queue they accept nothing new.
        """
        for child in self.children(queue):
            self.remove_queue(child)
        if queue.managed:
            self.fire_queue(queue, REMOVE)

    # Additions.

    def add_queue(self, partition: str, spec: QueueSpec, above: Queue | None, *, managed: bool = True) -> Queue:
        """Adds a queue, with the queues below it in the specification.

        Raises:
            Refused: the name is taken, or the queue above accepts no additions or is a leaf in use.
        """
        name = spec.name if above is None else f"{above.name}.{spec.name}"
        if not spec.name or "." in spec.name:
            raise Refused(
                f"queue {spec.name!r}: a queue's own name is not empty and has no dot; nest the queues instead"
            )
        if (partition, name) in self.queues:
            raise Refused(f"there is a queue {name} in partition {partition} already")
        if above is not None:
            self._check_addition(above, f"queue {name}")
        leaf = not spec.children and not spec.parent
        queue = Queue(name, partition, managed, leaf, spec.maximum, spec.sort_policy, spec.submitters)
        self.queues[partition, name] = queue
        for child in spec.children:
            self.add_queue(partition, child, queue)
        return queue

    def _check_addition(self, queue: Queue, what: str) -> None:
        if queue.leaf and what.startswith("queue "):
            raise Refused(f"{what} cannot be added: {queue.name} is a leaf, which holds applications only")
        if self.is_draining(queue):
            raise Refused(f"{what} cannot be added: {queue.name} is being removed (Draining)")

    # The placement of a new application (F 1.2: the reasons to reject one).

    def place(self, request: AddApplication, rules: tuple[PlacementRule, ...]) -> Queue:
        """Returns the leaf queue for a new application; a rule may create it.

        Raises:
            Refused: there is none, or it does not take this application.
        """
        queue = self._by_rules(request, rules) if rules else self.queue(request.partition, request.queue)
        if not queue.leaf:
            raise Refused(f"queue {queue.name} is no leaf: applications belong in leaf queues")
        self._check_addition(queue, f"application {request.application}")
        if not self.may_submit(request.user, queue):
            raise Refused(f"user {request.user} may not submit to queue {queue.name}")
        self._check_gang(request, queue)
        return queue

    def may_submit(self, user: str, queue: Queue) -> bool:
        """True if the access list of the queue, or of one above, names the user (D27), or if there is no list."""
        lists = [q.submitters for q in self.path(queue) if q.submitters is not None]
        return not lists or any(user in names for names in lists)

    def _check_gang(self, request: AddApplication, queue: Queue) -> None:
        if request.placeholders == 0:
            return
        if queue.sort_policy is SortPolicy.FAIR:
            raise Refused(f"a gang needs a queue sorted by fifo or stateaware; {queue.name} is {queue.sort_policy}")
        bounds = [q.maximum for q in self.path(queue) if q.maximum is not None]
        if bounds and request.placeholders > min(bounds):
            raise Refused(f"a gang of {request.placeholders} is larger than the maximum {min(bounds)} of {queue.name}")

    def _by_rules(self, request: AddApplication, rules: tuple[PlacementRule, ...]) -> Queue:
        for rule in rules:
            name = _named_by(rule, request)
            candidate = self.queues.get((request.partition, name))
            if candidate is not None and candidate.leaf:
                return candidate
            if candidate is None and rule.create and name.startswith(f"{ROOT}."):
                return self._create(request.partition, name)
        raise Refused(f"no placement rule found a queue for application {request.application}")

    def _create(self, partition: str, name: str) -> Queue:
        """Adds a dynamic leaf queue, with dynamic parents as needed."""
        queue = self.queue(partition, ROOT)
        parts = name.split(".")[1:]
        for depth, part in enumerate(parts, start=1):
            below = self.queues.get((partition, f"{queue.name}.{part}"))
            if below is None:
                below = self.add_queue(partition, QueueSpec(part, parent=depth < len(parts)), queue, managed=False)
            queue = below
        return queue

    # Removal of empty queues.

    def sweep_queues(self) -> None:
        """Removes the empty queues that are Draining, from the leaves up (F 1.3); roots stay.

        An empty dynamic queue is made Draining (D51), and goes with the next sweep.
        """
        for queue in sorted(self.queues.values(), key=lambda q: -q.name.count(".")):
            if self.is_removable(queue):
                if queue.parent:
                    del self.queues[queue.partition, queue.name]
            elif not queue.managed and self.is_empty(queue):
                self.fire_queue(queue, REMOVE)

    def is_removable(self, queue: Queue) -> bool:
        """True if a queue is Draining and empty."""
        return queue.state is ObjectState.DRAINING and self.is_empty(queue)

    def is_empty(self, queue: Queue) -> bool:
        """True if there is no queue below and no application inside."""
        inside = any(a.partition == queue.partition and a.queue == queue.name for a in self.applications.values())
        return not inside and not self.children(queue)


def _named_by(rule: PlacementRule, request: AddApplication) -> str:
    match rule.kind:
        case RuleKind.PROVIDED:
            return request.queue
        case RuleKind.USER:
            # A dot would separate queues.
            return f"{rule.value}.{request.user.replace('.', '_dot_')}"
        case RuleKind.FIXED:
            return rule.value
