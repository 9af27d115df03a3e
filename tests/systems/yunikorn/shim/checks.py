"""What is expected of shim and core together, each a function that raises AssertionError if it is not so.

The tests run them on the shim as it is, and on shims with a seeded fault, of which each must fail one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from schedproof.impl.scheduler_interface import (
    AddApplication,
    AddAsk,
    ApplicationRejected,
    GangStyle,
    NewAllocation,
    NodeAction,
    ReleaseAllocation,
    ReleasedAllocation,
    UpdateNode,
)
from schedproof.impl.systems.yunikorn.core import health
from schedproof.impl.systems.yunikorn.shim import Event, KubeNode, Pod, Target
from tests.systems.yunikorn.shim.bench import Bench, gang, pod

CORE_EVENTS = frozenset(
    {
        *("AcceptApplication", "RejectApplication", "FailApplication", "ResumingApplication"),
        *("ReleaseAppAllocation", "ReleaseAppAllocationAsk", "TaskAllocated", "TaskRejected"),
        *("NodeAccepted", "NodeRejected"),
    }
)
"""What comes from the core: none of these may be dropped."""


def agree(bench: Bench) -> None:
    """At rest, core and cluster say the same: what runs is allocated, and nothing else is, where it runs."""
    pods = {p.name: p.node for p in bench.cluster.list_pods() if p.name in bench.running() and not p.deleting}
    assert {it.name: it.node for it in bench.core.world.allocations} == pods
    assert health(bench.core.world) == []
    missed = [d for d in bench.dropped if d.event.event in CORE_EVENTS]
    assert missed == [], f"dropped, though the core counts on it: {missed}"
    assert not bench.link.requests and not bench.link.responses


def two_pods_run_and_end() -> None:
    """An application without a gang: submitted, allocated, bound, ended, forgotten."""
    bench = Bench().started()
    for name in ("p1", "p2"):
        bench.cluster.create_pod(pod(name))
    bench.settle()
    assert (bench.app(), bench.core_app()) == ("Running", "Running")
    assert bench.running() == {"p1", "p2"}
    agree(bench)
    for name in ("p1", "p2"):
        bench.cluster.end_pod(name)
    bench.settle()
    assert (bench.task("p1"), bench.core_app()) == ("Completed", "Completing")
    bench.clock.run(31)
    bench.settle()
    assert (bench.app(), bench.core_app()) == ("", "Completed")
    agree(bench)


def gang_runs() -> None:
    """Placeholders are made, bound and replaced by the real pods."""
    bench = Bench().started()
    of = gang(2)
    for name in ("r1", "r2"):
        bench.cluster.create_pod(pod(name, of=of))
    bench.settle()
    assert (bench.app(), bench.core_app()) == ("Running", "Running")
    assert bench.running() == {"r1", "r2"}
    assert {bench.task("app-g-0"), bench.task("app-g-1")} == {"Completed"}
    agree(bench)


def _late_gang(style: GangStyle) -> Bench:
    """A gang of three where there is room for two, when its time is over."""
    bench = Bench().started(capacity=2)
    bench.cluster.create_pod(pod("r1", of=gang(3, style)))
    bench.settle()
    assert (bench.app(), bench.core_app()) == ("Reserving", "Accepted")
    assert bench.running() == {"app-g-0", "app-g-1"}
    bench.clock.run(61)
    bench.settle()
    agree(bench)
    return bench


def soft_gang_resumes() -> None:
    """It gives up its placeholders, and runs without.

    For a moment the core has nothing of it: it is Completing (D22), and goes on when the pod is asked for.
    """
    bench = _late_gang(GangStyle.SOFT)
    assert (bench.app(), bench.core_app()) == ("Running", "Running")
    assert bench.running() == {"r1"}


def hard_gang_fails() -> None:
    """It gives up its placeholders, and has failed in both."""
    bench = _late_gang(GangStyle.HARD)
    assert (bench.app(), bench.core_app()) == ("Failed", "Failed")
    assert bench.running() == set()


def release_in_reserving() -> None:
    """The gang's time is over when the core has all placeholders and the shim has bound none (dropped in v0.12.2)."""
    bench = Bench().started()
    bench.cluster.create_pod(pod("r1", of=gang(1)))
    while not any(isinstance(r, NewAllocation) for r in bench.link.responses):
        one_move(bench)
    bench.clock.run(61)
    assert any(isinstance(r, ReleasedAllocation) for r in bench.link.responses)
    while bench.link.responses:
        bench.link.deliver_response()
    bench.shim.step()  # TaskAllocated: its binding is still to do
    assert (bench.app(), bench.task("app-g-0")) == ("Reserving", "Allocated")
    bench.settle()
    assert bench.app() == "Running" and bench.running() == {"r1"}
    agree(bench)


