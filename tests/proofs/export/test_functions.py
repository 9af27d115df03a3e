"""Random models with functions, and with values after steps, in Promela and TLA+: the same as our exploration."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from schedproof.model.semantics import Instance
from tests.proofs.export import test_promela, test_tla
from tests.proofs.export.test_random_promela import for_spin
from tests.support.needs import needs_spin
from tests.support.random_models import FunctionMaker, random_model


def random_instance(seed: int) -> Instance:
    """A model with functions that is well-formed."""
    return next(m.instance() for n in count() if for_spin(m := random_model(1000 * seed + n, FunctionMaker)))


@needs_spin
@pytest.mark.long(one_in=12)
@pytest.mark.parametrize("seed", range(60, 66))
def test_spin_finds_the_same_in_random_models(seed: int, tmp_path: Path) -> None:
    test_promela.same(random_instance(seed), tmp_path)


@pytest.mark.long(one_in=12)
@pytest.mark.parametrize("seed", range(60, 66))
def test_a_reader_of_tla_finds_the_same_in_random_models(seed: int) -> None:
    test_tla.same(random_instance(seed))
