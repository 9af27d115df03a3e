"""The defects that ``findings`` lists: each shown run is a run of every variant that has the defect, or says of which it is one."""

from __future__ import annotations

from collections import Counter

import pytest

from schedproof.model.registry.discovery import systems
from schedproof.proofs.exploration.safety import SAFETY
from schedproof.proofs.verification.defects import defects
from schedproof.proofs.verification.replayed import replays
from tests.support.rows import each_row


@each_row("name", sorted(systems()))
def test_a_name_is_that_of_one_row(name: str) -> None:
    """Of what findings lists. A change that several variants have is one."""
    system = systems()[name]
    changes = [each for model in system.variants.values() for each in model.changes if each.repairs or each.weakens]
    rows = [
        *dict.fromkeys((each.name, each.why) for each in changes if each.name),
        *dict.fromkeys((each.name, each.wrong) for change in changes for each in change.mistakes),
        *((each.name, each.problem) for each in system.contradictions),
        *((each.name, f"{each.variant}: {each.question}") for each in system.interpretations),
    ]
    assert not [each for each, many in Counter(each for each, _ in rows).items() if many > 1]


@pytest.mark.long(seconds=40, one_in=18)
@pytest.mark.parametrize("name", sorted(systems()))
def test_defects_have_all_violations_and_true_runs(name: str) -> None:
    system = systems()[name]
    some = defects(system)
    assert not [each.name for each in some if not each.wrong], "each says what is wrong"
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
