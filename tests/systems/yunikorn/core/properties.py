"""The properties of YuniKorn's document about the core, as checks of one step: records before and after, messages.

Written from the document alone: no table and no question of the implementation is used, only its records.
D: line of the document; R: number of a repair.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from schedproof.impl.clock import SECOND
from schedproof.impl.scheduler_interface import (
    AddApplication,
    ApplicationAccepted,
    ApplicationRejected,
    ApplicationUpdated,
    NewAllocation,
    ReleasedAsk,
    RemoveApplication,
    Request,
    Response,
)
from schedproof.impl.systems.yunikorn.core import Allocation, Application, Core, World, health

MOVES = {
    "New": {"Accepted", "Failing", "Resuming", "Rejected"},
    "Accepted": {"Starting", "Completing", "Failing", "Resuming"},
    "Starting": {"Running", "Completing", "Failing"},
    "Running": {"Completing", "Failing"},
    "Completing": {"Running", "Completed"},
    "Completed": {"Expired"},
    "Failing": {"Failed"},
    "Resuming": {"Accepted"},
    "Failed": set[str](),
    "Rejected": set[str](),
    "Expired": set[str](),
}
"""The arrows of the application's figure (F 0), without Failed -> Expired (D26)."""

ENDED = {"Completed", "Failed", "Expired", "Rejected"}


class ExportedProperties:
    """Checks one step after another of a core; ``timed`` if its clock keeps time."""

    def __init__(self, core: Core, *, timed: bool = True) -> None:
        self._core = core
        self._timed = timed
        self._before = core.world

    def start_over(self) -> None:
        """The core has crashed: nothing of before counts."""
        self._before = self._core.world

    def check(self, request: Request | None, news: Sequence[Response]) -> None:
        """Everything that must be true now, and of the step.

        Raises:
            AssertionError: something is not.
        """
        before, after = self._before, self._core.world
        self._before = after
        wrong = health(after)
        assert not wrong, "; ".join(wrong)
        for application in (*after.applications, *after.tracked):
            _check_application(application, after)
            _check_log(application, timed=self._timed)
        _check_moves(before, after, request)
        _check_additions(before, request, news)
        _check_draining(before, after)
        _check_swaps(before, after, request, news)
        _check_queues(after)
        for response in news:
            if isinstance(response, NewAllocation):
                _check_allocation(response, before, after)
            if isinstance(response, ApplicationRejected):
                _check_rejected(response, after)
            if isinstance(response, ApplicationUpdated):
                _check_update(response, before, after)


def _of(application: Application, world: World) -> list[Allocation]:
    live = any(a.serial == application.serial for a in world.applications)
    return [a for a in world.allocations if live and a.application == application.name]


def _check_application(it: Application, world: World) -> None:
    what = f"{it.name} in {it.state}"
    live = any(a.serial == it.serial for a in world.applications)
    pending = [a.name for a in world.asks if live and a.application == it.name and a.pending]
    its_allocations = _of(it, world)
    waiting = pending + [a.name for a in its_allocations if a.status == "swapping"]
    confirmed = [a.name for a in its_allocations if a.status != "swapping"]
    real = [a.name for a in its_allocations if a.status != "swapping" and not a.placeholder]
    match it.state:
        case "New":
            assert not waiting and not confirmed, f"{what}: the first ask takes it on (D18)"
        case "Accepted":
            assert not real, f"{what}: on allocation of the first ask it moves on (D19), but it has {real}"
        case "Starting":
            assert len(real) <= 1, f"{what}: exactly one allocation is confirmed (D20), not {real}"
        case "Completing":
            assert not waiting, f"{what}: no pending requests (D22), but {waiting}"
            assert not confirmed, f"{what}: no running containers (D22), but {confirmed}"
        case "Failing":
            assert not waiting, f"{what}: requests are to be gone (D25), but {waiting}"
            assert confirmed, f"{what}: cleaned up, so it is Failed (D25-26)"
            left = [a.name for a in its_allocations if a.status == "allocated"]
            assert not left, f"{what}: nobody cleans up {left} (D25)"
        case "Resuming":
            placeholders = [a for a in its_allocations if a.placeholder]
            assert placeholders, f"{what}: nothing takes it out of there (R6)"
            left = [a.name for a in placeholders if a.status == "allocated"]
            assert not left, f"{what}: nobody releases {left}"
        case "Completed" | "Failed" | "Expired" | "Rejected":
            assert not live, f"{what}: still known by its name"
    if it.state in ("Starting", "Running"):
        assert waiting or confirmed, f"{what}: nothing requested and nothing runs, so it is completing (D22)"
    if it.gang_timer is not None:
        assert any(a.placeholder for a in its_allocations), f"{what}: a gang's timer without placeholders"


