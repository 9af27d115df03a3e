"""The defects that ``findings`` lists: each shown run is a run of every variant that has the defect, or says of which it is one."""

from __future__ import annotations

import pytest

from schedproof.model.registry.discovery import systems
from schedproof.proofs.exploration.safety import SAFETY
from schedproof.proofs.verification.defects import defects
from schedproof.proofs.verification.replayed import replays


@pytest.mark.long(seconds=40)
@pytest.mark.parametrize("name", sorted(systems()))
def test_each_shown_run_is_one_of_its_variants(name: str) -> None:
    system = systems()[name]
    for defect in defects(system):
        shown = defect.shown
        violating = [system.variants[each] for each in defect.variants]
        props = [prop for model in violating for prop in model.properties if prop.name == shown.property]
        if not props:
            continue  # a check of a lock file
        assert all(shown.property in model.refuted for model in violating), defect.name
        if not shown.of and isinstance(props[0], SAFETY):
            # A run that an author asked for is the first variant's.
            assert replays(violating[0], props[0], shown.counterexample), f"{defect.name} {violating[0].variant}"


@pytest.mark.long(seconds=40)
@pytest.mark.parametrize("name", sorted(systems()))
def test_every_violated_property_is_in_a_defect(name: str) -> None:
    system = systems()[name]
    listed = {(variant, f.property) for each in defects(system) for f in each.findings for variant in each.variants}
    for model in system.variants.values():
        violated = model.refuted - (system.variants[model.amends].refuted if model.amends else frozenset())
        assert {(model.variant, prop) for prop in violated} <= listed, model.variant
