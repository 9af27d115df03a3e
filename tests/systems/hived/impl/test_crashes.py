"""The reference scheduler: what survives a crash, on SQLite and inside of operations."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from schedproof.impl.systems.hived import (
    Crash,
    GroupSpec,
    InMemoryStore,
    PodRow,
    PodStatus,
    PodStore,
    Refused,
    Scheduler,
    StoreError,
    Unrecoverable,
    What,
)
from schedproof.impl.systems.hived.sql_store import SqliteStore
from tests.systems.hived.impl.scheduling import HIGH, LOW, MIDDLE, OTHER_LOW, on, started, states, submit

# Crashes, on a file: the process dies by dropping the scheduler and its connection.


class Process:
    """Scheduler processes that live one after the other on one SQLite file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.store = SqliteStore(path)
        self.scheduler = started(self.store)

    def restart(self) -> Scheduler:
        self.store.close()
        self.store = SqliteStore(self.path)
        self.scheduler = started(self.store)
        return self.scheduler


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Process]:
    process = Process(tmp_path / "pods.sqlite")
    yield process
    process.store.close()


class TestCrashes:
    def test_what_is_bound_stays_and_preemption_is_forgotten(self, process: Process) -> None:
        submit(process.scheduler, LOW, MIDDLE, HIGH)
        process.scheduler.schedule("low", on("c0", "c1"))
        process.scheduler.schedule("high", on("c1", "c2"))
        placement = process.scheduler.group("low").placement
        assert states(process.restart()) == {
            "low": "Allocated", "middle": "Pending", "high": "Pending",
            "c0": "Used low", "c1": "Used low", "c2": "Free",
        }  # fmt: skip
        assert process.scheduler.group("low").placement == placement
        # Life goes on.
        process.scheduler.schedule("high", on("c1"))
        process.scheduler.delete_group("low")
        process.scheduler.complete("high")
        assert states(process.restart())["c1"] == "Used high"

    def test_a_partly_deleted_group_keeps_all_of_its_cells(self, process: Process) -> None:
        submit(process.scheduler, LOW)
        process.scheduler.schedule("low", on("c0", "c1"))
        process.scheduler.delete_pod("low", "a")
        assert states(process.restart()) == {"low": "Allocated", "c0": "Used low", "c1": "Used low", "c2": "Free"}
        process.scheduler.delete_pod("low", "b")
        assert states(process.restart()) == {"low": "Deleted", "c0": "Free", "c1": "Free", "c2": "Free"}

    def test_a_half_submitted_gang_still_waits(self, process: Process) -> None:
        process.scheduler.submit(LOW, "a")
        process.restart()
        with pytest.raises(Refused, match="not complete: submit b first"):
            process.scheduler.schedule("low")
        process.scheduler.submit(LOW, "b")
        assert process.scheduler.schedule("low").what == What.ALLOCATED

    def test_a_half_made_binding_is_finished(self, process: Process) -> None:
        submit(process.scheduler, LOW)
        process.store.put(PodRow("b", PodStatus.BOUND, LOW, (("a", ("c2",)), ("b", ("c0",)))))
        assert states(process.restart()) == {"low": "Allocated", "c0": "Used low", "c1": "Free", "c2": "Used low"}
        assert [(row.pod, row.status) for row in process.store.rows()] == [("a", "bound"), ("b", "bound")]
        assert len({row.placement for row in process.store.rows()}) == 1

    def test_a_crashed_scheduler_answers_nothing(self, process: Process) -> None:
        process.scheduler.crash()
        with pytest.raises(Refused, match=r"the scheduler is down; call recover\(\) first"):
            process.scheduler.submit(LOW, "a")

    def test_a_failed_write_takes_the_scheduler_down(self, process: Process) -> None:
        submit(process.scheduler, LOW)
        process.store.close()
        with pytest.raises(StoreError, match="cannot be used: it is closed"):
            process.scheduler.schedule("low", on("c0"))
        with pytest.raises(Refused, match="down"):
            process.scheduler.group("low")
        assert states(process.restart())["low"] == "Pending"


KILLED = """
import os, sys
from schedproof.impl.systems.hived import GroupSpec, PodStatus, Scheduler
from schedproof.impl.systems.hived.sql_store import SqliteStore

class Killed(SqliteStore):
    def put(self, row):
        super().put(row)
        if row.status == PodStatus.BOUND:
            os._exit(9)

scheduler = Scheduler(Killed(sys.argv[1]), ["c0", "c1", "c2"])
scheduler.recover()
spec = GroupSpec("low", 0, ("a", "b"))
for pod in spec.pods:
    scheduler.submit(spec, pod)
scheduler.schedule("low")
"""


def test_a_killed_process_leaves_enough_behind(tmp_path: Path) -> None:
    """A real process, killed after the first of two pods is bound."""
    path = tmp_path / "pods.sqlite"
    assert subprocess.run([sys.executable, "-c", KILLED, path], check=False).returncode == 9
    with SqliteStore(path) as store:
        assert [row.status for row in store.rows()] == ["bound", "submitted"]
        assert states(started(store)) == {"low": "Allocated", "c0": "Used low", "c1": "Used low", "c2": "Free"}
        assert [row.status for row in store.rows()] == ["bound", "bound"]


def dying(write: int, where: str) -> InMemoryStore:
    """A store whose process dies before or after its ``write``-th write, counted from 1."""
    store = InMemoryStore()
    left = [write]

    def die(written: Sequence[PodRow]) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise Crash

    setattr(store, where, die)
    return store


