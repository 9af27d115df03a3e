"""Formulas of states as one compiled function, each with fixed objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schedproof.model.lang import AlwaysCanReach, LeadsTo
from schedproof.model.lang import terms as t
from schedproof.model.semantics import Instance
from schedproof.proofs.exploration.liveness import bindings

from .code import Function, Leave, Put
from .layout import Layout
from .terms import Moment, Terms

FALSE, TRUE, UNDEFINED = 0, 1, 2
"""The values of a formula in a state."""


@dataclass(frozen=True)
class Predicate:
    """A formula, with the numbers of the objects to which its variables ``over`` are bound."""

    over: Sequence[t.Var]
    bound: Mapping[str, int]
    formula: t.Term


def formulas(instance: Instance, prop: AlwaysCanReach | LeadsTo) -> list[Predicate]:
    """The goal and the premise of a property, for each binding of its variables."""
    parts = [prop.goal] if prop.given is None else [prop.goal, prop.given]
    return [Predicate(prop.over, bound, formula) for formula in parts for bound in bindings(instance, prop.over)]


def predicates(instance: Instance, layout: Layout, conditions: Sequence[Predicate], name: str = "holds") -> Function:
    """A function of that name, with the signature of ``steps``, that writes each formula's value to ``out``."""
    terms = Terms(instance, layout)
    with terms.body() as body:
        for number, predicate in enumerate(conditions):
            undefined, done = f"undefined {number}", f"done {number}"
            bound = {v.name: (v, predicate.bound[v.name]) for v in predicate.over}
            with terms.block(done):
                with terms.block(undefined):
                    truth = terms.value(predicate.formula, Moment(bound=bound, undefined=undefined))
                    terms.emit(Put("out", number, truth))
                    terms.emit(Leave(done))
                terms.emit(Put("out", number, UNDEFINED))
    with terms.body() as start:
        terms.unpack(terms.read, "now", "state")
    arguments = ["state", "out", "chosen", "seen"]
    return Function(name, arguments, ["number"], [*start, *body], 0, dict(terms.scratch), dict(terms.tables))
