"""Which reference implementations are explored side by side with which variants, and at what scopes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...model.beaker.situations import Situation
from ...model.lang import Property
from ...model.yunikorn import situations as yunikorn
from .beaker import check_refinement as check_beaker
from .graph import Progress
from .hived import check_refinement as check_hived
from .report import RefinementReport
from .yunikorn import check_refinement as check_yunikorn


@dataclass(frozen=True, kw_only=True)
class Refinement(Property):
    """The reference implementation and its model are the same graph at ``scope``, crashes included."""

    scope: Mapping[str, int]

    kind = "refinement"

    @abstractmethod
    def check(self, progress: Progress | None = None) -> RefinementReport:
        """Explores both; ``progress`` is told of it now and then."""


@dataclass(frozen=True, kw_only=True)
class HivedRefinement(Refinement):
    """HiveD's scheduler, with ``pods`` pods a group."""

    pods: int

    def check(self, progress: Progress | None = None) -> RefinementReport:
        """Explores both."""
        return check_hived(self.scope, pods_per_group=self.pods, progress=progress)


@dataclass(frozen=True, kw_only=True)
class BeakerRefinement(Refinement):
    """Beaker's scheduler in one situation."""

    situation: Situation

    def check(self, progress: Progress | None = None) -> RefinementReport:
        """Explores both."""
        return check_beaker(self.situation, progress=progress)


@dataclass(frozen=True, kw_only=True)
class YunikornRefinement(Refinement):
    """YuniKorn's core in one situation."""

    situation: yunikorn.Situation

    def check(self, progress: Progress | None = None) -> RefinementReport:
        """Explores both."""
        return check_yunikorn(self.situation, progress=progress)


def _hived(name: str, groups: int, cells: int, pods: int) -> Refinement:
    says = (
        "the reference scheduler, killed at any point and recovered, takes exactly the model's steps "
        f"({pods} pod{'s' * (pods > 1)} a group)"
    )
    return HivedRefinement(name=name, says=says, scope={"PodGroup": groups, "Cell": cells}, pods=pods)


def _beaker(name: str, situation: Situation) -> Refinement:
    says = f"the reference scheduler, killed at any point, takes exactly the model's steps ({situation.about})"
    return BeakerRefinement(
        name=f"scheduler-refines-model-{name}", says=says, scope=situation.sizes, situation=situation
    )


def _yunikorn(name: str, situation: yunikorn.Situation) -> Refinement:
    says = (
        "the reference core, killed at any point and rebuilt by the resource manager, takes exactly the model's steps "
        f"({situation.about})"
    )
    rigid = situation.rigid(shipped=True)
    return YunikornRefinement(
        name=f"core-refines-model-{name}",
        says=says,
        scope={sort: len(values) for (sort, _), values in rigid.items() if values},
        situation=situation,
    )


REFINED: Mapping[tuple[str, str], Sequence[Refinement]] = {
    ("hived", "repaired"): [
        _hived("scheduler-refines-model", 2, 3, 2),
        # That a victim is freed though other groups are still preempted shows from four groups on.
        _hived("scheduler-refines-model-at-four-groups", 4, 2, 1),
    ],
    ("beaker", "repaired"): [
        _beaker("one-recipe", Situation("one recipe; people do what they can", [["A"]], [0], [0], [0], [0])),
        _beaker("guest", Situation("a host with its guest, and a sibling", [["A", 0, "B"]], [0, 0], [0])),
        _beaker(
            "two-labs",
            Situation("a set of two and two labs; a condition changes", [["AC", "AB"]], [0, 0, 1], [], [], [1]),
        ),
        _beaker(
            "two-sets",
            Situation(
                "two sets of two need the same two systems; a priority changes",
                [["A", "B"], ["A", "B"]],
                [0, 0],
                [],
                [0],
            ),
        ),
    ],
    ("yunikorn", "repaired"): [
        _yunikorn("asks", yunikorn.Situation("an application with two asks", [("rr", "Soft")])),
        _yunikorn("hard-gang", yunikorn.Situation("a hard gang of one with a real ask", [("pr", "Hard")])),
        _yunikorn(
            "soft-gang",
            yunikorn.Situation(
                "a soft gang of one with a real ask; the partition is removed", [("pr", "Soft")], people=["partition"]
            ),
        ),
        _yunikorn(
            "queues",
            yunikorn.Situation(
                "queues are stopped, started and removed", [("r", "Soft")], queues=[None, 0], people=["queues"]
            ),
        ),
        _yunikorn(
            "nodes",
            yunikorn.Situation(
                "two nodes are drained, restored and taken away", [("r", "Soft")], adjustable_nodes=True, nodes=2
            ),
        ),
    ],
}
"""(system, variant) -> how a reference implementation is explored side by side with it."""