def placeholder_deleted_in_reserving() -> None:
    """Somebody deletes a placeholder before it has a node (v0.12.2 reserves for ever)."""
    bench = Bench().started(capacity=1)
    bench.cluster.create_pod(pod("r1", of=gang(2)))
    bench.settle()
    assert bench.app() == "Reserving" and bench.running() == {"app-g-0"}
    bench.cluster.delete_pod("app-g-1")
    bench.settle()
    assert bench.app() == "Running" and bench.running() == {"r1"}
    agree(bench)


def placeholder_cannot_be_bound() -> None:
    """A binding fails, and the gang goes on without that placeholder."""
    bench = Bench().started()
    bench.cluster.create_pod(pod("r1", of=gang(1)))
    bench.cluster.failing = {"bind_pod"}
    while not bench.shim.jobs or bench.task("app-g-0") != "Allocated":
        one_move(bench)
    bench.shim.settle()
    bench.cluster.failing = set()
    assert bench.task("app-g-0") == "Failed"
    bench.settle()
    assert bench.app() == "Running" and bench.running() == {"r1"}
    agree(bench)


def placeholders_cannot_be_made() -> None:
    """Then the application runs without (F 4.1)."""
    bench = Bench().started()
    bench.cluster.create_pod(pod("r1", of=gang(2)))
    bench.cluster.failing = {"create_pod"}
    bench.settle()
    assert bench.app() == "Running" and bench.running() == {"r1"}
    agree(bench)


def late_allocation() -> None:
    """A pod goes while its allocation is on the way: it is given back (F 4.2:110)."""
    bench = Bench().started()
    bench.cluster.create_pod(pod("p1"))
    while not any(isinstance(r, NewAllocation) for r in bench.link.responses):
        one_move(bench)
    bench.cluster.delete_pod("p1")
    bench.shim.settle()
    assert bench.task("p1") == "Completed" and bench.allocations() == {"p1"}
    bench.settle()
    assert bench.allocations() == set()
    agree(bench)


def given_back_when_it_comes_too_late() -> None:
    """The same where the core has not heard of the end first: the answer is a release of its own."""
    bench = Bench().started()
    bench.cluster.create_pod(pod("p1"))
    bench.shim.settle()
    bench.cluster.delete_pod("p1")
    bench.shim.settle()
    bench.link.lose(requests=True, responses=True)
    bench.shim.receive([NewAllocation("app", "p1", "p1", "n1")])
    bench.shim.settle()
    assert bench.link.requests == [ReleaseAllocation("app", "p1")]


def real_ask_of_a_gang_that_resumes() -> None:
    """A pod that is not of a task group waits for room; when the gang's time is over it runs, without placeholders."""
    bench = Bench().started(capacity=1)
    bench.cluster.create_pod(Pod("r1", "app", gang=gang(3)))
    while len(bench.cluster.list_pods()) < 3:
        one_move(bench)
    bench.cluster.failing = {
        "create_pod"
    }  # so it runs without its third placeholder, and while it waits for the second
    bench.settle()
    assert (bench.app(), bench.core_app(), bench.task("r1")) == ("Running", "Accepted", "Scheduling")
    bench.clock.run(61)
    bench.settle()
    assert bench.running() == {p.name for p in bench.cluster.list_pods()} == {"r1"}
    agree(bench)


def failing_by_itself() -> None:
    """A plug-in fails an application; the core hears of it by what is given back (never, in v0.12.2)."""
    bench = Bench().started()
    bench.cluster.create_pod(pod("p1"))
    bench.settle()
    bench.shim.fail_application("app", "the operator says so")
    bench.shim.fail_application("app", "the operator says so twice")
    bench.settle()
    assert bench.app() == "Failed" and bench.running() == set() and bench.allocations() == set()
    assert bench.shim.applications["app"].reason == "the operator says so"


