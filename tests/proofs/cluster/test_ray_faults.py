"""Workers of Ray that are killed, and what is wrong with a cluster."""

from __future__ import annotations

import itertools
import json
import os
import random
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest

from schedproof.model.semantics import instances
from schedproof.model.systems.hived import AS_WRITTEN
from schedproof.proofs import compiled
from schedproof.proofs.checking import engine
from schedproof.proofs.cluster import Address, ClusterError, connected, connection, liveness, ray_hosts
from schedproof.proofs.cluster.ray_hosts import RayHosts
from schedproof.proofs.exploration.limits import LostWorker, Saving
from tests.proofs.cluster.nodes import cluster
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
    killed, right = list[int](), RayHosts._check

    def check(self: RayHosts, workers: Sequence[int], where: str) -> tuple[list[int], list[int]]:
        result = right(self, workers, where)
        if where.startswith("in place") and len(killed) == 1:
            kill_one()
            result = right(self, workers, where)
        return result

    def kill_one(*_: int) -> None:
        if len(killed) < 2:
            victim = processes(psutil.Process())[-1]
            killed.append(victim.pid)
            victim.kill()
            victim.wait(10)

    monkeypatch.setattr(RayHosts, "_check", check)
    with connected(Address(workers=2)) as workers:
        reached = compiled.explore(instance, workers=workers, saving=Saving(tmp_path, 0), progress=kill_one)
        assert numbers(reached) == numbers(compiled.explore(instance))
    assert len(set(killed)) == 2


@pytest.mark.long
def test_a_worker_killed_at_its_first_start_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    notes, right = list[str](), RayHosts._check

    def check(self: RayHosts, workers: Sequence[int], where: str) -> tuple[list[int], list[int]]:
        result = right(self, workers, where)
        if len(workers) == 2:
            victim = processes(psutil.Process())[0]
            victim.kill()
            victim.wait(10)
            result = right(self, workers, where)
        return result

    monkeypatch.setattr(RayHosts, "_check", check)
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
    monkeypatch.setattr(ray_hosts, "fingerprint", lambda: "another")
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
    assert folders(spread.pid) == []


@pytest.mark.long(seconds=15)
def test_a_killed_worker_ends_the_command_with_one_line() -> None:
    with explore("--scope", "PodGroup=6,Cell=5", "--no-symmetry", "--counts-only", "--cluster", "local:2") as process:
        started = psutil.Process(process.pid)
        _wait(lambda: any(_worked(worker) > 4 for worker in processes(started)))
        processes(started)[0].kill()
        out, error = process.communicate()
    assert (process.returncode, out) == (3, "")
    assert error.startswith("schedproof: worker ") and error.count("\n") == 1


@pytest.mark.long(seconds=30, one_in=6)
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
    for folder in folders(process.pid):  # a killed command cannot
        shutil.rmtree(folder, ignore_errors=True)
    assert list(tmp_path.glob("*/checkpoint.json"))
    with explore(*arguments) as process:
        out, error = process.communicate()
    assert (process.returncode, error) == (0, "")
    assert out.endswith("5768317 states, 64366840 transitions, depth 14\n")


@pytest.mark.long(seconds=60, one_in=9)
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
        assert error.count("it is replaced") == kill, "or while it started, on a slow machine"


@pytest.mark.long(seconds=15)
def test_generate_writes_the_same_on_a_cluster(tmp_path: Path) -> None:
    """Every file."""
    arguments = ["hived", "--cover", "transitions", "--of", "graph", "--scope", "PodGroup=2,Cell=2", "--replay"]
    written = []
    for how in (["--jobs", "1"], ["--cluster", "local:2"]):
        folder = tmp_path / how[0]
        command = [sys.executable, "-m", "schedproof", "generate", *arguments, *how, "-o", folder]
        subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
        written.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert len(written[0]) > 50
    assert written[0] == written[1]


@pytest.mark.long(seconds=80, one_in=9)
def test_strengthen_infers_the_same_on_a_cluster(tmp_path: Path) -> None:
    """Two workers infer what one process does, for two properties."""
    properties, inferred = [f"--property={name}" for name in ("reserving-cell", "reserved-cell")], []
    for how in (["--jobs", "1"], ["--cluster", "local:2"]):
        file = tmp_path / f"{how[0]}.json"
        command = [sys.executable, "-m", "schedproof", "strengthen", "hived", "--without-auxiliary", *properties, *how]
        subprocess.run([*command, "--json", file], check=True, capture_output=True, cwd=ROOT)
        outcomes = json.loads(file.read_text())["properties"]
        inferred.append([{key: value for key, value in each.items() if key != "seconds"} for each in outcomes])
    assert [(each["verdict"], bool(each["invariants"])) for each in inferred[0]] == [("proved", True)] * 2
    assert inferred[0] == inferred[1]


