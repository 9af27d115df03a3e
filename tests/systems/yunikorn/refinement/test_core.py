"""YuniKorn's reference core and the repaired model side by side, with a crash and a recovery in every state."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from schedproof.impl.scheduler_interface import (
    AddApplication,
    ApplicationRejected,
    CreateNode,
    ReleasedAllocation,
    Request,
    Response,
    TerminationType,
)
from schedproof.impl.systems.yunikorn.core import Core, Draft, Option, Refused
from schedproof.model.semantics import Choice, Instance
from schedproof.model.systems.yunikorn import REPAIRED
from schedproof.model.systems.yunikorn.configurations import CONFIGURATIONS, Configuration
from schedproof.proofs.refinement.modelside import ModelGraph, NotConfluent
from schedproof.proofs.refinement.report import RefinementReport
from schedproof.proofs.systems.yunikorn.refinement.check import check_refinement, instance_of
from schedproof.proofs.systems.yunikorn.refinement.component import Parts
from schedproof.proofs.systems.yunikorn.refinement.properties import REFINEMENTS, YunikornRefinement
from tests.support.sample import thinned
from tests.systems.yunikorn.core import seeded

GANG = Configuration("a gang of one with a real ask", [("pr", "Hard")])
SOFT = Configuration("a soft gang of one; the partition is removed", [("pr", "Soft")], people=["partition"])
PARTITION = Configuration("a partition is removed", [("r", "Soft")], people=["partition", "queues"])
QUEUES = Configuration("queues are removed", [("r", "Soft")], queues=[None, 0], people=["queues"])
NODES = Configuration("two nodes", [("r", "Soft")], adjustable_nodes=True, nodes=2)
ASKS = Configuration("two asks", [("rr", "Soft")])
TWO = Configuration("a gang of two on a node that is drained", [("pp", "Soft")], adjustable_nodes=True)
THREE_QUEUES = Configuration("two queues below one", [("r", "Soft")], queues=[None, 0, 0], people=["queues"])
LARGER = [
    *[
        s
        for s in CONFIGURATIONS
        if s.about in ("a gang of two with a real ask, soft", "a node goes with a placeholder")
    ],
    Configuration("a hard gang, queues and partition", [("pr", "Hard")], people=["partition", "queues"]),
    Configuration("a placeholder in a tree", [("p", "Soft")], queues=[None, 0], people=["queues", "partition"]),
    Configuration("one placeholder for two real asks", [("prr", "Soft")]),
    THREE_QUEUES,
    TWO,
]


def same_graph(report: RefinementReport) -> None:
    assert report.ok, report.text
    assert report.model_states == report.model_states_covered
    assert report.model_edges == report.model_edges_covered
    # One crash for each state, and some of them leave containers that the next core must hear of.
    assert report.crash_points == report.states
    assert all(report.states_by_kind.values())


@pytest.mark.parametrize(
    "refined", thinned([r for r in REFINEMENTS if r.variant == "repaired"], 5), ids=lambda r: r.name
)
def test_what_verify_looks_at(refined: YunikornRefinement) -> None:
    same_graph(refined.check())


@pytest.mark.long(one_in=18)
@pytest.mark.parametrize("configuration", LARGER, ids=lambda s: s.about)
def test_the_core_is_the_model_in_larger_configurations(configuration: Configuration) -> None:
    same_graph(check_refinement(configuration))


class ForgetsToCrash(Core):
    def crash(self) -> None:
        """Nothing is lost."""


class KeepsItsTimers(Core):
    """The timers of a process that died still come, and mean something."""

    def crash(self) -> None:
        world = self._world
        super().crash()
        self._world = world


class LosesRequests(Core):
    """Every node is taken for one that is known."""

    def handle(self, request: Request) -> list[object]:  # type: ignore[override]
        return [] if type(request).__name__ == "CreateNode" else list(super().handle(request))


class RejectsAfterACrash(Core):
    """A process that follows another one takes no applications."""

    def handle(self, request: Request) -> list[object]:  # type: ignore[override]
        if self.process and isinstance(request, AddApplication):
            request = replace(request, queue="root.nowhere")
        return list(super().handle(request))


class RefusesWhatRuns(Draft):
    def create_node(self, request: CreateNode) -> None:
        if request.existing:
            raise Refused("nothing may run on a new node")
        super().create_node(request)


class SaysNothing(Draft):
    """The resource manager hears of rejections only."""

    def send(self, response: Response) -> None:
        if isinstance(response, ApplicationRejected):
            super().send(response)


class AsksForNothingBack(Draft):
    """A release is noted, and not sent."""

    def send(self, response: Response) -> None:
        if not isinstance(response, ReleasedAllocation) or response.termination is TerminationType.STOPPED_BY_RM:
            super().send(response)


class DecidesNothing(Draft):
    def options(self) -> list[Option]:
        return []


CORES: list[tuple[type[Core], Configuration, str]] = [
    (ForgetsToCrash, ASKS, "it leads to another state than in the model|the operation fails"),
    (KeepsItsTimers, ASKS, "it leads to another state than in the model|the operation fails"),
    (LosesRequests, ASKS, "can no longer take create_node"),
    (RejectsAfterACrash, ASKS, "does not take back what it has lost"),
]
DRAFTS: list[tuple[type[Draft], Configuration, str]] = [
    (seeded.ArmsTheGangTimerAnew, TWO, "leads to another state"),
    (seeded.CompletingStaysWhenAsked, ASKS, "neither armed nor under way|another state"),
    (seeded.DecommissionForgetsAllocations, NODES, "decommission_node"),
    (seeded.EverybodyMaySubmit, ASKS, "can no longer take reject"),
    (seeded.ForgetsToStopTimers, ASKS, "can be repeated for ever"),
    (seeded.GangTimeFailsWhatIsFailing, SOFT, "gang_wakes|the operation fails"),
    (seeded.GangTimerOutlivesTheGang, GANG, "another state"),
    (seeded.LosesTheSwapOfAStoppedPlaceholder, GANG, r"end\(k0\)"),
    (seeded.NeverSweeps, PARTITION, "can no longer take delete_queue"),
    (seeded.R10FailedExpires, PARTITION, "no step of the model is this"),
    (seeded.R1WakeupsOfEarlierStays, ASKS, "no step of the model is this"),
    (seeded.R2CompletesOverASwap, GANG, "another state"),
    (seeded.R2CompletesOverItsPlaceholders, GANG, "another state"),
    (seeded.R3TheFirstSwapIsNone, GANG, "another state"),
    (RefusesWhatRuns, ASKS, "does not take back what it has lost"),
    (SaysNothing, ASKS, "reported other containers than there are"),
    (AsksForNothingBack, GANG, "reported other containers than there are"),
    (DecidesNothing, ASKS, "choose from other decisions"),
    (seeded.R4FailedWithTheLastPlaceholder, PARTITION, "remove_partition|another state|the operation fails"),
]


@pytest.mark.parametrize(
    ("core", "configuration", "shows"), thinned(CORES, 2), ids=lambda it: getattr(it, "__name__", None)
)
def test_a_core_with_a_bug_is_caught(core: type[Core], configuration: Configuration, shows: str) -> None:
    caught(check_refinement(configuration, Parts(core=core)), shows)


@pytest.mark.parametrize(
    ("draft", "configuration", "shows"), thinned(DRAFTS, 24), ids=lambda it: getattr(it, "__name__", None)
)
def test_a_bug_in_what_a_core_does_is_caught(draft: type[Draft], configuration: Configuration, shows: str) -> None:
    caught(check_refinement(configuration, Parts(draft=draft)), shows)


GANG_ON_NODES = next(s for s in CONFIGURATIONS if s.about == "a node goes with a placeholder")
OF_GANGS_ON_NODES = [
    seeded.DecommissionConfirmsOnTheNode,
    seeded.DecommissionRevertsEverySwap,
    seeded.R9SwapsComeToDrainedNodes,
]


@pytest.mark.long
@pytest.mark.parametrize("draft", OF_GANGS_ON_NODES, ids=lambda it: it.__name__)
def test_a_bug_that_takes_a_gang_and_two_nodes_is_caught(draft: type[Draft]) -> None:
    caught(check_refinement(GANG_ON_NODES, Parts(draft=draft)), "k1")


def caught(report: RefinementReport, shows: str) -> None:
    assert report.mismatch is not None
    assert re.search(shows, report.text), report.text
    assert "reached by:" in report.text
    assert "DIFFER" in report.text


def test_the_way_to_a_mismatch_can_be_followed() -> None:
    report = check_refinement(GANG, Parts(draft=seeded.R3TheFirstSwapIsNone))
    assert report.mismatch is not None
    assert list(report.mismatch.path) == [
        "a0 is added",
        "n0 registers",
        "k0 is asked for",
        "k1 is asked for",
        "the scheduler decides: k0 on n0",
        "the scheduler decides: k1 on n0 for k0",
        "the container of k0 ends",
    ]
    # A gang of one is Starting with its placeholder; what takes its place is an allocation more (line 20).
    assert "a0 Running" in report.mismatch.expected
    assert "a0 Starting" in report.mismatch.actual


class TestUrgentActions:
    """By hand, on the model: what a core does in one operation is several steps there."""

    def instance(self) -> Instance:
        return instance_of(PARTITION)

    def test_what_is_urgent_is_taken_at_once(self) -> None:
        instance = self.instance()
        plain = ModelGraph.explore(instance)
        with_urgency = ModelGraph.explore(instance, urgent={"": frozenset({"fail_for_good"})})
        failing = instance.slot("Application")
        states = [s.name for s in instance.model.machine("Application").states]
        ask = instance.slot("Ask")
        asks = [s.name for s in instance.model.machine("Ask").states]

        def waits(state: tuple[int, ...]) -> bool:
            nothing = asks[state[ask]] not in ("pending", "allocated", "releasing", "swapping")
            return states[state[failing]] == "Failing" and nothing

        assert any(waits(state) for state in plain.steps)
        assert not any(waits(state) for state in with_urgency.steps)
        assert {state for state in plain.steps if not waits(state)} == set(with_urgency.steps)

    def test_an_order_that_matters_is_refused(self) -> None:
        # Whether a queue is stopped or removed first is not the same: it stays Draining.
        with pytest.raises(NotConfluent, match="their order matters"):
            ModelGraph.explore(self.instance(), urgent={"": frozenset({"submit", "reject"})})

    def test_a_walk_ends_where_a_step_is_not_enabled(self) -> None:
        graph = ModelGraph.explore(self.instance())
        added, node = Choice("submit", (("a", 0),)), Choice("create_node", (("n", 0),))
        assert graph.walk(graph.initial, [added, added]) is None
        assert graph.walk(graph.initial, [added, node]) == graph.walk(graph.initial, [node, added])
        assert graph.walk(graph.initial, []) == graph.initial


def test_the_model_is_the_repaired_one() -> None:
    assert instance_of(ASKS).model is REPAIRED