def failed_for_good() -> None:
    """A pod that is made when its application has failed by itself does not bring it back."""
    bench = Bench().started()
    bench.cluster.create_pod(pod("p1"))
    bench.settle()
    bench.shim.fail_application("app", "the operator says so")
    bench.settle()
    bench.cluster.create_pod(pod("p2"))
    bench.settle()
    bench.clock.run(31)
    bench.settle()
    assert bench.core_app() == "Completed" and bench.app() == "Failed" and bench.running() == set()


def failing_while_resuming() -> None:
    """A plug-in fails an application that is giving up its placeholders (v0.12.2 does not hear it)."""
    bench = Bench().started(capacity=2)
    bench.cluster.create_pod(pod("r1", of=gang(3)))
    bench.settle()
    bench.clock.run(61)
    while bench.app() != "Resuming":
        one_move(bench)
    bench.shim.fail_application("app", "the operator says so")
    bench.settle()
    assert bench.app() == "Failed" and bench.running() == set() and bench.allocations() == set()


def failing_while_placeholders_are_made() -> None:
    """An application fails when one placeholder is there and the other is still to be made: neither stays."""
    bench = Bench().started()
    bench.cluster.create_pod(pod("r1", of=gang(2)))
    while bench.task("app-g-0") != "New":
        one_move(bench)
    assert [job.task for job in bench.shim.jobs] == ["app-g-1"]
    bench.shim.fail_application("app", "the operator says so")
    bench.shim.step()
    bench.settle()
    assert bench.app() == "Failed" and [p.name for p in bench.cluster.list_pods()] == ["r1"]
    agree(bench)


def rejected() -> None:
    """The core rejects an application of a queue that it has not got."""
    bench = Bench().started()
    bench.cluster.create_pod(Pod("p1", "app", queue="root.nowhere"))
    bench.settle()
    assert (bench.app(), bench.core_app()) == ("Failed", "Rejected")
    assert "nowhere" in bench.shim.applications["app"].reason
    agree(bench)


def rejected_in_recovery() -> None:
    """The same of an application that is recovered: the shim runs all the same (v0.12.2 stops, and stops again)."""
    bench = Bench()
    bench.cluster.create_pod(Pod("p1", "app", queue="root.nowhere"))
    bench.started()
    bench.clock.run(31)
    bench.settle()
    assert bench.shim.scheduler == "Running", bench.shim.why_stopped
    assert bench.app() == "Failed"


def cordon_while_registering() -> None:
    """A cordon at every moment between a node's creation and Healthy reaches the core (lost in v0.12.2)."""
    for moves in range(12):
        bench = Bench().started("n0")
        bench.cluster.add_node(KubeNode("n1", 10))
        for _ in range(moves):
            one_move(bench)
        bench.cluster.cordon("n1")
        bench.settle()
        assert bench.shim.nodes["n1"].state == "Draining", f"after {moves} moves"
        assert not next(n for n in bench.core.world.nodes if n.name == "n1").schedulable, f"after {moves} moves"
        bench.cluster.cordon("n1", False)
        bench.settle()
        assert bench.shim.nodes["n1"].state == "Healthy"
        assert next(n for n in bench.core.world.nodes if n.name == "n1").schedulable
        agree(bench)


def node_goes() -> None:
    """A node is removed, with what ran there."""
    bench = Bench().started()
    bench.cluster.create_pod(pod("p1"))
    bench.settle()
    bench.cluster.remove_node("n1")
    bench.settle()
    assert bench.core.world.nodes == () and bench.allocations() == set() and bench.task("p1") == "Completed"
    agree(bench)


def a_pod_that_comes_late() -> None:
    """A pod is made when the core has completed its application and the shim has not heard of it: it runs."""
    bench = Bench().started()
    bench.cluster.create_pod(pod("p1"))
    bench.settle()
    bench.cluster.end_pod("p1")
    bench.settle()
    bench.clock.run(31)  # the core is Completed; what it says is under way
    bench.cluster.create_pod(pod("p2"))
    bench.shim.settle()
    assert bench.task("p2") == "Scheduling" and any(isinstance(r, AddAsk) for r in bench.link.requests)
    bench.settle()
    assert bench.running() == {"p2"}
    agree(bench)


