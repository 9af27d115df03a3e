"""Jobmon's reference server on PostgreSQL: a server in a temporary directory, where there may be one."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Barrier, Thread

import pytest
from jobmon_bench import LEASE, Bench
from jobmon_requests import goes_on, random_requests
from postgres import Unavailable, server
from schedproof.impl.jobmon import requests as ask
from schedproof.impl.jobmon.draft import Leases
from schedproof.impl.jobmon.errors import Refused, StoreError
from schedproof.impl.jobmon.memory_store import MemoryStore
from schedproof.impl.jobmon.records import InstanceState
from schedproof.impl.jobmon.requests import TaskSpec
from schedproof.impl.jobmon.server import Server
from schedproof.impl.jobmon.sql_store import SqlStore
from sqlalchemy import create_engine


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    try:
        with server() as url:
            yield url
    except Unavailable as reason:
        pytest.skip(f"no PostgreSQL here: {reason}")


@pytest.fixture
def store(url: str) -> Iterator[SqlStore]:
    """Empty."""
    from schedproof.impl.jobmon.tables import METADATA

    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    METADATA.drop_all(engine)
    engine.dispose()
    with SqlStore(url) as store:
        yield store


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
    together = Barrier(4)

    def distribute(name: str) -> None:
        mine = Server(store, clock=lambda: 0.0, leases=Leases(LEASE, LEASE))
        for i in range(1, 9):
            together.wait()
            try:
                mine.ask(ask.Claim(i, name, f"{name}/{i}"))
                got.append((i, name))
            except Refused:
                pass

    threads = [Thread(target=distribute, args=(f"d{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(i for i, _ in got) == list(range(1, 9))
    claimed = {i.id: i.distributor for i in store.snapshot().instances}
    assert claimed == dict(got)


def test_the_schema_is_there_too(store: SqlStore) -> None:
    bench = Bench(store)
    bench.register()
    bench.run()
    bench.queue()
    bench.bring(1, "T")
    second = bench.store.snapshot().instances[0]
    with pytest.raises(StoreError), store.transaction() as transaction:
        transaction.add(second)
    assert bench.instances() == InstanceState.TRIAGING
