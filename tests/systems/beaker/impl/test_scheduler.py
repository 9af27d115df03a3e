"""Beaker's reference scheduler on SQLite and in memory, and what it leans on."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from schedproof.impl.systems.beaker import BeakerStore, Condition, MemoryStore, Usage
from schedproof.impl.systems.beaker.sql_store import SqlStore
from tests.support.independence import dependencies
from tests.support.sample import thinned
from tests.systems.beaker.impl.bench import Bench
from tests.systems.beaker.impl.people import Conditions, Ends
from tests.systems.beaker.impl.races import Races
from tests.systems.beaker.impl.refusals import Refusals
from tests.systems.beaker.impl.runs import always_so, filled, outcome, random_requests
from tests.systems.beaker.impl.scenarios import Lives, Order, Wakes


@pytest.fixture(params=["memory", "sqlite"])
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    if request.param == "memory":
        yield Bench(MemoryStore())
        return
    with SqlStore() as store:
        yield Bench(store)


class TestLives(Lives): ...


class TestOrder(Order): ...


class TestWakes(Wakes): ...


class TestEnds(Ends): ...


class TestConditions(Conditions): ...


class TestRefusals(Refusals): ...


class TestRaces(Races):
    @pytest.fixture(params=["memory", pytest.param("sqlite in memory", marks=pytest.mark.long), "sqlite file"])
    def store(self, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BeakerStore]:
        if request.param == "memory":
            yield MemoryStore()
            return
        with SqlStore("sqlite://" if "memory" in request.param else f"sqlite:///{tmp_path}/x.db") as store:
            yield store


@pytest.mark.parametrize("seed", thinned(range(4), 4))
def test_every_store_does_the_same_on_random_runs(seed: int) -> None:
    steps = random.Random(seed)
    with SqlStore() as store:
        one, other = filled(MemoryStore()), filled(store)
        requests, requests_of_other = random_requests(one), random_requests(other)
        done = 0
        while done < 60:
            i = steps.randrange(len(requests))
            in_memory = outcome(one, requests[i][1])
            if str(in_memory[0]).startswith("refused") and steps.random() < 0.9:
                continue  # most requests are refused; a database need not say all of it again
            assert in_memory == outcome(other, requests_of_other[i][1]), requests[i][0]
            done += not str(in_memory[0]).startswith("refused")
            always_so(one)
        always_so(other)
        assert [(e.system, e.usage, e.condition) for e in one.store.usage()] == [
            (e.system, e.usage, e.condition) for e in store.usage()
        ]


@pytest.mark.long
@pytest.mark.parametrize("seeds", [range(40), pytest.param(range(40, 150), marks=pytest.mark.long)], ids=str)
def test_no_random_run_ends_where_a_set_can_never_begin(seeds: range) -> None:
    """When people stop and every recipe has a viable Automated system, loops and labs finish it all."""
    ends = ("cancel", "abort")
    with_work_left = 0
    for seed in seeds:
        steps = random.Random(seed)
        bench = filled(MemoryStore())
        requests = random_requests(bench)
        seldom = [request.startswith(ends) for request, _ in requests]
        for _ in range(600):
            i = steps.randrange(len(requests))
            if not seldom[i] or steps.random() < 0.05:
                outcome(bench, requests[i][1])
        with_work_left += any(r.unfinished for r in bench.store.snapshot().recipes)
        bench.new.crash()
        for system in bench.store.snapshot().systems:
            for call in (bench.web.install, bench.web.run, bench.web.give_back):
                if system.condition is Condition.MANUAL and system.usage is not Usage.IDLE:
                    outcome(bench, lambda call=call, name=system.name: call(name))  # type: ignore[misc]
            if system.condition is not Condition.AUTOMATED:
                bench.web.change_condition(system.name, Condition.AUTOMATED)
        bench.finish_all()
        left = {r.name: r.state for r in bench.store.snapshot().recipes if r.unfinished}
        assert left == {}, f"seed {seed}"
        assert set(bench.states(*"ABCD").values()) == {"idle"}
    assert with_work_left > len(seeds) / 3


# The scheduler must not lean on the model that it is compared with.


def test_nothing_comes_from_the_model() -> None:
    """Not from another system either, nor do the modules that several systems share depend on such."""
    used = {name for _, name in dependencies("systems/beaker")}
    assert used and all(
        name.startswith(
            (
                "schedproof.impl:",
                *(f"schedproof.impl.{module}" for module in ("choice:", "errors:", "hashed:", "store")),
            )
        )
        for name in used
    )


def test_the_model_is_not_even_loaded() -> None:
    code = "import sys, schedproof.impl.systems.beaker; print(*[m for m in sys.modules if m.startswith('schedproof.')])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "schedproof.impl.systems.beaker.draft" in loaded
    assert [m for m in loaded if m.startswith(("schedproof.model", "schedproof.proofs"))] == []