def _check_log(it: Application, *, timed: bool) -> None:
    states = ["New", *(str(entry.state) for entry in it.log)]
    for state, then in pairwise(states):
        assert then in MOVES[state], f"{it.name} went from {state} to {then}"
    for entry, then_entry in pairwise(it.log):
        time = then_entry.time - entry.time
        assert time >= 0
        if not timed:
            continue
        if then_entry.state == "Completed":
            assert time >= 30 * SECOND, f"{it.name} was Completing for {time / SECOND} s only (D23)"
        if then_entry.state == "Expired":
            assert time >= 72 * 3600 * SECOND, f"{it.name} expired after {time / SECOND} s (D24)"


def _check_moves(before: World, after: World, request: Request | None) -> None:
    now = {a.serial: a for a in (*after.applications, *after.tracked)}
    for old in (*before.applications, *before.tracked):
        new = now.get(old.serial)
        if new is None:
            removed = isinstance(request, RemoveApplication) and request.application == old.name
            removable = {"Expired", "Failed", "Rejected", *(["New"] if removed else [])}
            assert old.state in removable, f"{old.name} was {old.state}, and is forgotten"
            continue
        assert new.log[: len(old.log)] == old.log, f"the past of {old.name} has changed"
        if old.state in ("Failed", "Rejected", "Expired"):
            assert new.state == old.state, f"{old.name} was {old.state}, which is final, and is {new.state}"


def _check_additions(before: World, request: Request | None, news: Sequence[Response]) -> None:
    """A Draining object takes no additions (D51), a Stopped partition neither (F 2)."""
    accepted = any(isinstance(r, ApplicationAccepted) for r in news)
    # One that is live is added again by a RM that has lost its memory.
    live = {a.name for a in before.applications}
    if isinstance(request, AddApplication) and accepted and request.application not in live:
        partition = next(p for p in before.partitions if p.name == request.partition)
        assert partition.state == "Active", f"{request} was accepted by a partition that is {partition.state}"
        for queue in before.queues:
            above = f"{request.queue}.".startswith(f"{queue.name}.") and queue.partition == request.partition
            assert not (above and queue.state == "Draining"), f"{request} was accepted below {queue.name}, which drains"


def _check_draining(before: World, after: World) -> None:
    """Draining is final (D51); what is there no more was Draining and empty."""
    queues = {(q.partition, q.name): q for q in after.queues}
    partitions = {p.name: p for p in after.partitions}
    drained = {(q.partition, q.name) for q in before.queues if q.state == "Draining"}
    for old in before.partitions:
        new = partitions.get(old.name)
        if old.state == "Draining" and new is not None:
            assert new.state == "Draining", f"partition {old.name} drains no more"
            old_nodes = {n.name for n in before.nodes if n.partition == old.name}
            assert {n.name for n in after.nodes if n.partition == old.name} <= old_nodes, (
                f"{old.name} drains, and has a new node"
            )
        if new is None:
            assert old.state == "Draining", f"partition {old.name} was {old.state}, and is gone"
            left = [
                a.name
                for a in (*after.applications, *after.tracked)
                if a.partition == old.name and a.state not in ENDED
            ]
            assert not left, f"partition {old.name} is gone, with {left} in it"
    for queue in before.queues:
        key = queue.partition, queue.name
        if key in queues:
            assert queue.state != "Draining" or queues[key].state == "Draining", f"queue {queue.name} drains no more"
        else:
            assert queue.state == "Draining", f"queue {queue.name} was {queue.state}, and is gone"
            assert not any((a.partition, a.queue) == key for a in after.applications), f"{queue.name} was in use"
    for key in queues.keys() - {(q.partition, q.name) for q in before.queues}:
        partition, name = key
        above = (partition, name.rpartition(".")[0])
        assert above not in drained, f"queue {name} is new, below one that drains"


