"""Axioms of relations that many models have: orders, rings and trees; and values of them for configurations.

A proof assumes the axioms for any number of objects. A configuration must meet them, so each has a function that makes such
values: ``ordered``, ``around`` and ``below``. The attribute is rigid, and of type ``SetOf(sort)``, of a ring ``Relation(sort, sort)``.
A model with the axiom ``axioms=[*total_order(Node, "lower")]`` may read ``n.lower.has(m)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from schedproof.model.errors import shown

from .arguments import word
from .errors import ModelError, calling_place
from .terms import Attr, Term, Var, exists, forall, free_variables, implies, variables
from .types import Ref, Sort

__all__ = [
    "around",
    "below",
    "forest",
    "is_next",
    "is_next_around",
    "ordered",
    "partial_order",
    "ring",
    "total_order",
    "tree",
]


@word
def partial_order(sort: Sort, attribute: str) -> list[Term]:
    """The ``attribute`` of an object of ``sort`` has the objects before it, in some strict order: none is before itself."""
    _check_axioms("partial_order", sort, attribute)
    a, b, c = variables(sort, "a b c")
    of_a, of_b = Attr(a, attribute), Attr(b, attribute)
    return [
        forall(a, ~of_a.has(a)),
        forall([a, b, c], implies(of_a.has(b) & of_b.has(c), of_a.has(c))),
    ]


@word
def total_order(sort: Sort, attribute: str) -> list[Term]:
    """The ``attribute`` of an object of ``sort`` has the objects before it; of any two, one is before the other."""
    _check_axioms("total_order", sort, attribute)
    a, b = variables(sort, "a b")
    total = forall([a, b], (a == b) | Attr(a, attribute).has(b) | Attr(b, attribute).has(a))
    return [*partial_order(sort, attribute), total]


@word
def forest(sort: Sort, attribute: str) -> list[Term]:
    """The ``attribute`` of an object of ``sort`` has those above it: its parent, its parent's parent, up to one of several roots."""
    _check_axioms("forest", sort, attribute)
    a, b, c = variables(sort, "a b c")
    of_a, of_b, of_c = Attr(a, attribute), Attr(b, attribute), Attr(c, attribute)
    line = forall([a, b, c], implies(of_a.has(b) & of_a.has(c), (b == c) | of_b.has(c) | of_c.has(b)))
    return [*partial_order(sort, attribute), line]


@word
def tree(sort: Sort, attribute: str) -> list[Term]:
    """The ``attribute`` of the objects of ``sort`` is a :func:`forest` with one root."""
    _check_axioms("tree", sort, attribute)
    a, root = variables(sort, "a root")
    return [*forest(sort, attribute), exists(root, forall(a, (a == root) | Attr(a, attribute).has(root)))]


@word
def ring(sort: Sort, attribute: str) -> list[Term]:
    """The ``attribute`` of ``a``, of ``sort``, has (b, c) if the way round from ``a`` comes to ``b`` before ``c``; all three differ."""
    _check_axioms("ring", sort, attribute)
    a, b, c, d = variables(sort, "a b c d")
    of_a, of_b = Attr(a, attribute), Attr(b, attribute)
    distinct = ~(a == b) & ~(b == c) & ~(a == c)
    return [
        forall([a, b, c], implies(of_a.has(b, c), of_b.has(c, a))),
        forall([a, b, c], implies(of_a.has(b, c), ~of_a.has(c, b))),
        forall([a, b, c, d], implies(of_a.has(b, c) & of_a.has(c, d), of_a.has(b, d))),
        forall([a, b, c], implies(distinct, of_a.has(b, c) | of_a.has(c, b))),
    ]


@word
def is_next(sort: Sort, attribute: str, a: Term, b: Term) -> Term:
    """The formula that ``b`` of ``sort`` comes directly after ``a`` in the order of ``attribute``: later, and none is between."""
    _check_axioms("is_next", sort, attribute)
    c = _another(sort, a, b)
    of_b, of_c = Attr(b, attribute), Attr(c, attribute)
    return of_b.has(a) & ~exists(c, of_b.has(c) & of_c.has(a))


@word
def is_next_around(sort: Sort, attribute: str, a: Term, b: Term) -> Term:
    """The formula that ``b`` of ``sort`` comes directly after ``a`` on the ring of ``attribute``; one object has no neighbour."""
    _check_axioms("is_next_around", sort, attribute)
    c = _another(sort, a, b)
    return ~(a == b) & ~exists(c, Attr(a, attribute).has(c, b))


def _another(sort: Sort, *terms: Term) -> Var:
    """A variable over ``sort`` of a name that no term has."""
    used = {name for term in terms for name in free_variables(term)}
    return Var(next(name for n in range(len(used) + 1) if (name := f"between{n or ''}") not in used), Ref(sort))


@word
def ordered(size: int) -> list[frozenset[int]]:
    """The values of a total order of ``size`` objects: before each are those with a lower number."""
    _check_size("ordered", size)
    return [frozenset(range(n)) for n in range(size)]


@word
def around(size: int) -> list[frozenset[tuple[int, int]]]:
    """The values of a ring of ``size`` objects, in the order of their numbers."""
    _check_size("around", size)
    distances = [(b, c) for b in range(1, size) for c in range(b + 1, size)]
    return [frozenset(((n + b) % size, (n + c) % size) for b, c in distances) for n in range(size)]


@word
def below(parents: Sequence[int | None]) -> list[frozenset[int]]:
    """The values of a forest, from ``parents``, the number of each object's parent; None for a root."""
    if isinstance(parents, str) or not isinstance(parents, Sequence):
        _refuse("below", f"parents is {shown(parents)}", "write a list of numbers: below([None, 0, 0])")
    for parent in parents:
        if parent is not None and not (_is_number(parent) and parent < len(parents)):
            problem = f"{shown(parent)} is not the number of one of {len(parents)} objects"
            _refuse("below", problem, "write the number of an object, from 0, or None for a root")
    above: list[frozenset[int]] = []
    for number in range(len(parents)):
        ancestors: set[int] = set()
        parent = parents[number]
        while parent is not None and parent not in ancestors:
            ancestors.add(parent)
            parent = parents[parent]
        above.append(frozenset(ancestors))
    return above


def _check_axioms(function: str, sort: object, attribute: object) -> None:
    example = f'for example {function}(Node, "above")'
    if not isinstance(sort, Sort):
        _refuse(function, f"sort is {shown(sort)}", f"write the sort itself, {example}")
    if not isinstance(attribute, str) or not attribute.isidentifier():
        _refuse(function, f"attribute is {shown(attribute)}", f"write its name, {example}")


def _check_size(function: str, size: object) -> None:
    if not _is_number(size):
        _refuse(
            function,
            f"size is {shown(size)}",
            f'write the number of objects, for example {function}(sizes["Node"])',
        )


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _refuse(function: str, problem: str, remedy: str) -> NoReturn:
    raise ModelError(function, calling_place(), problem, remedy)
