"""SPIN on models at random, in Promela: as many states and transitions, and the same properties broken."""

from __future__ import annotations

import copy
import importlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from schedproof.model.lang import terms as t
from schedproof.model.semantics import Instance, bounds_of
from schedproof.model.semantics.bounds import Bounds
from schedproof.proofs.export.expressions import Expressions, Scope, Text
from tests.proofs.export.random_instances import MAKERS, random_instance
from tests.proofs.export.test_promela import same
from tests.support.needs import needs_spin
from tests.support.random_models import (
    DisposableMaker,
    DisposableSequenceMaker,
    FunctionMaker,
    IntegerMaker,
    Maker,
    SequenceMaker,
)
from tests.support.sample import thinned


@needs_spin
@pytest.mark.long(one_in=32)
@pytest.mark.parametrize("seed", range(60, 68))
@pytest.mark.parametrize("make", MAKERS)
def test_spin_finds_as_many_states_and_transitions(make: type[Maker], seed: int, tmp_path: Path) -> None:
    same(random_instance(seed, make), tmp_path)


@needs_spin
@pytest.mark.parametrize(
    "make", thinned([IntegerMaker, SequenceMaker, DisposableMaker, DisposableSequenceMaker], 3, first=2)
)
def test_spin_takes_no_step_beyond_the_bounds(make: type[Maker], tmp_path: Path) -> None:
    same(random_instance(0, make, with_cuts=True), tmp_path)


# --- Seeded faults ---------------------------------------------------------------------------------------------------

promela = importlib.import_module("schedproof.proofs.export.promela")
"""The module; the package has a function of this name."""

RIGHT_SLICED, RIGHT_ITEM, RIGHT_VALUE = Expressions._sliced, Expressions._item, Expressions.value
RIGHT_LENGTH, RIGHT_UPDATED = Expressions._length, Expressions._updated


def keeps_all(self: Any, base: t.Term, at: t.Term, kind: Any, scope: Scope, *, first: bool) -> Text:
    """The items behind a part are kept."""
    return self.value(base, scope, kind) if first else RIGHT_SLICED(self, base, at, kind, scope, first=first)


def first_item(self: Any, base: t.Term, index: t.Term, kind: Any, scope: Scope) -> Text:
    """The first item is read, whatever the index."""
    return RIGHT_ITEM(self, base, t.Constant(0), kind, scope)


def one_item_more(self: Any, number: Text, of: t.Term, kind: Any, scope: Scope) -> Text:
    """A sequence is one longer."""
    return f"({RIGHT_LENGTH(self, number, of, kind, scope)} + 1)"


def any_item(self: Any, base: t.Term, item: t.Term, kind: Any, scope: Scope) -> Text:
    """A sequence that has any item has this one."""
    return f"({self.value(base, scope, kind)} != 0)"


def no_limit(self: Any, sort: str, term: t.Term, kind: Any, value: Text, scope: Scope) -> Iterator[str]:
    """Sequences of any length, and of any numbers, are taken."""
    return iter(())


def updated_nowhere(self: Any, term: t.Updated, kind: Any, scope: Scope) -> Text:
    """A function has no new value."""
    return self.value(term.base, scope, kind)


def no_pool(instance: Instance) -> Bounds:
    """The last object of a disposable sort is taken, too."""
    without = copy.copy(bounds_of(instance))
    without.spare = []
    return without


def pool_before(self: Any, term: t.Term, scope: Scope, kind: Any = None) -> Text:
    """The next object is looked for in the state before the step."""
    is_pool = any(term is spare for spare in bounds_of(self.instance).spare)
    return RIGHT_VALUE(self, term, replace(scope, prefix="") if is_pool else scope, kind)


SEEDED: list[tuple[Any, str, Any, type[Maker], Sequence[int]]] = [
    (promela, "bounds_of", no_pool, DisposableMaker, range(8)),
    (Expressions, "_sliced", keeps_all, SequenceMaker, [9, 17]),
    (Expressions, "value", pool_before, DisposableMaker, range(8)),
    (Expressions, "_item", first_item, SequenceMaker, [27, 32]),
    (Expressions, "_length", one_item_more, SequenceMaker, range(8)),
    (Expressions, "_has_item", any_item, SequenceMaker, range(8)),
    (promela._Writer, "_items", no_limit, SequenceMaker, range(8)),
    (Expressions, "_updated", updated_nowhere, FunctionMaker, range(8)),
]
"""What is replaced, with what, and the models of which one shows it. Few read an item behind the first."""


@needs_spin
@pytest.mark.parametrize(
    ("where", "name", "wrong", "make", "seeds"), thinned(SEEDED, 8), ids=[each[2].__name__ for each in SEEDED]
)
def test_a_fault_is_noticed(
    where: Any,
    name: str,
    wrong: Any,
    make: type[Maker],
    seeds: Sequence[int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(where, name, wrong)
    for seed in seeds:
        try:
            same(random_instance(seed, make, with_cuts=make is not FunctionMaker), tmp_path)
        except AssertionError:
            return
    pytest.fail("no model shows it")
