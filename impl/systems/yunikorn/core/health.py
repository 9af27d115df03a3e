"""What must hold for the records at any time (F 7: the health check, and the rules for gangs and swaps)."""

from __future__ import annotations

from collections import Counter

from schedproof.impl.scheduler_interface import TerminationType

from .records import ENDED, State, Status, World

TIMED = frozenset({State.STARTING, State.COMPLETING, State.COMPLETED, State.FAILED, State.REJECTED})
"""The states in which a timer runs: it ends the state or the record."""


def health(world: World) -> list[str]:
    """Returns what is wrong with the records, one sentence each; an empty list if they are healthy.

    The sums are computed anew from the allocations; the core's own sums are not trusted.
    """
    return [*_nodes(world), *_sums(world), *_orphans(world), *_swaps(world), *_applications(world)]


def _nodes(world: World) -> list[str]:
    wrong = []
    on = Counter[str]()
    for it in world.allocations:
        if it.confirmed or it.held:
            on[it.node] += it.amount
    for node in world.nodes:
        if node.allocated != on[node.name]:
            wrong.append(f"node {node.name}: {node.allocated} allocated, but its allocations are {on[node.name]}")
        if min(node.capacity, node.occupied, node.allocated, node.available) < 0:
            wrong.append(f"node {node.name}: {node} has a negative amount")
    return wrong


def _sums(world: World) -> list[str]:
    wrong = []
    of_queue = Counter[tuple[str, str]]()
    for app in world.applications:
        of_application = [a for a in world.allocations if a.application == app.name and a.confirmed]
        real = sum(a.amount for a in of_application if not a.placeholder)
        reserved = sum(a.amount for a in of_application if a.placeholder)
        if (app.real, app.reserved) != (real, reserved):
            wrong.append(
                f"application {app.name}: {app.real} real and {app.reserved} placeholders, "
                f"but its allocations are {real} and {reserved}"
            )
        of_queue[app.partition, app.queue] += real + reserved
    for queue in sorted(world.queues, key=lambda q: -q.name.count(".")):
        # Children come first, and add their sum to the queue above.
        total = of_queue[queue.partition, queue.name]
        if queue.allocated != total:
            wrong.append(f"queue {queue.name}: {queue.allocated} allocated, but its applications have {total}")
        if queue.parent:
            of_queue[queue.partition, queue.parent] += total
    for partition in world.partitions:
        on_nodes = sum(n.allocated for n in world.nodes if n.partition == partition.name)
        nodes = {n.name for n in world.nodes if n.partition == partition.name}
        held = sum(a.amount for a in world.allocations if a.held and a.node in nodes)
        in_queues = sum(q.allocated for q in world.queues if q.partition == partition.name and not q.parent)
        if on_nodes - held != in_queues:
            wrong.append(f"partition {partition.name}: {on_nodes - held} on its nodes, but {in_queues} in its queues")
    return wrong


def _orphans(world: World) -> list[str]:
    live = {a.name: a for a in world.applications}
    nodes = {n.name: n for n in world.nodes}
    queues = {(q.partition, q.name): q for q in world.queues}
    wrong = []
    for it in world.allocations:
        if it.application not in live:
            wrong.append(f"allocation {it.name}: there is no application {it.application}")
        elif it.node not in nodes:
            wrong.append(f"allocation {it.name}: there is no node {it.node}")
        elif nodes[it.node].partition != live[it.application].partition:
            wrong.append(f"allocation {it.name}: node and application are of different partitions")
    wrong += [f"ask {a.name}: there is no application {a.application}" for a in world.asks if a.application not in live]
    for app in live.values():
        queue = queues.get((app.partition, app.queue))
        if queue is None or not queue.leaf:
            wrong.append(f"application {app.name}: {app.queue} is no leaf queue of partition {app.partition}")
    partitions = {p.name for p in world.partitions}
    wrong += [
        f"node {n.name}: there is no partition {n.partition}" for n in world.nodes if n.partition not in partitions
    ]
    for queue in world.queues:
        if queue.partition not in partitions or (queue.parent and (queue.partition, queue.parent) not in queues):
            wrong.append(f"queue {queue.name}: nothing is above it")
    return wrong


def _swaps(world: World) -> list[str]:
    allocations = {a.name: a for a in world.allocations}
    asks = {a.name: a for a in world.asks}
    wrong = []
    replaced = Counter(a.replaces for a in world.allocations if a.replaces is not None)
    wrong += [f"placeholder {name}: {n} asks are to replace it" for name, n in replaced.items() if n > 1]
    for it in world.allocations:
        if (it.status is Status.SWAPPING) != (it.replaces is not None):
            wrong.append(f"allocation {it.name} is {it.status}, and replaces {it.replaces}")
        if it.replaces is not None:
            other = allocations.get(it.replaces)
            fits = other is not None and other.placeholder and other.application == it.application
            if not fits or other is None or other.status is not Status.RELEASING:
                wrong.append(f"allocation {it.name} replaces {it.replaces}, which is no placeholder on its way out")
            elif it.held == (other.node == it.node):
                wrong.append(
                    f"allocation {it.name} holds room on {it.node}: {it.held}; its placeholder is on {other.node}"
                )
        if (it.status is Status.RELEASING) != (it.termination is not None):
            wrong.append(f"allocation {it.name} is {it.status} with termination {it.termination}")
        if it.termination is TerminationType.STOPPED_BY_RM:
            wrong.append(f"allocation {it.name}: the RM is asked to end it with STOPPED_BY_RM, which it ignores")
        if it.name in asks and asks[it.name].pending:
            wrong.append(f"ask {it.name} is pending, and has an allocation")
    return wrong


def _applications(world: World) -> list[str]:
    wrong = []
    for app in world.applications:
        if app.state in ENDED:
            wrong.append(f"application {app.name} is {app.state}, and still among the live ones")
    for app in (*world.applications, *world.tracked):
        if (app.state in TIMED) != (app.state_timer is not None):
            wrong.append(f"application {app.name} is {app.state}, and the timer of its state is {app.state_timer}")
        if app.log and app.log[-1].state is not app.state:
            wrong.append(f"application {app.name} is {app.state}, and its log ends with {app.log[-1].state}")
    return wrong
