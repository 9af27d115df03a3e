"""Shim and core together: gangs, timeouts, failures, crashes at every move; and seeded faults, each of which is found."""

import itertools
import random

import pytest

from schedproof.impl.scheduler_interface import (
    AddApplication,
    AddAsk,
    ApplicationUpdated,
    CreateNode,
    GangStyle,
    NodeRejected,
    RegisterRM,
    RMAccepted,
    RMRejected,
)
from schedproof.impl.systems.yunikorn.shim import KubeNode, Link, SubmitError
from schedproof.impl.systems.yunikorn.shim.link import LinkState
from tests.support.rows import each_row
from tests.systems.yunikorn.shim.bench import Bench, gang, pod
from tests.systems.yunikorn.shim.checks import (
    CHECKS,
    agree,
    crash_and_the_requests_arrive,
    crash_at_every_move,
    crash_of_both,
    one_move,
)
from tests.systems.yunikorn.shim.seeded import BUGS


@pytest.mark.long
@each_row("check", CHECKS, ids=lambda check: check.__name__)
def test_shim_and_core(check):
    check()


@pytest.mark.parametrize("members", [0, 2])
@pytest.mark.parametrize("crash", [crash_and_the_requests_arrive, crash_of_both])
def test_other_crashes_at_every_move(crash, members):
    crash_at_every_move(members, crash)


# --- seeded faults


@each_row("name", BUGS)
def test_a_seeded_bug_is_found(name, monkeypatch):
    BUGS[name](monkeypatch)
    assert any(fails(check) for check in CHECKS), "no check notices it"


def fails(check):
    try:
        check()
    except Exception:  # whatever goes wrong is noticed
        return True
    return False


# --- the scheduler


def test_a_refused_registration_ends_the_process():
    bench = Bench()
    bench.shim.start()
    bench.link.lose(requests=True, responses=True)
    bench.shim.receive([RMRejected("k8s", "not today")])
    bench.shim.settle()
    assert bench.shim.scheduler == "Stopped" and "not today" in bench.shim.why_stopped


@pytest.mark.parametrize(("lost", "what"), [(AddApplication, "applications"), (CreateNode, "nodes")])
def test_too_long_a_recovery_ends_the_process_the_next_recovers(lost, what):
    bench = Bench()
    bench.cluster.add_node(KubeNode("n1", 10))
    bench.cluster.create_pod(pod("p1"))
    bench.shim.start()
    while not any(isinstance(request, lost) for request in bench.link.requests):
        assert one_move(bench)
    bench.link.lose(requests=True, responses=True)
    bench.clock.run(29)
    bench.shim.settle()
    assert bench.shim.scheduler == "Recovering"
    bench.clock.run(2)
    bench.shim.settle()
    assert bench.shim.scheduler == "Stopped" and what in bench.shim.why_stopped
    bench.crash_shim()
    bench.shim.start()
    bench.settle()
    assert bench.shim.scheduler == "Running" and bench.running() == {"p1"}
    agree(bench)


def test_a_rejected_node_does_not_hold_up_the_recovery():
    bench = Bench()
    bench.cluster.add_node(KubeNode("n1", -1))  # the core takes no such node
    bench.started("n2")
    assert {n.name: n.state for n in bench.shim.nodes.values()} == {"n1": "Rejected", "n2": "Healthy"}
    bench.shim.receive([NodeRejected("n2", "too late")])
    bench.shim.settle()
    assert bench.shim.nodes["n2"].state == "Healthy"


def test_a_timer_of_a_process_that_died_is_nobodys():
    bench = Bench()
    bench.cluster.create_pod(pod("p1"))
    bench.shim.start()
    while bench.shim.scheduler != "Recovering":
        assert one_move(bench)
    timer = next(t.name for t in bench.clock.pending() if t.name == ("k8s", "recovery"))
    bench.clock.advance(31)
    bench.clock.run_out(timer)
    bench.crash_shim()
    bench.started("n1")
    bench.clock.deliver(timer)
    bench.settle()
    assert bench.shim.scheduler == "Running" and bench.running() == {"p1"}


def test_starting_twice_registers_once():
    bench = Bench()
    bench.shim.start()
    bench.shim.start()
    assert bench.link.responses == [RMAccepted("k8s")]


# --- the dispatcher is too small


def test_a_lost_event_ends_the_process_and_says_so():
    bench = Bench(capacity=1)
    for number in range(3):
        bench.cluster.create_pod(pod(f"p{number}"))
    bench.started()
    for number in range(3):
        bench.shim.fail_application("app", f"for the {number}th time")
    bench.clock.run(301)
    assert not bench.shim.step()
    assert bench.shim.scheduler == "New" and "were lost" in bench.shim.why_stopped
    bench.link.lose(requests=True, responses=True)
    bench.shim.start()
    bench.settle()
    assert bench.running() == {"p0", "p1", "p2"} and not bench.shim.why_stopped
    agree(bench)


