"""The reference scheduler and the model side by side."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

from schedproof.impl.systems.hived import GroupSpec, InMemoryStore, PodRow, PodStatus, Scheduler
from schedproof.model.semantics import ScopeError, instances
from schedproof.model.systems.hived import REPAIRED
from schedproof.proofs.refinement.compare import never_taken
from schedproof.proofs.refinement.mismatch import Broken
from schedproof.proofs.refinement.report import RefinementReport
from schedproof.proofs.systems.hived.refinement.abstraction import Abstraction
from schedproof.proofs.systems.hived.refinement.check import check_refinement, side_by_side
from tests.support.sample import thinned
from tests.systems.hived.seeded.schedulers import SEEDED, Seeded
from tests.systems.hived.seeded.writes import Contradicting, NotEmpty

REACHABLE = {(2, 2): (28, 97), (2, 3): (88, 335), (3, 2): (131, 595), (3, 3): (607, 3163), (4, 2): (531, 2976)}
"""States and transitions at groups x cells, as counted twice: by the model's steps, and by the
images of the scheduler, which is written by hand."""


def same_graph(report: RefinementReport, groups: int, cells: int, pods: int) -> None:
    assert report.ok, report.text
    states, edges = REACHABLE[groups, cells]
    assert (report.model_states, report.model_states_covered) == (states, states)
    assert (report.model_edges, report.model_edges_covered) == (edges, edges)
    kinds = report.states_by_kind
    assert all(kinds[kind] > 0 for kind in kinds if kind != "recovering" or pods > 1)
    # Every state has its crash edge, so the edges are at least as many as the states.
    assert report.edges - report.silent_edges >= report.states
    assert report.crash_points >= report.states


@pytest.mark.parametrize(("groups", "cells", "pods"), thinned([(2, 2, 2), (3, 2, 1)], 2, first=1))
def test_the_scheduler_is_the_model(groups: int, cells: int, pods: int) -> None:
    same_graph(check_refinement({"PodGroup": groups, "Cell": cells}, pods_per_group=pods), groups, cells, pods)


@pytest.mark.long(one_in=12)
@pytest.mark.parametrize(("groups", "cells", "pods"), [(2, 3, 2), (3, 3, 1), (4, 2, 1), (2, 3, 3), (3, 2, 2)])
def test_the_scheduler_is_the_model_at_larger_scopes(groups: int, cells: int, pods: int) -> None:
    """Three of any two of them. No seeded fault needs more than three groups of one pod, or two of two, on two cells."""
    same_graph(check_refinement({"PodGroup": groups, "Cell": cells}, pods_per_group=pods), groups, cells, pods)


@pytest.mark.parametrize("priorities", thinned(map(pytest.param, [(0, 0, 1), (1, 0, 1), (2, 2, 2), (2, 1, 0)]), 4))
def test_equal_priorities(priorities: tuple[int, ...]) -> None:
    report = check_refinement({"PodGroup": 3, "Cell": 2}, pods_per_group=1, priorities=priorities)
    assert report.ok, report.text


def honest(bugs: list[Seeded]) -> list[Seeded]:
    """The scheduler without a bug, wherever one of ``bugs`` is looked for."""
    settings = {(b.groups, b.cells, b.pods, b.priorities) for b in bugs}
    return [Seeded("no bug", "", groups=g, cells=c, pods=n, priorities=p) for g, c, n, p in sorted(settings, key=str)]


@pytest.mark.parametrize("seeded", thinned([*honest(SEEDED), *SEEDED], 32), ids=lambda p: p.bug)
def test_seeded_bugs_are_caught(seeded: Seeded) -> None:
    report = check_refinement(scheduler_factory=seeded.scheduler, store_factory=seeded.store, **seeded.exploration)
    if not seeded.shows:
        assert report.ok, report.text
        return
    assert report.mismatch is not None
    assert re.search(seeded.shows, report.mismatch.text, re.DOTALL), report.mismatch.text
    # Readable: how it was reached, in words, from the start of the process.
    at_once = seeded.store in (NotEmpty, Contradicting)
    assert list(report.mismatch.path[:1]) == ([] if at_once else ["the scheduler recovers"])
    assert ("it is so in the initial state" if at_once else "  1. the scheduler recovers") in report.text
    assert "DIFFER" in report.text


def test_there_are_bugs_of_many_kinds() -> None:
    assert len({p.bug for p in SEEDED}) == len(SEEDED) >= 10
    assert len({(p.scheduler, p.store) for p in SEEDED}) == len(SEEDED)


def test_the_way_to_a_mismatch_can_be_followed() -> None:
    """The path to the fault in recovery: bind one pod, crash, recover."""
    bug = next(p for p in SEEDED if p.bug == "recovery does not finish a binding")
    report = check_refinement(scheduler_factory=bug.scheduler, **bug.exploration)
    assert report.mismatch is not None
    assert list(report.mismatch.path) == [
        "the scheduler recovers",
        "pod g0/p0 is submitted",
        "pod g0/p1 is submitted",
        "group g0 is scheduled on c0, up to where the row of g0/p0 is written: bound",
        "the process crashes",
        "the scheduler recovers",
    ]


def test_a_step_that_is_never_taken_is_reported() -> None:
    exploration = side_by_side({"PodGroup": 1, "Cell": 1}, pods_per_group=1)
    exploration.explore()
    assert never_taken(exploration) is None
    exploration.covered = {step for step in exploration.covered if step[1].action != "delete_allocated"}
    mismatch = never_taken(exploration)
    assert mismatch is not None
    assert mismatch.reason == "the scheduler never takes delete_allocated(g0)"


class TestTheScope:
    @pytest.mark.long
    def test_progress_is_reported(self) -> None:
        reported: list[tuple[int, int]] = []
        check_refinement({"PodGroup": 2, "Cell": 2}, progress=lambda states, edges: reported.append((states, edges)))
        assert reported == sorted(reported)
        assert reported[-1][0] <= 2668

    @pytest.mark.parametrize("scope", [{"PodGroup": 0}, {"Cell": 10**9}, {"Job": 1}])
    def test_impossible_scopes(self, scope: Mapping[str, int]) -> None:
        with pytest.raises(ScopeError):
            check_refinement(scope)

    @pytest.mark.parametrize("wrong", [{"pods_per_group": 0}, {"priorities": (1,)}])
    def test_impossible_arguments(self, wrong: Mapping[str, Any]) -> None:
        with pytest.raises(ValueError, match=r"pod|priorities"):
            check_refinement({"PodGroup": 2, "Cell": 2}, **wrong)


class TestTheAbstraction:
    """By hand: two groups of two pods on two cells."""

    specs = (GroupSpec("g0", 0, ("p0", "p1")), GroupSpec("g1", 1, ("p0", "p1")))

    def abstraction(self) -> Abstraction:
        return Abstraction(next(iter(instances(REPAIRED, {"PodGroup": 2, "Cell": 2}, with_history=True))), self.specs)

    def describe(self, rows: list[PodRow]) -> dict[str, dict[str, dict[str, object]]]:
        abstraction = self.abstraction()
        return abstraction.instance.describe(abstraction.recovered(abstraction.records(rows)))

    def test_a_bound_row_decides_for_its_group(self) -> None:
        placement = (("p0", ("c0",)), ("p1", ("c1",)))
        rows = [
            PodRow("p0", PodStatus.BOUND, self.specs[0], placement),
            PodRow("p1", PodStatus.SUBMITTED, self.specs[0]),
            PodRow("p0", PodStatus.DELETED, self.specs[1]),
        ]
        assert self.describe(rows) == {
            "PodGroup": {
                "g0": {"state": "Allocated", "record": "bound", "placement": ["c0", "c1"]},
                "g1": {"state": "Pending", "record": "submitted", "placement": []},
            },
            "Cell": {
                "c0": {"state": "Used", "user": "g0", "reserver": None},
                "c1": {"state": "Used", "user": "g0", "reserver": None},
            },
        }

    def test_a_group_is_deleted_when_all_its_pods_are(self) -> None:
        rows = [PodRow(pod, PodStatus.DELETED, self.specs[0]) for pod in ("p0", "p1")]
        assert self.describe(rows)["PodGroup"]["g0"]["state"] == "Deleted"

    def test_two_groups_on_one_cell_are_refused(self) -> None:
        rows = [PodRow("p0", PodStatus.BOUND, spec, (("p0", ("c0",)), ("p1", ()))) for spec in self.specs]
        with pytest.raises(Broken, match="both g0/p0 and g1/p0 on c0"):
            self.describe(rows)

    def test_records_that_disagree_with_the_cells_are_refused(self) -> None:
        scheduler = Scheduler(InMemoryStore(), ["c0", "c1"])
        scheduler.recover()
        for pod in self.specs[0].pods:
            scheduler.submit(self.specs[0], pod)
        abstraction, before = self.abstraction(), scheduler.memory
        scheduler.schedule("g0")
        records = abstraction.records([])
        rows = [PodRow(pod, PodStatus.SUBMITTED, self.specs[0]) for pod in self.specs[0].pods]
        assert abstraction.running(before, rows, records) == abstraction.instance.initial()
        with pytest.raises(Broken, match="place g0 differently"):
            abstraction.running(scheduler.memory, rows, records)
