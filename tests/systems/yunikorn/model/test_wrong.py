"""What the defects of YuniKorn's documents say is wrong, and the runs that their authors chose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from schedproof.model.lang import StepInvariant
from schedproof.model.registry.discovery import system
from schedproof.model.systems.yunikorn import shim_repairs
from schedproof.model.systems.yunikorn.together import COMPONENTS
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.verification.lock_repairs import lock_repairs


def sentences(name: str) -> Iterator[tuple[str, str]]:
    """The names of a system's defects, each with what is wrong."""
    its = system(name)
    for model in its.variants.values():
        yield from ((change.name, change.wrong) for change in model.changes if change.wrong)
        yield from ((each.repair.name, each.repair.wrong) for each in lock_repairs(its, model))


@pytest.mark.parametrize("name", ["yunikorn", "yunikorn-merge"])
def test_what_is_wrong_is_one_short_sentence(name: str) -> None:
    some = dict(sentences(name))
    assert len(some) > 10
    assert [each for each, wrong in some.items() if not 0 < len(wrong.split()) <= 25] == []


def test_a_dropped_release_overtakes_nothing() -> None:
    """The shim drops a release in the states of facts 4.1, also where every message arrives in the order of sending."""
    prop = COMPONENTS.property("released-allocations-are-heard")
    assert isinstance(prop, StepInvariant) and prop.given is not None and shim_repairs.RELEASES.asks is not None
    asked = COMPONENTS.asking([replace(prop, given=prop.given & shim_repairs.RELEASES.asks)])
    (result,) = model_check(asked, {}, only=[prop.name])
    assert result.counterexample is not None
    messages = [each for each in result.counterexample.objects if each.sort == "Message"]
    assert messages and all(each.fields.get("ordered") is True for each in messages)
    heard = [step.action for step in result.counterexample.steps if step.action.startswith("deliver")]
    assert heard.index("deliver_new_allocation") < heard.index("deliver_allocation_released")