def test_a_small_queue_only_makes_it_wait():
    bench = Bench(capacity=1)
    of = gang(2)
    for name in ("r1", "r2"):
        bench.cluster.create_pod(pod(name, of=of))
    bench.started()
    assert bench.running() == {"r1", "r2"}
    agree(bench)


# --- any order of everything


def walk(seed, *, ordered, members, style, capacity):
    """A shim, a core and a cluster that do what they can in a random order, then come to rest."""
    chance = random.Random(seed)
    bench = Bench(ordered=ordered).started(capacity=capacity)
    of = gang(members, style) if members else None
    for name in ("r1", "r2"):
        bench.cluster.create_pod(pod(name, of=of))
    for _ in range(250):
        under_way = len(bench.link.requests), len(bench.link.responses)
        requests, responses = under_way if not ordered else (min(n, 1) for n in under_way)
        able = [
            bench.shim.step,
            bench.shim.schedule,
            *[lambda job=job: bench.shim.do(job) for job in bench.shim.jobs],
            *[lambda index=index: bench.link.deliver_request(index) for index in range(requests)],
            *[lambda index=index: bench.link.deliver_response(index) for index in range(responses)],
            *[lambda p=p: bench.cluster.reap_pod(p.name) for p in bench.cluster.list_pods() if p.deleting],
        ]
        if bench.core.options():
            able.append(bench.core.schedule)
        chance.choice(able)()
        if chance.random() < 0.02:
            bench.clock.run(61)
    for _ in range(3):
        bench.settle()
        bench.clock.run(61)
    bench.settle()
    return bench


@each_row("ordered", [True, False])
@each_row(("members", "style"), [(0, GangStyle.SOFT), (2, GangStyle.SOFT), (2, GangStyle.HARD)])
def test_in_any_order_the_core_has_what_runs(ordered, members, style):
    for seed in range(8):
        bench = walk(seed, ordered=ordered, members=members, style=style, capacity=2 + 8 * (seed % 2))
        assert bench.allocations() == bench.running(), f"seed {seed}"
        if ordered:
            agree(bench)
            alive = bench.app() == "Running"
            assert bench.running() == ({"r1", "r2"} if alive else set()), f"seed {seed}"
            assert alive or style is GangStyle.HARD, f"seed {seed}"


# --- going back


def test_every_moment_can_be_gone_back_to():
    bench = Bench().started()
    of = gang(1)
    bench.cluster.create_pod(pod("r1", of=of))
    seen = []
    while True:
        seen.append((bench.everything(), bench.clock.snapshot()))
        if not one_move(bench):
            break
    assert len(seen) > 40
    for (at, times), (then, _) in itertools.pairwise(seen):
        shim, core, cluster, link = at
        bench.shim.restore(shim)
        bench.core.restore(core)
        bench.cluster.restore(cluster)
        bench.link.restore(link)
        bench.clock.restore(times)
        assert bench.everything() == at
        one_move(bench)
        assert bench.everything() == then


# --- the link


def test_an_ordered_link_keeps_the_order():
    link = Link()
    with pytest.raises(ValueError, match="connect"):
        link.send(RegisterRM())
    for name in ("app", "other"):
        link.send(AddApplication(name))
    with pytest.raises(ValueError, match="connect"):
        link.deliver_request()
    bench = Bench()
    link.connect(bench.core, bench.shim.receive)
    with pytest.raises(ValueError, match="keeps the order"):
        link.deliver_request(1)
    link.deliver_request()
    link.deliver_request()
    with pytest.raises(ValueError, match="0 are under way"):
        link.deliver_request()


def test_what_is_said_before_the_call_to_register_is_not_heard():
    bench = Bench()
    bench.link.send(RegisterRM())
    bench.link.send(AddApplication("app"))
    bench.link.deliver_request()
    assert [type(r).__name__ for r in bench.link.responses] == ["RMAccepted", "ApplicationAccepted"]
    bench.link.send(RegisterRM())
    assert bench.link.responses == [RMAccepted("k8s")]
    bench.link.lose(requests=True, responses=True)
    assert bench.link.snapshot() == LinkState()


def test_a_shim_that_cannot_reach_the_core_ends_its_process():
    bench = Bench().started()
    bench.cluster.create_pod(pod("p1"))

    def refuse(request):
        if isinstance(request, AddAsk):
            raise SubmitError("nobody answers")
        bench.link.send(request)

    bench.shim._context.send = refuse
    bench.settle()
    assert bench.shim.scheduler == "New" and "nobody answers" in bench.shim.why_stopped
    bench.shim._context.send = bench.link.send
    bench.shim.start()
    bench.settle()
    assert bench.running() == {"p1"}


def test_nothing_is_taken_up_of_an_application_that_begins_again():
    bench = Bench().started()
    bench.cluster.create_pod(pod("p1"))
    bench.settle()
    bench.cluster.create_pod(pod("p2"))
    bench.shim.step()  # p2 has a task
    bench.shim.receive([ApplicationUpdated("app", "Completed")])
    bench.shim.schedule()  # InitTask comes behind
    bench.shim.step()
    bench.shim.step()
    assert (bench.app(), bench.task("p2")) == ("New", "New")
