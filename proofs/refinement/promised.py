"""Which reference implementations are explored side by side with which variants, and at what scopes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schedproof.impl.systems.jobmon.client import Resume
from schedproof.impl.systems.jobmon.cluster import Ending
from schedproof.model.lang import Property
from schedproof.model.systems.beaker.situations import Situation
from schedproof.model.systems.yunikorn import situations as yunikorn
from schedproof.model.systems.yunikorn.channel import OF_NODES
from schedproof.model.systems.yunikorn.parties import Shim
from schedproof.model.systems.yunikorn_merge.merged_situations import MERGED_SITUATIONS, MergedSituation
from schedproof.proofs.systems.beaker.refinement import check_refinement as check_beaker
from schedproof.proofs.systems.hived.refinement import check_refinement as check_hived
from schedproof.proofs.systems.jobmon.refinement import May as MayJobmon
from schedproof.proofs.systems.jobmon.refinement import SimulationReport as JobmonReport
from schedproof.proofs.systems.jobmon.refinement import Situation as JobmonSituation
from schedproof.proofs.systems.jobmon.refinement import check_simulation as check_jobmon
from schedproof.proofs.systems.yunikorn.refinement import check_refinement as check_yunikorn
from schedproof.proofs.systems.yunikorn.refinement.both import May, SimulationReport, check_simulation
from schedproof.proofs.systems.yunikorn_merge.refinement import check_refinement as check_merged

from .graph import Progress
from .report import RefinementReport


@dataclass(frozen=True, kw_only=True)
class Refinement(Property):
    """What the reference implementation does at ``scope``, crashes included, is what its model does.

    The two are the same graph, but for YuniKorn's core and shim together and for Jobmon's server and agents: there the
    model can do more.
    """

    scope: Mapping[str, int]

    kind = "refinement"

    @abstractmethod
    def check(self, progress: Progress | None = None) -> RefinementReport | SimulationReport | JobmonReport:
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


@dataclass(frozen=True, kw_only=True)
class MergedRefinement(Refinement):
    """YuniKorn's merged scheduler in one situation."""

    situation: MergedSituation

    def check(self, progress: Progress | None = None) -> RefinementReport:
        """Explores both."""
        return check_merged(self.situation, progress=progress)


@dataclass(frozen=True, kw_only=True)
class PartiesRefinement(Refinement):
    """YuniKorn's core and shim in one situation: each of their moves is steps of the model."""

    situation: yunikorn.Situation
    may: May

    def check(self, progress: Progress | None = None) -> SimulationReport:
        """Explores both, and looks for the steps."""
        return check_simulation(self.situation, self.may, progress=progress)


@dataclass(frozen=True, kw_only=True)
class JobmonRefinement(Refinement):
    """Jobmon's server and agents in one situation: each of their acts is steps of the model."""

    situation: JobmonSituation

    def check(self, progress: Progress | None = None) -> JobmonReport:
        """Explores them, and looks for the steps."""
        return check_jobmon(self.situation, progress=progress)


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


def _merged(situation: MergedSituation) -> Refinement:
    return MergedRefinement(
        name=f"scheduler-refines-model-{'-'.join(situation.about.replace(',', '').split())}",
        says=f"the reference scheduler takes exactly the model's steps ({situation.about})",
        scope={sort: len(values) for (sort, _), values in situation.rigid.items() if values},
        situation=situation,
    )


def _parties(
    name: str, about: str, may: May, asks: str = "", people: Sequence[str] = (), *, nodes: bool = False
) -> Refinement:
    kinds = OF_NODES if nodes else yunikorn.WORK
    situation = yunikorn.Situation(
        about,
        [(asks, "Soft")] if asks else [],
        wakeups=1 if asks else 0,
        adjustable_nodes=nodes,
        people=people,
        shim=Shim(kinds=kinds, scheduler=True, mortal=True, troubled=True),
    )
    rigid = situation.rigid(shipped=True)
    return PartiesRefinement(
        name=f"core-and-shim-refine-model-{name}",
        says=f"whatever the reference core and shim do is steps of the model ({about})",
        scope={sort: len(values) for (sort, _), values in rigid.items() if values},
        situation=situation,
        may=may,
    )


def _jobmon(name: str, situation: JobmonSituation) -> Refinement:
    return JobmonRefinement(
        name=f"server-and-agents-refine-model-{name}",
        says=f"whatever the reference server and agents do is steps of the model ({situation.about})",
        scope=situation.instance().sizes,
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
    ("jobmon", "repaired"): [
        _jobmon("one", JobmonSituation("a task of two attempts; one bad thing at any moment")),
        _jobmon(
            "resources",
            JobmonSituation(
                "a task of two attempts, whose commands end well or have too few resources; a lease runs out",
                may=MayJobmon(whom=("instance", "run"), endings=frozenset({Ending.DONE, Ending.RESOURCE_ERROR})),
            ),
        ),
        _jobmon(
            "cold",
            JobmonSituation(
                "a second client resumes cold; the first one is late",
                (1,),
                (Resume.NO, Resume.COLD),
                runs=2,
                may=MayJobmon(whom=("run 1",)),
            ),
        ),
        _jobmon(
            "hot",
            JobmonSituation(
                "a second client resumes hot",
                (1,),
                (Resume.NO, Resume.HOT),
                runs=2,
                may=MayJobmon(bad=0),
            ),
        ),
    ],
    ("yunikorn-merge", "merged"): [_merged(situation) for situation in MERGED_SITUATIONS],
    ("yunikorn", "parties-repaired"): [
        _parties("ask", "an ask, event by event; the shim dies", May(crashes=1), "r"),
        _parties("gang", "a gang of one with a real ask", May(quick=True), "pr"),
        _parties("partition", "an ask; the partition is removed", May(quick=True), "r", ["partition"]),
        _parties("node", "a node is cordoned and removed; the shim dies", May(nodes=True, crashes=1), nodes=True),
    ],
}
"""(system, variant) -> how a reference implementation is explored side by side with it."""
