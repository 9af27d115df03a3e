"""Where Jobmon's reference server keeps its records: memory and SQLite behave alike; transactions, schema, errors."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from schedproof.impl.store import ATTEMPTS, Store, UpTo
from schedproof.impl.systems.jobmon import requests as ask
from schedproof.impl.systems.jobmon.errors import Contended, StoreError
from schedproof.impl.systems.jobmon.records import (
    LARGEST,
    InstanceState,
    RunState,
    Task,
    TaskInstance,
    TaskState,
    Workflow,
    WorkflowRun,
    WorkflowState,
)
from schedproof.impl.systems.jobmon.sql_store import SqlStore
from schedproof.impl.systems.jobmon.store import MemoryStore
from tests.support.needs import needs_psycopg
from tests.support.sample import thinned
from tests.systems.jobmon.server.bench import Bench, answer
from tests.systems.jobmon.server.random_requests import goes_on, random_requests

SMALL = Task(0, 1, "b", "x", (), (), "all", 0, 1, TaskState.REGISTERING, 0.0)

KINDS: list[Callable[[], Store]] = [MemoryStore, SqlStore]


@pytest.mark.parametrize("seed", thinned(range(4), 4))
def test_memory_and_sqlite_behave_alike(seed: int) -> None:
    one, other = Bench(MemoryStore()), Bench(SqlStore())
    seen: Counter[str] = Counter()
    for number, request in enumerate(random_requests(seed, 600, one.store.snapshot)):
        one.time = other.time = one.time + goes_on(seed, number)
        assert answer(other.server, request) == answer(one.server, request), request
        seen[one.instances() + one.runs()] += 1
    assert other.store.snapshot() == one.store.snapshot()
    assert len(seen) > 30  # something happened


@pytest.mark.parametrize("kind", KINDS)
def test_conditions(kind: Callable[[], Store]) -> None:
    bench = Bench(kind())
    bench.register(ask.TaskSpec("a", "x"), ask.TaskSpec("b", "x"), ask.TaskSpec("c", "x"))
    bench.run()
    for task, state in ((1, "Q"), (2, "I"), (3, "R")):
        bench.queue(task=task)
        bench.bring(task, state)
    with bench.store.transaction() as t:
        ids = [
            [i.id for i in t.find(TaskInstance, **conditions)]  # type: ignore[arg-type]
            for conditions in (
                {},
                {"task_id": 2},
                {"status": InstanceState.RUNNING},
                {"status": frozenset({InstanceState.RUNNING, InstanceState.QUEUED})},
                {"report_by_date": UpTo(9.9)},
                {"report_by_date": UpTo(10.0)},
                {"report_by_date": None},
                {"report_by_date": None, "status": InstanceState.RUNNING},
            )
        ]
        assert ids == [[1, 2, 3], [2], [3], [1, 3], [], [2, 3], [1], []]
        assert t.get(Task, 9) is None


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_rolls_everything_back(kind: Callable[[], Store]) -> None:
    store = kind()
    Bench(store).register()
    before = store.snapshot()

    def fail() -> None:
        with store.transaction() as transaction:
            transaction.add(replace(before.workflows[0], name="v"))
            transaction.update(before.tasks[0], replace(before.tasks[0], status=TaskState.QUEUED))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert store.snapshot() == before


@pytest.mark.parametrize("kind", KINDS)
def test_a_write_holds_only_if_nothing_came_in_between(kind: Callable[[], Store]) -> None:
    bench = Bench(kind())
    bench.register()
    bench.run()
    bench.queue()
    stale = bench.store.snapshot().instances[0]
    bench.bring(1, "O")
    before = bench.store.snapshot()
    with pytest.raises(Contended, match="is not as it was read"), bench.store.transaction() as transaction:
        transaction.update(stale, replace(stale, status=InstanceState.FATAL))
    assert bench.store.snapshot() == before


@pytest.mark.parametrize("kind", KINDS)
def test_names_are_taken(kind: Callable[[], Store]) -> None:
    store = kind()
    Bench(store).register()
    with pytest.raises(StoreError), store.transaction() as transaction:
        transaction.add(Workflow(0, "w", WorkflowState.REGISTERING, 0.0))


def test_a_file_is_there_the_next_time(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/jobmon.db"
    with SqlStore(url) as store:
        bench = Bench(store)
        bench.register()
        bench.run()
        bench.queue()
        before = store.snapshot()
    with SqlStore(url) as store:
        assert store.snapshot() == before
        Bench(store).bring(1, "D")


def test_a_request_is_tried_again_if_another_came_between() -> None:
    bench = Bench(MemoryStore())
    bench.register()
    bench.run()
    tries: list[int] = []
    real = bench.server.queue_task

    def interrupted(draft: object, request: ask.QueueTask) -> ask.Report:
        tries.append(1)
        if len(tries) == 1:
            raise Contended("another one came in between")
        return real(draft, request)  # type: ignore[arg-type]

    bench.server.queue_task = interrupted  # type: ignore[assignment,method-assign]
    bench.queue()
    assert (len(tries), bench.instances()) == (2, "Q")


def test_contention_without_end_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schedproof.impl.store.retry.time.sleep", lambda seconds: None)
    bench = Bench(MemoryStore())
    tries: list[object] = []

    def never(draft: object, request: object) -> ask.Report:
        tries.append(request)
        raise Contended("another one came in between")

    bench.server.register = never  # type: ignore[assignment,method-assign]
    with pytest.raises(Contended):
        bench.register()
    assert len(tries) == ATTEMPTS


class TestSchema:
    """Even a server that is wrong cannot write this."""

    def refused(self, bench: Bench, old: object, **columns: object) -> str:
        before = bench.store.snapshot()
        with pytest.raises(StoreError) as caught, bench.store.transaction() as transaction:
            transaction.update(old, replace(old, **columns))  # type: ignore[type-var]
        assert bench.store.snapshot() == before
        return str(caught.value)

    def test_two_runs_that_have_one_workflow(self) -> None:
        bench = Bench(SqlStore())
        bench.register()
        bench.run()
        with bench.store.transaction() as transaction:
            other = transaction.add(WorkflowRun(0, 1, "other", RunState.ABORTED, 0.0, 10.0))
        for status in (RunState.REGISTERED, RunState.LINKING):
            assert "UNIQUE" in self.refused(bench, other, status=status)

    def test_two_attempts_on_their_way(self) -> None:
        bench = Bench.at(SqlStore(), "T")
        before = bench.store.snapshot()
        second = TaskInstance(0, 1, 1, 1, InstanceState.QUEUED, 0.0, (), "all")
        with pytest.raises(StoreError), bench.store.transaction() as transaction:
            transaction.add(second)
        assert bench.store.snapshot() == before

    def test_states_without_what_they_need(self) -> None:
        bench = Bench.at(SqlStore(), "I")
        records = bench.store.snapshot()
        (it,), (task,) = records.instances, records.tasks
        assert "somebody_runs_it" in self.refused(bench, it, status=InstanceState.RUNNING)
        assert "a_job_that_is_known" in self.refused(bench, it, status=InstanceState.LAUNCHED)
        assert "attempts_are_limited" in self.refused(bench, task, num_attempts=3)
        assert "CHECK" in self.refused(bench, task, status="K")


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("nonsense", "'nonsense' is not a database URL; give sqlite:///file"),
        ("mssql://somewhere/x", "no driver for this kind of database"),
        ("sqlite:////nowhere/at/all/x.db", "cannot be opened"),
        ("sqlite://host/x.db", "cannot be opened: Invalid SQLite URL"),
        ("sqlite:///\ud800", "is not a database URL"),
        ("postgresql://somebody@127.0.0.1:x/y", "is not a database URL"),
        pytest.param("postgresql://somebody@127.0.0.1:1/x", "cannot be opened: ", marks=needs_psycopg),
    ],
)
def test_a_wrong_url_is_said(url: str, says: str) -> None:
    with pytest.raises(StoreError, match=says) as caught:
        SqlStore(url)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("ALTER TABLE task_instance DROP COLUMN fenced", "a table task_instance, without fenced;"),
        ("ALTER TABLE workflow ADD COLUMN owner", "a table workflow, with owner;"),
        ("DROP TABLE task; CREATE TABLE task (id)", "a table task, without command, without max_attempts, "),
    ],
)
def test_a_database_of_another_version_is_not_used(tmp_path: Path, change: str, says: str) -> None:
    file = tmp_path / "x.db"
    SqlStore(f"sqlite:///{file}").close()
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(change)
        before = list(connection.iterdump())
    with pytest.raises(StoreError, match="was made by another version: it has ") as caught:
        SqlStore(f"sqlite:///{file}")
    assert says in str(caught.value) and str(caught.value).endswith("; give another database")
    with closing(sqlite3.connect(file)) as connection:
        assert list(connection.iterdump()) == before


def test_a_database_of_another_program_is_left_as_it_is(tmp_path: Path) -> None:
    """No table is added to it if one of its own has a name of ours."""
    with closing(sqlite3.connect(tmp_path / "x.db")) as connection:
        connection.execute("CREATE TABLE task (what)")
    with pytest.raises(StoreError, match="another version"):
        SqlStore(f"sqlite:///{tmp_path}/x.db")
    with closing(sqlite3.connect(tmp_path / "x.db")) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("task",)]


@pytest.mark.parametrize("task", [replace(SMALL, max_attempts=2**63), replace(SMALL, command="\ud800")])
def test_what_cannot_be_kept_is_said(task: Task) -> None:
    with SqlStore() as store:
        Bench(store).register()
        before = store.snapshot()

        def write() -> None:
            with store.transaction() as transaction:
                transaction.add(replace(before.workflows[0], name="v"))
                transaction.add(task)

        with pytest.raises(StoreError, match="cannot be used"):
            write()
        assert store.snapshot() == before


def test_large_numbers_are_kept() -> None:
    with SqlStore() as store:
        Bench(store).register(ask.TaskSpec("a", "x", resources=(("memory", LARGEST),), max_attempts=LARGEST))
        (task,) = store.snapshot().tasks
        assert (task.max_attempts, task.resources) == (LARGEST, (("memory", LARGEST),))


def test_a_locked_file_is_contention(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schedproof.impl.store.database.BUSY_SECONDS", 0.01)
    with SqlStore(f"sqlite:///{tmp_path}/x.db") as store:
        other = sqlite3.connect(tmp_path / "x.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Contended, match="another transaction came in between"), store.transaction():
            pass
        other.execute("ROLLBACK")
        other.close()
        with store.transaction() as transaction:
            assert transaction.find(Workflow) == ()


def test_passwords_are_not_shown() -> None:
    with pytest.raises(StoreError) as caught:
        SqlStore("postgresql://somebody:secret@127.0.0.1:1/nothing")
    assert "secret" not in str(caught.value)
