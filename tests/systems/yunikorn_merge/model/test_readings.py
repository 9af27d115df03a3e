"""What the findings rest on: each interpretation of the two copies and of the merged design, read the other way, in all configurations.

That the lists are right is what exploration says; that they are to be expected is argued in each reading's words: what nobody
removes stays, what stays disagrees.
"""

from __future__ import annotations

from functools import cache

import pytest

from schedproof.model.lang import Action, Model, Reading, Rule
from schedproof.model.registry.discovery import system
from schedproof.model.semantics import instances
from schedproof.model.systems.yunikorn_merge.interpretations import INTERPRETATIONS
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.verdict import Verdict
from schedproof.proofs.verification.findings import findings

SEEN_BY_DEFAULT = {"a-proposal-is-a-copy", "a-commit-checks-again"}
TRIED = [reading for reading in INTERPRETATIONS if reading.adds or reading.drops]


def variant_of(reading: Reading) -> Model:
    """The variant that rests on an interpretation; the two copies, if it names none."""
    merge = system("yunikorn-merge")
    return merge.variants[reading.variant or merge.base.variant]


def broken_if_read_otherwise(reading: Reading) -> set[str]:
    """What the variant breaks if the sentence is read the other way."""
    model = variant_of(reading)
    other = model.amend("read-otherwise", reading.otherwise, [reading.change], model.refuted)
    if any(isinstance(element, Rule | Action) for element in reading.adds) or reading.drops:
        assert graphs(other) != as_read(model.variant), "read otherwise, something else happens somewhere"
    return {result.name for result in model_check(other, {}) if result.verdict is not Verdict.PROVED}


@cache
def as_read(variant: str) -> list[tuple[frozenset[object], int]]:
    return graphs(system("yunikorn-merge").variants[variant])


def graphs(model: Model) -> list[tuple[frozenset[object], int]]:
    """The states, and the number of transitions, of each configuration."""
    explorations = [explore(instance, symmetry=False) for instance in instances(model, {})]
    return [(frozenset(each.states), each.transition_count) for each in explorations]


@pytest.mark.parametrize(
    "reading",
    [
        pytest.param(r, id=r.name, marks=[] if r.name in SEEN_BY_DEFAULT else [pytest.mark.long(one_in=8)])
        for r in TRIED
    ],
)
def test_read_otherwise_exactly_what_it_says_is_different(reading: Reading) -> None:
    assert broken_if_read_otherwise(reading) == variant_of(reading).refuted - {*reading.rests} | {*reading.breaks}


def test_a_reading_is_of_what_the_model_keeps_and_breaks() -> None:
    for reading in INTERPRETATIONS:
        model = variant_of(reading)
        kept = {p.name for p in model.properties} - model.refuted
        assert set(reading.rests) <= model.refuted and set(reading.breaks) <= kept, reading.name


def test_only_an_interpretation_that_is_tried_changes_a_verdict() -> None:
    assert not [r.name for r in INTERPRETATIONS if r not in TRIED and (r.rests or r.breaks)]
    assert {r.variant for r in INTERPRETATIONS} == {"", "merged"}


@pytest.mark.long
def test_findings_say_what_they_rest_on() -> None:
    rests = {
        finding.property: [r.name for r in finding.interpretations]
        for finding in findings(system("yunikorn-merge"), variants=["two-copy"])
    }
    assert rests["copies-agree-at-rest"] == [
        "a-proposal-is-a-copy",
        "a-release-is-not-for-proposals",
        "a-confirmation-needs-its-ask",
        "a-failed-addition-leaves-the-proposal",
    ]
    assert rests["accepted-allocations-are-confirmed"] == [], "YUNIKORN-169 itself"
    of_copies = [r for r in INTERPRETATIONS if variant_of(r).variant == "two-copy"]
    assert {name for r in of_copies for name in r.rests} == {name for name, names in rests.items() if names}
