"""Expressions of z3 by plain addresses: what z3's own classes would have checked."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest
import z3

from schedproof.proofs.induction.expressions import (
    And,
    Exists,
    Expressions,
    ForAll,
    Implies,
    Not,
    Or,
    Quantified,
    Solver,
    conjuncts,
)
from tests.support.rows import each_row


class World:
    """A sort with a predicate and a function, and numbers."""

    def __init__(self) -> None:
        self.home = Expressions(z3.Context())
        self.thing = z3.DeclareSort("Thing", self.home.context)
        truth = z3.BoolSort(self.home.context)
        self.good = self.home.function("good", self.thing, truth)
        self.next = self.home.function("next", self.thing, self.thing)
        self.x, self.y = (self.home.constant(name, self.thing) for name in "xy")
        self.n = self.home.constant("n", z3.IntSort(self.home.context))
        self.p, self.q = (self.home.constant(name, truth) for name in "pq")


def test_equal_expressions_are_one_object() -> None:
    w = World()
    assert And(w.good(w.x), w.p) is And(w.good(w.x), w.p) is not And(w.p, w.good(w.x))
    assert w.home.of(z3.Const("x", w.thing)) is w.x
    assert ForAll([w.x], w.good(w.x)) is ForAll([w.x], w.good(w.x)) is not Exists([w.x], w.good(w.x))


def test_they_are_what_z3_makes_itself() -> None:
    """The same formula by z3's own functions, of its own arguments, has the same address."""
    w = World()
    x, p, n = z3.Const("x", w.thing), z3.Bool("p", w.home.context), z3.Int("n", w.home.context)
    good = z3.Function("good", w.thing, z3.BoolSort(w.home.context))
    pairs = [
        (And(w.p, Not(w.p)), z3.And(p, z3.Not(p))),
        (Or(w.p, w.good(w.x)), z3.Or(p, good(x))),
        (Implies(w.p, w.good(w.x)), z3.Implies(p, good(x))),
        (w.x == w.x, x == x),
        (w.n <= 3, n <= 3),
        (w.n < w.n, n < n),
        (w.n + -1 * w.n, n + -1 * n),
        (ForAll([w.x], w.good(w.x), [[w.good(w.x)]]), z3.ForAll([x], good(x), patterns=[good(x)])),
        (Exists([w.x], w.good(w.x)), z3.Exists([x], good(x))),
    ]
    for expression, its in pairs:
        assert w.home.of(its) is expression, its
        assert type(its) in type(expression).__mro__, its
    solver = z3.Solver(ctx=w.home.context)
    solver.add(w.n >= 4, w.n > 3, w.n != 5, w.n < 6)
    assert solver.check() == z3.sat and solver.model().eval(w.n).as_long() == 4


@each_row(
    "make",
    [
        lambda w: And(w.x, w.p),
        lambda w: w.x == w.p,
        lambda w: w.good(w.p),
        lambda w: Not(w.x),
        lambda w: ForAll([w.good(w.x)], w.p),
    ],
    ids=["a conjunct", "two sorts", "an argument", "no formula", "no constant"],
)
def test_what_z3_refuses_is_an_error(make: Any) -> None:
    w = World()
    with pytest.raises(z3.Z3Exception, match=r"\w"):
        make(w)
    assert w.good(w.x) is w.good(w.x), "and the next one is made"


def test_what_a_solver_refuses_is_an_error() -> None:
    w = World()
    with pytest.raises(z3.Z3Exception):
        Solver(w.home).add(w.x, w.p)
    with pytest.raises(z3.Z3Exception):
        Solver(w.home).answer([w.x])


def test_a_solver_says_which_assumptions_cannot_be_true() -> None:
    w = World()
    solver = Solver(w.home)
    solver.add(Implies(w.p, w.good(w.x)), Not(w.good(w.x)))
    assert solver.answer([w.q]) == z3.sat
    assert solver.answer([w.q, w.p]) == z3.unsat and solver.core() == {w.p}


def test_a_limit_makes_z3_give_up() -> None:
    w = World()
    solver = Solver(w.home)
    cells = [[w.home.constant(f"{i} in {j}", w.p.sort()) for j in range(7)] for i in range(8)]
    solver.add(*[Or(*row) for row in cells])
    solver.add(*[Not(And(a[j], b[j])) for j in range(7) for n, a in enumerate(cells) for b in cells[:n]])
    solver.limit(1000)
    assert solver.answer([]) == z3.unknown
    solver.limit(1_000_000_000)
    assert solver.answer([]) == z3.unsat


def test_a_quantifier_is_opened_for_its_own_constants() -> None:
    w = World()
    formula = ForAll([w.x], Exists([w.y], And(w.good(w.x), w.next(w.x) == w.y)))
    assert formula.opened()[0] == (w.x,) and formula.opened()[1] is Exists([w.y], And(w.good(w.x), w.next(w.x) == w.y))
    its = w.home.simplified(ForAll([w.x, w.y], Or(w.good(w.x), Not(w.good(w.y)), w.p, w.p)))
    assert isinstance(its, Quantified)
    values, body = its.opened()
    assert not {*values} & {w.x, w.y}, "z3 has made it, and may have kept none of our constants"
    solver = Solver(w.home)
    solver.add(Not(ForAll(values, body) == its))
    assert solver.answer([]) == z3.unsat


def test_conjuncts_of_conjuncts_are_conjuncts() -> None:
    w = World()
    parts = [w.p, Or(w.p, w.q), w.good(w.x), w.q]
    assert list(conjuncts([And(And(parts[0], parts[1]), parts[2]), w.q])) == parts


PROGRAM = """
from schedproof.model.systems.hived import REPAIRED
from schedproof.proofs.induction import prove
for answer in prove(REPAIRED, only=["used-cell", "well-formed"]).answers:
    print(answer.obligation.name, answer.verdict, sorted(answer.used), answer.obligation.goal.sexpr())
"""


@pytest.mark.long
def test_a_proof_is_the_same_in_every_process() -> None:
    """Sets of names are in another order in each: z3 is asked in the same words, and assumes the same invariants."""
    outputs = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in "12"
    ]
    assert outputs[0] == outputs[1] and "used-cell" in outputs[0]
