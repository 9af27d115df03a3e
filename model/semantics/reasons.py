"""Why conditions do not hold: the first that is false, the objects for which it is, and the values that it reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Any

from schedproof.model.lang import terms as t
from schedproof.model.lang.types import Integer
from schedproof.model.lang.wording import show_term

from .evaluate import NOBODY, Moment, Undefined, compile_term, sort_of_term
from .instance import Instance, domain_size, scope_text
from .sequences import Shown

Scope = Mapping[str, t.Var]
"""The variables that a term may read, by name."""

MOST_WITNESSES = 10_000
"""The most objects of a quantifier among which one that makes it false is looked for."""

MOST_COUNTED = 12
"""The most values of a count that a reason names."""


@dataclass(frozen=True)
class FieldRead:
    """A field that a condition reads.

    Attributes:
        object: the name of the object.
        field: "state", or the name of an attribute.
        value: its value, with names.
    """

    object: str
    field: str
    value: Any

    def text(self) -> str:
        """The field and its value: ``w0.lease is none``."""
        return f"{self.object}.{self.field} is {value_text(self.value)}"


@dataclass(frozen=True)
class Counted:
    """What a count in a condition counts.

    Attributes:
        number: how many values.
        values: their names, at most ``MOST_COUNTED``.
    """

    number: int
    values: Sequence[str]

    def text(self) -> str:
        """The number and, after a colon, the names of what was counted."""
        more = self.number - len(self.values)
        shown = [*self.values, *([f"and {more} more"] if more else [])]
        return f"{self.number} counted{': ' if shown else ''}{', '.join(shown)}"

    def as_json(self) -> dict[str, Any]:
        return {"number": self.number, "values": list(self.values)}


@dataclass(frozen=True)
class FalseCondition:
    """The first condition that does not hold.

    Attributes:
        condition: the condition.
        met: how many conditions before it hold.
        values: the variables that it names, with the values for which it does not hold.
        reads: the fields that it reads for these values.
        counted: what its counts count for these values, in their order.
    """

    condition: t.Term
    met: int
    values: Mapping[str, Any]
    reads: Sequence[FieldRead]
    counted: Sequence[Counted]

    def text(self) -> str:
        """The condition, and the values that make it false: ``w Idle - w0.state is Waiting (w = w0)``."""
        joint = " - " if self.reads or self.counted else " "  # the variables alone stand in brackets
        return f"{show_term(self.condition)}{joint}{self.because}" if self.because else show_term(self.condition)

    @property
    def because(self) -> str:
        """The values that make the condition false: ``w0.state is Waiting (w = w0)``."""
        read = "; ".join([*filter(None, [", ".join(read.text() for read in self.reads)]), *_texts(self.counted)])
        variables = ", ".join(f"{name} = {value_text(value)}" for name, value in self.values.items())
        return f"{read} ({variables})".strip() if variables else read


def value_text(value: object) -> str:
    """A value as :meth:`.Instance.show` gives it, in words."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Shown):
        return f"[{', '.join(map(value_text, value))}]"
    if isinstance(value, list | tuple):
        return "{" + ", ".join(map(str, value)) + "}"
    return "none" if value is None else str(value)


def conditions(terms: Sequence[t.Term]) -> list[t.Term]:
    """The parts of conjunctions, in the order in which they are read."""
    return [part for term in terms for part in _parts(term)]


def _parts(term: t.Term) -> Iterator[t.Term]:
    if isinstance(term, t.And):
        yield from conditions(term.parts)
    elif isinstance(term, t.Not) and isinstance(term.part, t.Or):
        for part in term.part.parts:
            yield from _parts(t.Not(part, place=term.place))
    else:
        yield term


def holds(instance: Instance, moment: Moment, term: t.Term, scope: Scope) -> bool:
    """The value of a formula; False if it reads an attribute of NONE."""
    try:
        return bool(compile_term(instance, term, scope)(moment))
    except Undefined:
        return False


def first_false(instance: Instance, moment: Moment, terms: Sequence[t.Term], scope: Scope) -> FalseCondition | None:
    """The first condition that does not hold; None if all do. Later ones may only be defined if it holds.

    Args:
        moment: the state, and the values of the variables.
        terms: conditions; the parts of conjunctions count one by one.
        scope: the variables.
    """
    for met, condition in enumerate(conditions(terms)):
        if not holds(instance, moment, condition, scope):
            inner, within, at = witness(instance, moment, condition, scope)
            values = {v.name: instance.show(v.type, value) for v, value in named(condition, moment, within, at)}
            reads = tuple(fields_read(instance, at, inner, within))
            return FalseCondition(condition, met, values, reads, tuple(_counts(instance, at, inner, within)))
    return None


def counted_text(instance: Instance, moment: Moment, terms: Sequence[t.Term], scope: Scope) -> str:
    """What the counts of the first false condition count, such as ``3 counted: g1, g2, g4``; empty if it has none."""
    if not any(isinstance(part, t.Count) for term in terms for part in t.subterms(term)):
        return ""
    false = first_false(instance, moment, terms, scope)
    return "; ".join(_texts(false.counted)) if false is not None else ""


def _texts(counted: Sequence[Counted]) -> list[str]:
    return [each.text() for each in counted]


