"""``verify`` by workers of a cluster, without Ray: the reports of one process, also after workers were lost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import dedent

import pytest

from schedproof.model.registry.discovery import systems
from schedproof.model.registry.loading import load
from schedproof.model.registry.manifest import read
from schedproof.model.registry.system import System
from schedproof.proofs.cluster import ClusterError, RemoteWorkers
from schedproof.proofs.verdict import Disagreement
from schedproof.proofs.verification import on_cluster
from schedproof.proofs.verification.on_cluster import ClusterPool
from schedproof.proofs.verification.verify import Run, VariantReport, plan, verify
from schedproof.proofs.verification.workers import WorkerDied
from tests.proofs.cluster.local_hosts import LocalHosts
from tests.support.lamps import lamps, system
from tests.support.registry import put


def three() -> System:
    """A registered system with three variants."""
    return system(lamps(), lamps("other", refuted=()), lamps("third"))


def verified(own_system: System, hosts: LocalHosts, notes: list[str] | None = None) -> list[VariantReport]:
    """The reports of workers."""
    plans = plan([own_system])
    run, lines = Run(plans), list[str]()
    pool = ClusterPool(RemoteWorkers(hosts, (notes if notes is not None else lines).append), plans)
    for _ in run.work(pool, lines.append):
        pass
    assert any(" of 2" in line or " of 1" in line for line in lines), "what is begun is reported"
    return run.reports()


@pytest.mark.parametrize("count", [1, 2])
def test_the_reports_are_those_of_one_process(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order of the variants, although the parts end in another one."""
    put(monkeypatch, {"lamps": three()})
    own_system = systems()["lamps"]
    reports = verified(own_system, LocalHosts(count))
    assert reports == verify([own_system])  # seconds are not compared
    assert [r.variant for r in reports] == ["plain", "other", "third"]


def test_a_part_whose_worker_was_lost_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """At any call."""
    put(monkeypatch, {"lamps": three()})
    own_system, expected = systems()["lamps"], verify([systems()["lamps"]])
    hosts = LocalHosts(2)
    verified(own_system, hosts)
    for call in range(3, hosts.calls + 1):
        notes, lost = list[str](), LocalHosts(2, [call])
        assert verified(own_system, lost, notes) == expected
        assert lost.replaced == len(notes) == 1
        assert lost.calls == hosts.calls + 1
        assert notes[0].endswith("it is replaced, and what it did is tried again")


def test_a_part_that_loses_each_worker_ends_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    put(monkeypatch, {"lamps": three()})
    with pytest.raises(
        WorkerDied, match=r"worker [12] of 2 was lost, as each of the 3 times .* was tried: Part\(system="
    ):
        verified(systems()["lamps"], LocalHosts(2, range(3, 100)))


def test_a_worker_that_is_lost_before_the_work_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    put(monkeypatch, {"lamps": three()})
    with pytest.raises(WorkerDied, match=r"worker 2 of 2 was lost; run the command again"):
        verified(systems()["lamps"], LocalHosts(2, [2]))


def test_what_goes_wrong_in_a_worker_goes_wrong_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*_: object, **__: object) -> None:
        raise Disagreement("the engines")

    put(monkeypatch, {"lamps": three()})
    monkeypatch.setattr(on_cluster, "timed", wrong)
    with pytest.raises(Disagreement, match=r"^the engines"):
        verified(systems()["lamps"], LocalHosts(2))


def test_workers_with_another_model_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """They find one of the same name, with another property; or none at all."""
    put(monkeypatch, {"lamps": three()})
    own_system, right = systems()["lamps"], on_cluster._code
    others = iter([{"lamps": system(lamps(properties=lamps().properties[:2]))}, {"others": three()}])

    def each(self: RemoteWorkers, function: object, task: Sequence[tuple[str, str]]) -> list[list[str]]:
        with pytest.MonkeyPatch.context() as patch:
            put(patch, next(others))
            return [right(task, manifests={})]

    monkeypatch.setattr(RemoteWorkers, "each", each)
    for _ in range(2):
        with pytest.raises(
            ClusterError, match=r"1 of 1 workers have another version of schedproof, or not the same lamps"
        ):
            verified(own_system, LocalHosts(2))


def test_a_system_of_the_user_is_found_by_its_manifest(tmp_path: Path) -> None:
    (tmp_path / "own_lamps.py").write_text(
        dedent("""
            from tests.support.lamps import lamps
            PLAIN = lamps()
        """)
    )
    (tmp_path / "schedproof.toml").write_text(
        dedent("""
            [systems.lamps]
            model = "own_lamps:PLAIN"
            [systems.lamps.variants.plain]
            refuted = ["stays-dark"]
        """)
    )
    own_system = load(read(tmp_path / "schedproof.toml")["lamps"])
    [report] = verified(own_system, LocalHosts(2))
    assert report.ok
    assert [report] == verify([own_system])
