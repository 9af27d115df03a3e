"""Models at random that have sequences: interpreted, compiled, with symmetry, naively, and proved."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from schedproof.model.lang import Sequence
from schedproof.model.lang import terms as t
from schedproof.model.semantics import sequences
from schedproof.proofs.compiled.code import binary
from schedproof.proofs.compiled.terms import Terms
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.induction import solve, translate
from schedproof.proofs.induction.views import Items
from tests.proofs.checking.test_random_models import by_graphs, naively, notices
from tests.proofs.checking.test_random_relations import by_structures, compare
from tests.support.random_models import Drawn, SequenceMaker, random_model

SOME, MANY = range(10), range(10, 40)
"""The models of the default run, and of the long one."""


@pytest.fixture(autouse=True)
def little_effort(monkeypatch: pytest.MonkeyPatch) -> None:
    """Proofs give up soon: what is not inductive takes long to refute, with quantifiers over indices."""
    for name in ("EFFORT", "MORE_EFFORT"):
        monkeypatch.setattr(solve, name, solve.FIRST_EFFORT // 2)


@cache
def drawn(seed: int) -> Drawn:
    """A model with sequences."""
    return random_model(seed, SequenceMaker)


@pytest.mark.long(one_in=12)
@pytest.mark.parametrize("seed", SOME)
def test_all_ways_agree_on_sequences(seed: int) -> None:
    compare(drawn(seed))


@pytest.mark.long(one_in=32)
@pytest.mark.parametrize("seed", MANY)
def test_all_ways_agree_on_more_sequences(seed: int) -> None:
    compare(drawn(seed))


@pytest.mark.long
def test_the_sequences_matter_in_random_models() -> None:
    """Sequences are of several types, models are well-formed, and bounds are met often enough."""
    models = [drawn(seed) for seed in range(20)]
    explorations = [explore(m.instance()) for m in models]
    assert sum(f.ill_formed is None for f in explorations) >= 6
    assert sum(f.frontier_count > 0 for f in explorations) >= 6
    kinds = [a.type for m in models for machine in m.model.machines for a in machine.attributes]
    assert len({type(kind.of) for kind in kinds if isinstance(kind, Sequence)}) == 4


# --- Seeded faults ---------------------------------------------------------------------------------------------------

RIGHT_SLICED, RIGHT_SEQUENCE = sequences.Items.sliced, translate.Translator.sequence


def keeps_all(self: Any, number: int, at: int, *, first: bool) -> int:
    """The items behind a part are kept in the interpreter."""
    return number if first else RIGHT_SLICED(self, number, at, first=first)


def first_item(self: Any, base: Any, index: Any, kind: Any, moment: Any) -> Any:
    """Compiled code reads the first item, whatever the index."""
    items = self.instance.items(kind)
    return binary("+", binary("&", self.value(base, moment), items.mask), items.low - 1)


def no_place(self: Any, term: t.Term, kind: Any = None) -> Any:
    """Proofs shift no item when the first ones are left out."""
    result = RIGHT_SEQUENCE(self, term, kind)
    if isinstance(term, t.Sliced) and not term.present:
        return Items(result.length, RIGHT_SEQUENCE(self, term.base, kind).item)
    return result


def any_item(self: Any, base: t.Term, element: t.Term, kind: Any) -> Any:
    """Proofs take a sequence that has any item for one that has this one."""
    return self.sequence(base, kind).length > 0


SEEDED: list[tuple[Any, str, Any, Callable[[Drawn], None]]] = [
    (sequences.Items, "sliced", keeps_all, naively),
    (Terms, "_item", first_item, by_graphs),
    (translate.Translator, "sequence", no_place, by_structures),
    (translate.Translator, "_has_item", any_item, by_structures),
]


@pytest.mark.long
@pytest.mark.parametrize(
    ("where", "name", "wrong", "way"), SEEDED, ids=[f"{way.__name__}-{wrong.__name__}" for _, _, wrong, way in SEEDED]
)
def test_a_fault_of_sequences_is_noticed(
    where: Any, name: str, wrong: Any, way: Callable[[Drawn], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    models = [drawn(seed) for seed in range(16)]
    monkeypatch.setattr(where, name, wrong)
    assert any(notices(way, model) for model in models)
