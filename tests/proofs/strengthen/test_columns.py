"""The values of terms in many states at once are those of the interpreted meaning, state by state."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from schedproof.model.lang import Invariant, Model, Ref, SetOf, Sort
from schedproof.model.lang import terms as t
from schedproof.model.semantics import Instance, Moment, Undefined, compile_term, instances
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.strengthen.columns import States, Unsupported, first_of_each, has_column
from schedproof.proofs.strengthen.features import Vocabulary
from tests.proofs.strengthen.protocols import LEASES, LOCK_SERVER, TWO_PHASE
from tests.support.logs import NATURALS, RANGES
from tests.support.random_models import RelationMaker, random_model
from tests.support.sample import thinned
from tests.support.toys import WORKSHOP

MOST = 40
"""States that are compared."""


def formulas(model: Model) -> Iterator[t.Term]:
    """The formulas of guards and properties, and their parts."""
    whole = [g for action in model.actions for g in action.when]
    for prop in model.properties:
        if isinstance(prop, Invariant):
            whole += [each for each in (prop.given, prop.then) if each is not None]
    for each in whole:
        for part in t.subterms(each):
            if isinstance(
                part, t.Is | t.Equal | t.Less | t.Has | t.Not | t.And | t.Or | t.Implies | t.Iff | t.Quantified
            ):
                yield part


def compared(instance: Instance) -> int:
    """Compares every formula that has a column, in some states; returns how many have one."""
    reached = explore(instance, symmetry=False, limit=300).states
    chosen = reached[:: len(reached) // MOST + 1]
    states, number = States.of(instance, chosen), 0
    for formula in formulas(instance.model):
        free = t.free_variables(formula)
        if not all(isinstance(v.type, Ref) for v in free.values()):
            continue
        meaning = compile_term(instance, formula, free)
        for bound in list(states.choices(list(free.values())))[:4]:
            try:
                column = states.truth(formula, bound)
            except Unsupported:
                continue
            number += 1
            for state, value in zip(chosen, column, strict=True):
                try:
                    assert bool(value) is bool(meaning(Moment(state, dict(bound)))), (formula, bound, state)
                except Undefined:
                    raise AssertionError("a formula with a column is defined") from None
    return number


@pytest.mark.parametrize("model", [LEASES, LOCK_SERVER, TWO_PHASE, WORKSHOP, RANGES, NATURALS], ids=lambda m: m.system)
def test_columns_are_the_interpreted_meaning(model: Model) -> None:
    assert sum(compared(instance) for instance in instances(model, {})) > 3


@pytest.mark.parametrize("seed", thinned(range(24), 12))
def test_columns_of_random_models(seed: int) -> None:
    assert compared(random_model(seed, RelationMaker).instance(with_history=True)) > 0


@pytest.mark.parametrize("model", [LEASES, TWO_PHASE, WORKSHOP], ids=lambda m: m.system)
def test_a_literal_says_what_the_feature_has(model: Model) -> None:
    (instance, *_) = instances(model, {})
    states = States.of(instance, explore(instance, symmetry=False, limit=60).states)
    vocabulary, compared_literals = Vocabulary(model, exists=True), 0
    for template in (each for cost in (1, 2) for each in vocabulary.templates(cost)):
        for bound in list(template.assignments(states))[:2]:
            for feature in template.features:
                values = feature.values(states, bound)
                domain = sorted(feature.domain)
                for allowed in ({domain[0]}, {domain[-1]}, set(domain[1:]), {domain[0], domain[-1]}):
                    if 0 < len(allowed) < len(domain):
                        truths = states.truth(feature.literal(allowed), bound)
                        assert [v in allowed for v in values.tolist()] == truths.tolist(), (feature.key, allowed)
                        compared_literals += 1
    assert compared_literals > 20


def test_no_object_is_in_no_set() -> None:
    """Bit 0 of a set is its first object, whatever the number of no object is made to be."""
    (instance, *_) = instances(WORKSHOP, {})
    reached = explore(instance, symmetry=False, limit=400).states
    states, machine = States.of(instance, reached), {m.sort.name: m for m in WORKSHOP.machines}
    compared_formulas = 0
    for sort, one in machine.items():
        for members in one.attributes:
            if not isinstance(members.type, SetOf) or members.history or members.rigid:
                continue
            for other, two in machine.items():
                for reference in two.attributes:
                    if reference.type == Ref(members.type.sort) and not reference.history and not reference.rigid:
                        a, b = t.Var("a", Ref(one.sort)), t.Var("b", Ref(two.sort))
                        formula = t.Attr(a, members.name).has(t.Attr(b, reference.name))
                        meaning = compile_term(instance, formula, {"a": a, "b": b})
                        for bound in states.choices([a, b]):
                            column = states.truth(formula, bound)
                            assert column.tolist() == [bool(meaning(Moment(s, dict(bound)))) for s in reached], (
                                sort,
                                other,
                            )
                            compared_formulas += 1
    assert compared_formulas > 0


def test_a_sort_without_objects() -> None:
    """A configuration may give no object of a sort."""
    sizes = {"Worker": 0, "Lease": 2}
    states = States.of(Instance(LEASES, sizes), explore(Instance(LEASES, sizes), symmetry=False).states)
    w = t.Var("w", LEASES.actions[0].parameters[0].type)
    assert states.truth(t.forall(w, w.is_("Idle")), {}).tolist() == [True] * len(states.matrix)
    assert states.truth(t.exists(w, w.is_("Idle")), {}).tolist() == [False] * len(states.matrix)


def test_no_value_of_a_function_is_a_feature() -> None:
    """Functions have no column: a quantified guard that reads one is left out."""
    x, y = t.Var("x", Ref(Sort("Node", "n"))), t.Var("y", Ref(Sort("Node", "n")))
    assert has_column(t.forall(x, (x.peer == y) & ~x.is_("Up") & (x.term <= y.term + 1) & x.seen.has(y)))
    for part in (
        x.votes[y] == 1,
        x.peer.is_("Up"),
        t.after(x.flag),
        x.seen.has(x.peer.peer),
        x.fires("go"),
        t.count(y, y.flag) < 1,
    ):
        assert not has_column(t.forall(x, x.flag & part))
        assert not has_column(t.forall(x, ~part))


@pytest.mark.parametrize("kind", [bool, np.int8, np.int64])
@pytest.mark.parametrize("width", [0, 1, 9, 70])
def test_one_of_each_different_row_is_kept(kind: type, width: int) -> None:
    draw = np.random.default_rng(7)
    rows = draw.integers(0, 2, size=(3000, width)).astype(kind)
    first = first_of_each(rows)
    assert {row.tobytes() for row in rows[first]} == {row.tobytes() for row in rows}
    assert len(first) == len({row.tobytes() for row in rows})


def test_rows_that_differ_in_the_highest_bits_are_different() -> None:
    """Of 128 truth values in two words, the last of each differ: a sum of products alone would not see it."""
    rows = np.zeros((9, 128), bool)
    for n in range(8):
        rows[n + 1, [56 + n, 120 + n]] = True
    assert len(first_of_each(rows)) == 9