@pytest.mark.long(seconds=20, one_in=6)
def test_a_terminated_command_leaves_nothing() -> None:
    """No process, nor one of Ray's own, which would stay for a minute; and no folder."""
    with subprocess.Popen(
        [sys.executable, "-m", "schedproof", "verify", "hived", "--no-cache", "--cluster", "local:1"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=ROOT,
    ) as process:  # fmt: skip
        started = psutil.Process(process.pid)
        _wait(lambda: any(_worked(worker) > 4 for worker in processes(started)))
        assert folders(process.pid) != []
        everyone = started.children(recursive=True)
        process.terminate()
        process.communicate()
    assert process.returncode == 128 + signal.SIGTERM
    assert psutil.wait_procs(everyone, 10)[1] == []
    assert folders(process.pid) == []


@pytest.mark.long(seconds=20, one_in=6)
def test_an_interrupted_command_leaves_nothing() -> None:
    """It says what was covered."""
    with subprocess.Popen(
        [sys.executable, "-m", "schedproof", "explore", "hived", "--scope", "PodGroup=6,Cell=5", "--no-symmetry",
         "--counts-only", "--cluster", "local:2"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # a job in the background ignores it
    ) as process:  # fmt: skip
        started = psutil.Process(process.pid)
        _wait(lambda: any(_worked(worker) > 3 for worker in processes(started)))
        everyone = started.children(recursive=True)
        process.send_signal(signal.SIGINT)
        out = process.communicate()[0]
    assert process.returncode == 3
    assert "PodGroup=6,Cell=5: interrupted: at least " in out
    assert psutil.wait_procs(everyone, 10)[1] == []
    assert folders(process.pid) == []


@pytest.mark.long(seconds=10)
def test_no_process_of_ray_ends_before_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its agents Ray's own code may end the command's process while it disconnects, before any result is printed."""
    import ray

    agents, ended, right = dict[psutil.Process, str](), list[str](), ray.shutdown
    before = psutil.Process().children(recursive=True)  # pools of earlier tests in this process

    def shutdown() -> None:
        psutil.wait_procs(agents, 0.5)
        ended.extend(name for each, name in agents.items() if not _runs(each))
        right()

    monkeypatch.setattr(ray, "shutdown", shutdown)
    with connected(Address(workers=1)):
        agents |= {each: name for each in _but(before) if "Agent" in (name := each.name())}
    assert agents and ended == []
    assert not _but(before)


def _runs(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _but(before: list[psutil.Process]) -> list[psutil.Process]:
    return [each for each in psutil.Process().children(recursive=True) if each not in before]


def folders(process: int) -> list[Path]:
    """Ray's folders of the clusters that a process has started on this machine."""
    return list(
        Path(os.environ.get("RAY_TMPDIR") or os.environ.get("TMPDIR") or "/tmp").glob(f"ray/session_*_{process}")
    )


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
    assert time.monotonic() - began < 60


@pytest.mark.long(seconds=25, one_in=6)
def test_a_cluster_that_runs_is_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    """Started as a user does, on a loopback address, with a token of its own; it goes on after the command."""
    with cluster(2) as nodes:
        arguments = ["--scope", "PodGroup=3,Cell=3", "--counts-only", "--cluster", nodes.address]
        for name, value in nodes.environment.items():
            monkeypatch.setenv(name, value)
        for _ in range(2):
            with explore(*arguments) as process:
                out, error = process.communicate()
            assert (process.returncode, error) == (0, "")
            assert out.endswith("1512 states, 7706 transitions, depth 8\n")
        monkeypatch.setenv("RAY_AUTH_TOKEN", secrets.token_hex())
        with explore(*arguments) as process:
            out, error = process.communicate()
        assert (process.returncode, out) == (2, "")
        assert error.startswith(
            f"schedproof: --cluster: the Ray cluster at {nodes.address} wants its token; set RAY_AUTH_MODE=token"
        )


@pytest.mark.long(seconds=30, one_in=6)
def test_a_machine_that_is_lost_changes_no_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two, in the middle of a search; a third one takes its place. The documentation has the numbers of one process."""
    with cluster(1, 1) as nodes:
        for name, value in nodes.environment.items():
            monkeypatch.setenv(name, value)
        arguments = ["--scope", "PodGroup=5,Cell=5", "--no-symmetry", "--counts-only", "--cluster", nodes.address]
        with explore(*arguments, "--checkpoint", str(tmp_path), "--checkpoint-every", "0") as process:
            _wait(lambda: sum(path.stat().st_size for path in tmp_path.glob("*/states-*")) > 4_000_000)
            nodes.kill(1)
            nodes.start(1, f"--address={nodes.address}")
            out, error = process.communicate()
    assert process.returncode == 0
    assert error.count("it is replaced, and the search goes on from the last checkpoint") == 1
    assert "2 workers: " in out
    assert out.endswith("5768317 states, 64366840 transitions, depth 14\n")
