"""The merged scheduler and its model are the same graph; bugs make them differ."""

from __future__ import annotations

import pytest

from schedproof.impl.scheduler_interface import TerminationType
from schedproof.impl.systems.yunikorn_merge import Allocation, Application, MergedScheduler, Partition
from schedproof.model.registry.discovery import systems
from schedproof.model.systems.yunikorn_merge import MERGED
from schedproof.model.systems.yunikorn_merge.merged_configurations import MERGED_CONFIGURATIONS, MergedConfiguration
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.systems.yunikorn_merge.refinement.check import check_refinement, instance_of
from schedproof.proofs.verification.auxiliary import Refined, auxiliary
from tests.support.sample import thinned
from tests.systems.yunikorn_merge.impl.seeded import (
    BelievesTheProposal,
    CommitsInsideTheSearch,
    ForgetsTheNode,
    FromTheLeafUp,
    NodeGoesAlone,
    NotifiesAfterUnlocking,
    OnlyTheLeaf,
)


@pytest.mark.long
@pytest.mark.parametrize("configuration", thinned(MERGED_CONFIGURATIONS, 4), ids=lambda s: s.about)
def test_the_scheduler_is_the_model(configuration: MergedConfiguration) -> None:
    report = check_refinement(configuration)
    assert report.ok, report.text
    exploration = explore(instance_of(configuration), symmetry=False)
    assert report.model_states == report.model_states_covered == len(exploration.states)
    assert report.states >= report.model_states, "an image has at least one state"


class AcceptsAnyQueue(MergedScheduler):
    """An application whose queue is not there is added to another."""

    def add_application(self, partition: str, name: str, queue: str) -> None:
        super().add_application(partition, name, "root.q0")


class DropsNotifications(MergedScheduler):
    """It does not notify the resource manager that an allocation has ended."""

    def _take_back(
        self, partition: Partition, application: Application, allocation: Allocation, why: TerminationType
    ) -> None:
        super()._take_back(partition, application, allocation, why)
        self.outbox.get()


class WithdrawsWhatRuns(MergedScheduler):
    """An ask that is withdrawn takes its allocation with it."""

    def remove_ask(self, partition: str, application: str, ask: str) -> None:
        super().remove_ask(partition, application, ask)
        self.release(partition, application, ask)


class KeepsItsNodes(MergedScheduler):
    """A node that is decommissioned stays, without what was on it."""

    def remove_node(self, partition: str, name: str) -> None:
        super().remove_node(partition, name)
        self.add_node(partition, name, 1)


class RecoversNothing(MergedScheduler):
    """What runs on a node that is added is not taken back."""

    def _recover(self, partition: object, node: object, allocation: Allocation) -> None:
        self._not_recovered([allocation])


class TakesTwo(MergedScheduler):
    """A node is given to two allocations."""

    def add_node(self, partition: str, name: str, capacity: int, existing: object = ()) -> None:
        super().add_node(partition, name, 2 * capacity, existing)  # type: ignore[arg-type]


class PreemptsNothing(MergedScheduler):
    """Nothing is preempted."""

    def release(
        self, partition: str, application: str, allocation: str, why: TerminationType = TerminationType.STOPPED_BY_RM
    ) -> bool:
        return why is TerminationType.STOPPED_BY_RM and super().release(partition, application, allocation, why)


class AsksComeBack(MergedScheduler):
    """What is preempted is asked for again."""

    def release(
        self, partition: str, application: str, allocation: str, why: TerminationType = TerminationType.STOPPED_BY_RM
    ) -> bool:
        done = super().release(partition, application, allocation, why)
        if done and why is TerminationType.PREEMPTED_BY_SCHEDULER:
            self.add_ask(partition, application, allocation, 1)
        return done


BUGS = (
    *(
        AcceptsAnyQueue,
        DropsNotifications,
        WithdrawsWhatRuns,
        KeepsItsNodes,
        RecoversNothing,
        TakesTwo,
        PreemptsNothing,
    ),
    *(AsksComeBack, BelievesTheProposal, ForgetsTheNode, FromTheLeafUp, NodeGoesAlone, OnlyTheLeaf),
)


@pytest.mark.parametrize("bug", thinned(BUGS, 6), ids=lambda b: b.__name__)
def test_a_seeded_bug_makes_them_differ(bug: type[MergedScheduler]) -> None:
    small = sorted(MERGED_CONFIGURATIONS, key=lambda s: len(s.allocations))
    reports = (check_refinement(configuration, bug) for configuration in small)
    assert any(not report.ok for report in reports)


@pytest.mark.parametrize("bug", [NotifiesAfterUnlocking, CommitsInsideTheSearch], ids=lambda b: b.__name__)
def test_what_only_several_threads_can_show_is_not_seen_here(bug: type[MergedScheduler]) -> None:
    """One operation after the other is right: such bugs are for the hammer (tests/systems/yunikorn_merge/impl/test_scheduler.py)."""
    assert check_refinement(MERGED_CONFIGURATIONS[0], bug).ok


def test_verify_looks_at_all_of_them() -> None:
    refined = [each for each in auxiliary(systems()["yunikorn-merge"], MERGED) if isinstance(each, Refined)]
    assert len(refined) == len(MERGED_CONFIGURATIONS) == 5
