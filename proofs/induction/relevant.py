"""Formulas whose quantifiers range over relevant objects only, so that a proof needs few instances.

Most proofs need an invariant only at three kinds of objects: those that the claim and the action name, witnesses of
existential claims, and objects that these refer to. z3 by itself tries many others.
So "for all x" becomes "for all relevant x", "some x" becomes "some relevant x", and those objects are made relevant.
If all objects were relevant, the new formulas would be the original ones.
So if no state satisfies the new formulas, no state satisfies the original ones.
The converse does not hold: only "unsat" means something.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from .cascade import Cascade
from .expressions import And, Exists, ForAll, Function, Implies, Not, Or, Quantified, conjuncts
from .views import Symbols, Z


class Relevance:
    """Restricts the quantifiers in formulas of one model to relevant objects."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols, self._expressions = symbols, symbols.expressions
        # The key is the address of the sort.
        self._known: dict[int, Function] = {
            sort.ast.value: symbols.predicate(f"relevant {name}", name) for name, sort in symbols.sorts.items()
        }
        self._done: dict[Z, Z] = {}

    def conditions(self, terms: Iterable[Z]) -> list[Z]:
        """Formulas that the objects among ``terms`` are relevant."""
        return [self._known[term.sort_at](term) for term in terms if term.sort_at in self._known]

    def limited(self, formula: Z) -> Z:
        """``formula`` with each quantifier over relevant objects only."""
        formula = self._expressions.of(formula)
        if formula not in self._done:
            self._done[formula] = self._limited(formula)
        return self._done[formula]

    def _limited(self, formula: Z) -> Z:
        if isinstance(formula, Quantified):
            values, inner = formula.opened()
            body = self.limited(inner)
            objects = self.conditions(values)
            # z3 instantiates only where these patterns occur.
            where = [objects] if objects and len(objects) == len(values) else []
            if formula.is_forall():
                return ForAll(values, Or(*[Not(o) for o in objects], body), where)
            return Exists(values, And(*objects, body), where)
        children = formula.children()
        parts = [self.limited(child) for child in children]
        if all(part is child for part, child in zip(parts, children, strict=True)):
            return formula
        return self._expressions.like(formula, parts)

    def negated(self, goal: Z) -> Iterator[Z]:
        """Formulas that ``goal`` is false for some relevant objects."""
        failing = [
            part.opened()[1] if isinstance(part, Quantified) and part.is_forall() else part
            for part in conjuncts([self._expressions.of(goal)])
        ]
        claim = Not(And(*failing))
        yield self.limited(claim)
        yield from self.named([claim])

    def named(self, formulas: Iterable[Z]) -> list[Z]:
        """Formulas that the objects which ``formulas`` name are relevant."""
        todo = [self._expressions.of(formula) for formula in formulas]
        seen: dict[Z, None] = {}
        while todo:
            term = todo.pop()
            if term not in seen:
                seen[term] = None
                todo += term.children()
        return self.conditions(seen)

    @cached_property
    def references(self) -> tuple[Z, ...]:
        """Formulas that a relevant object's references are relevant."""
        return tuple(self._references())

    def _references(self) -> Iterator[Z]:
        for sort, has, value in self._symbols.references():
            x = self._symbols.constant("x", sort)
            [relevant] = self.conditions([x])
            where = [[relevant, has(x)]]
            yield ForAll([x], Implies(And(relevant, has(x)), *self.conditions([value(x)])), where)

    def witnesses(self, cascade: Cascade) -> Iterator[Z]:
        """Formulas that the witnesses of an event are relevant where it fires."""
        for sort, fires, witness in cascade.witnesses:
            x = self._symbols.constant("x", sort)
            for relevant in self.conditions([witness(x)]):
                yield ForAll([x], Implies(fires(x), relevant), [[fires(x)]])
