"""A Jobmon server that was down: who could not renew a lease meanwhile has the time of one lease to do so."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from schedproof.impl.store import Store
from schedproof.impl.systems.jobmon import requests as ask
from schedproof.impl.systems.jobmon.distributor import Distributor
from schedproof.impl.systems.jobmon.errors import Refused
from schedproof.impl.systems.jobmon.reaper import Reaper
from schedproof.impl.systems.jobmon.records import InstanceState, RunState
from schedproof.impl.systems.jobmon.requests import Request, TaskSpec
from schedproof.impl.systems.jobmon.server import Server
from schedproof.impl.systems.jobmon.simulated_cluster import SimulatedCluster
from schedproof.impl.systems.jobmon.sql_store import SqlStore
from schedproof.impl.systems.jobmon.store import MemoryStore
from tests.systems.jobmon.agents.seeded import GivesNoGrace
from tests.systems.jobmon.server.bench import LEASE, Bench

BACK = 1000.0
"""When the server comes back; it has been down since 0."""

STORES: list[Callable[[], Store]] = [MemoryStore, SqlStore]


def after_downtime(store: Store, state: str, server: type[Server] = Server) -> Bench:
    """Two workflows "w" and "v", each with a running run and a task; that of "w" has an instance in a state."""
    bench = Bench(store, server)
    bench.register(TaskSpec("a", "x"))
    bench.register(TaskSpec("a", "x"), name="v")
    bench.run(1, "one")
    bench.run(2, "two")
    bench.queue()
    bench.bring(1, state)
    bench.time = BACK
    bench.start_server()
    return bench


def refused(bench: Bench, *requests: Request) -> list[str]:
    """What the server says to requests that it all refuses, for now."""
    messages = []
    for request in requests:
        with pytest.raises(Refused) as caught:
            bench.ask(request)
        assert not caught.value.for_good
        messages.append(caught.value.reason)
    return messages


def rest(bench: Bench) -> list[str]:
    """What a reaper does until it has nothing to do."""
    reaper = Reaper(bench.server)
    steps = []
    while (did := reaper.step()) is not None:
        steps.append(did)
    return steps


@pytest.mark.parametrize("kind", STORES)
def test_who_lives_is_not_reaped(kind: Callable[[], Store]) -> None:
    """The client and the worker of "w" renew in time; the client of "v" is dead, and waited for as long as that."""
    bench = after_downtime(kind(), "R")
    assert rest(bench) == []
    bench.time = BACK + LEASE - 0.1
    assert rest(bench) == []
    bench.ask(ask.RenewRun(1, RunState.RUNNING))
    bench.ask(ask.RenewInstance(1, "j1"))
    bench.time = BACK + LEASE
    assert rest(bench) == ["find dead", "ReapRun 2"]
    assert bench.runs() + bench.instances() == "RER"
    bench.ask(ask.End(1, "j1", InstanceState.DONE))


@pytest.mark.parametrize("kind", STORES)
def test_who_renews_no_lease_is_reaped_after_one(kind: Callable[[], Store]) -> None:
    bench = after_downtime(kind(), "R")
    requests = (ask.ReapRun(1), ask.Lapse(1))
    assert refused(bench, *requests) == ["workflow run 1 is not overdue", "task instance 1 is not overdue"]
    bench.time = BACK + LEASE
    for request in requests:
        assert bench.ask(request).changed
    assert bench.runs() + bench.instances() == "ERT"


def test_a_server_that_was_there_all_along_waits_no_longer() -> None:
    bench = after_downtime(MemoryStore(), "R")
    bench.time = BACK + LEASE
    bench.ask(ask.RenewRun(1, RunState.RUNNING))
    bench.time += LEASE
    assert bench.ask(ask.ReapRun(1)).changed


@pytest.mark.parametrize("state", ["I", "O", "R", "T"])
def test_distributors_take_nobody_for_dead_meanwhile(state: str) -> None:
    """Nor are they asked to look again and again at what is to be waited for."""
    bench = after_downtime(MemoryStore(), state)
    distributor = Distributor(bench.server, SimulatedCluster(), "other")
    assert bench.ask(ask.FindWork()).instances == () and distributor.step() is None
    bench.time = BACK + LEASE
    report = bench.ask(ask.FindWork())
    assert report.overdue == (1,) == tuple(it.id for it in report.instances)


def test_a_worker_in_triage_gets_control_back() -> None:
    bench = after_downtime(MemoryStore(), "T")
    assert refused(bench, ask.Fence(1), ask.HandBack(1)) == [
        "task instance 1 is not overdue",  # it is not given up
        "task instance 1 is overdue",  # but it has to be heard of first
    ]
    bench.ask(ask.RenewInstance(1, "j1"))
    assert (bench.ask(ask.FindWork()).overdue, bench.ask(ask.HandBack(1)).changed) == ((), True)
    assert bench.instances() == "R"


def test_a_late_report_is_refused_as_ever() -> None:
    """A grace is no heartbeat: a late worker renews first, then reports."""
    bench = after_downtime(MemoryStore(), "R")
    end = ask.End(1, "j1", InstanceState.DONE)
    assert refused(bench, end) == ["task instance 1 is overdue"]
    bench.ask(ask.RenewInstance(1, "j1"))
    assert bench.ask(end).changed


def test_without_the_grace_who_lives_is_reaped() -> None:
    """By a server with that fault, at the first look."""
    bench = after_downtime(MemoryStore(), "R", GivesNoGrace)
    assert rest(bench) == ["find dead", "ReapRun 1", "ReapRun 2", "Lapse 1"]
    assert bench.runs() + bench.instances() == "EET"
