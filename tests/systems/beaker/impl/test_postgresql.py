"""Beaker's reference scheduler on PostgreSQL: a server in a temporary directory, where there may be one."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from schedproof.impl.systems.beaker import (
    Changes,
    Condition,
    Contended,
    MemoryStore,
    StoreError,
    System,
    Usage,
    World,
)
from schedproof.impl.systems.beaker.sql_store import SqlStore
from schedproof.impl.systems.beaker.store import read_world, write
from tests.support.needs import needs_postgresql, postgresql
from tests.systems.beaker.impl.bench import Bench
from tests.systems.beaker.impl.daemons import Daemons
from tests.systems.beaker.impl.people import Conditions, Ends
from tests.systems.beaker.impl.races import Races
from tests.systems.beaker.impl.refusals import Refusals
from tests.systems.beaker.impl.runs import always_so, filled, outcome, random_requests
from tests.systems.beaker.impl.scenarios import Lives, Order, Wakes

pytestmark = needs_postgresql


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with postgresql() as url:
        yield url


@pytest.fixture(scope="module")
def opened(url: str) -> Iterator[SqlStore]:
    with SqlStore(url) as store:
        yield store


@pytest.fixture
def store(opened: SqlStore) -> SqlStore:
    """Empty."""
    opened.restore(World())
    return opened


@pytest.fixture
def bench(store: SqlStore) -> Bench:
    return Bench(store)


@pytest.mark.long
class TestLives(Lives): ...


@pytest.mark.long
class TestOrder(Order): ...


class TestWakes(Wakes): ...


@pytest.mark.long
class TestEnds(Ends): ...


@pytest.mark.long
class TestConditions(Conditions): ...


@pytest.mark.long
class TestRefusals(Refusals): ...


@pytest.mark.long
class TestRaces(Races): ...


@pytest.mark.long(seconds=10)
class TestDaemons(Daemons): ...


def test_it_is_postgresql(store: SqlStore) -> None:
    assert store.url.startswith("postgresql+psycopg://")


def test_a_transaction_that_fits_no_order_is_contention(store: SqlStore) -> None:
    """Write skew: each of two transactions reads what the other one writes."""
    bench = Bench(store)
    bench.systems("A", "B")
    a, b = store.snapshot().systems

    def idle(system: System) -> Changes:
        return Changes(systems=((system, System(system.name, system.lab, Usage.IDLE, Condition.AUTOMATED)),))

    def interleaved() -> None:
        with store.transaction() as one:
            read_world(one)
            with store.transaction() as other:
                read_world(other)
                write(other, idle(b))
            write(one, idle(a))

    with pytest.raises(Contended, match="another transaction came in between"):
        interleaved()
    assert bench.states() == {"A": "pending", "B": "idle"}


@pytest.mark.long
def test_the_same_as_in_memory_on_random_runs(store: SqlStore) -> None:
    steps = random.Random(99)
    one, other = filled(MemoryStore()), filled(store)
    requests, requests_of_other = random_requests(one), random_requests(other)
    done = 0
    while done < 60:
        i = steps.randrange(len(requests))
        in_memory = outcome(one, requests[i][1])
        refused = str(in_memory[0]).startswith("refused")
        if refused and steps.random() < 0.9:
            continue
        assert in_memory == outcome(other, requests_of_other[i][1]), requests[i][0]
        done += not refused
    always_so(other)


def test_the_schema_forbids_a_broken_system_in_use(store: SqlStore) -> None:
    Bench(store).systems("A")
    (system,) = store.snapshot().systems
    changes = Changes(systems=((system, System("A", "lab", Usage.RUNNING, Condition.BROKEN)),))
    with pytest.raises(StoreError, match="broken_is_idle"), store.transaction() as transaction:
        write(transaction, changes)


def test_a_server_that_is_not_there_is_said() -> None:
    with pytest.raises(StoreError, match="cannot be opened"):
        SqlStore("postgresql://beaker@127.0.0.1:1/nothing")
