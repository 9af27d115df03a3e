"""Rewrites terms into equivalent ones that solvers find easier."""

from __future__ import annotations

from collections.abc import Sequence

from schedproof.model.lang import Ref, Var
from schedproof.model.lang import terms as t


def binds(term: t.Term, names: set[str]) -> bool:
    """Whether some binder inside ``term`` reuses one of ``names``."""
    return any(v.name in names for part in t.subterms(term) for v in t.bound_by(part))


def substitute(term: t.Term, name: str, by: t.Term) -> t.Term:
    """``term`` with the free variable ``name`` replaced by ``by``."""
    if name not in t.free_variables(term):
        return term
    return by if isinstance(term, t.Var) else t.rebuilt(term, lambda part: substitute(part, name, by))


def one_point(term: t.Quantified) -> t.Term:
    """``term`` without the variables that a reference determines.

    "Some group that is the user of c is Allocated" becomes "c has a user, and it is Allocated".
    "Every group that is the user of c ..." is rewritten likewise.
    """
    variables, body = list(term.variables), term.body
    for var in term.variables:
        if term.universal:
            if not isinstance(body, t.Implies):
                break
            premises, conclusion = t.conjuncts(body.premise), body.conclusion
            determined = _determined(var, premises, [conclusion])
            if determined is None:
                continue
            premises, (conclusion,) = determined
            body = t.Implies(t.both(premises), conclusion, place=body.place)
        else:
            determined = _determined(var, t.conjuncts(body), [])
            if determined is None:
                continue
            body = t.both(determined[0])
        variables = [v for v in variables if v is not var]
    return t.Quantified(term.universal, tuple(variables), body, place=term.place) if variables else body


def _later(term: t.Term, name: str) -> bool:
    """Whether the variable occurs inside ``after(...)``, where the reference may differ."""
    return any(isinstance(part, t.After) and name in t.free_variables(part) for part in t.subterms(term))


def _determined(
    var: Var, parts: Sequence[t.Term], others: Sequence[t.Term]
) -> tuple[list[t.Term], list[t.Term]] | None:
    """``parts`` and ``others`` with ``var`` replaced by the reference that one of ``parts`` equates it to."""
    if not isinstance(var.type, Ref):
        return None
    for n, part in enumerate(parts):
        if not isinstance(part, t.Equal):
            continue
        for one, reference in ((part.left, part.right), (part.right, part.left)):
            if not (isinstance(one, t.Var) and one.name == var.name and isinstance(reference, t.Attr)):
                continue
            free = set(t.free_variables(reference))
            rest = [*parts[:n], *parts[n + 1 :]]
            if var.name in free or any(binds(p, free) or _later(p, var.name) for p in (*rest, *others)):
                continue
            is_some = t.Not(t.Equal(reference, t.NONE))
            replaced = [substitute(p, var.name, reference) for p in rest]
            return [is_some, *replaced], [substitute(p, var.name, reference) for p in others]
    return None
