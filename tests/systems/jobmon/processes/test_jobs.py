"""Jobmon's jobs as processes: who is of one, and how it is ended."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from schedproof.impl.systems.jobmon.errors import SubmitFailed
from schedproof.impl.systems.jobmon.jobs import TOKEN, Job, is_left, kill, own_job, processes_of
from schedproof.impl.systems.jobmon.local_cluster import EXCEEDED, LocalCluster
from schedproof.impl.systems.jobmon.places import OUTERMOST, Place, current_place
from schedproof.impl.systems.jobmon.processes import carries, own_process, process, processes, send
from tests.support.rows import each_row
from tests.support.sample import thinned
from tests.systems.jobmon.processes.installation import until

TICKS = "for i in $(seq 1500); do echo tick >> {file}; sleep 0.02; done"


def grows(file: Path) -> bool:
    """Whether somebody writes to it."""
    before = file.stat().st_size if file.exists() else 0
    return until(lambda: file.exists() and file.stat().st_size > before, 0.4)


@pytest.fixture
def messages() -> list[str]:
    return []


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    child = subprocess.Popen(["sleep", "60"], start_new_session=True)
    yield child
    child.kill()
    child.wait()


class TestLocalCluster:
    @pytest.fixture
    def make_cluster(self, messages: list[str]) -> Iterator[Callable[..., LocalCluster]]:
        """By the words of what is to be a worker; all that it began is ended."""
        made: list[LocalCluster] = []

        def make(*words: str, place: Place | None = None) -> LocalCluster:
            made.append(LocalCluster(lambda instance: words, place=place, report=messages.append))
            return made[-1]

        yield make
        for each in made:
            for job in each._children:
                each.terminate(job)

    @pytest.mark.parametrize("leaves", ["sleep 30", "timeout 30 sleep 30", "setsid sleep 30", "setsid setsid sleep 30"])
    def test_over_only_when_nothing_of_it_is_left(self, make_cluster: Callable[..., LocalCluster], leaves: str) -> None:
        """The leader is gone, and what it left behind is not, whatever group or session that is in."""
        cluster = make_cluster("sh", "-c", f"{leaves} & exit 0")
        job = cluster.submit(1, (), "all")
        named = Job.named(job)
        assert named is not None
        assert until(lambda: (leader := process(named.pid)) is None or not leader.acting)
        time.sleep(0.1)
        assert not cluster.is_over(job)
        cluster.terminate(job)
        assert until(lambda: cluster.is_over(job))
        cluster.terminate(job)  # does nothing

    @pytest.mark.parametrize("inner", thinned(["setsid --fork ", "", "timeout 60 ", "setsid ", "env -i "], 5, 4))
    def test_a_worker_that_is_killed_by_somebody_else(
        self, make_cluster: Callable[..., LocalCluster], tmp_path: Path, inner: str
    ) -> None:
        """What it had started is ended, although it belongs to nobody any more."""
        ticks = tmp_path / "ticks"
        cluster = make_cluster("sh", "-c", f"{inner}sh -c '{TICKS.format(file=ticks)}' & sleep 60")
        job = cluster.submit(1, (), "all")
        named = Job.named(job)
        assert named is not None and grows(ticks)
        os.kill(named.pid, signal.SIGKILL)
        assert not cluster.is_over(job) and grows(ticks)
        cluster.terminate(job)
        assert until(lambda: cluster.is_over(job), 5)
        assert not grows(ticks)

    @pytest.mark.parametrize("inner", ["setsid env -i ", "env -i setsid "])
    def test_what_hides_is_ended_as_long_as_its_worker_is_there(
        self, make_cluster: Callable[..., LocalCluster], tmp_path: Path, inner: str
    ) -> None:
        """It is stopped then, so that nothing of it gets away meanwhile."""
        ticks = tmp_path / "ticks"
        cluster = make_cluster("sh", "-c", f"{inner}sh -c '{TICKS.format(file=ticks)}' & sleep 60")
        job = cluster.submit(1, (), "all")
        assert grows(ticks)
        cluster.terminate(job)
        assert until(lambda: cluster.is_over(job), 5)
        assert not grows(ticks)

    @pytest.mark.long
    def test_one_that_begets_others_while_it_is_killed(
        self, make_cluster: Callable[..., LocalCluster], tmp_path: Path
    ) -> None:
        ticks = tmp_path / "ticks"
        spawns = f"for i in $(seq 1000); do setsid sh -c 'echo tick >> {ticks}; sleep 0.01; sleep 5' & sleep 0.01; done"
        cluster = make_cluster("sh", "-c", spawns)
        job = cluster.submit(1, (), "all")
        assert grows(ticks)
        time.sleep(0.3)
        cluster.terminate(job)
        assert until(lambda: cluster.is_over(job), 10)
        assert not grows(ticks)

    def test_what_its_leader_is_needed_for(
        self, make_cluster: Callable[..., LocalCluster], messages: list[str]
    ) -> None:
        """What begets others and has no token is known by its session only, and that only as long as the leader is there."""
        begets = "env -i sh -c 'for i in $(seq 2000); do sleep 5 & sleep 0.002; done' & "
        cluster = make_cluster("sh", "-c", 5 * begets + "sleep 60")
        job = cluster.submit(1, (), "all")
        asks_at_once = threading.Thread(target=cluster._children[job].wait)
        asks_at_once.start()
        time.sleep(0.3)
        cluster.terminate(job)
        assert until(lambda: cluster.is_over(job), 4)
        assert messages == []
        asks_at_once.join()

    def test_what_comes_late_is_killed_as_well(self, make_cluster: Callable[..., LocalCluster]) -> None:
        """As if it had become part of the job in between."""
        cluster = make_cluster("sleep", "30")
        job = cluster.submit(1, (), "all")
        named = Job.named(job)
        assert named is not None
        cluster.terminate(job)
        with subprocess.Popen(["sleep", "30"], env=os.environ | {TOKEN: named.token}) as late:
            assert until(lambda: cluster.is_over(job), 5)
            assert late.wait(5) == -signal.SIGKILL

    def test_one_that_does_not_want_to_end(self, make_cluster: Callable[..., LocalCluster]) -> None:
        cluster = make_cluster("sh", "-c", "trap '' TERM INT HUP; while true; do sleep 1; done")
        job = cluster.submit(1, (), "all")
        assert not cluster.is_over(job)
        cluster.terminate(job)
        assert until(lambda: cluster.is_over(job))

    def test_others_can_end_it(self, make_cluster: Callable[..., LocalCluster]) -> None:
        job = make_cluster("sleep", "30").submit(1, (), "all")
        other = make_cluster("true")
        assert other.reaches(job) and not other.is_over(job)
        other.terminate(job)
        assert until(lambda: other.is_over(job))

    def test_a_number_that_is_used_again_is_another_job(self, make_cluster: Callable[..., LocalCluster]) -> None:
        """As if the number of this process had been a job's before."""
        me = own_process()
        before = str(Job(current_place(), "none", me.pid, me.started - 1))
        cluster = make_cluster("true")
        cluster.terminate(before)  # or this would be the end
        assert cluster.is_over(before)

    def test_nobody_in_a_session_that_reuses_a_number_is_killed(
        self, make_cluster: Callable[..., LocalCluster], messages: list[str]
    ) -> None:
        """They may be its own, or not: so they are waited for. Their leader is gone, and they do not carry the token."""
        stranger = subprocess.Popen(
            ["sh", "-c", "sleep 30 & echo $!; exit 0"], start_new_session=True, stdout=subprocess.PIPE
        )
        assert stranger.stdout is not None
        member = int(stranger.stdout.readline())
        stranger.wait()
        orphan = process(member)
        assert orphan is not None and orphan.session == stranger.pid
        before = str(Job(current_place(), "none", stranger.pid, orphan.started - 1))
        cluster = make_cluster("true")
        cluster.terminate(before)
        assert not cluster.is_over(before) and not cluster.is_over(before)
        assert process(member) == orphan
        assert messages == [f"process {member} seems to be of job {before}, and cannot be killed: it is waited for"]
        assert cluster.is_over(
            str(Job(current_place(), "none", stranger.pid, orphan.started + 1))
        )  # it was there before that
        send(orphan, signal.SIGKILL)
        assert until(lambda: cluster.is_over(before))

    def test_a_session_whose_leader_is_another_one_is_not_waited_for(
        self, make_cluster: Callable[..., LocalCluster], sleeper: subprocess.Popen[bytes], messages: list[str]
    ) -> None:
        """Its number is not given again before the job's own session is empty; the token still identifies the job's processes."""
        leader = process(sleeper.pid)
        assert leader is not None and leader.session == leader.pid
        before = Job(current_place(), "none", leader.pid, leader.started - 1)
        cluster = make_cluster("true")
        cluster.terminate(str(before))
        assert cluster.is_over(str(before)) and messages == []
        with subprocess.Popen(["sleep", "30"], env=os.environ | {TOKEN: before.token}) as its:
            assert until(lambda: [each.pid for each in processes_of(before).left] == [its.pid], 5)
            cluster.terminate(str(before))
            assert its.wait(5) == -signal.SIGKILL
        assert cluster.is_over(str(before))
        assert process(sleeper.pid) == leader

    def test_jobs_of_other_places_are_left_to_others(
        self, make_cluster: Callable[..., LocalCluster], messages: list[str]
    ) -> None:
        job = make_cluster("sleep", "30").submit(1, (), "all")
        place = current_place()
        elsewhere = [
            replace(place, host="other", boot="x"),
            replace(place, machine="other", boot="x"),
            replace(place, machine="", boot="x"),
            replace(place, namespace="1"),
            replace(place, namespace="1", boot="x"),
            replace(place, user="1234567"),
        ]
        for number, other in enumerate(elsewhere, start=1):
            cluster = make_cluster("true", place=other)
            for _ in range(2):
                assert not cluster.reaches(job)
                cluster.terminate(job)
                assert not cluster.is_over(job)
            assert len(messages) == number, other
            assert (
                messages[-1] == f"job {job} is in another place, on {place.host}: a distributor there has to see to it"
            )
        cluster = make_cluster("true")
        assert not cluster.is_over(job)  # it was not terminated
        assert not cluster.is_over("17") and messages[-1].startswith("job 17 is in an unknown place")

    def test_a_machine_may_get_another_name(
        self, make_cluster: Callable[..., LocalCluster], messages: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Jobs from before are still its own, also for a distributor that is started later."""
        earlier = make_cluster("sleep", "30")
        job, place = earlier.submit(1, (), "all"), current_place()
        monkeypatch.setattr(
            "schedproof.impl.systems.jobmon.places.os.uname", lambda: SimpleNamespace(nodename="renamed")
        )
        assert current_place() == replace(place, host="renamed")
        for cluster in (earlier, make_cluster("true"), make_cluster("true", place=replace(place, machine="given one"))):
            assert cluster.reaches(job) and not cluster.is_over(job)
        cluster.terminate(job)
        assert until(lambda: cluster.is_over(job) and earlier.is_over(job))
        assert messages == []

    def test_a_job_has_the_name_that_its_worker_knows_it_by(
        self, make_cluster: Callable[..., LocalCluster], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Or it would not be let start: the worker looks where it is for itself."""
        cluster = make_cluster("sleep", "30")
        monkeypatch.setattr(
            "schedproof.impl.systems.jobmon.places.os.uname", lambda: SimpleNamespace(nodename="renamed")
        )
        named = Job.named(cluster.submit(1, (), "all"))
        assert named is not None and named.place == current_place()

    def test_nothing_is_left_when_the_machine_was_booted_again(self, make_cluster: Callable[..., LocalCluster]) -> None:
        place = replace(current_place(), machine="m", namespace=OUTERMOST)
        job = str(Job(place, "token", os.getpid(), own_process().started))
        cluster = make_cluster("true", place=replace(place, boot="later"))
        cluster.terminate(job)
        assert cluster.reaches(job) and cluster.is_over(job)

    @each_row(
        ("before", "outlived"),
        [
            ({"boot": "before"}, True),
            ({"boot": "before", "user": "1"}, True),
            ({}, False),
            ({"boot": "before", "host": "other"}, False),
            ({"boot": "before", "machine": "other"}, False),
        ],
    )
    def test_what_a_machine_has_outlived(self, before: dict[str, str], outlived: bool) -> None:
        """Not what was in a container, or on a machine that has no id: there may be others of that name."""
        place = Place("host", "machine", "now", OUTERMOST, "0")
        assert place.has_outlived(replace(place, **before)) is outlived
        for nameless in (replace(place, machine=""), replace(place, namespace="7")):
            assert not nameless.has_outlived(replace(nameless, **before))

    def test_what_cannot_be_started_is_no_job(self, make_cluster: Callable[..., LocalCluster]) -> None:
        with pytest.raises(SubmitFailed, match="the worker of task instance 7 cannot be started"):
            make_cluster("/nowhere/at/all").submit(7, (), "all")

    def test_who_submitted_knows_how_it_ended(self, make_cluster: Callable[..., LocalCluster]) -> None:
        cluster = make_cluster("sh", "-c", f"exit {EXCEEDED}")
        job = cluster.submit(1, (), "all")
        assert until(lambda: cluster.is_over(job))
        cluster.submit(2, (), "all")
        assert cluster.exceeded(job)
        assert job not in cluster._children
        assert not make_cluster("true").exceeded(job)

    def test_children_are_asked_after_when_their_jobs_are_gone(self, make_cluster: Callable[..., LocalCluster]) -> None:
        """Until then their numbers are theirs."""
        cluster = make_cluster("sh", "-c", "sleep 30 & exit 0")
        job = cluster.submit(1, (), "all")
        named = Job.named(job)
        assert named is not None
        assert until(lambda: (leader := process(named.pid)) is not None and not leader.acting)
        cluster.submit(2, (), "all")
        assert process(named.pid) is not None
        cluster.terminate(job)
        assert until(lambda: cluster.is_over(job))
        cluster.submit(3, (), "all")
        assert process(named.pid) is None

    def test_output_goes_to_the_log(self, tmp_path: Path) -> None:
        cluster = LocalCluster(lambda instance: ["echo", f"instance {instance}"], log=tmp_path / "log")
        job = cluster.submit(7, (), "all")
        assert until(lambda: cluster.is_over(job))
        assert (tmp_path / "log").read_text() == "instance 7\n"


class TestJobs:
    def test_names(self) -> None:
        job = Job(Place("host", "machine", "boot", "7", "0"), "token", 12, 34)
        assert str(job) == "host:machine:boot:7:0:token:12:34"
        assert Job.named(str(job)) == job
        for name in ("", "a:b", "host:machine:boot:7:0:token:12:x", "host:machine:boot:7:0::12:34", "0"):
            assert Job.named(name) is None
        assert Job.named(str(replace(own_job(), token="x"))) == replace(own_job(), token="x")

    def test_a_worker_knows_the_job_that_it_is(self) -> None:
        code = "import time; from schedproof.impl.systems.jobmon.jobs import own_job; print(own_job(), flush=True)"
        with subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=os.environ | {TOKEN: "mine"}
        ) as child:
            worker = process(child.pid)
            assert worker is not None
            assert child.communicate()[0].strip() == str(Job(current_place(), "mine", worker.pid, worker.started))

    def test_the_token_is_looked_for_in_the_environment(self) -> None:
        with subprocess.Popen(["sleep", "30"], env={TOKEN: "a b", "OTHER": f"{TOKEN}=x"}) as child:
            assert until(lambda: carries(child.pid, f"{TOKEN}=a b"))
            assert not carries(child.pid, f"{TOKEN}=a") and not carries(child.pid, f"{TOKEN}=x")
            child.kill()
        assert not carries(child.pid, f"{TOKEN}=a b")


