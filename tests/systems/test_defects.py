"""The defects that ``findings`` lists: each shown run is a run of every variant that has the defect, or says of which it is one."""

from __future__ import annotations

import pytest

from schedproof.model.registry.discovery import systems
from schedproof.proofs.exploration.safety import SAFETY
from schedproof.proofs.verification.defects import defects
from schedproof.proofs.verification.replayed import replays


@pytest.mark.long(seconds=40, one_in=6)
@pytest.mark.parametrize("name", sorted(systems()))
def test_defects_have_all_violations_and_true_runs(name: str) -> None:
    system = systems()[name]
    some = defects(system)
    for defect in some:
        shown = defect.shown
        violating = [system.variants[each] for each in defect.variants]
        props = [prop for model in violating for prop in model.properties if prop.name == shown.property]
        if not props:
            continue  # a check of a lock file
        assert all(shown.property in model.refuted for model in violating), defect.name
        if not shown.of and isinstance(props[0], SAFETY):
            # A run that an author asked for is the first variant's.
            assert replays(violating[0], props[0], shown.counterexample), f"{defect.name} {violating[0].variant}"
    listed = {(variant, f.property) for each in some for f in each.findings for variant in each.variants}
    for model in system.variants.values():
        violated = model.refuted - (system.variants[model.amends].refuted if model.amends else frozenset())
        assert {(model.variant, prop) for prop in violated} <= listed, model.variant
