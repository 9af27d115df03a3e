"""Jobmon's server and agents as processes that are killed at random: no task is lost, and none runs twice at once.

The witness is a file to which the commands themselves write; what the database says is only compared with it.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from schedproof.impl.systems.jobmon.records import FINAL
from tests.support.needs import needs_postgresql, postgresql
from tests.support.sample import seed_of_today, thinned
from tests.systems.jobmon.processes.installation import LEASE, Chaos, Installation, installation, until
from tests.systems.jobmon.processes.witness import ended, overlaps

SEEDED = str(Path(__file__).parent.with_name("agents") / "seeded.py")


class TestWitness:
    """The checker can fail."""

    def test_one_after_the_other(self) -> None:
        lines = ["start a 1 10", "tick a 1 10", "start b 2 11", "start a 3 12", "tick b 2 11", "end a 3 12"]
        assert overlaps(lines) == []
        assert ended(lines) == {"a": [3]}

    @pytest.mark.parametrize("last", ["tick a 1 10", "end a 1 10"])
    def test_a_sign_of_life_after_the_next_start(self, last: str) -> None:
        lines = ["start a 1 10", "start b 2 11", "start a 3 12", "tick b 2 11", last]
        assert overlaps(lines) == ["task a: 3 (process 12) began in line 3, 1 (process 10) acted until line 5"]

    def test_one_attempt_that_is_started_twice(self) -> None:
        assert overlaps(["start a 1 10", "start a 1 11", "tick a 1 10"]) != []
        assert overlaps(["start a 1 10", "tick a 1 10", "start a 1 11"]) == []

    def test_one_that_lasts_over_several(self) -> None:
        lines = ["start a 1 10", "start a 2 11", "end a 2 11", "start a 3 12", "end a 3 12", "tick a 1 10"]
        assert len(overlaps(lines)) == 2


def check(jobmon: Installation) -> None:
    """What has to be so at the end, by the witness and by the database."""
    lines, records = jobmon.lines(), jobmon.records()
    assert overlaps(lines) == []
    assert all(task.status == "D" for task in records.tasks)
    assert all(each.status in FINAL for each in records.instances)
    assert all(workflow.status == "D" for workflow in records.workflows)
    ends = ended(lines)
    for task in records.tasks:
        done = [i.id for i in records.instances if i.task_id == task.id and i.status == "D"]
        assert len(done) == 1
        # Its command came to its end, and after that nothing of the task acted.
        assert done[0] in ends[task.name], task
        last = [line for line in lines if line.split()[1] == task.name][-1]
        assert last.split()[:3] == ["end", task.name, str(done[0])], task
    first = {task.name: lines.index(next(n for n in lines if n.split()[1] == task.name)) for task in records.tasks}
    names = {task.id: task.name for task in records.tasks}
    for task in records.tasks:
        for number in task.upstream:
            over = max(n for n, line in enumerate(lines) if line.split()[1] == names[number])
            assert over < first[task.name], f"{task.name} began before {names[number]} was over"


def killed(directory: Path, seed: int, kills: int, database: str | None = None, **more: int) -> Chaos:
    """Kills so many, lets everything come to rest, and checks it."""
    print(f"seed {seed}")
    with installation(directory, database=database) as jobmon:
        chaos = Chaos(jobmon, seed, **more)
        chaos.run(kills, pause=0.4)
        assert chaos.come_to_rest(90), f"seed {seed}: {jobmon.records()}"
        print(f"seed {seed}: {dict(sorted(chaos.done.items()))}, {len(jobmon.lines())} lines of witness")
        check(jobmon)
    return chaos


@pytest.mark.long(seconds=9)
def test_a_few_kills(tmp_path: Path) -> None:
    seed = seed_of_today("a few kills")
    chaos = killed(tmp_path, seed, kills=24, tasks=4, ticks=20)
    assert chaos.done["finished workflows"] >= 2


@pytest.mark.long(seconds=26, one_in=18)
@pytest.mark.parametrize("round_", range(3))
def test_hundreds_of_kills(tmp_path: Path, round_: int) -> None:
    """Nearly four hundred in three days."""
    chaos = killed(tmp_path, seed_of_today(f"hundreds of kills {round_}"), kills=130)
    kinds = ("server", "client", "distributor", "reaper", "worker", "command")
    assert all(chaos.done[f"killed {kind}"] for kind in kinds), chaos.done
    assert sum(number for what, number in chaos.done.items() if what.startswith("killed")) >= 130


@needs_postgresql
@pytest.mark.long(seconds=18, one_in=12)
def test_kills_on_postgresql(tmp_path: Path) -> None:
    with postgresql() as url:
        killed(tmp_path, seed_of_today("kills on PostgreSQL"), kills=60, database=url)


def late_worker(jobmon: Installation) -> list[str]:
    """A worker is stopped for longer than its lease, while its command goes on; where attempts overlapped then."""
    jobmon.start_client("client", jobmon.write_workflow("w", tasks=1, ticks=1000))
    assert until(lambda: any(line.startswith("tick") for line in jobmon.lines()))
    (worker,) = jobmon.pids("worker")
    os.kill(worker, signal.SIGSTOP)
    assert until(lambda: len({line.split()[2] for line in jobmon.lines()}) > 1, 10 * LEASE), (
        "there is no second attempt"
    )
    time.sleep(10 * 0.02)
    return overlaps(jobmon.lines())


@pytest.mark.long
def test_a_late_worker_is_ended_before_there_is_another_attempt(tmp_path: Path) -> None:
    with installation(tmp_path) as jobmon:
        assert late_worker(jobmon) == []
        assert jobmon.records().instances[0].status == "U"


@pytest.mark.long
@pytest.mark.parametrize("bug", thinned(["retries while triaging", "does not kill"], 2))
def test_the_witness_catches_a_seeded_fault(tmp_path: Path, bug: str) -> None:
    with installation(tmp_path, program=(SEEDED, bug)) as jobmon:
        assert late_worker(jobmon) != []


def lost_launch(jobmon: Installation) -> list[str]:
    """A distributor dies between submission and launch, so that nobody knows of its job; another one comes then."""
    jobmon.start_client("client", jobmon.write_workflow("w", tasks=1, ticks=1000))
    jobmon.start_distributor("distributor", program=(SEEDED, "dies before launch"))
    assert until(lambda: jobmon.agents["distributor"].poll() == -signal.SIGKILL)
    assert jobmon.records().instances[0].status in ("I", "W")
    assert jobmon.pids("worker")
    jobmon.start_distributor("distributor")
    assert until(lambda: {line.split()[2] for line in jobmon.lines()} - {"1"}, 10 * LEASE), "there is no second attempt"
    time.sleep(10 * 0.02)
    return overlaps(jobmon.lines())


@pytest.mark.long
def test_a_job_that_nobody_knows_of_does_not_start(tmp_path: Path) -> None:
    with installation(tmp_path, distributors=0) as jobmon:
        assert lost_launch(jobmon) == []
        assert "1" not in {line.split()[2] for line in jobmon.lines()}


@pytest.mark.long
def test_the_witness_catches_such_a_job_that_starts(tmp_path: Path) -> None:
    with installation(tmp_path, program=(SEEDED, "starts in any state"), distributors=0) as jobmon:
        assert lost_launch(jobmon) != []


@pytest.mark.long
def test_a_command_dies_with_its_worker(tmp_path: Path) -> None:
    with installation(tmp_path) as jobmon:
        jobmon.start_client("client", jobmon.write_workflow("w", tasks=1, ticks=500))
        assert until(lambda: any(line.startswith("tick") for line in jobmon.lines()))
        (worker,), (command,) = jobmon.pids("worker"), jobmon.pids("command")
        os.kill(worker, signal.SIGKILL)
        assert until(lambda: command not in jobmon.pids("command"), 3.0)


@pytest.mark.long
def test_a_worker_that_cannot_reach_the_server_ends_its_command(tmp_path: Path) -> None:
    with installation(tmp_path, distributors=0) as jobmon:
        jobmon.patience = 0.5
        jobmon.start_distributor("distributor")
        jobmon.start_client("client", jobmon.write_workflow("w", tasks=1, ticks=1000))
        assert until(lambda: any(line.startswith("tick") for line in jobmon.lines()))
        jobmon.agents["server"].kill()
        assert until(lambda: not jobmon.pids("command"), 10.0)
        assert until(lambda: not jobmon.pids("worker"), 3.0)
        assert not any(line.startswith("end") for line in jobmon.lines())
