"""Workers that are lost while they start, or cannot load their code, without Ray's processes."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from schedproof.proofs.cluster import Address, ClusterError
from schedproof.proofs.cluster.ray_hosts import RayHosts
from schedproof.proofs.cluster.worker import Host
from schedproof.proofs.exploration.limits import LostWorker


class RayError(Exception):
    """As in Ray."""


class RayTaskError(RayError):
    """As in Ray: what a worker raised."""


class ActorDiedError(RayError):
    """As in Ray: a process ended, or could not load the class."""

    def __init__(self, *, actor_init_failed: bool) -> None:
        super().__init__("The actor died")
        self.actor_init_failed = actor_init_failed


class FakeRay:
    """Stands for the module.

    Args:
        fates: what becomes of each process, in the order of their starts: an error, another code, or WAITING if no processor
            is free for it; later ones run.
    """

    exceptions = SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError)

    def __init__(self, *fates: Exception | str) -> None:
        self._fates = list(fates)
        self.started = 0
        self.killed: list[int] = []
        self.processors: list[int] = []
        self.fingerprints: dict[int, Exception] = {}

    def cluster_resources(self) -> dict[str, float]:
        """Two processors."""
        return {"CPU": 2.0}

    def is_initialized(self) -> bool:
        """Always."""
        return True

    def remote(self, **_: Any) -> Any:
        """The decorator of a class."""
        return lambda kind: SimpleNamespace(
            options=lambda num_cpus: SimpleNamespace(remote=lambda: self._start(num_cpus))
        )

    def _start(self, processors: int) -> Any:
        self.processors.append(processors)
        fate = self._fates.pop(0) if self._fates else ""
        number, self.started = self.started, self.started + 1
        answer = (fate or Host().fingerprint(), f"process {number} on host")
        result = fate if isinstance(fate, Exception) or fate is WAITING else answer
        lives = SimpleNamespace(remote=lambda: self.fingerprints.get(number, Host().fingerprint()))
        return SimpleNamespace(number=number, introduction=SimpleNamespace(remote=lambda: result), fingerprint=lives)

    def wait(self, refs: Sequence[Any], **_: Any) -> tuple[Sequence[Any], Sequence[Any]]:
        """All are there that have a processor."""
        return [ref for ref in refs if ref is not WAITING], [ref for ref in refs if ref is WAITING]

    def get(self, ref: Any, **_: Any) -> Any:
        """A result, or the error."""
        if isinstance(ref, Exception):
            raise ref
        return ref

    def kill(self, actor: Any) -> None:
        """Notes it."""
        self.killed.append(actor.number)


WAITING = "waiting"
LOST, UNABLE = ActorDiedError(actor_init_failed=False), ActorDiedError(actor_init_failed=True)


def test_a_worker_lost_at_its_first_start_is_replaced() -> None:
    """Also one that is lost again; each loss is said."""
    ray, notes = FakeRay("", LOST, LOST), list[str]()
    hosts = RayHosts(ray, Address(workers=2), notes.append)
    assert hosts.places() == ["process 0 on host", "process 3 on host"]
    assert notes == ["worker 2 of 2 was lost while it started: it is replaced"] * 2
    assert 0 not in ray.killed


def test_workers_that_are_lost_at_each_start_end_it() -> None:
    """Nothing is wrong with the installation, and no process is left."""
    ray = FakeRay(*[LOST] * 6)
    with pytest.raises(
        LostWorker, match="worker 1 of 2 and worker 2 of 2 at local:2 was lost each of the 3 times that"
    ):
        RayHosts(ray, Address(workers=2))
    assert set(ray.killed) == set(range(6))


@pytest.mark.parametrize("wrong", [UNABLE, RayTaskError("no module"), "another"])
def test_workers_that_cannot_load_their_code_are_refused(wrong: Exception | str) -> None:
    """At once: they would be unable again. Nor do those run that have other code."""
    ray = FakeRay("", wrong)
    with pytest.raises(ClusterError, match=r"install schedproof [\d.]+\S* on each machine of the cluster$"):
        RayHosts(ray, Address(workers=2))
    assert ray.started == 2
    assert set(ray.killed) == {0, 1}


def test_workers_of_a_lost_machine_share_processors() -> None:
    """If none is free for them in time: together, and with one line."""
    ray, notes = FakeRay("", "", WAITING, WAITING), list[str]()
    hosts = RayHosts(ray, Address("192.0.2.1", 1), notes.append)
    ray.fingerprints = {0: LOST, 1: LOST}
    hosts.replace_lost()
    assert ray.processors == [1, 1, 1, 1, 0, 0]
    assert hosts.places() == ["process 4 on host", "process 5 on host"]
    assert notes == [
        "no processor was free for worker 1 of 2 and worker 2 of 2 within 90 s: it shares one with another worker"
    ]


def test_a_worker_that_waits_is_not_forgotten_for_a_lost_one() -> None:
    """One has no processor; the other one is lost, and then has none either."""
    ray = FakeRay("", "", WAITING, LOST, WAITING)
    hosts = RayHosts(ray, Address("192.0.2.1", 1))
    ray.fingerprints = {0: LOST, 1: LOST}
    hosts.replace_lost()
    assert ray.processors == [1, 1, 1, 1, 1, 0, 0]
    assert hosts.places() == ["process 5 on host", "process 6 on host"]


def test_a_machine_in_place_of_a_lost_one_is_used() -> None:
    ray, notes = FakeRay(), list[str]()
    hosts = RayHosts(ray, Address("192.0.2.1", 1), notes.append)
    ray.fingerprints = {1: LOST}
    hosts.replace_lost()
    assert ray.processors == [1, 1, 1]
    assert hosts.places() == ["process 0 on host", "process 2 on host"]
    assert notes == []


def test_workers_that_start_nowhere_are_refused() -> None:
    """At first, and in place of others."""
    with pytest.raises(ClusterError, match=r"1 of 2 workers started at local:2 within 90 s; end what else runs there"):
        RayHosts(FakeRay("", WAITING), Address(workers=2))
    ray = FakeRay("", "", WAITING, WAITING)
    hosts = RayHosts(ray, Address(workers=2))
    ray.fingerprints = {1: LOST}
    with pytest.raises(
        ClusterError, match=r"worker 2 of 2 did not start in place of a lost one within 90 s; see whether"
    ):
        hosts.replace_lost()
