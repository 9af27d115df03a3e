"""Properties to strengthen as tasks: the same outcomes by one process, by several, and by workers that are lost or killed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import pytest

from schedproof.model.lang import NONE, Invariant, Model
from schedproof.model.registry.system import System
from schedproof.proofs.cluster import RemoteWorkers
from schedproof.proofs.induction import prove
from schedproof.proofs.verification.on_cluster import ClusterPool
from schedproof.proofs.verification.strengthening import (
    Outcome,
    Strengthening,
    StrengtheningPool,
    Task,
    strengthened,
)
from schedproof.proofs.verification.workers import Workers, for_processes
from tests.proofs.cluster.local_hosts import LocalHosts
from tests.proofs.strengthen.protocols import LEASES
from tests.support.registry import put

w, lease = LEASES.actions[0].parameters
(ONE_EACH,) = LEASES.properties
WORKS = Invariant(name="holder-works", says="x", over=[w, lease], given=lease.holder == w, then=w.is_("Working"))
FREE = Invariant(name="free-none", says="x", over=[lease], given=lease.is_("Free"), then=lease.holder == NONE)
NEVER = Invariant(name="never-held", says="x", over=[lease], then=~lease.is_("Held"))
MANY = replace(LEASES, properties=[ONE_EACH, replace(ONE_EACH, name="again"), NEVER, replace(ONE_EACH, name="third")])
"""Three of the four need the same lemmas, and one is violated."""

GOALS = [each.name for each in MANY.properties]
SYSTEM = System.of(MANY)

linux = pytest.mark.skipif(
    sys.platform != "linux", reason="elsewhere processes are not copies, and know no test's systems"
)


def work(pool: StrengtheningPool, *, alone: bool = False, model: Model = MANY) -> list[Outcome]:
    goals = [each.name for each in model.properties]
    strengthening = Strengthening(model, goals, alone=alone, scope={"Worker": 2, "Lease": 2}, seconds=60)
    strengthening.work(pool, lambda line: None)
    return strengthening.outcomes()


def by_processes(jobs: int, *, alone: bool, function: Callable[..., Outcome] = strengthened) -> list[Outcome]:
    function, jobs = for_processes(function, [SYSTEM], jobs)
    with Workers(function, jobs) as workers:
        return work(workers, alone=alone)


@cache
def expected(alone: bool) -> list[Outcome]:
    """By one process."""
    return by_processes(1, alone=alone)


def says(outcomes: Sequence[Outcome]) -> list[tuple[object, ...]]:
    """All of the outcomes but terms, which cannot be compared, and seconds."""
    return [
        (
            each.prop, each.proved, each.why, each.scopes, each.complete, each.bounds, each.not_rechecked, each.disagree,
            each.violation, each.left, [(i.prop.name, i.prop.says, list(i.relative_to)) for i in each.inferred],
        )
        for each in outcomes
    ]  # fmt: skip


@pytest.mark.long
def test_what_the_first_needs_is_not_inferred_again() -> None:
    """Of properties that assume each other, the first infers; of those that do not, each does. All names are different."""
    for alone in (False, True):
        outcomes = expected(alone)
        assert [each.prop for each in outcomes] == GOALS
        assert [each.proved for each in outcomes] == [True, True, False, True]
        assert outcomes[2].violation is not None and outcomes[2].violation.prop == "never-held"
        assert [len(each.inferred) for each in outcomes] == ([2, 2, 0, 2] if alone else [2, 0, 0, 0])
        props = [each.prop for outcome in outcomes for each in outcome.inferred]
        assert len({prop.name for prop in props}) == len(props)
        assert prove(MANY.asking([*MANY.properties, *props])).proved("third")


@pytest.mark.long
@linux
@pytest.mark.parametrize("alone", [False, pytest.param(True, marks=pytest.mark.long)])
def test_any_number_of_processes_infers_the_same(alone: bool) -> None:
    assert says(by_processes(3, alone=alone)) == says(expected(alone))
    assert not multiprocessing.active_children()


def killed_once(task: Task, report: Callable[[str], None], *, file: Path, others: Mapping[str, System]) -> Outcome:
    """Kills its own process the first time that a property is tried."""
    if task.prop == "third" and not file.exists():
        file.write_text("")
        os.kill(os.getpid(), signal.SIGKILL)
    return strengthened(task, report, others=others)


@linux
def test_a_killed_process_changes_no_outcome(tmp_path: Path) -> None:
    file = tmp_path / "killed"
    outcomes = by_processes(2, alone=True, function=partial(killed_once, file=file))
    assert file.exists()
    assert says(outcomes) == says(expected(True))


@pytest.mark.parametrize("lost", [*(pytest.param(each, marks=pytest.mark.long) for each in [(), (4,)]), (3, 6)])
def test_workers_that_are_lost_change_no_outcome(lost: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    put(monkeypatch, {"leases": SYSTEM})
    hosts, notes = LocalHosts(2, lost), list[str]()
    remote = RemoteWorkers(hosts, notes.append)
    pool = ClusterPool(remote, [SYSTEM], [("leases", MANY.variant)], strengthened, lambda task: task.title)
    assert says(work(pool)) == says(expected(False))
    assert hosts.replaced == len(notes) == len(lost)


class Backwards:
    """A pool whose last task ends first. It notes what it was given."""

    def __init__(self, last: int = 100) -> None:
        self.rounds: list[list[Task]] = []
        self.left = last

    def run(
        self, tasks: Sequence[Task], report: Callable[[str], None], prepares: object = None
    ) -> Iterator[tuple[Task, Outcome]]:
        """Yields the outcomes, until so many are there."""
        self.rounds.append(list(tasks))
        for task in reversed(tasks):
            if not self.left:
                raise KeyboardInterrupt
            self.left -= 1
            yield task, strengthened(task, report, others={"leases": SYSTEM})


def test_the_order_in_which_tasks_end_changes_no_outcome() -> None:
    pool = Backwards()
    assert says(work(pool)) == says(expected(False))
    assert [[task.prop for task in tasks] for tasks in pool.rounds] == [GOALS[:1], GOALS[1:3], GOALS[3:]]
    assert [len(task.lemmas) for tasks in pool.rounds for task in tasks] == [0, 2, 2, 2]


def test_an_exception_keeps_the_outcomes_so_far() -> None:
    strengthening = Strengthening(MANY, GOALS, alone=False, scope={"Worker": 2, "Lease": 2}, seconds=60)
    with pytest.raises(KeyboardInterrupt):
        strengthening.work(Backwards(2), lambda line: None)
    outcomes = strengthening.outcomes(missing="interrupted")
    assert [each.why for each in outcomes] == ["", "interrupted", "violated at Worker=2,Lease=2", "interrupted"]
    assert len(strengthening.lemmas) == len(outcomes[0].inferred) == 2
