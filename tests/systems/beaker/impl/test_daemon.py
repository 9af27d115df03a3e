"""Beaker's reference scheduler as threads and as processes that are killed."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from schedproof.impl.systems.beaker import BeakerStore, Condition, Daemon, MemoryStore, StoreError
from schedproof.impl.systems.beaker.sql_store import SqlStore
from tests.systems.beaker.impl.bench import Bench
from tests.systems.beaker.impl.daemons import Daemons, until


class TestDaemons(Daemons):
    @pytest.fixture
    def url(self, tmp_path: Path) -> str:
        return f"sqlite:///{tmp_path}/beaker.db"

    @pytest.fixture
    def store(self, url: str) -> Iterator[BeakerStore]:
        with SqlStore(url) as store:
            yield store


class TestDaemon:
    def test_it_goes_on_when_the_database_is_back(self, caplog: pytest.LogCaptureFixture) -> None:
        failing = Event()

        class Failing(MemoryStore):
            def transaction(self) -> Any:
                if failing.is_set():
                    raise StoreError("the database is away")
                return super().transaction()

        bench = Bench(Failing())
        bench.idle("A")
        with caplog.at_level(logging.WARNING), Daemon(bench.store, interval=0.01):
            failing.set()
            assert until(lambda: "the database is away" in caplog.text)
            failing.clear()
            bench.submit(s=["A"])
            assert until(lambda: bench.states("s.0") == {"s.0": "waiting on A"})

    def test_it_seats_sets_by_itself(self) -> None:
        """At once in hand, and anew when the seat B breaks while all systems are in use."""
        bench = Bench(MemoryStore())
        bench.idle("A", "B", "C")
        bench.submit(t=["A"], u=["B"], v=["C"])
        bench.settle_down()
        with Daemon(bench.store, interval=0.01):
            bench.submit(s=["A", "BC"])
            assert until(lambda: bench.seats() == {"s.0": "A", "s.1": "B"})
            assert until(lambda: bench.states("s.0", "s.1") == {"s.0": "queued", "s.1": "queued"})
            bench.web.change_condition("B", Condition.BROKEN)
            assert until(lambda: bench.seats() == {"s.0": "A", "s.1": "C"})
            bench.web.cancel_set("t")
            bench.web.cancel_set("v")
            assert until(lambda: bench.states("s.0", "s.1") == {"s.0": "waiting on A", "s.1": "waiting on C"})

    def test_each_of_its_two_loops_seats(self) -> None:
        bench = Bench(MemoryStore())
        bench.systems("A", "B")
        bench.submit(s=["A", "B"], t=["B", "A"])
        daemon = Daemon(bench.store)
        assert daemon.check_consistency()
        assert bench.seats() == {"s.0": "A", "s.1": "B", "t.0": "B", "t.1": "A"}
        assert not daemon.check_consistency()
        bench.submit(u=["A", "B"])
        assert daemon.process_new_jobs()
        assert {r for r in bench.seats() if r.startswith("u")} == {"u.0", "u.1"}

    def test_a_fault_of_a_loop_comes_out_when_it_is_stopped(self, caplog: pytest.LogCaptureFixture) -> None:
        daemon = Daemon(MemoryStore(), interval=0.01)
        daemon._provisioning.ready = lambda: 1 // 0  # type: ignore[assignment, return-value]
        daemon.start()
        assert until(lambda: "the loop for provisioning ends" in caplog.text)
        with pytest.raises(ZeroDivisionError):
            daemon.stop()

    def test_a_set_in_hand_is_put_away_after_a_failure(self) -> None:
        bench = Bench(MemoryStore())
        bench.idle("A", "B")
        bench.submit(s=["A"], t=["B"])
        daemon = Daemon(bench.store)
        settle = daemon._new_jobs.settle
        daemon._new_jobs.settle = lambda: 1 // 0  # type: ignore[assignment, return-value]
        with pytest.raises(ZeroDivisionError):
            daemon.process_new_jobs()
        daemon._new_jobs.settle = settle  # type: ignore[method-assign]
        assert daemon.process_new_jobs()
        assert bench.states("s.0", "t.0") == {"s.0": "scheduled on A", "t.0": "scheduled on B"}
        assert not daemon.process_new_jobs()

    def test_the_interval_must_be_positive(self) -> None:
        with pytest.raises(ValueError, match="must be more than 0 seconds, not 0"):
            Daemon(MemoryStore(), interval=0)
