"""Models at random that have functions of one object and of two: interpreted, compiled, with symmetry, naively, and proved."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from schedproof.model.lang import Function, IntRange, Ref
from schedproof.model.lang import terms as t
from schedproof.model.semantics import evaluate
from schedproof.proofs.compiled import quotient
from schedproof.proofs.exploration import symmetry
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.induction import translate
from tests.proofs.checking.test_random_models import (
    by_quotients,
    by_representatives,
    naively,
    notices,
)
from tests.proofs.checking.test_random_relations import by_structures, compare
from tests.support.random_models import Drawn, FunctionMaker, random_model

SOME, MANY = range(10), range(10, 40)
"""The models of the default run, and of the long one."""


@cache
def drawn(seed: int) -> Drawn:
    """A model with functions."""
    return random_model(seed, FunctionMaker)


@pytest.mark.long(one_in=12)
@pytest.mark.parametrize("seed", SOME)
def test_all_ways_agree_on_functions(seed: int) -> None:
    compare(drawn(seed))


@pytest.mark.long(one_in=32)
@pytest.mark.parametrize("seed", MANY)
def test_all_ways_agree_on_more_functions(seed: int) -> None:
    compare(drawn(seed))


@pytest.mark.long
@pytest.mark.parametrize("seed", [4, 12])
def test_the_interpreter_the_proofs_and_another_reading_agree(seed: int) -> None:
    model = drawn(seed)
    naively(model)
    by_structures(model)


@pytest.mark.long
def test_the_functions_matter_in_random_models() -> None:
    """Functions take several values, models are well-formed, and objects are interchangeable often enough."""
    models = [drawn(seed) for seed in range(20)]
    explorations = [explore(m.instance()) for m in models]
    assert sum(f.ill_formed is None for f in explorations) >= 8
    assert sum(f.representatives < f.state_count for f in explorations) >= 6
    kinds = [a.type for m in models for machine in m.model.machines for a in machine.attributes]
    functions_of = [kind for kind in kinds if isinstance(kind, Function)]
    assert {type(kind.to) for kind in functions_of} >= {IntRange, Ref}
    assert {len(kind.sorts) for kind in functions_of} == {1, 2}


# --- Seeded faults ---------------------------------------------------------------------------------------------------

RIGHT_UPDATED, RIGHT_MAPPED = evaluate._updated, translate.Translator.mapped
RIGHT_BITS = symmetry.renamed_bits


def nobody_is_the_first(packing: Any, base: Any, element: Any, value: Any) -> Any:
    """A value at nobody is written to the first objects."""
    return RIGHT_UPDATED(packing, base, lambda m: max(0, element(m)), value)


def everywhere(self: Any, term: t.Term, kind: Function | None = None) -> Any:
    """Proofs take an update at one place for one at all places."""
    if isinstance(term, t.Updated) and kind is not None:
        new = self._one(term.value, kind.to)
        return lambda *at: new
    return RIGHT_MAPPED(self, term, kind)


def first_bit_only(to: Any, bits: int) -> Any:
    """A renaming moves the first bit of each value, and leaves the others."""
    right = RIGHT_BITS(to, bits)
    return [place if n % bits == 0 else n for n, place in enumerate(right)]


SEEDED: list[tuple[Any, str, Any, Callable[[Drawn], None]]] = [
    (evaluate, "_updated", nobody_is_the_first, naively),
    (translate.Translator, "mapped", everywhere, by_structures),
    (symmetry, "renamed_bits", first_bit_only, by_representatives),
    (quotient, "renamed_bits", first_bit_only, by_quotients),
]


@pytest.mark.long
@pytest.mark.parametrize(
    ("where", "name", "wrong", "way"), SEEDED, ids=[f"{way.__name__}-{wrong.__name__}" for _, _, wrong, way in SEEDED]
)
def test_a_fault_of_functions_is_noticed(
    where: Any, name: str, wrong: Any, way: Callable[[Drawn], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    models = [drawn(seed) for seed in SOME]
    monkeypatch.setattr(where, name, wrong)
    assert any(notices(way, model) for model in models)
