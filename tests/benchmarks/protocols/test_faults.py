"""No property of a protocol is vacuous: each holds, and a seeded fault violates it at a small scope."""

from __future__ import annotations

import pytest

from benchmarks.protocols.table import protocols
from schedproof.api import model_check
from schedproof.proofs.verdict import Verdict
from tests.benchmarks.protocols.faults import FAULTS
from tests.support.sample import thinned

CASES = [(name, number) for name, faults in FAULTS.items() for number in range(len(faults))]


def test_every_property_has_a_fault():
    violated = {name: {each for fault in faults for each in fault.violates} for name, faults in FAULTS.items()}
    assert violated == {name: {each.name for each in model.properties} for name, model in protocols().items()}


@pytest.mark.parametrize("name", thinned(FAULTS, 4, first=1))
def test_properties_hold(name):
    assert {each.verdict for each in model_check(protocols()[name], {})} == {Verdict.PROVED}


@pytest.mark.parametrize(("name", "number"), thinned(CASES, 8))
def test_fault_is_found(name, number):
    fault = FAULTS[name][number]
    results = model_check(fault.seeded(protocols()[name]), fault.scope, only=fault.violates)
    refuted = {each.name for each in results if each.verdict is Verdict.REFUTED}
    assert refuted - {"well-formed"} == set(fault.violates)
