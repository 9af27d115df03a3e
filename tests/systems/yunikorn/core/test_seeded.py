"""Every bug seeded into YuniKorn's core is caught, by a scenario or by a walk."""

from __future__ import annotations

import random

import pytest

from schedproof.impl.systems.yunikorn.core import Draft
from tests.support.sample import thinned
from tests.systems.yunikorn.core.bench import Bench
from tests.systems.yunikorn.core.scenarios import SCENARIOS
from tests.systems.yunikorn.core.seeded import seeded
from tests.systems.yunikorn.core.walks import Walker

SEEDED = seeded()
SEEDS = range(150)
STEPS = 80

NOT_IN_WALKS = {
    # No walk has rules of placement, or access lists.
    "CreatesWhatItMayNot", "EverybodyMaySubmit", "FirstRuleOnly", "R8OnlyTheQueueItselfDrains",
    # The document requires nothing of the kind.
    "ArmsTheGangTimerAnew", "DecommissionRevertsEverySwap", "ForgetsToStopTimers",
    "StartsBeforeTheGangIsThere", "R6StaysResuming",
    # Nobody adds an application of another partition's name.
    "RejectsTheOneThatIsThere",
    # Of Starting the walks' properties count real allocations only.
    "AStartingGangsPlaceholdersAreNone",
    # Too seldom.
    "DecommissionConfirmsOnTheNode", "R4ThePartitionDoesNotWait", "RemovalCompletesTheCompleting",
    "ResumedWithAllocations",
}  # fmt: skip
"""Only the scenarios catch these."""


def scenario_that_fails(draft: type[Draft]) -> str | None:
    """The first scenario that a core with this draft does not pass."""
    for scenario in SCENARIOS:
        try:
            scenario(Bench(draft))
        except Exception:
            return scenario.__name__
    return None


def walk_that_fails(draft: type[Draft]) -> int | None:
    """The seed of the first walk that a core with this draft does not pass."""
    for seed in SEEDS:
        try:
            Walker(random.Random(seed).choice, draft).walk(STEPS)
        except Exception:
            return seed
    return None


def test_there_are_many_and_the_reference_is_none_of_them() -> None:
    assert len(SEEDED) >= 20
    assert scenario_that_fails(Draft) is None


@pytest.mark.parametrize("draft", thinned(SEEDED, 8), ids=lambda draft: draft.__name__)
def test_is_caught(draft: type[Draft]) -> None:
    assert scenario_that_fails(draft) is not None, f"no scenario fails with {draft.__name__}"


@pytest.mark.long(one_in=12)
def test_walks_catch_most() -> None:
    """Those that none needs to see are not walked with: that is all of the walks, in vain."""
    drafts = [draft for draft in SEEDED if draft.__name__ not in NOT_IN_WALKS]
    assert [draft.__name__ for draft in drafts if walk_that_fails(draft) is None] == []
    assert len(drafts) == len(SEEDED) - len(NOT_IN_WALKS)
    assert walk_that_fails(Draft) is None
