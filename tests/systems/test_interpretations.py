"""Each interpretation of a document the other way, and each violation without each assumption on the environment.

That the lists are right is what exploration says; why they are to be expected is argued in each interpretation's words.
"""

from __future__ import annotations

import pytest

from schedproof.model.lang import Model, Reading
from schedproof.model.registry.discovery import systems
from schedproof.model.registry.system import LockFile
from schedproof.proofs.verification import assumptions
from schedproof.proofs.verification.interpreted import differences, of_variant, wrong
from schedproof.proofs.verification.interpreted_locks import lock_file, properties
from tests.support.sample import thinned

TRIED = [
    pytest.param(model, reading, lock_file(system, model), id=f"{system.name}-{model.variant}-{reading.name}")
    for system in systems().values()
    for model in system.variants.values()
    for reading in of_variant(system, model)
]


@pytest.mark.long(one_in=32)
@pytest.mark.parametrize(("model", "reading", "file"), TRIED)
def test_exactly_the_verdicts_differ_that_it_names(model: Model, reading: Reading, file: LockFile | None) -> None:
    assert wrong(reading, *differences(model, reading, file)) == []


@pytest.mark.long
@pytest.mark.parametrize("name", thinned(["victims-stay-being-preempted", "deleted-groups-do-not-return"], 2))
def test_two_of_hived(name: str) -> None:
    model = systems()["hived"].base
    (reading,) = (each for each in of_variant(systems()["hived"], model) if each.name == name)
    assert differences(model, reading) == (frozenset(reading.rests), frozenset(reading.breaks))
    assert reading.rests or reading.breaks


SMALL = {
    "beaker": {"batch", "strict", "eager"},
    "jobmon": {"as-written", "as-written-repaired", "shipped"},
    "yunikorn": {"as-written", "v0.12.2", "parties"},
    "yunikorn-merge": {"two-copy", "two-copy-repaired", "merged"},
}
"""The others have millions of states without assumptions: ``verify --property assumptions`` takes a minute or more for each."""

ASSUMING = [
    pytest.param(model, id=f"{system.name}-{model.variant}")
    for system in systems().values()
    for model in system.variants.values()
    if model.variant in SMALL.get(system.name, ()) and assumptions.assumptions(model) and assumptions.concerned(model)
]


@pytest.mark.long(one_in=32)
@pytest.mark.parametrize("model", ASSUMING)
def test_verdicts_name_the_assumptions_they_rest_on(model: Model) -> None:
    assert assumptions.wrong(model) == []


def test_each_names_what_its_variant_keeps_or_violates() -> None:
    for system in systems().values():
        for reading in system.interpretations:
            model = system.variants[reading.variant or system.base.variant]
            violated, kept = model.refuted, {each.name for each in model.properties} - model.refuted
            if reading.locks:
                file = lock_file(system, model)
                assert file is not None, reading.name
                violated, kept = properties(file)
            assert set(reading.rests) <= violated and set(reading.breaks) <= kept, reading.name


def test_each_says_what_it_answers_and_why() -> None:
    for system in systems().values():
        for reading in system.interpretations:
            assert "?" in reading.question, f"{system.name} {reading.name}: no question"
            for words in (reading.read, reading.otherwise, reading.why):
                assert words.endswith("."), f"{system.name} {reading.name}: no sentence: {words!r}"
            assert len({reading.read, reading.otherwise, reading.why}) == 3, (
                f"{system.name} {reading.name}: says it twice"
            )
            if not reading.is_tried:
                assert not reading.rests and not reading.breaks, f"{reading.name}: nothing was tried"
