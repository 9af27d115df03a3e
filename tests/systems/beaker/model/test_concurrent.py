"""Where reads and writes are two steps: nothing is lost of the variants with one step, and each check of a write counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from schedproof.model.lang import Action, Change, Model
from schedproof.model.registry.discovery import systems
from schedproof.model.semantics import configurations
from schedproof.model.semantics.instance import Instance, fitted
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.verdict import Verdict
from tests.support.sample import thinned

VARIANTS = systems()["beaker"].variants
ONE_STEP = {"shipped-concurrent": "shipped", "concurrent": "interleaved"}
SIZES = {
    "shipped": {"RecipeSet": 2, "Recipe": 2, "System": 1},
    "interleaved": {"Lab": 1, "RecipeSet": 1, "Recipe": 2, "System": 2},
}


def reached(variant: str, like: str) -> frozenset[tuple[int, str]]:
    """The states of a variant that can be reached, each with its configuration, without the attributes that ``like`` lacks."""
    model, other = VARIANTS[variant], VARIANTS[like]
    known = {m.sort.name: {a.name for a in m.attributes} | {"state"} for m in other.machines}
    sizes, states = SIZES[like], set()
    for number, rigid in enumerate(configurations(other, sizes)):
        instance = Instance(model, fitted(sizes, rigid), rigid)
        for state in explore(instance, symmetry=False).states:
            shown = instance.describe(state)
            kept = {
                sort: {
                    name: {key: value for key, value in values.items() if key in known[sort]}
                    for name, values in objects.items()
                }
                for sort, objects in shown.items()
            }
            states.add((number, repr(kept)))
    return frozenset(states)


@pytest.mark.long
@pytest.mark.parametrize("variant", ONE_STEP)
def test_what_happens_in_one_step_happens_in_two(variant: str) -> None:
    one = ONE_STEP[variant]
    before, after = reached(one, one), reached(variant, one)
    assert len(before) > 50
    assert before <= after
    assert after - before, "the steps of others in between lead nowhere new"


def without(variant: str, action: str, *conjuncts: int) -> Action:
    """An action less some of its conjuncts, numbered from 1."""
    known = VARIANTS[variant].action(action)
    return replace(known, when=[part for n, part in enumerate(known.when, 1) if n not in conjuncts])


# (variant, the property that notices): the action with a check less
UNCHECKED: Mapping[tuple[str, str], Sequence[Any]] = {
    ("shipped-concurrent", "reserved-by-one"): [without("shipped-concurrent", "reserve_chosen", 2)],
    ("shipped-concurrent", "ends-as-its-tasks"): [without("shipped-concurrent", "reserve_chosen", 4)],
    ("shipped-concurrent", "chosen-is-a-candidate"): [without("shipped-concurrent", "search_in_vain", 2)],
    ("shipped-repaired", "only-automated-systems"): [without("shipped-repaired", "reserve_chosen", 6)],
    ("concurrent-checked", "handed-out-automated"): [without("concurrent-checked", "find_idle", 4)],
    ("concurrent", "one-search-of-the-new-job-loop"): [without("concurrent", "search_idle", 6)],
    ("concurrent", "chosen-suits"): [without("concurrent", "search_queued", 3)],
}


@pytest.mark.long
@pytest.mark.parametrize(("variant", "broken"), thinned(UNCHECKED, 7))
def test_a_write_that_checks_less_breaks_a_property(variant: str, broken: str) -> None:
    model: Model = VARIANTS[variant]
    assert broken not in model.refuted
    change = Change(why="a check less", repairs=[], adds=UNCHECKED[variant, broken])
    seeded = model.amend("seeded", "with a check less", [change], refuted=frozenset())
    verdicts = {each.name: each.verdict for each in model_check(seeded, {}, only=[broken])}
    assert verdicts[broken] is Verdict.REFUTED
