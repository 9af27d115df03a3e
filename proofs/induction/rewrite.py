"""Terms rewritten into equivalent ones that solvers find easier."""

from __future__ import annotations

from collections.abc import Sequence

from schedproof.model.lang import Ref, Var
from schedproof.model.lang import terms as t


def binds(term: t.Term, names: set[str]) -> bool:
    """Some binder inside ``term`` reuses one of ``names``."""
    bound = term.variables if isinstance(term, t.Quantified) else (term.var,) if isinstance(term, t.Those) else ()
    return any(v.name in names for v in bound) or any(binds(child, names) for child in t.children(term))


def substitute(term: t.Term, name: str, by: t.Term) -> t.Term:
    """``term`` with the free variable ``name`` replaced."""

    def go(part: t.Term) -> t.Term:
        return substitute(part, name, by)

    at = term.place
    match term:
        case t.Var(n):
            return by if n == name else term
        case t.Attr(of, n):
            return t.Attr(go(of), n, place=at)
        case t.Is(of, states):
            return t.Is(go(of), states, place=at)
        case t.Fires(of, event, payload):
            return t.Fires(go(of), event, tuple((n, go(v)) for n, v in payload), place=at)
        case t.Quantified(universal, variables, body):
            inner = body if any(v.name == name for v in variables) else go(body)
            return t.Quantified(universal, variables, inner, place=at)
        case t.Those(var, where):
            return t.Those(var, where if var.name == name else go(where), place=at)
        case t.Adjusted(a, b, present):
            return t.Adjusted(go(a), go(b), present, place=at)
        case t.Sum(a, b, sign):
            return t.Sum(go(a), go(b), sign, place=at)
        case t.Less(a, b, or_equal):
            return t.Less(go(a), go(b), or_equal, place=at)
        case t.Equal(a, b) | t.Has(a, b) | t.Implies(a, b) | t.Iff(a, b):
            return type(term)(go(a), go(b), place=at)
        case t.And(parts) | t.Or(parts):
            return type(term)(tuple(go(p) for p in parts), place=at)
        case t.Not(part) | t.After(part):
            return type(term)(go(part), place=at)
    return term


def one_point(term: t.Quantified) -> t.Term:
    """``term`` without the variables that a reference determines.

    "Some group that is the user of c is Allocated" says "c has a user, and it is Allocated";
    "every group that is the user of c ..." likewise.
    """
    variables, body = list(term.variables), term.body
    for var in term.variables:
        if term.universal:
            if not isinstance(body, t.Implies):
                break
            premises, conclusion = t.conjuncts(body.premise), body.conclusion
            found = _determined(var, premises, [conclusion])
            if found is None:
                continue
            premises, (conclusion,) = found
            body = t.Implies(t.both(premises), conclusion, place=body.place)
        else:
            found = _determined(var, t.conjuncts(body), [])
            if found is None:
                continue
            body = t.both(found[0])
        variables = [v for v in variables if v is not var]
    return t.Quantified(term.universal, tuple(variables), body, place=term.place) if variables else body


def _later(term: t.Term, name: str) -> bool:
    """The variable is spoken of inside ``after(...)``, where the reference may differ."""
    if isinstance(term, t.After):
        return name in t.free_variables(term)
    return any(_later(child, name) for child in t.children(term))


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
