"""What the findings rest on: each interpretation of the two copies and of the merged design, read the other way, in all configurations.

That the lists are right is what exploration says; that they are to be expected is argued in each reading's words: what nobody
removes stays, what stays disagrees.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from schedproof.model.lang import Action, Model, Reading, Rule
from schedproof.model.registry.discovery import system
from schedproof.model.semantics import State, instances
from schedproof.model.systems.yunikorn_merge.interpretations import INTERPRETATIONS
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.verification.findings import findings
from schedproof.proofs.verification.interpreted import differences, otherwise, wrong

Graphs = list[frozenset[tuple[State, State]]]
TRIED = [reading for reading in INTERPRETATIONS if reading.is_tried]


def variant_of(reading: Reading) -> Model:
    """The variant that rests on an interpretation; the two copies, if it names none."""
    merge = system("yunikorn-merge")
    return merge.variants[reading.variant or merge.base.variant]


@cache
def as_read(variant: str) -> Graphs:
    return graphs(system("yunikorn-merge").variants[variant])


def graphs(model: Model) -> Graphs:
    """The steps of each configuration: the states before and after."""
    explorations = [explore(instance, symmetry=False) for instance in instances(model, {})]
    return [
        frozenset((each.states[n], each.states[edge.target]) for n, edges in enumerate(each.edges) for edge in edges)
        for each in explorations
    ]


def read_as_before(model: Model, reading: Reading) -> Graphs:
    """The graphs with this interpretation, in the configurations of the other one."""
    if reading.configurations:
        return graphs(otherwise(model, replace(reading, adds=(), drops=())))
    return as_read(model.variant)


CHANGES_STEPS = [
    r for r in TRIED if not r.machines and (r.drops or any(isinstance(each, Rule | Action) for each in r.adds))
]
"""Those with other machines have other states."""


@pytest.mark.long(one_in=32)
@pytest.mark.parametrize("reading", CHANGES_STEPS, ids=lambda reading: reading.name)
def test_read_otherwise_something_else_happens(reading: Reading) -> None:
    model = variant_of(reading)
    assert graphs(otherwise(model, reading)) != read_as_before(model, reading)


@pytest.mark.long
@pytest.mark.parametrize("name", ["a-proposal-is-a-copy", "a-commit-checks-again"])
def test_read_otherwise_exactly_what_it_says_is_different(name: str) -> None:
    """All others: ``tests/systems/test_interpretations.py``."""
    (reading,) = [each for each in TRIED if each.name == name]
    assert wrong(reading, *differences(variant_of(reading), reading)) == []


def test_each_design_has_interpretations() -> None:
    assert {r.variant for r in INTERPRETATIONS} == {"", "merged", "merged-proposals"}


@pytest.mark.long(one_in=9)
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
