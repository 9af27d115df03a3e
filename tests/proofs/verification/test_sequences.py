"""Sequences of a suite as tasks: the same texts by one process, by several, and by workers of a cluster that are lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache

import pytest

from schedproof.model.registry.discovery import system
from schedproof.model.registry.errors import UserError
from schedproof.proofs.cluster import RemoteWorkers
from schedproof.proofs.coverage import Cover, Suite, description_of, generate, texts_of
from schedproof.proofs.refinement import replay
from schedproof.proofs.verdict import Disagreement
from schedproof.proofs.verification import sequences
from schedproof.proofs.verification.on_cluster import ClusterPool
from schedproof.proofs.verification.sequences import (
    SequencePool,
    Sequences,
    Texts,
    all_texts,
    checked,
    tasks_of,
    writers,
)
from tests.proofs.cluster.local_hosts import LocalHosts

HIVED = system("hived")


@cache
def suite() -> Suite:
    """Of every step at a small scope: some dozens of sequences."""
    return generate(HIVED.base, {"PodGroup": 2, "Cell": 2}, Cover.TRANSITIONS, of_graph=True)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks of a few sequences."""
    monkeypatch.setattr(sequences, "AT_ONCE", 3)


def texts(pool: SequencePool, of: Suite, *, replayed: bool = False) -> list[Texts]:
    return all_texts(tasks_of(of, replayed=replayed), pool, lambda line: None)


def on_cluster(hosts: LocalHosts, notes: list[str]) -> SequencePool:
    variants = [("hived", HIVED.base.variant)]
    return ClusterPool(RemoteWorkers(hosts, notes.append), [HIVED], variants, checked, lambda task: str(task.first))


@cache
def expected() -> list[Texts]:
    """As the sequences have it, without tasks."""
    written = [texts_of(walk.run, description_of(suite(), n)) for n, (_, walk) in enumerate(suite().walks, 1)]
    assert len(written) > 20
    return written


@pytest.mark.long
@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("jobs", [pytest.param(1, marks=pytest.mark.long(one_in=32)), 2])
def test_any_number_of_processes_writes_the_same(jobs: int) -> None:
    with writers(HIVED, jobs=jobs) as pool:
        assert texts(pool, suite(), replayed=True) == expected()


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    "lost",
    [
        pytest.param((), marks=pytest.mark.long(one_in=32)),
        pytest.param((5,), marks=pytest.mark.long(one_in=32)),
        (3, 9),
    ],
)
def test_workers_that_are_lost_change_no_text(lost: tuple[int, ...]) -> None:
    hosts, notes = LocalHosts(2, lost), list[str]()
    assert texts(on_cluster(hosts, notes), suite(), replayed=True) == expected()
    assert hosts.replaced == len(notes) == len(lost)


def test_a_system_that_is_not_registered_goes_with_the_task() -> None:
    task = replace(tasks_of(suite(), replayed=False)[0], system="own", first=1)
    with pytest.raises(UserError, match="unknown system 'own'"):
        checked(task, lambda line: None, others={})
    expected = [texts_of(walk.run, description_of(suite(), n)) for n, (_, walk) in enumerate(suite().walks[:16], 1)]
    assert checked(task, lambda line: None, others={"own": HIVED}) == expected


class Backwards:
    """A pool whose last task ends first."""

    def run(
        self, tasks: Sequence[Sequences], report: Callable[[str], None], prepares: object = None
    ) -> Iterator[tuple[Sequences, list[Texts] | str]]:
        """Yields the results."""
        for task in reversed(tasks):
            yield task, checked(task, report, others={})


@pytest.mark.usefixtures("few")
def test_of_several_refused_sequences_the_first_is_reported() -> None:
    """Whichever task ends first. They are refused for states that no step leads to."""
    walks = list(suite().walks)
    for n in (4, 7, 16):
        walk = walks[n][1]
        walks[n] = 0, replace(walk, states=(*walk.states[:-1], walk.states[0][::-1]))
    wrong = replace(suite(), walks=walks)
    with writers(HIVED, jobs=1) as one:
        for pool in (one, Backwards()):
            with pytest.raises(Disagreement, match=r"^sequence 5: the validator"):
                texts(pool, wrong)


def test_an_implementation_is_asked_only_if_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "on_machines", lambda run: replay.Mismatch("the machines differ", []))
    with writers(HIVED, jobs=1) as pool:
        assert len(texts(pool, suite())) == len(suite().walks)
        with pytest.raises(Disagreement, match=r"^sequence 1 on the generated machines: the machines differ"):
            texts(pool, suite(), replayed=True)
