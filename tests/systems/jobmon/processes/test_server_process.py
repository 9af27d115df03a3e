"""Jobmon's server as a process that is ended and comes back, and its clients meanwhile."""

from __future__ import annotations

import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Thread

import pytest

from schedproof.impl.systems.jobmon.connection import Connection
from schedproof.impl.systems.jobmon.errors import Unreachable
from schedproof.impl.systems.jobmon.exits import Exit
from schedproof.impl.systems.jobmon.records import WorkflowRun
from schedproof.impl.systems.jobmon.requests import FindDead, Register, Report, TaskSpec
from tests.systems.jobmon.processes.installation import MODULE, Installation, until

pytest.importorskip("fastapi")

SEEDED = str(Path(__file__).parent.with_name("agents") / "seeded.py")

ONE = Register("w", (TaskSpec("a", "true"),))

DIES_BY_SIGTERM = (
    "-c",
    "from contextlib import nullcontext\n"
    "from schedproof.impl.systems.jobmon import __main__ as main\n"
    "main.terminated_as_interrupted = nullcontext\n"
    "main.run()",
)


@pytest.fixture
def jobmon(tmp_path: Path) -> Iterator[Installation]:
    """A server that answers, and nothing else."""
    running = Installation(tmp_path, lease=60)
    try:
        running.start_server()
        running.await_server()
        yield running
    finally:
        running.close()


def end(jobmon: Installation) -> int:
    """The exit status of the server after SIGTERM."""
    jobmon.agents["server"].send_signal(signal.SIGTERM)
    return jobmon.agents["server"].wait(20)


def files(jobmon: Installation) -> dict[str, int]:
    """The files of the database, and their sizes."""
    return {file.name: file.stat().st_size for file in jobmon.directory.glob("jobmon.db*")}


def tasks(jobmon: Installation) -> list[str]:
    """What is in the database file itself, without its WAL; there is not even a table before the first is moved there."""
    with closing(sqlite3.connect(f"file:{jobmon.directory}/jobmon.db?mode=ro&immutable=1", uri=True)) as connection:
        if not connection.execute("SELECT name FROM sqlite_master WHERE name = 'task'").fetchall():
            return []
        return [name for (name,) in connection.execute("SELECT name FROM task")]


