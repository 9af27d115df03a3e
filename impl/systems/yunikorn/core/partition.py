"""Partitions: the configuration, added and removed applications, and the removal of a partition.

R: a repair, by its number in the package's docstring.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from schedproof.impl.errors import Refused
from schedproof.impl.scheduler_interface import (
    ROOT,
    AddApplication,
    ApplicationAccepted,
    ApplicationRejected,
    ApplicationUpdated,
    Control,
    ControlObject,
    PartitionSpec,
    QueueSpec,
    ReleasedAllocation,
    TerminationType,
)

from .application import PARTITION_REMOVED
from .nodes import Nodes
from .records import ENDED, SCHEDULED, Application, LogEntry, ObjectState, Partition, Queue, State
from .tables import APPLICATION, FAIL, OBJECT, REJECT, REMOVE


class Partitions(Nodes):
    """The operations on partitions, and on whole applications in them."""

    # The configuration.

    def configure(self, specs: Sequence[PartitionSpec]) -> None:
        """Applies a new configuration: adds what is new, removes what is missing, changes the rest.

        Raises:
            Refused: it contradicts itself, or it needs something that is being removed (D51).
        """
        names = [spec.name for spec in specs]
        if not names or len(set(names)) < len(names):
            raise Refused(f"a configuration has one or more partitions with names of their own, not {names}")
        for spec in specs:
            if spec.root.name != ROOT or (not spec.root.children and not spec.root.parent):
                raise Refused(f"partition {spec.name}: its queue must be {ROOT!r}, with queues below or parent=True")
        for partition in [p for p in self.partitions.values() if p.name not in names]:
            self.remove_partition(partition)
        for spec in specs:
            if spec.name not in self.partitions:
                self.partitions[spec.name] = Partition(spec.name, spec.rules)
                self.add_queue(spec.name, spec.root, None)
                continue
            partition = self.partitions[spec.name]
            if partition.state is ObjectState.DRAINING:
                raise Refused(f"partition {spec.name} is being removed (Draining); add it again when it is gone")
            self.partitions[spec.name] = replace(partition, rules=spec.rules)
            self._change_queue(self.queues[spec.name, ROOT], spec.root)

    def _change_queue(self, queue: Queue, spec: QueueSpec) -> None:
        leaf = not spec.children and not spec.parent
        if queue.state is ObjectState.DRAINING:
            raise Refused(f"queue {queue.name} is being removed (Draining); add it again when it is gone")
        if leaf != queue.leaf and not self.is_empty(queue):
            raise Refused(f"queue {queue.name} is in use; only an empty one can become a leaf or stop being one")
        queue = replace(
            queue,
            managed=True,
            leaf=leaf,
            maximum=spec.maximum,
            sort_policy=spec.sort_policy,
            submitters=spec.submitters,
        )
        self.queues[queue.partition, queue.name] = queue
        below = {q.name: q for q in self.children(queue)}
        for child in spec.children:
            known = below.pop(f"{queue.name}.{child.name}", None)
            if known is None:
                self.add_queue(queue.partition, child, queue)
            else:
                self._change_queue(known, child)
        for missing in below.values():
            if missing.managed:
                self.remove_queue(missing)

    def control(self, request: ControlObject) -> ObjectState:
        """Starts, stops or removes a queue or a partition (D55-59); returns its new state.

        Raises:
            Refused: it is unknown, or cannot be removed alone.
            IllegalEvent: its state does not allow the event.
        """
        partition = self.partitions.get(request.partition)
        if partition is None:
            raise Refused(
                f"there is no partition {request.partition}; there are {', '.join(self.partitions) or 'none'}"
            )
        removal = request.control is Control.REMOVE
        if request.queue is None:
            if removal:
                self.remove_partition(partition)
                return self.partitions[partition.name].state
            return self.fire_partition(partition, request.control).state
        queue = self.queue(partition.name, request.queue)
        if not removal:
            return self.fire_queue(queue, request.control).state
        if queue.name == ROOT:
            raise Refused("the root queue goes with its partition; remove that")
        if not queue.managed:
            raise Refused(f"queue {queue.name} is dynamic: it goes by itself when it is empty")
        self.remove_queue(queue)
        return self.queues[queue.partition, queue.name].state

    def fire_partition(self, partition: Partition, event: str) -> Partition:
        """Fires an event of a partition.

        Raises:
            IllegalEvent: its state does not allow the event.
        """
        state = ObjectState(OBJECT.target(partition.state, event))
        self.partitions[partition.name] = replace(partition, state=state)
        return self.partitions[partition.name]

    # Removal of a partition.

    def remove_partition(self, partition: Partition) -> None:
        """Begins to remove the partition: no additions, its applications fail, its queues drain (D25, D51, R4)."""
        self.fire_partition(partition, REMOVE)
        self.remove_queue(self.queues[partition.name, ROOT])
        for application in [a for a in self.applications.values() if a.partition == partition.name]:
            # A Completing application only waits for its timer; a Resuming one fails as soon as it can (F 1).
            if application.state is not State.FAILING and APPLICATION.allows(application.state, FAIL):
                self.fail(application.name, PARTITION_REMOVED, TerminationType.PREEMPTED_BY_SCHEDULER)

    def sweep(self) -> None:
        """Removes the queues and the partitions whose removal can end."""
        self.sweep_queues()
        for partition in list(self.partitions.values()):
            if partition.state is ObjectState.DRAINING and self.is_vacated(partition):
                for node in [n for n in self.nodes.values() if n.partition == partition.name]:
                    del self.nodes[node.name]
                del self.queues[partition.name, ROOT]
                del self.partitions[partition.name]

    def is_vacated(self, partition: Partition) -> bool:
        """True if all applications of the partition have ended, and its queues are removed (R4)."""
        applications = [*self.applications.values(), *self.tracked.values()]
        ended = all(a.state in ENDED for a in applications if a.partition == partition.name)
        return ended and self.is_empty(self.queues[partition.name, ROOT])

    # Applications are added and removed.

    def add_application(self, request: AddApplication) -> None:
        """Adds an application: accepted in New, or Rejected with the reason, which is final (D18, D27, R7).

        A live application is accepted again; the core repeats what cannot be undone (R11).
        """
        known = self.applications.get(request.application)
        if known is not None and self._is_the_same(known, request):
            self.send(ApplicationAccepted(known.name))
            if known.state is State.FAILING:
                self.send(ApplicationUpdated(known.name, known.state, FAIL, self.now))
            return
        application = Application(
            request.application,
            self.next_serial(),
            request.partition,
            "",
            request.user,
            request.gang_style,
            request.placeholders,
            request.gang_timeout,
            request.starting_timeout,
        )
        queues = dict(self.queues)
        try:
            queue = self.find_place(request)
        except Refused as problem:
            # Removes the queues that a placement rule has created on the way.
            self.queues = queues
            self.reject(application, str(problem))
            return
        self.applications[application.name] = replace(application, queue=queue.name)
        self.send(ApplicationAccepted(application.name))

    def _is_the_same(self, known: Application, request: AddApplication) -> bool:
        """True if the request repeats a live application; where rules place it, the requested queue is unknown."""
        ruled = known.partition in self.partitions and bool(self.partitions[known.partition].rules)
        return known.partition == request.partition and (ruled or known.queue == request.queue)

    def find_place(self, request: AddApplication) -> Queue:
        """Returns the queue for a new application.

        Raises:
            Refused: the application cannot be added, because of itself, its partition or its queue.
        """
        if request.placeholders < 0:
            raise Refused("the amount of a gang's placeholders is not negative")
        partition = self.partitions.get(request.partition)
        if partition is None:
            raise Refused(
                f"there is no partition {request.partition}; there are {', '.join(self.partitions) or 'none'}"
            )
        if not self.takes_applications(partition):
            raise Refused(f"partition {partition.name} is {partition.state}: it takes no applications")
        if request.application in self.applications:
            raise Refused(f"there is an application {request.application} already")
        return self.place(request, partition.rules)

    def takes_applications(self, partition: Partition) -> bool:
        """True if the partition is in use (D51; F 2 for Stopped)."""
        return partition.state is ObjectState.ACTIVE

    def reject(self, application: Application, reason: str) -> None:
        """Rejects the application; its record is kept for some time, its name is free."""
        state = State(APPLICATION.target(application.state, REJECT))
        application = replace(application, state=state, reason=reason, log=(LogEntry(state, self.now),))
        self.tracked[application.serial] = self.arm_state_timer(application)
        self.send(ApplicationRejected(application.name, reason))

    def remove_application(self, name: str) -> None:
        """Removes an application, with all its asks and allocations, at the RM's request.

        Its record stays for as long as its state keeps it: the application still becomes Completed, and expires. A
        New one leaves no record, since no event would move it.
        """
        application = self.applications.get(name)
        if application is None:
            return
        for ask in [a for a in self.asks.values() if a.application == name]:
            del self.asks[ask.name]
        for swap in self.swaps(name):
            self.unbook(swap)
        for it in self.placeholders(name) + self.real(name):
            self.unbook(it)
            self.send(ReleasedAllocation(name, it.name, TerminationType.STOPPED_BY_RM))
        self.stop_gang_timer(self.applications[name])
        if application.state is State.NEW:
            del self.applications[name]
            return
        self.go_on(name)
        if name in self.applications and self.applications[name].state in SCHEDULED:
            self.go_on(name)
        if name in self.applications:
            self.track(self.applications[name])
