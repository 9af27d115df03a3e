"""Relations and counts in Promela and TLA+: the same states and steps as our exploration, and the same properties broken."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from schedproof.model.lang import BoolType, IntRange, Invariant, count, exists, variable
from schedproof.model.semantics import Instance, ScopeError, instances
from schedproof.proofs.export import expressions, formulas, promela
from tests.proofs.export import test_promela, test_tla
from tests.support.keys import KEYS, c, k, n
from tests.support.needs import needs_spin


def keys(**sizes: int) -> Instance:
    """Clients, keys and nodes."""
    (instance,) = instances(KEYS, {**KEYS.default_scope, **sizes})
    return instance


@pytest.mark.long
@needs_spin
def test_spin_finds_the_same(tmp_path: Path) -> None:
    test_promela.same(keys(), tmp_path)


def test_a_reader_of_tla_finds_the_same() -> None:
    test_tla.same(keys())


def test_a_count_of_single_objects_is_the_same() -> None:
    """Of each type that a variable may have."""
    some, flag = variable(IntRange(0, 2), "some"), variable(BoolType(), "flag")
    props = [
        Invariant(name="one", says="", over=[c], then=count(k, exists(n, n.held.has(k, c))) <= 1),
        Invariant(name="numbers", says="", over=[c], then=count(some, ~(some == 1) & c.is_("Here")) < 2),
        Invariant(name="truths", says="", over=[c], then=count([flag, some], flag & c.is_("Here")) == 3),
    ]
    (instance,) = instances(replace(KEYS, properties=props, refuted=frozenset(p.name for p in props)), {"Node": 1})
    test_tla.same(instance)


def test_too_many_tuples_are_refused_in_promela() -> None:
    with pytest.raises(ScopeError, match=r"a set of \(Key, Client\) has up to 32 tuples, and Promela has 31 at most"):
        promela(keys(Client=4, Key=8), only=None)


# --- Seeded faults ---------------------------------------------------------------------------------------------------

RIGHT_TUPLE, RIGHT_VALUE = expressions.Expressions._tuple, formulas.Formulas.value


def first_place_only(self: Any, parts: Any, scope: Any) -> Any:
    """Of a tuple, Promela takes the first object for all others."""
    return RIGHT_TUPLE(self, [parts[0]] * len(parts), scope)


def one_more(self: Any, term: Any, scope: Any, kind: Any = None) -> str:
    """Of a count, TLA+ has one more."""
    text = RIGHT_VALUE(self, term, scope, kind)
    return f"1 + {text}" if text.startswith("Cardinality") else text


@needs_spin
def test_a_fault_in_promela_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expressions.Expressions, "_tuple", first_place_only)
    with pytest.raises(AssertionError):
        test_promela.same(keys(), tmp_path)


def test_a_fault_in_tla_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formulas.Formulas, "value", one_more)
    with pytest.raises(AssertionError):
        test_tla.same(keys())
