"""What the findings rest on: each interpretation of the two copies, read the other way, in all configurations.

That the lists are right is what exploration says; that they are to be expected is argued in each reading's words: what nobody
removes stays, what stays disagrees.
"""

from __future__ import annotations

from functools import cache

import pytest

from schedproof.model.lang import Action, Model, Reading, Rule
from schedproof.model.registry.discovery import system
from schedproof.model.semantics import instances
from schedproof.model.systems.yunikorn_merge import TWO_COPY
from schedproof.model.systems.yunikorn_merge.readings import READINGS
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.verdict import Verdict
from schedproof.proofs.verification.findings import findings

SEEN_BY_DEFAULT = {"a-proposal-is-a-copy"}


def broken_if_read_otherwise(reading: Reading) -> set[str]:
    """What the two copies break if the sentence is read the other way."""
    other = TWO_COPY.amend("read-otherwise", reading.otherwise, [reading.change], TWO_COPY.refuted)
    if any(isinstance(element, Rule | Action) for element in reading.adds) or reading.drops:
        assert sizes(other) != as_read(), "read otherwise, something else happens somewhere"
    return {result.name for result in model_check(other, {}) if result.verdict is not Verdict.PROVED}


@cache
def as_read() -> list[tuple[int, int]]:
    return sizes(TWO_COPY)


def sizes(model: Model) -> list[tuple[int, int]]:
    """The states and transitions of each configuration."""
    explorations = [explore(instance, symmetry=False) for instance in instances(model, {})]
    return [(len(each.states), each.transition_count) for each in explorations]


@pytest.mark.parametrize(
    "reading",
    [
        pytest.param(r, id=r.name, marks=[] if r.name in SEEN_BY_DEFAULT else [pytest.mark.long(one_in=3)])
        for r in READINGS
    ],
)
def test_read_otherwise_exactly_what_it_says_is_different(reading: Reading) -> None:
    assert broken_if_read_otherwise(reading) == TWO_COPY.refuted - {*reading.rests} | {*reading.breaks}


def test_a_reading_is_of_what_the_model_keeps_and_breaks() -> None:
    kept = {p.name for p in TWO_COPY.properties} - TWO_COPY.refuted
    for reading in READINGS:
        assert set(reading.rests) <= TWO_COPY.refuted and set(reading.breaks) <= kept, reading.name


@pytest.mark.long
def test_findings_say_what_they_rest_on() -> None:
    rests = {
        finding.property: [r.name for r in finding.interpretations]
        for finding in findings(system("yunikorn-merge"), variants=["two-copy"])
    }
    assert rests["copies-agree-at-rest"] == ["a-proposal-is-a-copy", "a-release-is-not-for-proposals"]
    assert rests["accepted-allocations-are-confirmed"] == [], "YUNIKORN-169 itself"
    assert {name for r in READINGS for name in r.rests} == {name for name, names in rests.items() if names}