class TestProcesses:
    def test_a_process_that_nobody_asked_after_does_not_act(self, sleeper: subprocess.Popen[bytes]) -> None:
        started = process(sleeper.pid)
        assert started is not None and started.acting and started.parent == os.getpid()
        assert started.group == started.session == sleeper.pid
        job = Job(current_place(), "none", started.pid, started.started)
        assert processes_of(job).its == (started,)
        assert kill(job) == ()
        assert not is_left(job)
        zombie = process(sleeper.pid)
        assert zombie is not None and not zombie.acting and zombie.started == started.started
        sleeper.wait()
        assert process(sleeper.pid) is None

    def test_a_signal_is_for_that_very_process(self, sleeper: subprocess.Popen[bytes]) -> None:
        started = process(sleeper.pid)
        assert started is not None
        assert send(replace(started, started=started.started - 1), signal.SIGKILL)
        assert send(replace(started, pid=2**22 - 1), signal.SIGKILL)
        time.sleep(0.1)
        assert process(sleeper.pid) == started
        assert send(started, signal.SIGKILL)
        assert sleeper.wait(5) == -signal.SIGKILL

    @pytest.mark.parametrize("name", ["é" * 10, "a) R 1 1 1 (b", "\udcff"])
    def test_a_process_of_any_name(self, tmp_path: Path, name: str) -> None:
        """The kernel keeps 15 bytes of it: of ten letters of two bytes each, seven and a half."""
        program = tmp_path / name
        program.symlink_to("/bin/sleep")
        with subprocess.Popen([program, "30"], start_new_session=True) as child:
            try:
                comm = Path(f"/proc/{child.pid}/comm")
                assert until(lambda: comm.read_bytes() == os.fsencode(name)[:15] + b"\n", 5)
                shown = process(child.pid)
                assert shown is not None and shown.parent == os.getpid() and shown.session == child.pid
                assert shown in processes()
            finally:
                child.kill()

    def test_processes_of_others_need_not_be_shown(
        self, sleeper: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """/proc may be mounted so that their directories are there (hidepid=1), and nothing in them is to be read."""
        read = Path.read_bytes
        folder = f"/proc/{sleeper.pid}"

        def read_some(path: Path) -> bytes:
            if str(path).startswith(f"{folder}/"):
                raise PermissionError(1, "Operation not permitted", str(path))
            return read(path)

        monkeypatch.setattr(Path, "read_bytes", read_some)
        monkeypatch.setattr(Path, "read_text", lambda path: read_some(path).decode())
        assert sleeper.pid in map(int, filter(str.isdigit, os.listdir("/proc")))
        assert process(sleeper.pid) is None and not carries(sleeper.pid, "A=b")
        assert os.getpid() in [each.pid for each in processes()]

    def test_a_process_whose_first_thread_has_ended_acts(self, tmp_path: Path) -> None:
        code = (
            "import ctypes, threading, time\n"
            "threading.Thread(target=time.sleep, args=(30,)).start()\n"
            "ctypes.CDLL(None).pthread_exit(None)\n"
        )
        child = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
        try:
            stat = Path(f"/proc/{child.pid}/stat")
            assert until(lambda: re.search(r"\) Z ", stat.read_text()))
            shown = process(child.pid)
            assert shown is not None and shown.acting
            assert shown in processes()
        finally:
            child.kill()
            child.wait()