class TestEnd:
    def test_it_says_where_it_listens(self, jobmon: Installation) -> None:
        stdout = jobmon.agents["server"].stdout
        assert stdout is not None
        line = (
            f"jobmon serves at {jobmon.url}, with sqlite:///{jobmon.directory}/jobmon.db; Ctrl-C or SIGTERM ends it\n"
        )
        assert stdout.readline() == line

    @pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.long)])
    def test_all_is_in_the_database_file(self, jobmon: Installation, number: signal.Signals) -> None:
        Connection(jobmon.url).ask(ONE)
        assert files(jobmon)["jobmon.db-wal"] > 0 and tasks(jobmon) == []
        jobmon.agents["server"].send_signal(number)
        assert jobmon.agents["server"].wait(20) == 0
        assert set(files(jobmon)) == {"jobmon.db"}
        assert tasks(jobmon) == ["a"]

    @pytest.mark.long
    def test_a_server_that_dies_by_it_leaves_a_wal(self, tmp_path: Path) -> None:
        """The test above distinguishes this from a clean end."""
        jobmon = Installation(tmp_path, program=DIES_BY_SIGTERM, lease=60)
        try:
            jobmon.start_server()
            Connection(jobmon.url).ask(ONE)
            assert end(jobmon) == -signal.SIGTERM
            assert files(jobmon)["jobmon.db-wal"] > 0
        finally:
            jobmon.close()

    @pytest.mark.long
    def test_others_that_read_the_file_find_no_wal(self, jobmon: Installation) -> None:
        Connection(jobmon.url).ask(ONE)
        with closing(sqlite3.connect(jobmon.directory / "jobmon.db")) as reader:
            assert reader.execute("SELECT name FROM task").fetchall() == [("a",)]
            assert end(jobmon) == 0
            assert files(jobmon)["jobmon.db-wal"] == 0
            assert reader.execute("SELECT name FROM task").fetchall() == [("a",)]

    @pytest.mark.long
    def test_it_finishes_the_request_in_work(self, jobmon: Installation) -> None:
        """Which waits for another transaction on the file; the server is ended while it does."""
        answers: list[Report] = []
        with closing(sqlite3.connect(jobmon.directory / "jobmon.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            asks = Thread(target=lambda: answers.append(Connection(jobmon.url, patience=0).ask(ONE)))
            asks.start()
            time.sleep(0.5)  # until it has come to the database
            jobmon.agents["server"].send_signal(signal.SIGTERM)
            time.sleep(0.3)
            assert jobmon.agents["server"].poll() is None and answers == []
            other.execute("ROLLBACK")
        asks.join(20)
        assert jobmon.agents["server"].wait(20) == 0
        assert [report.changed for report in answers] == [True]
        assert (set(files(jobmon)), tasks(jobmon)) == ({"jobmon.db"}, ["a"])


def first_look(jobmon: Installation) -> tuple[WorkflowRun, ...]:
    """Who is dead, as soon as the server answers: its lease is short."""
    while True:
        with suppress(Unreachable):
            return Connection(jobmon.url, patience=0).ask(FindDead()).runs
        time.sleep(0.02)


@contextmanager
def back(directory: Path, *program: str) -> Iterator[tuple[Installation, tuple[WorkflowRun, ...]]]:
    """A server that was down for longer than a lease, and what a reaper finds at its first look.

    There is a client with a running run. It is stopped until then, so that it is certainly the reaper that comes first.
    """
    jobmon = Installation(directory, program=program or MODULE, lease=1.0)
    try:
        jobmon.start_server()
        jobmon.await_server()
        jobmon.start_client("client", jobmon.write_workflow("w", tasks=1, ticks=1))
        assert until(lambda: [run.status for run in jobmon.records().runs] == ["R"])
        jobmon.agents["server"].kill()
        jobmon.agents["client"].send_signal(signal.SIGSTOP)
        jobmon.agents["server"].communicate()
        late = jobmon.records().runs[0].heartbeat_date
        jobmon.start_server()  # which takes about as long as the lease lasts
        time.sleep(max(0.0, late + 0.01 - time.time()))
        dead = first_look(jobmon)
        jobmon.agents["client"].send_signal(signal.SIGCONT)
        yield jobmon, dead
    finally:
        jobmon.close()


@pytest.mark.long
def test_a_living_client_outlives_a_long_downtime(tmp_path: Path) -> None:
    with back(tmp_path) as (jobmon, dead):
        assert dead == ()
        client, begin = jobmon.agents["client"], time.time()
        assert until(lambda: jobmon.records().runs[0].heartbeat_date > begin, 5)
        client.send_signal(signal.SIGINT)
        assert (client.communicate(timeout=60)[0], client.returncode) == ("stopped\n", Exit.STOPPED)


@pytest.mark.long
def test_without_a_grace_it_would_not(tmp_path: Path) -> None:
    with back(tmp_path, SEEDED, "gives no grace") as (_, dead):
        assert [run.id for run in dead] == [1]


REAPED = r"run 1 of workflow w was reaped: no heartbeat for [0-9]+ s \(its client was taken for dead\)"


@pytest.mark.long
def test_a_client_that_was_reaped_prints_why(tmp_path: Path) -> None:
    """A client is stopped for longer than its lease."""
    jobmon = Installation(tmp_path, lease=1.0)
    try:
        jobmon.start_server()
        jobmon.await_server()
        jobmon.start_reaper()
        jobmon.start_client("client", jobmon.write_workflow("w", tasks=1, ticks=1))
        assert until(lambda: [run.status for run in jobmon.records().runs] == ["R"])
        client = jobmon.agents["client"]
        client.send_signal(signal.SIGSTOP)
        assert until(lambda: jobmon.records().runs[0].status == "E", 10)
        client.send_signal(signal.SIGCONT)
        first, second = client.communicate(timeout=60)[0].splitlines()
    finally:
        jobmon.close()
    assert first == "failed"
    assert re.fullmatch(rf"{REAPED}; give --resume hot to take over .*", second)
    assert client.returncode == Exit.CUT_OFF
    log = (tmp_path / "log").read_text().splitlines()
    assert [line for line in log if re.fullmatch(REAPED, line)]


@pytest.mark.long
def test_who_makes_room_does_not_exit_as_done(jobmon: Installation) -> None:
    file = jobmon.write_workflow("w", tasks=1, ticks=1)
    jobmon.start_client("client", file)
    assert until(lambda: [run.status for run in jobmon.records().runs] == ["R"])
    jobmon.start_client("rival", file, "cold")
    client, rival = jobmon.agents["client"], jobmon.agents["rival"]
    assert (client.communicate(timeout=60)[0], client.returncode) == ("made room\n", Exit.MADE_ROOM)
    assert until(lambda: [run.status for run in jobmon.records().runs] == ["T", "R"])
    rival.send_signal(signal.SIGTERM)
    assert (rival.communicate(timeout=60)[0], rival.returncode) == ("stopped\n", Exit.STOPPED)


@pytest.mark.long
def test_a_client_without_a_server(tmp_path: Path) -> None:
    jobmon = Installation(tmp_path)
    words = [
        sys.executable,
        *MODULE,
        "client",
        f"--url={jobmon.url}",
        "--patience=2.5",
        str(jobmon.write_workflow("w", 1, 1)),
    ]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    jobmon.close()
    waits, error = done.stderr.splitlines()
    assert waits == f"waiting for {jobmon.url}, which gives no answer"
    assert error.startswith(f"Error: {jobmon.url} gives no answer: ")
    assert (done.stdout, done.returncode) == ("", Exit.CUT_OFF)