# --- crashes


def one_move(bench: Bench) -> bool:
    """The smallest thing that can be done now; False if there is none."""
    if len(bench.shim.snapshot().queued.queue):
        return bench.shim.step()
    if bench.shim.jobs:
        return bench.shim.do(bench.shim.jobs[0])
    before = bench.everything()
    bench.shim.schedule()
    if bench.everything() != before:
        return True
    if bench.link.requests:
        bench.link.deliver_request()
    elif bench.link.responses:
        bench.link.deliver_response()
    elif bench.core.options():
        bench.core.schedule()
    elif deleting := [p.name for p in bench.cluster.list_pods() if p.deleting]:
        bench.cluster.reap_pod(deleting[0])
    else:
        return False
    return True


def _scenario(members: int) -> Bench:
    bench = Bench()
    of = gang(members) if members else None
    bench.started()
    for name in ("r1", "r2"):
        bench.cluster.create_pod(pod(name, of=of))
    return bench


def _moments(members: int) -> Iterator[int]:
    bench, number = _scenario(members), 0
    yield number
    while one_move(bench):
        number += 1
        yield number


def crash_at_every_move(members: int = 2, crash: Callable[[Bench], None] = Bench.crash_shim) -> None:
    """Whenever the process dies, the next one brings both pods to run, with a placeholder for none."""
    for moment in _moments(members):
        bench = _scenario(members)
        for _ in range(moment):
            one_move(bench)
        crash(bench)
        bench.dropped.clear()
        bench.shim.start()
        bench.settle()
        assert bench.shim.scheduler == "Running", f"after {moment} moves: {bench.shim.why_stopped}"
        left = {p.name for p in bench.cluster.list_pods()}
        assert bench.running() == left == {"r1", "r2"}, f"after {moment} moves: {bench.running()} run of {left}"
        agree(bench)


def crash_and_the_requests_arrive(bench: Bench) -> None:
    """The shim dies; what it has sent still arrives."""
    bench.crash_shim(lose=False)


def crash_of_both(bench: Bench) -> None:
    """The core dies too, and all that is under way."""
    bench.core.crash()
    bench.crash_shim()


def both_crash_at_every_move() -> None:
    """The same where the core dies with the shim: it is rebuilt from what runs."""
    crash_at_every_move(0, crash_of_both)


def pods_end_while_the_shim_is_down() -> None:
    """What ended or went unobserved is not allocated after the recovery."""
    bench = Bench().started()
    for name in ("p1", "p2", "p3"):
        bench.cluster.create_pod(pod(name))
    bench.settle()
    bench.crash_shim()
    bench.cluster.end_pod("p1")
    bench.cluster.delete_pod("p2")
    bench.cluster.reap_pod("p2")
    bench.shim.start()
    bench.settle()
    assert bench.running() == {"p3"}
    agree(bench)


def a_pod_goes_while_both_recover() -> None:
    """A pod that was listed is gone when its node is registered: the core does not get it as an allocation."""
    bench = Bench().started()
    bench.cluster.create_pod(pod("p1"))
    bench.settle()
    bench.cluster.delete_pod("p1")
    crash_of_both(bench)
    bench.shim.start()
    while bench.app() != "Recovering":
        one_move(bench)
    bench.cluster.reap_pod("p1")
    bench.shim.settle()
    bench.settle()
    agree(bench)


def a_node_is_cordoned_while_the_shim_is_down() -> None:
    """The core hears of it after the recovery."""
    bench = Bench().started()
    bench.crash_shim()
    bench.cluster.cordon("n1")
    bench.shim.start()
    bench.settle()
    assert not bench.core.world.nodes[0].schedulable


def a_node_is_removed_while_the_shim_is_down() -> None:
    """The core hears of it from the next process only."""
    bench = Bench().started("n1", "n2")
    bench.crash_shim()
    bench.cluster.remove_node("n1")
    bench.shim.start()
    bench.settle()
    assert [n.name for n in bench.core.world.nodes] == ["n2"]
    agree(bench)


