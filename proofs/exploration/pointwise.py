"""Conditions that read history at one point: of one object, and of a set whether one element is in it.

A condition for all ``over`` is the conjunction of its *bindings*: of what it says with an object for each variable. If every
binding reads a single point of history, that point suffices to check it. The others may be left out: no guard, no rule and no
update of another kind of attribute reads history, and here no update of the attribute reads history either. So a point after
a step is a function of the step and of the point before. Leaving out the others is a bisimulation for the formulas of the
binding, as in :mod:`schedproof.proofs.checking.slices`: both graphs have the same runs, and in them the point has the same values.

Which point a binding reads must follow from its variables alone. So history is read of a variable of ``over`` only, and
always of the same one: not of an object that an attribute names (``c.user.placement``), that a quantifier inside chooses, or
that is a parameter of the action. Of a set, only the membership of another variable of ``over`` is read, always of the same
one. After a step the same point is read as before it.

This needs no symmetry: every object and every element has a point of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from schedproof.model.lang import Invariant, Model, Ref, SetOf, StepInvariant
from schedproof.model.lang import terms as t
from schedproof.model.lang.infer import sort_of

from .relevance import is_defined


@dataclass(frozen=True)
class Point:
    """The point of history that each binding of a condition reads.

    Attributes:
        field: the sort and the attribute.
        of: the variable of the object.
        element: the variable whose membership is read; "" if the attribute is not a set.
    """

    field: tuple[str, str]
    of: str
    element: str = ""


def point_of(model: Model, condition: Invariant | StepInvariant) -> Point | None:
    """The point that each binding reads; None if one may read several, read none, or have no value.

    A condition that may be undefined has none: there it would matter in which order its parts are evaluated.
    """
    formulas = [part for part in (condition.given, condition.then) if part is not None]
    points = {point for formula in formulas for point in _points(model, formula)}
    if len(points) != 1 or not all(is_defined(formula) for formula in formulas):
        return None
    [point] = points
    over = {v.name: v for v in condition.over}
    bound = {v.name for formula in formulas for part in t.subterms(formula) for v in t.bound_by(part)}
    if point is None or point.of not in over or {point.of, point.element} & bound:
        return None
    attribute = model.machine(point.field[0]).attribute(point.field[1])
    assert attribute is not None
    if isinstance(attribute.type, SetOf) is not bool(point.element):
        return None
    if point.element and (point.element not in over or not isinstance(over[point.element].type, Ref)):
        return None
    return point


def reads_point(model: Model, term: t.Term) -> bool:
    """Whether a term reads history."""
    return any(True for _ in _points(model, term))


def _points(model: Model, term: t.Term) -> Iterator[Point | None]:
    """The points that a term reads; None for one that is not of a variable."""
    match term:
        case t.Has(t.Attr(t.Var(name)) as base, t.Var(element)) if _is_history(model, base):
            yield Point((sort_of(model, base.of, {}), base.name), name, element)
            return
        case t.Attr(of, attribute) if _is_history(model, term):
            yield Point((sort_of(model, of, {}), attribute), of.name) if isinstance(of, t.Var) else None
    for part in t.children(term):
        yield from _points(model, part)


def _is_history(model: Model, term: t.Attr) -> bool:
    attribute = model.machine(sort_of(model, term.of, {})).attribute(term.name)
    return attribute is not None and attribute.history
