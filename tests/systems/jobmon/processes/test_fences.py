"""What keeps Jobmon's commands from acting beside each other, with real processes: jobs, their places, and workers that end."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from schedproof.impl.systems.jobmon import requests as ask
from schedproof.impl.systems.jobmon.connection import Connection
from schedproof.impl.systems.jobmon.local_cluster import LocalCluster
from schedproof.impl.systems.jobmon.requests import TaskSpec
from tests.systems.jobmon.processes.installation import LEASE, WITHIN, Installation, installation, until
from tests.systems.jobmon.processes.witness import ended, overlaps

SEEDED = str(Path(__file__).parent.with_name("agents") / "seeded.py")
WAY = ("L", "B", "I", "O", "R")


def ticks(jobmon: Installation) -> bool:
    return any(line.startswith("tick") for line in jobmon.lines())


NESTED = ("setsid setsid --fork --wait", "sh -c 'timeout 600 \"$@\" & wait' sh")


@pytest.mark.long(one_in=6)
@pytest.mark.parametrize("within", [*WITHIN[1:], *NESTED])
def test_a_command_in_its_own_group_does_not_outlive_its_worker(tmp_path: Path, within: str) -> None:
    with installation(tmp_path) as jobmon:
        jobmon.start_client("client", jobmon.write_workflow("w", tasks=1, ticks=110, within=within))
        assert until(lambda: ticks(jobmon))
        (worker,) = jobmon.pids("worker")
        os.kill(worker, signal.SIGKILL)
        assert until(lambda: len({line.split()[2] for line in jobmon.lines()}) > 1, 10 * LEASE), "no second attempt"
        assert jobmon.agents["client"].communicate(timeout=60)[0] == "done\n"
        assert overlaps(jobmon.lines()) == []
        assert ended(jobmon.lines()) == {"w.0": [2]}


def launched(
    jobmon: Installation, command: str, job: str | None = None, program: tuple[str, ...] = ()
) -> tuple[LocalCluster, str]:
    """A task instance 1 with that command, and a cluster; its job is launched, or something else that is noted for it."""
    connection = Connection(jobmon.url)
    connection.ask(ask.Register("w", (TaskSpec("a", command, max_attempts=1),)))
    run = connection.ask(ask.CreateRun(1, "token")).runs[0].id
    for state in WAY:
        connection.ask(ask.AdvanceRun(run, ask.RunState(state)))
    connection.ask(ask.QueueTask(run, 1, 1))
    connection.ask(ask.Claim(1, "d", "t"))
    words = [sys.executable, *(program or ("-m", "schedproof.impl.systems.jobmon"))]
    options = ["worker", f"--url={jobmon.url}", "--poll=0.02", "--heartbeat=0.2"]
    cluster = LocalCluster(lambda instance: [*words, *options, str(instance)], log=jobmon.directory / "worker.log")
    job = job or cluster.submit(1, (), "all")
    connection.ask(ask.Launched(1, "t", job))
    return cluster, job


def by_hand(jobmon: Installation, instance: int) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "schedproof.impl.systems.jobmon", "worker", f"--url={jobmon.url}", str(instance)]
    return subprocess.run(words, capture_output=True, text=True, timeout=60)


class TestStart:
    @pytest.mark.long
    def test_a_worker_that_is_started_by_hand_runs_nothing(self, tmp_path: Path) -> None:
        """Triage would remove the job that was launched, and this one would act on."""
        with installation(tmp_path, distributors=0, lease=60) as jobmon:
            launched(jobmon, f"touch {tmp_path / 'ran'}", job="another job")
            done = by_hand(jobmon, 1)
            assert not (tmp_path / "ran").exists()
            assert done.returncode == 1
            assert done.stderr.startswith("Error: not started: task instance 1 was not launched as ")
            assert done.stderr.count("\n") == 1
            assert jobmon.records().instances[0].status == "O"

    @pytest.mark.long
    def test_nor_does_a_worker_of_nothing(self, tmp_path: Path) -> None:
        with installation(tmp_path, distributors=0) as jobmon:
            done = by_hand(jobmon, 17)
            assert (done.returncode, done.stderr) == (1, "Error: not started: there is no task instance 17\n")


def hiding(file: Path) -> str:
    """A command that starts another one, which has left its session and its environment, and writes to a file."""
    ticking = f"env -i setsid timeout 30 sh -c 'while true; do echo tick >> {file}; sleep 0.02; done'"
    return f'sh -c "{ticking} & sleep 60"'


class TestEnd:
    """Whatever a worker ends by, nothing of its command is left."""

    @pytest.mark.parametrize(
        "number",
        [signal.SIGTERM, *(pytest.param(other, marks=pytest.mark.long) for other in (signal.SIGINT, signal.SIGHUP))],
    )
    def test_of_a_worker_that_a_signal_ends(self, tmp_path: Path, number: signal.Signals) -> None:
        alive = tmp_path / "alive"
        with installation(tmp_path, distributors=0, lease=60) as jobmon:
            cluster, job = launched(jobmon, hiding(alive))
            assert until(lambda: alive.exists())
            os.kill(int(job.split(":")[-2]), number)
            assert until(lambda: cluster.is_over(job), 5)
            size = alive.stat().st_size
            time.sleep(0.3)
            assert alive.stat().st_size == size
            assert cluster._children[job].poll() == 128 + number
            assert "Traceback" not in (tmp_path / "worker.log").read_text()

    @pytest.mark.long
    def test_of_a_worker_that_meets_with_something_unforeseen(self, tmp_path: Path) -> None:
        alive = tmp_path / "alive"
        with installation(tmp_path, distributors=0, lease=60) as jobmon:
            cluster, job = launched(jobmon, hiding(alive), program=(SEEDED, "breaks down"))
            assert until(lambda: cluster.is_over(job), 10)
            assert "something unforeseen" in (tmp_path / "worker.log").read_text()
            size = alive.stat().st_size
            time.sleep(0.3)
            assert alive.stat().st_size == size


def unshared(*more: str) -> tuple[str, ...]:
    """Words by which a program runs in a place of its own; skipped where that is not allowed."""
    words = ("unshare", "--pid", "--fork", "--kill-child", *more)
    allowed = shutil.which("unshare") and subprocess.run([*words, "true"], capture_output=True).returncode == 0
    if not allowed:
        pytest.skip("no namespaces of process numbers here")
    return words


@pytest.mark.parametrize("words", [["distributor"], ["worker", "1"]])
def test_who_sees_other_processes_than_its_own_does_not_begin(words: list[str]) -> None:
    whole = [*unshared(), sys.executable, "-m", "schedproof.impl.systems.jobmon", *words, "--url=http://127.0.0.1:1"]
    done = subprocess.run(whole, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: /proc shows processes of another namespace") and done.stderr.count("\n") == 1


@pytest.mark.long
def test_a_distributor_elsewhere_does_not_say_a_job_is_over(tmp_path: Path) -> None:
    """It cannot see it. The command goes on until the distributor that can has come back."""
    words = unshared("--mount-proc")
    with installation(tmp_path, distributors=1) as jobmon:
        jobmon.start_client("client", jobmon.write_workflow("w", tasks=1, ticks=400))
        assert until(lambda: ticks(jobmon))
        (worker,) = jobmon.pids("worker")
        jobmon.agents["distributor 1"].kill()
        options = (f"--url={jobmon.url}", "--poll=0.02", "--heartbeat=0.25")
        elsewhere = [*words, sys.executable, "-m", "schedproof.impl.systems.jobmon", "distributor", *options]
        with (tmp_path / "elsewhere").open("w") as log:
            jobmon.agents["elsewhere"] = subprocess.Popen(elsewhere, stdout=subprocess.PIPE, stderr=log, text=True)
        os.kill(worker, signal.SIGSTOP)
        assert until(lambda: jobmon.records().instances[0].status == "T", 10 * LEASE)
        time.sleep(2 * LEASE)
        assert "".join(it.status for it in jobmon.records().instances) == "T"
        output = (tmp_path / "elsewhere").read_text()
        assert output.count(": a distributor there has to see to it") == 1
        assert output.count("\n") == 1
        jobmon.start_distributor("distributor 1")
        assert until(lambda: len(jobmon.records().instances) == 2, 10 * LEASE)
        assert until(lambda: len({line.split()[2] for line in jobmon.lines()}) == 2, 10 * LEASE)
        time.sleep(0.2)
        assert overlaps(jobmon.lines()) == []
