"""SPIN on models at random, in Promela: as many states and transitions, and the same properties broken."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.proofs.export.random_instances import MAKERS, random_instance
from tests.proofs.export.test_promela import same
from tests.support.needs import needs_spin
from tests.support.random_models import (
    DisposableMaker,
    DisposableSequenceMaker,
    IntegerMaker,
    Maker,
    SequenceMaker,
)


@needs_spin
@pytest.mark.long(one_in=16)
@pytest.mark.parametrize("seed", range(60, 68))
@pytest.mark.parametrize("make", MAKERS)
def test_spin_finds_as_many_states_and_transitions(make: type[Maker], seed: int, tmp_path: Path) -> None:
    same(random_instance(seed, make), tmp_path)


@needs_spin
@pytest.mark.parametrize("make", [IntegerMaker, SequenceMaker, DisposableMaker, DisposableSequenceMaker])
def test_spin_takes_no_step_beyond_the_bounds(make: type[Maker], tmp_path: Path) -> None:
    same(random_instance(0, make, with_cuts=True), tmp_path)
