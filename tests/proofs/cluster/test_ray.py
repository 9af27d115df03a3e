"""Searches by two workers of Ray find the same as one process."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from schedproof.model.semantics import instances
from schedproof.model.systems.hived import AS_WRITTEN
from schedproof.proofs.checking import engine
from schedproof.proofs.cluster import Address, RemoteWorkers, connected
from schedproof.proofs.cluster.halting import HaltedCalls
from schedproof.proofs.exploration.limits import Halted
from tests.proofs.cluster.same import VARIANTS, assert_same_numbers, smallest, verdicts
from tests.support.needs import needs_ray
from tests.support.sample import thinned

pytestmark = needs_ray

SCOPES = [{"PodGroup": 2, "Cell": 2}, {"PodGroup": 3, "Cell": 3}, {"PodGroup": 4, "Cell": 4}]


@pytest.fixture(scope="module")
def workers() -> Iterator[RemoteWorkers]:
    """Two workers on this machine."""
    with connected(Address(workers=2)) as workers:
        yield workers


@pytest.mark.parametrize(("system", "variant"), thinned(VARIANTS, 48, 4, first=25))
def test_the_same_of_every_variant(workers: RemoteWorkers, system: str, variant: str) -> None:
    """States, steps, verdicts, and the lengths of counterexamples."""
    model, instance = smallest(system, variant)
    assert_same_numbers(instance, workers)
    assert verdicts(model, workers=workers) == verdicts(model)


@pytest.mark.parametrize(("system", "variant"), thinned(VARIANTS, 48, 4, first=25))
def test_the_same_verdicts_by_the_graph_that_workers_keep(
    workers: RemoteWorkers, system: str, variant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, _ = smallest(system, variant)
    alone = verdicts(model)
    monkeypatch.setattr(engine, "GATHERED", 0)
    assert verdicts(model, workers=workers) == alone


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("symmetry", [False, True])
def test_the_same_at_three_scopes(workers: RemoteWorkers, scope: dict[str, int], symmetry: bool) -> None:
    [instance] = instances(AS_WRITTEN, scope)
    reached = assert_same_numbers(instance, workers, symmetry=symmetry)
    assert all(part.count for part in reached.parts)


def test_an_interrupt_does_not_wait_for_a_busy_worker(workers: RemoteWorkers) -> None:
    """Both sleep for eight seconds."""
    hosts, began = workers._hosts, time.monotonic()
    refs = [hosts.call(n, "perform", time.sleep, 8)[0] for n in range(len(hosts))]
    with pytest.raises(Halted):
        HaltedCalls(hosts, lambda: "interrupted" if time.monotonic() > began + 0.2 else "").results(refs)
    assert time.monotonic() < began + 7
