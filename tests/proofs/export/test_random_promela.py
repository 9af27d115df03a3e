"""SPIN on models at random, in Promela: as many states and transitions, and the same properties broken."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from schedproof.proofs.checking.engine import Engine, Exploring
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.verdict import Verdict
from tests.proofs.export.test_promela import cut, same
from tests.support.needs import needs_spin
from tests.support.random_models import Drawn, IntegerMaker, Maker, random_model


@needs_spin
@pytest.mark.long(one_in=12)
@pytest.mark.parametrize("seed", range(60, 68))
@pytest.mark.parametrize("maker", [Maker, IntegerMaker])
def test_spin_finds_as_many_states_and_transitions(maker: type[Maker], seed: int, tmp_path: Path) -> None:
    same(next(m.instance() for n in count() if for_spin(m := random_model(1000 * seed + n, maker))), tmp_path)


@needs_spin
def test_spin_takes_no_step_beyond_the_bounds(tmp_path: Path) -> None:
    """One model with integers in the default run."""
    model = next(m for n in count() if for_spin(m := random_model(n, IntegerMaker)) and cut(m.instance()))
    same(model.instance(), tmp_path)


def for_spin(model: Drawn) -> bool:
    """It is well-formed, and no property reads an object that is not: there SPIN stops."""
    results = model_check(model.model, model.instance().sizes, how=Exploring(Engine.INTERPRETED, symmetry=False))
    problems = [r.counterexample.problem for r in results if r.counterexample is not None]
    return results[0].verdict is Verdict.PROVED and not any(
        "an object that does not exist" in problem for problem in problems
    )
