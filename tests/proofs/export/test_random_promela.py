"""SPIN on models at random, in Promela: as many states and transitions, and the same properties broken."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from schedproof.proofs.checking.engine import Engine, Exploring
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.verdict import Verdict
from tests.proofs.export.test_promela import same
from tests.support.needs import needs_spin
from tests.support.random_models import Drawn, random_model


@needs_spin
@pytest.mark.long(one_in=4)
@pytest.mark.parametrize("seed", range(60, 68))
def test_spin_finds_as_many_states_and_transitions(seed: int, tmp_path: Path) -> None:
    instance = next(m.instance() for n in count() if for_spin(m := random_model(1000 * seed + n)))
    same(instance, tmp_path)


def for_spin(model: Drawn) -> bool:
    """It is well-formed, and no property reads an object that is not: there SPIN stops."""
    results = model_check(model.model, model.instance().sizes, how=Exploring(Engine.INTERPRETED, symmetry=False))
    problems = [r.counterexample.problem for r in results if r.counterexample is not None]
    return results[0].verdict is Verdict.PROVED and not any(
        "an object that does not exist" in problem for problem in problems
    )
