"""The sorts of which the axioms allow only so many objects: there, "any number" means at most that many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

import z3

from .expressions import Not, Quantified, Solver
from .obligations import Proof
from .views import Z

BEYOND = 9
"""A larger bound is looked for only up to one object more than the model's default scope."""

EFFORT = 1_000_000
"""z3's limit for one sort and number, in z3's own steps. At the limit the sort counts as unbounded."""


def bounds(proof: Proof, solver: Solver) -> dict[str, int]:
    """The largest number of objects by sort, for each sort that the axioms bound.

    Args:
        proof: the obligations.
        solver: has the axioms as its assertions.
    """
    solver.limit(EFFORT)
    largest = {}
    for sort in sorted(_compared(proof)):
        most = max(BEYOND, proof.model.default_scope.get(sort, 0) + 1)
        if _impossible(proof, solver, sort, most):
            # Without more answers, since the time is over, what is known is the bound.
            fewer = (n for n in range(1, most - 1) if _impossible(proof, solver, sort, n + 1))
            largest[sort] = next(fewer, most - 1)
    return largest


def _compared(proof: Proof) -> set[str]:
    """The sorts that the axioms can bound: those with an equality of two objects.

    Without one, an object with a copy of itself satisfies the axioms as well as the object alone.
    """
    names = {kind.ast.value: name for name, kind in proof.symbols.sorts.items()}
    sides = {each.sort_at for formula in _parts(proof.axioms) if z3.is_eq(formula) for each in formula.children()}
    return {name for at, name in names.items() if at in sides}


def _parts(formulas: Iterable[Z]) -> Iterator[Z]:
    for formula in formulas:
        yield formula
        yield from _parts([formula.opened()[1]] if isinstance(formula, Quantified) else formula.children())


def _impossible(proof: Proof, solver: Solver, sort: str, number: int) -> bool:
    """Whether no system with so many objects satisfies the axioms."""
    several = [proof.symbols.constant(f"{sort} {n}", sort) for n in range(number)]
    solver.push()
    solver.add(*[Not(one == other) for one, other in combinations(several, 2)])
    status = solver.answer([])
    solver.pop()
    return bool(status == z3.unsat)
