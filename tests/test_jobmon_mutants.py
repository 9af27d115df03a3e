"""Every mutant of Jobmon's document, and of its repaired form, is refused or takes other steps, or stands here with the reason.

Other steps than the model's are other steps than those of the model that was written by hand: ``test_brute_jobmon`` compares them in the
same situations.
"""

from __future__ import annotations

import pytest
from mutants import Twin, mutants, places
from schedproof.model.jobmon.as_written import AS_WRITTEN, REPAIRED
from schedproof.model.lang import Model

EQUIVALENT = {
    "as-written": {
        "action adjust, conjunct 3": "what is marked has attempts left, and so is neither failed nor, not being stopped, halted",
        "action run_forgotten, conjunct 1": "a run is at hand only then",
    },
    "as-written-repaired": {
        "action run_forgotten, conjunct 1": "a run is at hand only then",
        "row WorkflowRun.exit from Halted": "no process of a run that has halted lives any more",
    },
}


@pytest.mark.parametrize("model", [AS_WRITTEN, REPAIRED], ids=lambda model: model.variant)
def test_every_mutant_is_told_from_the_model(model: Model) -> None:
    twin = Twin(model, places(model, [model.default_scope]), promises=False)
    all_of_them = list(mutants(model))
    assert len(all_of_them) > 190
    missed = {mutant.name for mutant in all_of_them if twin.caught(mutant) is None}
    assert missed == set(EQUIVALENT[model.variant])
