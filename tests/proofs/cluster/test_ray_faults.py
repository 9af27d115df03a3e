"""Workers of Ray that are killed, and what is wrong with a cluster."""

from __future__ import annotations

import itertools
import json
import random
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from schedproof.model.semantics import instances
from schedproof.model.systems.hived import AS_WRITTEN
from schedproof.proofs import compiled
from schedproof.proofs.checking import engine
from schedproof.proofs.cluster import Address, ClusterError, connected, connection, liveness
from schedproof.proofs.exploration.limits import LostWorker, Saving
from tests.proofs.cluster.same import numbers, verdicts
from tests.support.needs import needs_ray
from tests.support.places import ROOT
from tests.support.sample import seed_of_today

pytestmark = needs_ray


def processes(of: psutil.Process) -> list[psutil.Process]:
    """The processes of the workers that a process has started."""
    return [p for p in of.children(recursive=True) if _is_worker(p)]


def _is_worker(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return "ray::Host" in " ".join(process.cmdline())
    return False


def test_killed_workers_change_no_number(tmp_path: Path) -> None:
    """Two kills, in turns drawn for today; each turn is saved."""
    [instance] = instances(AS_WRITTEN, {"PodGroup": 4, "Cell": 4})
    rng, notes, turn = random.Random(seed_of_today("kills")), list[str](), itertools.count()
    turns = rng.sample(range(1, 10), 2)  # the search has more: it is 11 deep

    def kill(states: int, expanded: int, depth: int) -> None:
        if next(turn) in turns:
            victim = rng.choice(processes(psutil.Process()))
            victim.kill()
            victim.wait(10)

    with connected(Address(workers=2), notes.append) as workers:
        reached = compiled.explore(instance, workers=workers, saving=Saving(tmp_path, 0), progress=kill)
        assert numbers(reached) == numbers(compiled.explore(instance))
    assert len(notes) == 2


@pytest.mark.long
def test_a_worker_killed_while_it_starts_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In place of one that was killed before."""
    [instance] = instances(AS_WRITTEN, {"PodGroup": 4, "Cell": 4})
    killed, right = list[int](), connection.RayHosts._check

    def check(self: connection.RayHosts, workers: Sequence[int], where: str) -> list[int]:
        lost = right(self, workers, where)
        if where.startswith("in place") and len(killed) == 1:
            kill_one()
            lost = right(self, workers, where)
        return lost

    def kill_one(*_: int) -> None:
        if len(killed) < 2:
            victim = processes(psutil.Process())[-1]
            killed.append(victim.pid)
            victim.kill()
            victim.wait(10)

    monkeypatch.setattr(connection.RayHosts, "_check", check)
    with connected(Address(workers=2)) as workers:
        reached = compiled.explore(instance, workers=workers, saving=Saving(tmp_path, 0), progress=kill_one)
        assert numbers(reached) == numbers(compiled.explore(instance))
    assert len(set(killed)) == 2


@pytest.mark.long
def test_a_worker_killed_at_its_first_start_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    notes, right = list[str](), connection.RayHosts._check

    def check(self: connection.RayHosts, workers: Sequence[int], where: str) -> list[int]:
        lost = right(self, workers, where)
        if len(workers) == 2:
            victim = processes(psutil.Process())[0]
            victim.kill()
            victim.wait(10)
            lost = right(self, workers, where)
        return lost

    monkeypatch.setattr(connection.RayHosts, "_check", check)
    [instance] = instances(AS_WRITTEN, {"PodGroup": 3, "Cell": 3})
    with connected(Address(workers=2), notes.append) as workers:
        assert numbers(compiled.explore(instance, workers=workers)) == numbers(compiled.explore(instance))
    assert len(notes) == 1
    assert notes[0].endswith(" of 2 was lost while it started: it is replaced")


@pytest.mark.long
def test_a_worker_killed_with_its_graph_changes_no_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before a property is checked."""
    monkeypatch.setattr(engine, "GATHERED", 0)
    notes, checked = list[str](), itertools.count()
    right = liveness.answer

    def answer(graph: Any, prop: Any) -> Any:
        if next(checked) == 5:
            processes(psutil.Process())[0].kill()
        return right(graph, prop)

    monkeypatch.setattr("schedproof.proofs.cluster.crew.answer", answer)
    with connected(Address(workers=2), notes.append) as workers:
        assert verdicts(AS_WRITTEN, workers=workers, checkpoint=Saving(tmp_path, 0)) == verdicts(AS_WRITTEN)
    assert [note.partition(": ")[2] for note in notes] == [
        "it is replaced, and the graph is made anew from the checkpoint"
    ]


@pytest.mark.long
def test_a_killed_worker_ends_a_search_without_checkpoint() -> None:
    [instance] = instances(AS_WRITTEN, {"PodGroup": 4, "Cell": 4})
    with connected(Address(workers=2)) as workers:

        def kill(states: int, expanded: int, depth: int) -> None:
            for victim in processes(psutil.Process())[:1]:
                if depth == 5:
                    victim.kill()

        with pytest.raises(LostWorker, match=r"worker [12] of 2 \(process \d+ on \S+\) was lost"):
            compiled.explore(instance, workers=workers, progress=kill)


@pytest.mark.long
def test_workers_of_another_version_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The workers have what is on the disk, and this process pretends to have something else."""
    monkeypatch.setattr(connection, "fingerprint", lambda: "another")
    with (
        pytest.raises(ClusterError, match="2 of 2 workers at local:2 run another version"),
        connected(Address(workers=2)),
    ):
        pass
    assert processes(psutil.Process()) == []


# --- The command ---------------------------------------------------------------------------------------------------------


def explore(*arguments: str) -> subprocess.Popen[str]:
    """Starts the command."""
    return subprocess.Popen(
        [sys.executable, "-m", "schedproof", "explore", "hived", *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
    )  # fmt: skip


@pytest.mark.long
def test_the_command_prints_what_it_prints_without_a_cluster() -> None:
    arguments = ["--scope", "PodGroup=3,Cell=3", "--json", "-"]
    with explore(*arguments) as alone, explore(*arguments, "--cluster", "local:2") as spread:
        texts = [process.communicate()[0] for process in (alone, spread)]
        assert spread.stderr is not None
    assert alone.returncode == spread.returncode == 0
    plain, other = (json.loads(text) for text in texts)
    for content in (plain, other):
        for each in content["properties"]:
            del each["seconds"]
            each["steps"] = len((each.pop("counterexample", None) or {}).get("steps", []))
    assert plain == other


@pytest.mark.long(seconds=15)
def test_a_killed_worker_ends_the_command_with_one_line() -> None:
    with explore("--scope", "PodGroup=6,Cell=5", "--no-symmetry", "--counts-only", "--cluster", "local:2") as process:
        started = psutil.Process(process.pid)
        _wait(lambda: any(_worked(worker) > 4 for worker in processes(started)))
        processes(started)[0].kill()
        out, error = process.communicate()
    assert (process.returncode, out) == (3, "")
    assert error.startswith("schedproof: worker ") and error.count("\n") == 1


@pytest.mark.long(seconds=30)
def test_a_killed_command_is_resumed(tmp_path: Path) -> None:
    """Its workers end with it; the documentation has the numbers of one process."""
    arguments = ["--scope", "PodGroup=5,Cell=5", "--no-symmetry", "--counts-only", "--cluster", "local:2"]
    arguments += ["--checkpoint", str(tmp_path), "--checkpoint-every", "0"]
    with explore(*arguments) as process:
        _wait(lambda: sum(path.stat().st_size for path in tmp_path.glob("*/states-*")) > 8_000_000)
        workers = processes(psutil.Process(process.pid))
        process.kill()
    assert len(workers) == 2
    assert psutil.wait_procs(workers, 30)[1] == []
    assert list(tmp_path.glob("*/checkpoint.json"))
    with explore(*arguments) as process:
        out, error = process.communicate()
    assert (process.returncode, error) == (0, "")
    assert out.endswith("5768317 states, 64366840 transitions, depth 14\n")


@pytest.mark.long(seconds=60)
def test_verify_says_the_same_on_a_cluster(tmp_path: Path) -> None:
    """Also when a worker is killed: then one line says so."""
    alone, _ = verified(tmp_path / "alone.json", lambda started: None, "--jobs", "2")
    for kill in (False, True):

        def disturb(started: psutil.Process, kill: bool = kill) -> None:
            if kill:
                _wait(lambda: any(_worked(worker) > 1.2 for worker in processes(started)))
                max(processes(started), key=_worked).kill()

        spread, error = verified(tmp_path / f"{kill}.json", disturb, "--cluster", "local:2")
        assert spread == alone
        assert error.count("it is replaced, and what it did is tried again") == kill


@pytest.mark.long(seconds=20)
def test_a_terminated_command_leaves_no_process() -> None:
    """Nor one of Ray's own, which would stay for a minute."""
    with subprocess.Popen(
        [sys.executable, "-m", "schedproof", "verify", "hived", "--no-cache", "--cluster", "local:1"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=ROOT,
    ) as process:  # fmt: skip
        started = psutil.Process(process.pid)
        _wait(lambda: any(_worked(worker) > 4 for worker in processes(started)))
        everyone = started.children(recursive=True)
        process.terminate()
        process.communicate()
    assert process.returncode == 128 + signal.SIGTERM
    assert psutil.wait_procs(everyone, 10)[1] == []


def verified(file: Path, disturb: Callable[[psutil.Process], None], *how: str) -> tuple[Any, str]:
    """The results of ``verify`` without its seconds, and what it says on standard error."""
    with subprocess.Popen(
        [sys.executable, "-m", "schedproof", "verify", "jobmon", "--variant", "as-written", "--no-cache", "--json", file, *how],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=ROOT,
    ) as process:  # fmt: skip
        disturb(psutil.Process(process.pid))
        error = process.communicate()[1]
    assert process.returncode == 0
    content = json.loads(file.read_text())
    for each in content["systems"][0]["properties"]:
        del each["seconds"]
    return content, error


def _worked(process: psutil.Process) -> float:
    """The seconds of processor time of a process."""
    with suppress(psutil.Error):
        return float(sum(process.cpu_times()[:2]))
    return 0.0


def _wait(until: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
    while not until():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_an_address_where_something_else_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """It accepts connections, and never says anything."""
    monkeypatch.setattr(connection, "SECONDS_TO_JOIN", 6)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = Address("127.0.0.1", server.getsockname()[1])
        began = time.monotonic()
        with pytest.raises(ClusterError, match=r"no Ray cluster answers at 127\.0\.0\.1:"), connected(address):
            pass
    assert time.monotonic() - began < 20


@pytest.mark.long(seconds=25)
def test_a_cluster_that_runs_is_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    """Started as a user does, on a loopback address, with a token of its own; it goes on after the command."""
    with socket.create_server(("127.0.0.2", 0)) as server:
        at = f"127.0.0.2:{server.getsockname()[1]}"
    folder = tempfile.mkdtemp(dir="/tmp")  # the names of sockets in it must be short
    for name, value in (
        ("RAY_USAGE_STATS_ENABLED", "0"), ("RAY_AUTH_MODE", "token"), ("RAY_AUTH_TOKEN", secrets.token_hex()),
        ("PYTHONPATH", str(ROOT)),
    ):  # fmt: skip
        monkeypatch.setenv(name, value)
    head = subprocess.Popen(
        [Path(sys.executable).parent / "ray", "start", "--head", "--block", "--node-ip-address=127.0.0.2",
         f"--port={at.rpartition(':')[2]}", "--num-cpus=2", "--include-dashboard=false", "--object-store-memory=200000000",
         f"--temp-dir={folder}"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        _wait_for(at)
        for _ in range(2):
            with explore("--scope", "PodGroup=3,Cell=3", "--counts-only", "--cluster", at) as process:
                out, error = process.communicate()
            assert (process.returncode, error) == (0, "")
            assert out.endswith("1512 states, 7706 transitions, depth 8\n")
        monkeypatch.setenv("RAY_AUTH_TOKEN", secrets.token_hex())
        with explore("--scope", "PodGroup=3,Cell=3", "--counts-only", "--cluster", at) as process:
            out, error = process.communicate()
        assert (process.returncode, out) == (2, "")
        assert error.startswith(
            f"schedproof: --cluster: the Ray cluster at {at} wants its token; set RAY_AUTH_MODE=token"
        )
    finally:
        for part in [*psutil.Process(head.pid).children(recursive=True), psutil.Process(head.pid)]:
            with suppress(psutil.Error):
                part.kill()
        head.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for(address: str) -> None:
    host, _, port = address.rpartition(":")

    def listens() -> bool:
        with suppress(OSError):
            socket.create_connection((host, int(port)), 1).close()
            return True
        return False

    _wait(listens)
    time.sleep(8)  # it listens before all of it runs
