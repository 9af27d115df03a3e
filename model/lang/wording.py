"""Formulas in words, for messages."""

from __future__ import annotations

from . import terms as t


def show_term(term: t.Term) -> str:
    """``term`` in plain words."""
    match term:
        case t.Var(name):
            return name
        case t.Nothing():
            return "none"
        case t.EmptySet():
            return "the empty set"
        case t.Me():
            return "it"
        case t.Given(name):
            return name
        case t.Constant(value):
            return str(value)
        case t.Attr(of, name):
            return f"{show_term(of)}.{name}"
        case t.Is(of, states):
            return f"{show_term(of)} {' or '.join(states)}"
        case t.Not(t.Equal(left, right)):
            return f"{show_term(left)} not {show_term(right)}"
        case t.Equal(left, right):
            return f"{show_term(left)} = {show_term(right)}"
        case t.Less(left, right, or_equal):
            return f"{show_term(left)} {'<=' if or_equal else '<'} {show_term(right)}"
        case t.Sum(left, right, sign):
            return f"{show_term(left)} {'+' if sign > 0 else '-'} {show_term(right)}"
        case t.Has(base, element):
            return f"{show_term(element)} in {show_term(base)}"
        case t.Adjusted(base, element, present):
            return f"{show_term(base)} {'with' if present else 'without'} {show_term(element)}"
        case t.Those(var, where):
            return f"those {var.name} with {show_term(where)}"
        case t.Fires(of, event, _):
            return f"{event} on {show_term(of)}"
        case t.And(parts):
            return " and ".join(f"({show_term(p)})" if isinstance(p, t.Or) else show_term(p) for p in parts)
        case t.Or(parts):
            return " or ".join(f"({show_term(p)})" if isinstance(p, t.And) else show_term(p) for p in parts)
        case t.Not(part):
            return f"not ({show_term(part)})"
        case t.Implies(premise, conclusion):
            return f"if {show_term(premise)}, then {show_term(conclusion)}"
        case t.Iff(left, right):
            return f"{show_term(left)} exactly when {show_term(right)}"
        case t.After(part):
            return f"afterwards {show_term(part)}"
        case t.Quantified(universal, variables, body):
            names = ", ".join(v.name for v in variables)
            return f"{'for every' if universal else 'some'} {names}: {show_term(body)}"
    return type(term).__name__.lower()
