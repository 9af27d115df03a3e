"""Models at random whose step invariants compare values after a step with values before it: every engine agrees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from schedproof.model.lang import StepInvariant
from schedproof.model.lang import terms as t
from schedproof.proofs.compiled.terms import Terms
from schedproof.proofs.induction.translate import Translator
from tests.proofs.checking.test_random_integers import by_engines, naively
from tests.proofs.checking.test_random_models import notices
from tests.proofs.checking.test_random_relations import by_proofs, by_structures
from tests.support.random_models import Drawn, LaterMaker, random_model, reads_after

MANY = range(40)
"""The models of the long run. The default one has :mod:`.test_later`."""


@cache
def drawn(seed: int) -> Drawn:
    """A model whose step invariants read values after the step."""
    return random_model(seed, LaterMaker)


@pytest.mark.long(one_in=32)
@pytest.mark.parametrize("seed", MANY)
def test_all_ways_agree_on_values_after_steps(seed: int) -> None:
    model = drawn(seed)
    for way in (naively, by_engines, by_proofs, by_structures):
        way(model)


# --- Seeded faults ---------------------------------------------------------------------------------------------------

RIGHT_VALUE = Terms.value


def before_in_code(self: Any, term: Any, moment: Any, kind: Any = None) -> Any:
    """Compiled code reads a value after the step in the state before."""
    is_value = isinstance(term, t.After) and isinstance(term.part, t.Attr)
    return RIGHT_VALUE(self, term.part if is_value else term, moment, kind)


def before_in_proofs(self: Translator) -> Translator:
    """Proofs read a value after the step in the state before."""
    return replace(self, after=None)


SEEDED: list[tuple[Any, str, Any, Callable[[Drawn], None]]] = [
    (Terms, "value", before_in_code, by_engines),
    (Translator, "afterwards", before_in_proofs, by_structures),
]


@pytest.mark.long
@pytest.mark.parametrize(("where", "name", "wrong", "way"), SEEDED, ids=[wrong.__name__ for _, _, wrong, _ in SEEDED])
def test_a_fault_of_values_after_steps_is_noticed(
    where: Any, name: str, wrong: Any, way: Callable[[Drawn], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    models = [drawn(seed) for seed in range(10)]
    monkeypatch.setattr(where, name, wrong)
    assert any(notices(way, model) for model in models)


@pytest.mark.long
def test_values_after_steps_are_of_many_kinds() -> None:
    kinds = {
        type(part.part)
        for seed in range(20)
        for prop in drawn(seed).model.properties
        if isinstance(prop, StepInvariant)
        for part in t.subterms(prop.then)
        if isinstance(part, t.After) and reads_after(part)
    }
    assert {t.Attr, t.Is, t.Has} <= kinds