def _counts(
    instance: Instance, moment: Moment, term: t.Term, scope: Scope, *, later: bool = False
) -> Iterator[Counted]:
    """What the counts of a term count; those below quantifiers are left out.

    Args:
        later: the term stands inside of ``after(...)``.
    """
    if isinstance(term, t.Count):
        where = t.After(term.where, place=term.place) if later else term.where
        meets = compile_term(instance, where, {**scope, **{v.name: v for v in term.variables}})
        names = [v.name for v in term.variables]
        number, values = 0, []
        try:
            for each in product(*(instance.domain(v.type) for v in term.variables)):
                if meets(replace(moment, bound={**moment.bound, **dict(zip(names, each, strict=True))})):
                    number += 1
                    shown = [value_text(instance.show(v.type, x)) for v, x in zip(term.variables, each, strict=True)]
                    if number <= MOST_COUNTED:
                        values.append(shown[0] if len(shown) == 1 else f"({', '.join(shown)})")
        except Undefined:
            return
        yield Counted(number, values)
    elif not isinstance(term, t.Quantified | t.Those | t.TuplesOf | t.FunctionOf):
        for child in t.children(term):
            yield from _counts(instance, moment, child, scope, later=later or isinstance(term, t.After))


def named(condition: t.Term, moment: Moment, within: Scope, at: Moment) -> list[tuple[t.Var, int]]:
    """The variables that a condition names, and those of its outermost quantifier, with the values of a :func:`witness`."""
    inner = condition.part if isinstance(condition, t.Not) else condition
    names = {*t.free_variables(condition), *(v.name for v in t.bound_by(inner) if at is not moment)}
    return [(within[n], value) for n, value in at.bound.items() if n in names]


def witness(instance: Instance, moment: Moment, condition: t.Term, scope: Scope) -> tuple[t.Term, Scope, Moment]:
    """Inside of a false condition: the formula below its outermost quantifiers, for values that make the condition false.

    Returns:
        The formula, the variables that it may read, and the moment with their values. They are those of the condition, if
        no value of a quantifier makes it false: ``exists`` is false for all.
    """
    negated = isinstance(condition, t.Not)
    inner = condition.part if isinstance(condition, t.Not) else condition
    if not isinstance(inner, t.Quantified) or inner.universal == negated:
        return condition, scope, moment
    if any(isinstance(v.type, Integer) for v in inner.variables):
        return condition, scope, moment
    within = {**scope, **{v.name: v for v in inner.variables}}
    domains = [instance.domain(v.type) for v in inner.variables]
    if prod(map(domain_size, domains)) > MOST_WITNESSES:
        return condition, scope, moment
    for values in product(*domains):
        chosen = dict(zip((v.name for v in inner.variables), values, strict=True))
        at = replace(moment, bound={**moment.bound, **chosen})
        if holds(instance, at, inner.body, within) == negated:
            return inner.body, within, at
    return condition, scope, moment


def fields_read(instance: Instance, moment: Moment, term: t.Term, scope: Scope) -> list[FieldRead]:
    """The fields of objects that a term reads, each once; those of quantified variables and of the state after are left out."""
    fields: dict[tuple[str, str, str], FieldRead] = {}
    for part in _outside(term):
        if not isinstance(part, t.Is | t.Attr):
            continue
        try:
            number = compile_term(instance, part.of, scope)(moment)
            if number < 0:
                continue
            sort = sort_of_term(instance, part.of, scope, NOBODY)
            name = instance.object_names(sort)[number]
            if isinstance(part, t.Is):
                state = instance.model.machine(sort).states[moment.state[instance.slot(sort) + number]].name
                fields.setdefault((sort, name, "state"), FieldRead(name, "state", state))
            else:
                attribute = instance.model.machine(sort).attribute(part.name)
                assert attribute is not None
                value = instance.show(attribute.type, compile_term(instance, part, scope)(moment))
                fields.setdefault((sort, name, part.name), FieldRead(name, part.name, value))
        except Undefined:
            continue
    return list(fields.values())


def _outside(term: t.Term) -> Iterator[t.Term]:
    """The sub-terms, each after its own, that read the state of the moment for the variables in scope."""
    if isinstance(term, t.Quantified | t.Those | t.TuplesOf | t.FunctionOf | t.Count | t.After):
        return
    for child in t.children(term):
        yield from _outside(child)
    yield term


MOST_VALUES = 24
"""The most values that a configuration in words has."""


def configuration_text(instance: Instance, term: t.Term) -> str:
    """A configuration in words: the number of objects of each sort, and the rigid attributes that a term reads.

    For example ``Job=2,Node=1 (j0.boss none, j1.boss j0)``.
    """
    read = {part.name for part in t.subterms(term) if isinstance(part, t.Attr)}
    values = [
        f"{name}.{attribute.name} {value_text(instance.show(attribute.type, value))}"
        for machine in instance.model.machines
        for attribute in machine.attributes
        if attribute.rigid and attribute.name in read
        for name, value in zip(
            instance.object_names(machine.sort.name), instance.rigid_values(machine.sort.name, attribute), strict=True
        )
    ]
    more = len(values) - MOST_VALUES
    shown = [*values[:MOST_VALUES], *([f"and {more} more"] if more > 0 else [])]
    of_objects = f" ({', '.join(shown)})" if shown else ""
    return f"{scope_text(instance.sizes)}{of_objects}"
