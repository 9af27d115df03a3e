"""A reader of TLA+ on models at random: as many states and transitions, and the same properties broken."""

from __future__ import annotations

import importlib

import pytest

from tests.proofs.export.random_instances import MAKERS, random_instance
from tests.proofs.export.test_random_promela import no_pool
from tests.proofs.export.test_tla import same
from tests.support.random_models import DisposableMaker, IntegerMaker, Maker, SequenceMaker
from tests.support.sample import thinned


@pytest.mark.long(one_in=32)
@pytest.mark.parametrize("seed", range(60, 68))
@pytest.mark.parametrize("make", MAKERS)
def test_a_reader_of_tla_finds_the_same(make: type[Maker], seed: int) -> None:
    same(random_instance(seed, make))


@pytest.mark.parametrize("make", thinned([IntegerMaker, SequenceMaker, DisposableMaker], 3, first=2))
def test_no_step_is_taken_beyond_the_bounds(make: type[Maker]) -> None:
    same(random_instance(0, make, with_cuts=True))


def test_a_bound_of_objects_that_is_left_out_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.import_module("schedproof.proofs.export.tla"), "bounds_of", no_pool)
    with pytest.raises(AssertionError):
        same(random_instance(0, DisposableMaker, with_cuts=True))
