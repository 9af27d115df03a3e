"""Formulas in words, for messages and for pages that read them back."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from . import terms as t
from .types import EnumType, Function, Ref, Relation, SetOf, Type
from .types import Sequence as SequenceType

WORD = re.compile(r"[^\W\d]\w*(-[^\W\d]\w*)*")
"""A name that needs no quotation marks."""

RESERVED = frozenset(
    [
        "and",
        "or",
        "not",
        "if",
        "then",
        "exactly",
        "for",
        "some",
        "those",
        "with",
        "without",
        "in",
        "on",
        "afterwards",
        "none",
        "true",
        "false",
        "the",
    ]
)
"""The words of formulas, which are no names."""


def show_term(term: t.Term) -> str:
    """``term`` in plain words."""
    return _Wording().term(term)


def show_exactly(term: t.Term) -> str:
    """``term`` in words that have one meaning.

    It has the words of :func:`show_term`, brackets where those have two meanings, the types of bound variables, the
    parameters of events, and quotation marks around names that are not words. The page of a run reads such text.
    """
    return _Exact().term(term)


def quoted(name: str) -> str:
    """A name, in quotation marks if it is not a word."""
    return name if WORD.fullmatch(name) and name not in RESERVED else json.dumps(name, ensure_ascii=False)


class _Wording:
    """The words for each term."""

    def term(self, term: t.Term) -> str:
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
                return self.constant(value)
            case t.Attr(of, name):
                return f"{self.inner(of)}.{self.name(name)}"
            case t.Is(of, states):
                return f"{self.inner(of)} {' or '.join(map(self.name, states))}"
            case t.Not(t.Equal(left, right)):
                return f"{self.inner(left)} not {self.inner(right)}"
            case t.Equal(left, right):
                return f"{self.inner(left)} = {self.inner(right)}"
            case t.Less(left, right, or_equal):
                return f"{self.inner(left)} {'<=' if or_equal else '<'} {self.inner(right)}"
            case t.Sum(left, right, sign):
                return (
                    f"{self.left(left)} + {self.inner(right)}"
                    if sign > 0
                    else f"{self.left(left)} - {self.less(right)}"
                )
            case t.Has(base, element):
                return f"{self.inner(element)} in {self.inner(base)}"
            case t.Adjusted(base, element, present):
                return f"{self.left(base)} {'with' if present else 'without'} {self.inner(element)}"
            case t.Those(var, where):
                return f"those {self.variables([var])} with {self.term(where)}"
            case t.TuplesOf(several, where):
                return f"those ({self.variables(several)}) with {self.term(where)}"
            case t.Apply(function, element):
                inside = element.parts if isinstance(element, t.Tuple) else (element,)
                return f"{self.inner(function)}[{', '.join(self.inner(part) for part in inside)}]"
            case t.Updated(base, element, to):
                return f"{self.left(base)} with {self.inner(to)} at {self.inner(element)}"
            case t.FunctionOf(several, to):
                return f"{self.inner(to)} at each ({self.variables(several)})"
            case t.Length(of):
                return f"the length of {self.inner(of)}"
            case t.Appended(base, item):
                return f"{self.left(base)} and then {self.inner(item)}"
            case t.Sliced(base, at, first):
                return f"{self.inner(base)}[{':' if first else ''}{self.inner(at)}{'' if first else ':'}]"
            case t.Count(several, where):
                return f"the number of ({self.variables(several)}) with ({self.term(where)})"
            case t.Tuple(parts):
                return f"({', '.join(self.inner(part) for part in parts)})"
            case t.Fires(of, event, payload):
                return f"{self.event(event, payload)} on {self.inner(of)}"
            case t.And(parts):
                return " and ".join(f"({self.term(p)})" if isinstance(p, t.Or) else self.member(p) for p in parts)
            case t.Or(parts):
                return " or ".join(f"({self.term(p)})" if isinstance(p, t.And) else self.member(p) for p in parts)
            case t.Not(part):
                return f"not ({self.term(part)})"
            case t.Implies(premise, conclusion):
                return f"if {self.part(premise)}, then {self.part(conclusion)}"
            case t.Iff(left, right):
                return f"{self.part(left)} exactly when {self.part(right)}"
            case t.After(part):
                return f"afterwards {self.single(part)}"
            case t.Quantified(universal, variables, body):
                return f"{'for every' if universal else 'some'} {self.variables(variables)}: {self.term(body)}"
        return type(term).__name__.lower()

    def inner(self, term: t.Term) -> str:
        """An operand of a comparison, a field or an event."""
        # "afterwards" belongs to the operand, not to the comparison.
        return f"({self.term(term)})" if isinstance(term, t.After) else self.term(term)

    def left(self, term: t.Term) -> str:
        """The left operand of ``+``, ``-``, ``with`` and ``without``."""
        return self.inner(term)

    def less(self, term: t.Term) -> str:
        """The right operand of ``-``."""
        return f"({self.term(term)})" if isinstance(term, t.Sum) else self.inner(term)

    def part(self, term: t.Term) -> str:
        """A part of a compound formula."""
        return self.term(term)

    def member(self, term: t.Term) -> str:
        """A part of a conjunction or a disjunction."""
        return self.part(term)

    def single(self, term: t.Term) -> str:
        """The part of ``afterwards``."""
        return self.term(term)

    def constant(self, value: t.Value) -> str:
        return str(value)

    def name(self, name: str) -> str:
        """The name of a field, a state or an event."""
        return name

    def variables(self, variables: Sequence[t.Var]) -> str:
        return ", ".join(v.name for v in variables)

    def event(self, event: str, payload: tuple[tuple[str, t.Term], ...]) -> str:
        return event


class _Exact(_Wording):
    """The words, with what gives them one meaning."""

    def inner(self, term: t.Term) -> str:
        atoms = t.Var, t.Nothing, t.EmptySet, t.Me, t.Given, t.Constant, t.Attr, t.Tuple, t.Count, t.Apply
        return self.term(term) if isinstance(term, atoms) else f"({self.term(term)})"

    def less(self, term: t.Term) -> str:
        return self.inner(term)

    def left(self, term: t.Term) -> str:
        return self.term(term) if isinstance(term, t.Sum | t.Adjusted) else self.inner(term)

    def part(self, term: t.Term) -> str:
        return f"({self.term(term)})" if isinstance(term, t.Implies | t.Iff | t.Quantified) else self.term(term)

    def member(self, term: t.Term) -> str:
        has_or = isinstance(term, t.Is) and len(term.states) > 1
        return f"({self.term(term)})" if has_or else self.part(term)

    def single(self, term: t.Term) -> str:
        compound = t.And, t.Or, t.Implies, t.Iff, t.Quantified, t.Those, t.TuplesOf
        return f"({self.term(term)})" if isinstance(term, compound) else self.term(term)

    def constant(self, value: t.Value) -> str:
        return (
            str(value).lower() if isinstance(value, bool) else quoted(value) if isinstance(value, str) else str(value)
        )

    def name(self, name: str) -> str:
        return quoted(name)

    def variables(self, variables: Sequence[t.Var]) -> str:
        texts, last = [], ""
        for variable in variables:
            kind = _type(variable.type)
            texts.append(variable.name if kind == last else f"{kind} {variable.name}")
            last = kind
        return ", ".join(texts)

    def event(self, event: str, payload: tuple[tuple[str, t.Term], ...]) -> str:
        filled = ", ".join(f"{quoted(name)} = {self.inner(value)}" for name, value in payload)
        return f"{quoted(event)}({filled})" if payload else quoted(event)


def _type(kind: Type) -> str:
    """A type as a formula names it."""
    match kind:
        case Ref(sort):
            return quoted(sort.name)
        case SetOf(sort):
            return f"set of {quoted(sort.name)}"
        case Relation(sorts):
            return f"set of ({', '.join(quoted(sort.name) for sort in sorts)})"
        case Function(sorts, to):
            return f"function of ({', '.join(quoted(sort.name) for sort in sorts)}) to {_type(to)}"
        case SequenceType(of):
            return f"sequence of {_type(of)}"
        case EnumType(values):
            return "{" + ", ".join(map(quoted, values)) + "}"
    return str(kind)
