"""Every bug planted into YuniKorn's core is caught, by a story or by a walk."""

from __future__ import annotations

import random

import pytest
from planted_yunikorn_core import planted
from schedproof.impl.yunikorn.core import Draft
from yunikorn_core_bench import Bench
from yunikorn_core_scenarios import SCENARIOS
from yunikorn_core_walks import Walker

PLANTED = planted()
SEEDS = range(60)
STEPS = 80


def story_that_fails(draft: type[Draft]) -> str | None:
    """The first story that a core with this draft does not pass."""
    for story in SCENARIOS:
        try:
            story(Bench(draft))
        except Exception:
            return story.__name__
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
    assert len(PLANTED) >= 20
    assert story_that_fails(Draft) is None
    assert walk_that_fails(Draft) is None


@pytest.mark.parametrize("draft", PLANTED, ids=lambda draft: draft.__name__)
def test_is_caught(draft: type[Draft]) -> None:
    assert story_that_fails(draft) is not None, f"no story fails with {draft.__name__}"
