"""What must hold for a merged scheduler while nobody changes it; every sum is computed anew."""

from __future__ import annotations

from .objects import Partition
from .scheduler import MergedScheduler


def health(scheduler: MergedScheduler) -> list[str]:
    """Returns what is wrong, one sentence each; an empty list if all is well.

    The cluster is locked for writing meanwhile. Every operation holds that lock for reading, so none can change
    anything.
    """
    with scheduler.cluster.lock.write():
        partitions = list(scheduler.cluster.partitions.values())
        wrong = []
        for partition in partitions:
            with partition.lock.read():
                wrong += _partition(partition)
    return wrong


def _partition(partition: Partition) -> list[str]:
    wrong = []
    on_nodes = {key: node for node in partition.nodes.values() for key in node.allocations}
    for node in partition.nodes.values():
        total = sum(a.amount for a in node.allocations.values())
        if node.allocated != total or not 0 <= total <= node.capacity:
            wrong.append(
                f"node {node.name}: {node.allocated} of {node.capacity} allocated, and its allocations are {total}"
            )
    of_applications = {}
    for application in partition.applications.values():
        for name, allocation in application.allocations.items():
            key = application.name, name
            of_applications[key] = allocation
            node_of = on_nodes.get(key)
            if node_of is None or node_of.allocations[key] != allocation:
                wrong.append(f"allocation {name} of {application.name} is not on its node {allocation.node}")
            if name in application.asks:
                wrong.append(f"ask {name} is pending, and allocated")
        if partition.queues.get(application.queue.name) is not application.queue:
            wrong.append(f"application {application.name} is in queue {application.queue.name}, which is not there")
        elif application.name not in application.queue.applications:
            wrong.append(f"queue {application.queue.name} does not know its application {application.name}")
    wrong += [
        f"allocation {name} is on a node, and of no application" for name in on_nodes if name not in of_applications
    ]
    for queue in partition.queues.values():
        below = [a for a in partition.applications.values() if queue in a.queue.path()]
        allocated = sum(allocation.amount for a in below for allocation in a.allocations.values())
        pending = sum(amount for a in below for amount in a.asks.values())
        if (queue.allocated, queue.pending) != (allocated, pending):
            wrong.append(
                f"queue {queue.name}: {queue.allocated} allocated and {queue.pending} pending, but its applications have "
                f"{allocated} and {pending}"
            )
        wrong += [
            f"queue {queue.name} has application {name}, which is not there"
            for name in queue.applications
            if name not in partition.applications
        ]
    return wrong
