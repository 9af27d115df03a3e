"""Models at random that have functions of one object and of two: interpreted, compiled, with symmetry, naively, and proved."""

from __future__ import annotations

from functools import cache

from schedproof.proofs.checking.engine import Engine
from tests.proofs.checking.test_random_models import (
    assert_naively_checked,
    of_shortest_runs,
)
from tests.proofs.checking.test_random_relations import by_proofs
from tests.proofs.compiled.test_beside_interpreted import assert_same_graph, assert_same_quotient, checked
from tests.proofs.induction.cross_check import CrossCheck
from tests.support.random_models import Drawn, FunctionMaker, random_model

SOME, MANY = range(10), range(10, 40)
"""The models of the default run, and of the long one."""


@cache
def drawn(seed: int) -> Drawn:
    """A model with functions."""
    return random_model(seed, FunctionMaker)


def by_structures(model: Drawn) -> None:
    """The formulas of the proofs mean in single states and steps what the interpreter computes."""
    check = CrossCheck(model.model, dict(model.model.default_scope), seed=1)
    assert list(check.differences(30)) == []


def compare(seed: int) -> None:
    """Every way with every other."""
    model = drawn(seed)
    interpreted = checked(model.model, {}, Engine.INTERPRETED)
    assert_naively_checked(model, interpreted)
    for threads in (1, 2):
        assert_same_graph(model.instance(), threads)
        assert_same_quotient(model.instance(), threads)
    assert checked(model.model, {}, Engine.COMPILED) == interpreted
    reduced = checked(model.model, {}, Engine.COMPILED, symmetry=True)
    assert reduced == checked(model.model, {}, Engine.INTERPRETED, symmetry=True)
    assert of_shortest_runs(model.model, reduced) == of_shortest_runs(model.model, interpreted)
    by_proofs(model)
    by_structures(model)
