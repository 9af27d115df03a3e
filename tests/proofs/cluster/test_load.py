"""What is reported of workers: what they exchange, how even their shares are, and which one is slow."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from schedproof.cli.progress import exploring
from schedproof.model.semantics import instances
from schedproof.model.systems.hived import AS_WRITTEN
from schedproof.proofs import compiled
from schedproof.proofs.cluster import Address, RemoteWorkers, connection
from schedproof.proofs.cluster.load import Load, WorkerStanding
from tests.proofs.cluster.local_hosts import LocalHosts
from tests.support.rows import each_row


def standing(count: int, *, sent: int = 0, memory: int = 0, seconds: float = 0.0) -> WorkerStanding:
    """The standing of a worker."""
    return WorkerStanding(count, 0, count, 0, 0, sent, memory, seconds)


def load(*standings: WorkerStanding) -> Load:
    """Of workers in different processes."""
    return Load(standings, [f"process {n} on host" for n in range(len(standings))])


def test_the_text_adds_up() -> None:
    workers = load(standing(30, sent=5 << 20, memory=3 << 20), standing(10, sent=6 << 20, memory=9 << 20))
    assert workers.text == ("11 MiB exchanged, largest share 1.50 times the mean, 9 MiB of states on a worker")


@each_row(
    ("seconds", "slow"),
    [
        ((30.0, 31.0, 70.0), [2]),
        ((30.0, 31.0, 44.0), []),
        ((1.0, 1.0, 9.0), []),
        ((90.0,), []),
        ((90.0, 30.0, 30.0), [0]),
    ],
)
def test_a_slow_worker_is_named(seconds: tuple[float, ...], slow: list[int]) -> None:
    lines = load(*(standing(10, seconds=each) for each in seconds)).slow
    assert [line.partition(" took ")[0] for line in lines] == [
        f"worker {n + 1} of {len(seconds)} (process {n} on host)" for n in slow
    ]


@pytest.mark.parametrize("url", ["127.0.0.1:8265", "", None])
def test_the_dashboard_of_a_cluster_is_named(url: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Ray reports it, which has none without its extra ``default``."""
    monkeypatch.setattr(connection.socket, "create_connection", lambda *_: SimpleNamespace(close=lambda: None))
    monkeypatch.setattr(connection.subprocess, "run", lambda *_, **__: SimpleNamespace(returncode=0))
    ray = SimpleNamespace(init=lambda **_: SimpleNamespace(dashboard_url=url))
    assert connection._join(ray, Address("192.0.2.10", 6379)) == (url or "")


def test_a_search_reports_its_load() -> None:
    """As many bytes as the parts say, and every state on some worker; progress shows it instead of the memory."""
    [instance] = instances(AS_WRITTEN, {"PodGroup": 3, "Cell": 3})
    workers, lines = RemoteWorkers(LocalHosts(2)), list[str]()
    assert workers.load is None
    reached = compiled.explore(
        instance, workers=workers, progress=exploring(lines.append, lambda: workers.load.text if workers.load else "")
    )
    assert workers.load is not None
    assert workers.load.sent == sum(part.tally.sent for part in reached.parts) > 0  # type: ignore[attr-defined]
    assert sum(each.count for each in workers.load.standings) == reached.state_count
    assert all(each.seconds > 0 for each in workers.load.standings)
    assert "MiB exchanged, largest share 1." in lines[-1]
    assert "states/s, frontier" in lines[-1]