def _check_queues(world: World) -> None:
    for queue in world.queues:
        assert queue.maximum is None or queue.allocated <= queue.maximum, f"{queue.name} has more than its maximum"
    for partition in world.partitions:
        for it in world.applications:
            if partition.state == "Draining" and it.partition == partition.name:
                ending = ("Failing", "Resuming", "Completing")
                assert it.state in ending, f"{it.name} in {it.state} does not fail, though {partition.name} goes (D25)"


def _check_swaps(before: World, after: World, request: Request | None, news: Sequence[Response]) -> None:
    """A swap begins where it may; and no ask is lost: it is allocated, pending again, or the RM hears of it."""
    old = {a.name: a for a in before.allocations}
    nodes = {n.name: n for n in after.nodes}
    for it in after.allocations:
        if it.status == "swapping" and it.name not in old:
            assert nodes[it.node].schedulable, f"{it.name} is to be swapped in on {it.node}, which is drained (D64)"
    answered = {r.ask for r in news if isinstance(r, NewAllocation | ReleasedAsk)}
    pending = {a.name for a in after.asks if a.pending}
    swapping = {a.name for a in after.allocations if a.status == "swapping"}
    for name in (a.name for a in before.allocations if a.status == "swapping"):
        withdrawn = isinstance(request, RemoveApplication) and request.application == old[name].application
        assert name in answered | pending | swapping or withdrawn, f"the RM will never hear of {name} again"


def _check_allocation(response: NewAllocation, before: World, after: World) -> None:
    node = next((n for n in after.nodes if n.name == response.node), None)
    assert node is not None and node.schedulable, f"{response}: the node is not schedulable (D64)"
    if any(a.name == response.ask and a.pending for a in before.asks):
        it = next(a for a in before.applications if a.name == response.application)
        assert it.state in ("Accepted", "Starting", "Running"), f"{response}: {it.state} is not scheduled (D19-21)"
        for partition in before.partitions:
            stopped = partition.name == it.partition and partition.state == "Stopped"
            assert not stopped, f"{response}: the partition is Stopped (D50)"
        for queue in before.queues:
            above = f"{it.queue}.".startswith(f"{queue.name}.") and queue.partition == it.partition
            assert not (above and queue.state == "Stopped"), f"{response}: {queue.name} is Stopped (D50)"


def _check_rejected(response: ApplicationRejected, after: World) -> None:
    """Rejected is a state of the application, not only a message (D27)."""
    records = [a for a in after.tracked if a.name == response.application]
    assert records and records[-1].state == "Rejected" and records[-1].reason == response.reason, (
        f"{response}: no record"
    )


def _check_update(response: ApplicationUpdated, before: World, after: World) -> None:
    live = next((a for a in after.applications if a.name == response.application), None)
    states = [] if live is None else [str(entry.state) for entry in live.log]
    assert live is None or response.state in states, f"{response}: the one of this name was never in that state"
    its_allocations = [a for a in before.allocations if a.application == response.application]
    if response.message == "ResourceReservationTimeout" and response.state == "Failing":
        real = [a.name for a in its_allocations if not a.placeholder and a.status != "swapping"]
        assert not real, f"{response.application} fails, but has {real} (D25)"
    if live is not None and states[-2:] == ["Resuming", "Accepted"] and response.state == "Accepted":
        left = [a.name for a in after.allocations if a.application == live.name and a.placeholder]
        assert not left, f"{live.name} has resumed, but {left} are left"
