"""Each change of YuniKorn's ``repaired`` is needed: without it a property that it says to repair is broken again."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from schedproof.model.lang import Change, Model, StepInvariant, after
from schedproof.model.registry.discovery import system
from schedproof.model.systems.yunikorn import AS_WRITTEN, REPAIRED, V0_12_2
from schedproof.model.systems.yunikorn import variants as of
from schedproof.model.systems.yunikorn.configurations import CONFIGURATIONS
from schedproof.model.systems.yunikorn.machines import a, k
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.verdict import Verdict
from schedproof.proofs.verification.findings import repair_of
from tests.support.sample import thinned
from tests.systems.yunikorn.model.test_findings import alone

BY_NAME = {s.about: s for s in CONFIGURATIONS}
TWO_HARD, TWO_SOFT = "a gang of two with a real ask, hard", "a gang of two with a real ask, soft"
RESUMED = "a queue is removed with a soft gang in it"
ONE_HARD = "a gang of one with a real ask, hard"
PARTITION, QUEUES, REQUIRED = "a partition is removed", "queues are removed", "a node is drained that an ask requires"
TWO_ASKS, DYNAMIC = "an application with two asks", "a dynamic queue"


@dataclass(frozen=True)
class Needed:
    """Without ``change`` (and ``also``, which keeps the property as well) ``prop`` falls in ``configuration``.

    ``below`` builds on ``change``, and is left out with it.
    """

    change: Change
    prop: str
    configuration: str
    also: Change | None = None
    below: Change | None = None

    @property
    def id(self) -> str:
        return f"{self.prop} by {self.change.why[:25]}"


NEEDED = [
    Needed(of.A_TIME_OUT_IS_OF_ONE_STAY, "completed-after-its-time", TWO_ASKS),
    *(
        Needed(of.COMPLETING_HAS_NOTHING, name, ONE_HARD)
        for name in (
            "completing-has-nothing",
            "completed-has-nothing",
            "completed-after-its-time",
            "nothing-left-completes",
        )
    ),
    Needed(of.ALLOCATIONS_COUNT, "more-allocations-make-it-running", ONE_HARD),
    Needed(of.FAILING_IS_CLEANED_UP, "failed-has-nothing", TWO_HARD),
    Needed(of.FAILING_IS_CLEANED_UP, "failing-begins-the-cleanup", TWO_HARD),
    # A partition that is removed fails what is in it; beside it only gangs fail without a placeholder, and that needs a
    # time-out which comes when the last one is gone.
    Needed(of.FAILING_IS_CLEANED_UP, "failing-ends", TWO_HARD, also=of.A_TIME_OUT_IS_OF_ONE_STAY),
    Needed(of.FAILING_IS_CLEANED_UP, "failing-ends", PARTITION),
    Needed(of.FAILING_IS_CLEANED_UP, "applications-can-end", TWO_HARD, also=of.A_TIME_OUT_IS_OF_ONE_STAY),
    *(
        Needed(of.PARTITIONS_DRAIN, name, PARTITION, also=of.STOPPED_OBJECTS_DRAIN)
        for name in ("completed-after-its-time", "removed-partitions-drain", "only-empty-partitions-go")
    ),
    # The first allocation, a swapped-in one too, makes it Starting: then the time-out finds no real one in Accepted.
    Needed(of.A_GANG_THAT_HAS_BEGUN_GOES_ON, "a-gang-fails-before-it-runs", TWO_HARD, also=of.ALLOCATIONS_COUNT),
    # It resumes without a placeholder if the time-out was under way when the last one went: that is taken back now.
    Needed(
        of.RESUMING_ENDS,
        "resuming-ends",
        TWO_SOFT,
        also=of.A_TIME_OUT_IS_OF_ONE_STAY,
        below=of.WHAT_RESUMES_WITH_NOTHING_COMPLETES,
    ),
    Needed(of.RESUMING_ENDS, "applications-can-end", TWO_SOFT, below=of.WHAT_RESUMES_WITH_NOTHING_COMPLETES),
    Needed(of.WHAT_RESUMES_WITH_NOTHING_COMPLETES, "nothing-left-completes", TWO_SOFT),
    Needed(of.WHAT_RESUMES_WITH_NOTHING_COMPLETES, "draining-queues-go", RESUMED),
    Needed(of.THE_CYCLE_IS_FOR_WHAT_IS_IN_IT, "only-the-cycle-is-scheduled", TWO_SOFT),
    # The later change keeps the conditions of the earlier one on the actions that it changes too.
    Needed(
        of.ONLY_USABLE_NODES_ARE_USED,
        "unschedulable-nodes-are-not-used",
        REQUIRED,
        also=of.THE_CYCLE_IS_FOR_WHAT_IS_IN_IT,
    ),
    Needed(
        of.ONLY_USABLE_NODES_ARE_USED,
        "unschedulable-nodes-get-nothing",
        REQUIRED,
        also=of.THE_CYCLE_IS_FOR_WHAT_IS_IN_IT,
    ),
    Needed(of.ADDITIONS_ARE_REFUSED, "draining-queues-refuse-additions", QUEUES),
    Needed(of.THE_REFUSED_ARE_REJECTED, "life-rejected", TWO_ASKS),
    Needed(of.STOPPED_IS_USED, "life-of-a-queue", QUEUES),
    Needed(of.STOPPED_IS_USED, "life-of-a-partition", PARTITION),
    Needed(of.STOPPED_OBJECTS_DRAIN, "stopped-partitions-drain", PARTITION),
    Needed(of.DYNAMIC_QUEUES_DRAIN, "removed-queues-drain", DYNAMIC),
    *(Needed(of.FAILED_IS_FINAL, name, PARTITION) for name in ("failed-is-final", "only-the-completed-expire")),
]
OF_AS_WRITTEN = {(of.STOPPED_OBJECTS_DRAIN.why, "stopped-queues-drain")}
"""v0.12.2 removes no Stopped queue, so leaving the change out breaks nothing; the text itself removes one."""
OF_NO_PROPERTY = [of.WHAT_RESUMES_ASKS_ON, of.WHAT_IS_REMOVED_IS_CLEARED]
"""The document says nothing of what becomes of the real asks of a gang that resumes, nor of what is removed."""


def less(*changes: Change) -> Model:
    """The repaired variant without some of its changes; what the others weaken is not asked for."""
    kept = [
        replace(other, repairs=[], weakens={}) for other in of.OF_THE_CORE if all(other is not each for each in changes)
    ]
    return V0_12_2.amend("less", "without some changes", kept, refuted=frozenset())


def verdict(model: Model, prop: str, configuration: str) -> Verdict:
    """Of the property as ``repaired`` has it, by exploration of a configuration."""
    asked = model.asking([REPAIRED.property(prop)])
    [result] = [r for r in model_check(*alone(asked, BY_NAME[configuration]), only=[prop]) if r.name == prop]
    return result.verdict


def test_a_property_that_a_change_says_to_repair_is_asked_for() -> None:
    to_repair = {(change.why, name) for change in REPAIRED.changes for name in change.repairs}
    assert {(needed.change.why, needed.prop) for needed in NEEDED} | OF_AS_WRITTEN == to_repair
    needed = {needed.change.why for needed in NEEDED} | {change.why for change in OF_NO_PROPERTY}
    assert {change.why for change in REPAIRED.changes} == needed, "no change is idle"


def test_a_property_that_is_required_again_is_repaired() -> None:
    """In v0.12.2 no partition drains, so it does not have the property; the repaired core has it, and satisfies it."""
    name = "draining-partitions-go"
    assert name in AS_WRITTEN.refuted and name not in {p.name for p in V0_12_2.properties}
    why = of.WHAT_RESUMES_WITH_NOTHING_COMPLETES.why
    assert repair_of(system("yunikorn"), name) == f"{why} (variant repaired)"
    assert verdict(REPAIRED, name, "a partition is removed with a soft gang in it") is Verdict.PROVED


def test_a_stopped_queue_drains_since_its_change() -> None:
    """Line 50 lets a Stopped queue go as it is, and line 51 does not. In v0.12.2 there is none (fact 2)."""
    name = "stopped-queues-drain"
    assert [each.variant for each in (AS_WRITTEN, V0_12_2, REPAIRED) if name in each.refuted] == ["as-written"]
    results = model_check(*alone(AS_WRITTEN, BY_NAME[QUEUES]), only=[name])
    assert [r.verdict for r in results if r.name == name] == [Verdict.REFUTED]
    assert verdict(REPAIRED, name, QUEUES) is Verdict.PROVED
    assert repair_of(system("yunikorn"), name) == f"{of.STOPPED_OBJECTS_DRAIN.why} (variant repaired)"


KEEPS_ITS_ASKS = StepInvariant(
    name="keeps-its-asks",
    says="a gang that resumes keeps its real asks",
    on=["gang_wakes"],
    over=[a, k],
    given=a.fires("resume") & (k.application == a) & ~k.placeholder & k.is_("pending"),
    then=after(k.is_("pending")),
)


@pytest.mark.long
def test_what_resumes_asks_on() -> None:
    for model, expected in ((REPAIRED, Verdict.PROVED), (V0_12_2, Verdict.REFUTED)):
        asked = model.asking([KEEPS_ITS_ASKS])
        results = model_check(*alone(asked, BY_NAME[TWO_SOFT]), only=[KEEPS_ITS_ASKS.name])
        assert [r.verdict for r in results if r.name == KEEPS_ITS_ASKS.name] == [expected]


IN_TIERS = [
    pytest.param(n, marks=pytest.mark.long if "gang of two" in n.configuration else (), id=n.id) for n in NEEDED
]


@pytest.mark.parametrize("needed", thinned(IN_TIERS, 8))
def test_without_a_change_what_it_repairs_is_broken(needed: Needed) -> None:
    """Where another change keeps the property too, it is so without both, and not without the one."""
    left_out = [needed.change, *([needed.below] if needed.below else [])]
    also = [needed.also] if needed.also else []
    assert verdict(less(*left_out, *also), needed.prop, needed.configuration) is Verdict.REFUTED
    if needed.also is not None:
        assert verdict(less(*left_out), needed.prop, needed.configuration) is not Verdict.REFUTED
    assert verdict(REPAIRED, needed.prop, needed.configuration) is Verdict.PROVED