def an_allocation_is_sent_again() -> None:
    """The shim dies while an allocation is on the way to it, and the core while nothing is; the pod runs where it was to."""
    bench = Bench().started("n1", "n2")
    bench.cluster.create_pod(pod("p1"))
    while not bench.allocations():
        one_move(bench)
    where = {it.node for it in bench.core.world.allocations}
    bench.crash_shim()
    bench.shim.start()
    bench.settle()
    assert bench.running() == {"p1"} and {p.node for p in bench.cluster.list_pods()} == where
    agree(bench)


def a_known_application_is_accepted_again() -> None:
    """So is one that fails: the next process hears that, and cleans up (v0.12.2 rejects it)."""
    bench = Bench().started(capacity=2)
    bench.cluster.create_pod(pod("r1", of=gang(3, GangStyle.HARD)))
    bench.settle(reap=False)
    bench.clock.run(61)
    assert bench.core_app() == "Failing"
    bench.crash_shim()
    bench.shim.start()
    bench.settle()
    assert (bench.app(), bench.core_app()) == ("Failed", "Failed") and bench.running() == set()
    agree(bench)


# --- what is said


def answers_with_the_type_that_was_asked_with() -> None:
    """A release that the core asked for is confirmed with its own type; a pod that ends by itself was stopped."""
    bench = Bench().started()
    sent: list[object] = []
    bench.shim._context.send = lambda request: (sent.append(request), bench.link.send(request))
    bench.cluster.create_pod(pod("r1", of=gang(1)))
    bench.settle()
    bench.cluster.end_pod("r1")
    bench.settle()
    released = [(r.allocation, r.termination.name) for r in sent if isinstance(r, ReleaseAllocation)]
    assert released == [("app-g-0", "PLACEHOLDER_REPLACED"), ("r1", "STOPPED_BY_RM")]
    added = [r for r in sent if isinstance(r, AddApplication)]
    assert [(r.placeholders, r.gang_style) for r in added] == [(1, GangStyle.SOFT)]


def drains_once() -> None:
    """One cordon, one message."""
    bench = Bench().started()
    bench.cluster.cordon("n1")
    bench.cluster.cordon("n1")
    bench.shim.settle()
    drains = [r for r in bench.link.requests if isinstance(r, UpdateNode)]
    assert drains == [UpdateNode("n1", NodeAction.DRAIN_NODE)]


def nothing_is_sent_for_the_rejected() -> None:
    """A rejected application is not removed in the core, where another may have its name."""
    bench = Bench().started()
    bench.cluster.create_pod(pod("p1"))
    bench.shim.settle()
    bench.link.lose(requests=True, responses=False)
    bench.shim.receive([ApplicationRejected("app", "no")])
    bench.shim.settle()
    assert bench.app() == "Failed" and bench.link.requests == []


def a_second_failure_waits_for_the_tasks() -> None:
    """An application that fails twice has not failed while a task goes on."""
    bench = Bench().started()
    bench.cluster.create_pod(pod("p1"))
    bench.settle()
    for _ in range(2):
        bench.shim.post(Event(Target.APPLICATION, "app", "FailApplication"))
    while bench.shim.step():
        pass
    assert (bench.app(), bench.task("p1")) == ("Failing", "Bound")


CHECKS: tuple[Callable[[], None], ...] = (
    two_pods_run_and_end,
    gang_runs,
    soft_gang_resumes,
    hard_gang_fails,
    release_in_reserving,
    placeholder_deleted_in_reserving,
    placeholder_cannot_be_bound,
    placeholders_cannot_be_made,
    late_allocation,
    given_back_when_it_comes_too_late,
    real_ask_of_a_gang_that_resumes,
    failing_by_itself,
    failed_for_good,
    failing_while_resuming,
    failing_while_placeholders_are_made,
    rejected,
    rejected_in_recovery,
    cordon_while_registering,
    node_goes,
    a_pod_that_comes_late,
    pods_end_while_the_shim_is_down,
    a_pod_goes_while_both_recover,
    a_node_is_removed_while_the_shim_is_down,
    an_allocation_is_sent_again,
    a_known_application_is_accepted_again,
    a_node_is_cordoned_while_the_shim_is_down,
    answers_with_the_type_that_was_asked_with,
    drains_once,
    nothing_is_sent_for_the_rejected,
    a_second_failure_waits_for_the_tasks,
    both_crash_at_every_move,
    crash_at_every_move,  # last: it takes as long as the others together
)
