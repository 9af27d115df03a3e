"""Formulas whose quantifiers range over relevant objects only, for proofs by few instances.

Most proofs need an invariant at the objects that the claim and the action name, at witnesses of what
is said to exist, and at what these refer to; z3, left to choose, tries many others. So "for all x"
becomes "for all relevant x", "some x" becomes "some relevant x", and those objects are said to be
relevant. Were all objects relevant, the formulas would be the original ones: if no state satisfies
the new ones, none satisfies the old ones. The converse does not hold: only "unsat" means something.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

import z3

from .cascade import Cascade
from .views import Symbols, Z


class Relevance:
    """Translates formulas of one model; ``of(x)`` is the formula that an object is relevant."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols
        truth = z3.BoolSort(symbols.context)
        self._known = {
            sort.name(): z3.Function(f"relevant {sort.name()}", sort, truth) for sort in symbols.sorts.values()
        }
        # An expression's number is its own while it lives.
        self._done: dict[int, tuple[Z, Z]] = {}

    def _is_object(self, term: Z) -> bool:
        return term.sort().name() in self._known

    def of(self, term: Z) -> Z:
        """That an object is relevant."""
        return self._known[term.sort().name()](term)

    def limited(self, formula: Z) -> Z:
        """``formula`` with each quantifier over relevant objects only."""
        key = formula.get_id()
        if key not in self._done:
            self._done[key] = (formula, self._limited(formula))
        return self._done[key][1]

    def _limited(self, formula: Z) -> Z:
        if z3.is_quantifier(formula):
            values, inner = opened(formula)
            body = self.limited(inner)
            objects = [self.of(v) for v in values if self._is_object(v)]
            # z3 instantiates where these are said, and nowhere else.
            where = [z3.MultiPattern(*objects)] if objects and len(objects) == len(values) else []
            if formula.is_forall():
                return z3.ForAll(values, z3.Or(*[z3.Not(o) for o in objects], body), patterns=where)
            return z3.Exists(values, z3.And(*objects, body), patterns=where)
        children = formula.children()
        parts = [self.limited(child) for child in children]
        if all(part.eq(child) for part, child in zip(parts, children, strict=True)):
            return formula
        return formula.decl()(*parts)

    def negated(self, goal: Z) -> Iterator[Z]:
        """That ``goal`` is false, of some relevant objects."""
        failing = []
        for part in goal.children() if z3.is_and(goal) else [goal]:
            failing.append(opened(part)[1] if z3.is_quantifier(part) and part.is_forall() else part)
        claim = z3.Not(z3.And(*failing))
        yield self.limited(claim)
        yield from self.named([claim])

    def named(self, formulas: Iterable[Z]) -> Iterator[Z]:
        """That the objects which ``formulas`` name are relevant."""
        seen: set[int] = set()
        todo = list(formulas)
        while todo:
            term = todo.pop()
            if term.get_id() in seen or not z3.is_app(term):
                continue
            seen.add(term.get_id())
            if self._is_object(term):
                yield self.of(term)
            todo += term.children()

    @cached_property
    def references(self) -> tuple[Z, ...]:
        """That what relevant objects refer to is relevant."""
        return tuple(self._references())

    def _references(self) -> Iterator[Z]:
        for sort, has, value in self._symbols.references():
            x = self._symbols.constant("x", sort)
            yield z3.ForAll(
                [x],
                z3.Implies(z3.And(self.of(x), has(x)), self.of(value(x))),
                patterns=[z3.MultiPattern(self.of(x), has(x))],
            )

    def witnesses(self, cascade: Cascade) -> Iterator[Z]:
        """That what an event fires from is relevant where it fires."""
        for fires, witness in cascade.witnesses:
            if witness.range().name() in self._known:
                x = z3.Const("x", witness.domain(0))
                yield z3.ForAll([x], z3.Implies(fires(x), self.of(witness(x))), patterns=[fires(x)])


def opened(quantified: Z) -> tuple[list[Z], Z]:
    """Fresh constants for a quantifier's variables, and its body about them."""
    values = [z3.FreshConst(quantified.var_sort(n), quantified.var_name(n)) for n in range(quantified.num_vars())]
    return values, z3.substitute_vars(quantified.body(), *reversed(values))