class TestCrashesInsideOperations:
    @pytest.mark.parametrize(
        ("write", "where", "bound"),
        [(1, "before", False), (1, "after", True), (2, "before", True), (2, "after", True)],
    )
    def test_a_group_is_bound_from_its_first_bound_pod_on(self, write: int, where: str, bound: bool) -> None:
        store = dying(2 + write, where)
        scheduler = started(store)
        submit(scheduler, LOW)
        with pytest.raises(Crash):
            scheduler.schedule("low", on("c0", "c1"))
        store.before = store.after = None
        recovered = states(started(store))
        assert recovered["low"] == ("Allocated" if bound else "Pending")
        assert recovered["c0"] == ("Used low" if bound else "Free")

    @pytest.mark.parametrize(
        ("write", "where", "deleted"),
        [(1, "before", False), (1, "after", False), (2, "before", False), (2, "after", True)],
    )
    def test_a_group_is_deleted_with_its_last_pod(self, write: int, where: str, deleted: bool) -> None:
        store = dying(4 + write, where)
        scheduler = started(store)
        submit(scheduler, LOW)
        scheduler.schedule("low", on("c0", "c1"))
        with pytest.raises(Crash):
            scheduler.delete_group("low")
        store.before = store.after = None
        recovered = states(started(store))
        assert recovered["low"] == ("Deleted" if deleted else "Allocated")
        assert recovered["c1"] == ("Free" if deleted else "Used low")

    @pytest.mark.parametrize("where", ["before", "after"])
    def test_recovery_can_crash_and_begin_again(self, where: str) -> None:
        store = InMemoryStore()
        spec = GroupSpec("low", 0, ("a", "b", "d"))
        submit(started(store), spec)
        store.put(PodRow("a", PodStatus.BOUND, spec, (("a", ("c1",)), ("b", ()), ("d", ()))))
        second_store = dying(1, where)
        second_store.restore(store.snapshot())
        with pytest.raises(Crash):
            started(second_store)
        second_store.before = second_store.after = None
        assert states(started(second_store)) == {"low": "Allocated", "c0": "Free", "c1": "Used low", "c2": "Free"}
        assert {row.status for row in second_store.rows()} == {PodStatus.BOUND}


AT_C0 = (("a", ("c0",)), ("b", ()))
CONTRADICTIONS = [
    ([PodRow("a", PodStatus.BOUND, LOW, AT_C0), PodRow("a", PodStatus.BOUND, HIGH, AT_C0)], "which pod high/a has"),
    ([PodRow("a", PodStatus.BOUND, LOW, (("a", ("c9",)), ("b", ())))], "unknown cell 'c9'"),
    ([PodRow("a", PodStatus.BOUND, LOW, AT_C0), PodRow("b", PodStatus.BOUND, LOW, (("b", ("c0",)),))], "two placements"),
    ([PodRow("a", PodStatus.BOUND, LOW, (("a", ()), ("b", ())))], "has no placement"),
    ([PodRow("a", PodStatus.SUBMITTED, LOW), PodRow("b", PodStatus.SUBMITTED, OTHER_LOW)], "describe it differently"),
]  # fmt: skip


@pytest.mark.parametrize(("rows", "says"), CONTRADICTIONS, ids=[says for _, says in CONTRADICTIONS])
def test_contradicting_rows_are_not_recovered_from(process: Process, rows: list[PodRow], says: str) -> None:
    for row in rows:
        process.store.put(row)
    with pytest.raises(Unrecoverable, match=says):
        process.restart()


class TestSqlite:
    def test_rows_come_back_in_order(self, tmp_path: Path) -> None:
        rows = [
            PodRow("b", PodStatus.SUBMITTED, HIGH),
            PodRow("b", PodStatus.DELETED, LOW),
            PodRow("a", PodStatus.BOUND, LOW, (("a", ("c0", "c1")), ("b", ()))),
        ]
        with SqliteStore(tmp_path / "pods.sqlite") as store:
            for row in rows:
                store.put(row)
        with SqliteStore(tmp_path / "pods.sqlite") as store:
            assert list(store.rows()) == [rows[0], rows[2], rows[1]]

    def test_the_latest_row_of_a_pod_counts(self, tmp_path: Path) -> None:
        with SqliteStore(tmp_path / "pods.sqlite") as store:
            store.put(PodRow("a", PodStatus.SUBMITTED, LOW))
            store.put(PodRow("a", PodStatus.DELETED, LOW))
            assert list(store.rows()) == [PodRow("a", PodStatus.DELETED, LOW)]

    def test_both_stores_have_the_same_rows(self, tmp_path: Path) -> None:
        with SqliteStore(tmp_path / "pods.sqlite") as sqlite:
            both: list[PodStore] = [sqlite, InMemoryStore()]
            for store in both:
                scheduler = started(store)
                submit(scheduler, HIGH, LOW)
                scheduler.schedule("low")
                scheduler.schedule("high")
                scheduler.delete_pod("low", "b")
            assert list(both[0].rows()) == list(both[1].rows())

    def test_a_file_of_another_kind_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "pods.sqlite"
        path.write_text("not a database, but long enough to be looked at as if it were one" * 20)
        with pytest.raises(StoreError, match="cannot be opened"):
            SqliteStore(path)

    def test_a_directory_that_is_not_there_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(StoreError, match="cannot be opened"):
            SqliteStore(tmp_path / "nowhere" / "pods.sqlite")

    @pytest.mark.parametrize("spec", ["no JSON", "{}", '{"priority": 1, "pods": []}'])
    def test_a_spoilt_row_is_named(self, tmp_path: Path, spec: str) -> None:
        path = tmp_path / "pods.sqlite"
        SqliteStore(path).close()
        with sqlite3.connect(path) as connection:
            connection.execute("INSERT INTO pod VALUES ('low', 'a', 'submitted', ?, NULL)", (spec,))
        connection.close()
        with SqliteStore(path) as store, pytest.raises(StoreError, match="the row of pod low/a cannot be read"):
            store.rows()
