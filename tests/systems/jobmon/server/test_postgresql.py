"""Jobmon's reference server on PostgreSQL: a server in a temporary directory, where there may be one."""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from sqlalchemy import create_engine

from schedproof.impl.systems.jobmon import requests as ask
from schedproof.impl.systems.jobmon.errors import Refused, StoreError
from schedproof.impl.systems.jobmon.records import LARGEST, LONGEST_NAME, InstanceState, Leases, Records
from schedproof.impl.systems.jobmon.requests import TaskSpec
from schedproof.impl.systems.jobmon.server import Server
from schedproof.impl.systems.jobmon.sql_store import SqlStore
from schedproof.impl.systems.jobmon.store import MemoryStore
from tests.support.needs import needs_postgresql, postgresql
from tests.systems.jobmon.server.bench import LEASE, Bench
from tests.systems.jobmon.server.random_requests import goes_on, random_requests

pytestmark = needs_postgresql


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with postgresql() as url:
        yield url


@pytest.fixture
def empty(url: str) -> str:
    """Without tables."""
    from schedproof.impl.systems.jobmon.sql_store import METADATA

    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    METADATA.drop_all(engine)
    engine.dispose()
    return url


@pytest.fixture
def store(empty: str) -> Iterator[SqlStore]:
    with SqlStore(empty) as store:
        yield store


def test_many_open_it_at_once(empty: str) -> None:
    """One of them makes the tables."""
    together = Barrier(4, timeout=60)

    def open_it(number: int) -> int:
        together.wait()
        with SqlStore(empty):
            return number

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(open_it, range(4))) == [0, 1, 2, 3]


def test_large_numbers_and_long_names_are_kept(store: SqlStore) -> None:
    name = "".join(random.Random(1).choices("äöü€🙂", k=LONGEST_NAME))  # nothing that could be kept shorter
    Bench(store).register(TaskSpec(name, "x", resources=(("memory", LARGEST),), max_attempts=LARGEST), name=name)
    (task,) = store.snapshot().tasks
    assert (task.name, task.max_attempts, task.resources) == (name, LARGEST, (("memory", LARGEST),))
    for number in (LARGEST, -LARGEST):
        assert Bench(store).outcome(ask.ReapRun(number)) == f"refused (None): there is no workflow run {number}"


def test_what_cannot_be_kept_is_said(store: SqlStore) -> None:
    with pytest.raises(StoreError, match="NUL"):
        Bench(store).register(TaskSpec("a", "\0"))
    assert store.snapshot() == Records()


@pytest.mark.long
def test_it_behaves_as_memory_does(store: SqlStore) -> None:
    one, other = Bench(MemoryStore()), Bench(store)
    for number, request in enumerate(random_requests(7, 250, one.store.snapshot)):
        one.time = other.time = one.time + goes_on(7, number)
        assert other.outcome(request) == one.outcome(request), request
        assert (other.instances(), other.tasks(), other.runs()) == (one.instances(), one.tasks(), one.runs())


def test_of_those_who_ask_at_once_one_gets_it(store: SqlStore) -> None:
    """Claims of each instance by four distributors at once."""
    bench = Bench(store)
    bench.register(*(TaskSpec(f"a{n}", "x") for n in range(8)))
    bench.run()
    for task in range(1, 9):
        bench.queue(task=task)
    got: list[tuple[int, str]] = []
    together = Barrier(4, timeout=60)  # who fails does not hold up the others for good

    def distribute(name: str) -> None:
        server = Server(store, clock=lambda: 0.0, leases=Leases(LEASE, LEASE))
        for i in range(1, 9):
            together.wait()
            try:
                server.ask(ask.Claim(i, name, f"{name}/{i}"))
                got.append((i, name))
            except Refused:
                pass

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(distribute, ("d0", "d1", "d2", "d3")))
    assert sorted(i for i, _ in got) == list(range(1, 9))
    claimed = {i.id: i.distributor for i in store.snapshot().instances}
    assert claimed == dict(got)


def test_a_database_of_another_version_is_not_used(store: SqlStore, url: str) -> None:
    SqlStore(url).close()  # its own is
    with store.begun() as connection:
        connection.exec_driver_sql("ALTER TABLE task_instance DROP COLUMN fenced")
    with pytest.raises(StoreError, match="another version: it has a table task_instance, without fenced; give another"):
        SqlStore(url)


def test_the_schema_is_there_too(store: SqlStore) -> None:
    bench = Bench.at(store, "T")
    second = bench.store.snapshot().instances[0]
    with pytest.raises(StoreError), store.transaction() as transaction:
        transaction.add(second)
    assert bench.instances() == InstanceState.TRIAGING
