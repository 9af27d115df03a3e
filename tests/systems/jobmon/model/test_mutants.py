"""Every mutant of Jobmon's document, and of its repaired form, is refused or takes other steps, or stands here with the reason.

Other steps than the model's are other steps than those of the model that was written by hand: ``test_brute_force`` compares them in the
same configurations.
"""

from __future__ import annotations

import pytest

from schedproof.model.lang import Model
from schedproof.model.systems.jobmon.as_written import AS_WRITTEN, REPAIRED
from tests.support.equivalence import unexplained
from tests.support.exchanges import exchanges
from tests.support.mutants import Twin, drawn, mutants, places
from tests.support.sample import thinned

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


@pytest.mark.long
@pytest.mark.parametrize("one_in", [12, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("model", thinned([AS_WRITTEN, REPAIRED], 2), ids=lambda model: model.variant)
def test_mutants_are_caught(model: Model, one_in: int) -> None:
    """One in five, drawn by its name; the long run checks all."""
    twin = Twin(model, places(model, [model.default_scope]), properties=False)
    some = [mutant for mutant in mutants(model) if drawn(mutant.name, one_in)]
    assert len(some) > 190 / one_in / 2
    missed = {mutant.name for mutant in some if twin.caught(mutant) is None}
    assert missed == {name for name in EQUIVALENT[model.variant] if drawn(name, one_in)}


OF_HISTORY = (", mover,", "value: by:")
"""Who moved an object is history: the graphs that are compared leave it out, and some properties read it."""


@pytest.mark.long
@pytest.mark.parametrize("one_in", [400, pytest.param(40, marks=pytest.mark.long)])
@pytest.mark.parametrize("model", thinned([AS_WRITTEN, REPAIRED], 2), ids=lambda model: model.variant)
def test_exchanges_are_caught_or_mean_the_same(model: Model, one_in: int) -> None:
    twin = Twin(model, places(model, [model.default_scope]), properties=False)
    some = [m for m in exchanges(model) if drawn(m.name, one_in) and not any(part in m.name for part in OF_HISTORY)]
    assert len(some) > 1000 / one_in
    assert unexplained(model, some, twin.caught) == set()
