"""Translates terms to z3 formulas over a view of the state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import z3

from schedproof.model.lang import EnumType, Function, Integer, IntRange, Ref, SetOf, Type, Var
from schedproof.model.lang import terms as t
from schedproof.model.lang.infer import value_type
from schedproof.model.lang.types import Sequence as SequenceType

from .counting import without_counts
from .expressions import And, Exists, ForAll, If, Implies, Not, Or, is_true
from .rewrite import one_point
from .views import Initial, Items, Mapped, Member, Reference, Symbols, View, Z, choose

FiringFormula = Callable[[str, str, Z], Z]
"""(sort, event, object) -> the formula that the event fires on the object."""

Payload = Callable[[str, str, str, Z], Any]
"""(sort, event, parameter, object) -> the parameter's value where the event fires."""


@dataclass(frozen=True)
class Translator:
    """Translates terms over ``view``; ``after`` is the view inside ``after(...)``.

    Attributes:
        bound: variable name -> value. Objects are constants, sets are membership functions.
        types: variable name -> type.
        me: in a table row, the sort and the object of the row.
        given: in a table row, the parameters of ``event``.
    """

    symbols: Symbols
    view: View
    after: View | None = None
    fires: FiringFormula | None = None
    payload: Payload | None = None
    bound: Mapping[str, Any] = field(default_factory=dict)
    types: Mapping[str, Type] = field(default_factory=dict)
    me: tuple[str, Z] | None = None
    given: Mapping[str, Any] = field(default_factory=dict)
    event: str = ""

    def bind(self, variables: Sequence[Var], values: Sequence[Any]) -> Translator:
        """This translator with ``variables`` standing for ``values``."""
        return replace(
            self,
            bound={**self.bound, **{v.name: x for v, x in zip(variables, values, strict=True)}},
            types={**self.types, **{v.name: v.type for v in variables}},
        )

    def both(self, *parts: Z) -> Z:
        """The conjunction of ``parts`` without the parts that are constant true."""
        parts = tuple(p for p in parts if not is_true(p))
        return And(*parts) if len(parts) > 1 else parts[0] if parts else self.symbols.true()

    def constants(self, variables: Sequence[Var], suffix: str = "") -> tuple[list[Any], list[Z], list[Z]]:
        """Fresh symbols for ``variables``: their values, the symbols that can be quantified, range conditions."""
        values: list[Any] = []
        symbols: list[Z] = []
        ranges: list[Z] = []
        for v in variables:
            name = f"{v.name}{suffix}"
            if isinstance(v.type, SetOf):
                relation = self.symbols.predicate(name, v.type.sort.name)
                values.append(lambda element, relation=relation: relation(element))
                continue
            symbol = self.symbols.expressions.constant(name, self.symbols.kind(v.type))
            values.append(symbol)
            symbols.append(symbol)
            ranges += in_range(v.type, symbol)
        return values, symbols, ranges

    def sort_of(self, term: t.Term) -> str:
        """The sort of an object-valued term."""
        kind = self.type_of(term)
        assert isinstance(kind, Ref)
        return kind.sort.name

    def type_of(self, term: t.Term) -> Type:
        """The declared type of a variable, ``me``, a parameter or an attribute, also after the step."""
        match term:
            case t.Var(name):
                return self.types.get(name, term.type)
            case t.Me():
                assert self.me is not None
                return Ref(self.symbols.model.machine(self.me[0]).sort)
            case t.Given(name):
                assert self.me is not None
                return self.symbols.model.machine(self.me[0]).parameters(self.event)[name]
            case t.Attr(of, name):
                attribute = self.symbols.model.machine(self.sort_of(of)).attribute(name)
                assert attribute is not None
                return attribute.type
            case t.After(part):
                return self.type_of(part)
            case t.Apply(base, _):
                return value_type(self.type_of(base))
            case t.Appended(base) | t.Sliced(base):
                return self.type_of(base)
        raise AssertionError(f"{type(term).__name__} has no declared type")

    def afterwards(self) -> Translator:
        """This translator, reading the state after the step."""
        assert self.after is not None
        return replace(self, view=self.after, after=None)

    def reference(self, term: t.Term, sort: str | None = None) -> Reference:
        """An object-valued term; ``sort`` is the sort of the literal none."""
        true = self.symbols.true()
        match term:
            case t.Var(name):
                value = self.bound[name]
                return value if isinstance(value, Reference) else Reference(true, value)
            case t.Me():
                assert self.me is not None
                return Reference(true, self.me[1])
            case t.Given(name):
                value = self.given[name]
                return value if isinstance(value, Reference) else Reference(true, value)
            case t.Nothing():
                nobody = None if sort is None else self.symbols.constant(f"no {sort}", sort)
                return Reference(self.symbols.false(), nobody)
            case t.Attr(of, name):
                owner = self.reference(of)
                value = self.view.value(self.sort_of(of), name, owner.value)
                assert isinstance(value, Reference)
                return Reference(self.both(owner.defined, value.defined), value.value)
            case t.After(part):
                return self.afterwards().reference(part, sort)
            case t.Apply(base, element):
                if isinstance(self.type_of(base), SequenceType):
                    item: Reference = self.sequence(base).item(self.scalar(element))
                    return item
                arguments = self._objects(element)
                value = self.mapped(base)(*[each.value for each in arguments])
                assert isinstance(value, Reference)
                defined = [each.defined for each in arguments]
                return Reference(self.both(*defined, value.defined), value.value)
        raise AssertionError(f"{type(term).__name__} is no object")

    def members(self, term: t.Term) -> Member:
        """A set-valued term, as a membership function."""
        match term:
            case t.Var(name):
                return self.bound[name]  # type: ignore[no-any-return]
            case t.Given(name):
                return self.given[name]  # type: ignore[no-any-return]
            case t.EmptySet():
                return lambda *element: self.symbols.false()
            case t.Attr(of, name):
                owner = self.reference(of)
                inside = self.view.value(self.sort_of(of), name, owner.value)
                return lambda *element: self.both(owner.defined, inside(*element))
            case t.Those(var, where):
                return lambda element: self.bind([var], [element]).formula(where)
            case t.TuplesOf(several, where):
                return lambda *element: self.bind(several, element).formula(where)
            case t.Adjusted(base, element, present):
                inside, changed = self.members(base), self._objects(element)

                def same(*element: Z) -> Z:
                    equal = [each.value == x for x, each in zip(element, changed, strict=True)]
                    return self.both(*[each.defined for each in changed], *equal)

                if present:
                    return lambda *x: Or(inside(*x), same(*x))
                return lambda *x: And(inside(*x), Not(same(*x)))
            case t.After(part):
                return self.afterwards().members(part)
        raise AssertionError(f"{type(term).__name__} is no set")

    def mapped(self, term: t.Term, kind: Function | None = None) -> Mapped:
        """A function of the model; ``kind`` is the type that a row gives it."""
        match term:
            case t.Attr(of, name):
                inside: Mapped = self.view.value(self.sort_of(of), name, self.reference(of).value)
                return inside
            case t.After(part):
                return self.afterwards().mapped(part, kind)
            case t.Updated(base, element, value):
                assert kind is not None
                unchanged, arguments, new = self.mapped(base, kind), self._objects(element), self._one(value, kind.to)

                def updated(*at: Z) -> Any:
                    equal = [each.value == x for x, each in zip(at, arguments, strict=True)]
                    is_place = self.both(*[each.defined for each in arguments], *equal)
                    return choose(is_place, new, unchanged(*at))

                return updated
            case t.FunctionOf(several, value):
                assert kind is not None
                to = kind.to
                return lambda *at: self.bind(several, at)._one(value, to)
        raise AssertionError(f"{type(term).__name__} is no function")

    def sequence(self, term: t.Term, kind: SequenceType | None = None) -> Items:
        """A sequence; ``kind`` is the type that the context gives it."""
        match term:
            case t.Attr(of, name):
                inside: Items = self.view.value(self.sort_of(of), name, self.reference(of).value)
                return inside
            case t.After(part):
                return self.afterwards().sequence(part, kind)
            case t.EmptySet():
                assert kind is not None
                return Initial(self.symbols).no_items(kind)
            case t.Appended(base, item):
                kind = kind or self._sequence_type(base)
                assert kind is not None
                before, last = self.sequence(base, kind), self._one(item, kind.of)
                return Items(before.length + 1, lambda index: choose(index == before.length, last, before.item(index)))
            case t.Sliced(base, at, first):
                whole, number = self.sequence(base, kind), self.scalar(at)
                start = If(number < 0, self.symbols.expressions.of(0), number)
                if first:
                    return Items(If(start < whole.length, start, whole.length), whole.item)
                rest = whole.length + -1 * start
                length = If(rest < 0, self.symbols.expressions.of(0), rest)
                return Items(length, lambda index: whole.item(index + start))
        raise AssertionError(f"{type(term).__name__} is no sequence")

    def _sequence_type(self, term: t.Term) -> SequenceType | None:
        """The type of a sequence; None of one that is made of the empty one, and of other terms."""
        while isinstance(term, t.Appended | t.Sliced | t.After):
            term = term.part if isinstance(term, t.After) else term.base
        kind = self.type_of(term) if isinstance(term, t.Attr) else None
        return kind if isinstance(kind, SequenceType) else None

    def _has_index(self, sequence: Items, condition: Callable[[Any], Z], *, universal: bool) -> Z:
        """Whether all items of a sequence, or some, fulfil a condition on their index."""
        index = Var("index", Integer(0))

        def body(inner: Translator) -> Z:
            place = inner.bound[index.name]
            inside, holds = place < sequence.length, condition(place)
            return Implies(inside, holds) if universal else And(inside, holds)

        return self.quantified(universal, [index], body)

    def _one(self, term: t.Term, kind: Type) -> Any:
        """One value of a function: an object or none, or a scalar."""
        return self.reference(term, kind.sort.name) if isinstance(kind, Ref) else self.scalar(term, kind)

    def _objects(self, element: t.Term) -> list[Reference]:
        """The objects of an element of a set or a relation."""
        return [self.reference(part) for part in (element.parts if isinstance(element, t.Tuple) else (element,))]

    def scalar(self, term: t.Term, like: Type | None = None) -> Z:
        """A truth value, number or enumeration value; ``like`` is the type of a quoted value."""
        match term:
            case t.Constant(value):
                if isinstance(value, bool | int):
                    return self.symbols.expressions.of(value)
                assert isinstance(like, EnumType)
                return self.symbols.enum(like.values)[value]
            case t.Var(name):
                return self.bound[name]
            case t.Given(name):
                return self.given[name]
            case t.Attr(of, name):
                return self.view.value(self.sort_of(of), name, self.reference(of).value)
            case t.Sum(left, right, sign):
                return self.scalar(left) + sign * self.scalar(right)
            case t.Apply(base, element):
                if isinstance(self.type_of(base), SequenceType):
                    return self.sequence(base).item(self.scalar(element))
                return self.mapped(base)(*[each.value for each in self._objects(element)])
            case t.Length(of):
                return self.sequence(of, self._sequence_type(of)).length
            case t.Count():
                return self._unknown_count(term)
            case t.After(part):
                return self.afterwards().scalar(part, like)
        return self.formula(term)

    def _unknown_count(self, term: t.Count) -> Z:
        """Any number, for each value of the free variables and each object of the row: more than the count may be."""
        known = [self.bound[name] for name in t.free_variables(term)]
        arguments = [
            part for each in known for part in ([each.value, each.defined] if isinstance(each, Reference) else [each])
        ]
        arguments = [*arguments, *([self.me[1]] if self.me is not None else [])]
        return self.symbols.unknown([each for each in arguments if isinstance(each, z3.ExprRef)])

    def formula(self, term: t.Term) -> Z:
        """The formula of a truth-valued term."""
        if isinstance(term, t.Equal | t.Less) and (uncounted := without_counts(term)) is not None:
            return self.formula(uncounted)
        match term:
            case t.Is(of, states):
                who, sort = self.reference(of), self.sort_of(of)
                state, known = self.view.state(sort, who.value), self.symbols.states[sort]
                return self.both(who.defined, Or(*[state == known[s] for s in states]))
            case t.Equal(left, right):
                return self._equal(left, right)
            case t.Less(left, right, or_equal):
                a, b = self.scalar(left), self.scalar(right)
                return a <= b if or_equal else a < b
            case t.Has(base, element) if (kind := self._sequence_type(base)) is not None:
                return self._has_item(base, element, kind)
            case t.Has(base, element):
                objects = self._objects(element)
                inside = self.members(base)(*[each.value for each in objects])
                return self.both(*[each.defined for each in objects], inside)
            case t.Fires(of, event, payload):
                return self._fires(of, event, payload)
            case t.And(parts):
                return self.both(*[self.formula(p) for p in parts])
            case t.Or(parts):
                return Or(*[self.formula(p) for p in parts])
            case t.Not(part):
                return Not(self.formula(part))
            case t.Implies(premise, conclusion):
                return Implies(self.formula(premise), self.formula(conclusion))
            case t.Iff(left, right):
                return self.formula(left) == self.formula(right)
            case t.After(part):
                return self.afterwards().formula(part)
            case t.Quantified():
                simpler = one_point(term)
                if not isinstance(simpler, t.Quantified):
                    return self.formula(simpler)
                body = simpler.body
                return self.quantified(simpler.universal, simpler.variables, lambda inner: inner.formula(body))
        return self.scalar(term)

    def quantified(self, universal: bool, variables: Sequence[Var], body: Callable[[Translator], Z]) -> Z:
        """A quantified formula; ``body`` gets a translator with the variables bound.

        The name of each symbol contains the number of enclosing quantifiers.
        Macros of the step put terms of one formula under quantifiers of another; these must not bind them.
        """
        values, symbols, ranges = self.constants(variables, f"~{self.symbols.open_quantifiers}")
        self.symbols.open_quantifiers += 1
        inner = body(self.bind(variables, values))
        self.symbols.open_quantifiers -= 1
        if not symbols:
            return inner
        if universal:
            return ForAll(symbols, Implies(And(*ranges), inner) if ranges else inner)
        return Exists(symbols, And(*ranges, inner))

    def _has_item(self, base: t.Term, element: t.Term, kind: SequenceType) -> Z:
        """Whether a sequence has an item; none is no item."""
        value, sequence = self._one(element, kind.of), self.sequence(base, kind)
        known = value.defined if isinstance(value, Reference) else self.symbols.true()
        same = partial(_same_value, value)
        return self.both(known, self._has_index(sequence, lambda i: same(sequence.item(i)), universal=False))

    def _equal(self, left: t.Term, right: t.Term) -> Z:
        if (sequence := self._sequence_type(left) or self._sequence_type(right)) is not None:
            one, other = self.sequence(left, sequence), self.sequence(right, sequence)
            same = self._has_index(one, lambda i: _same_value(one.item(i), other.item(i)), universal=True)
            return And(one.length == other.length, same)
        if any(isinstance(side, t.Nothing) for side in (left, right)):
            return Not(self.reference(right if isinstance(left, t.Nothing) else left).defined)
        typed = next((s for s in (left, right) if isinstance(_inside_after(s), _WITH_TYPE)), None)
        kind = self.type_of(typed) if typed is not None else None
        if not isinstance(kind, Ref):
            return self.scalar(left, kind) == self.scalar(right, kind)
        a, b = self.reference(left), self.reference(right)
        same = self.both(a.defined, b.defined, a.value == b.value)
        if is_true(a.defined) or is_true(b.defined):
            return same
        return Or(same, And(Not(a.defined), Not(b.defined)))

    def _fires(self, of: t.Term, event: str, payload: Sequence[tuple[str, t.Term]]) -> Z:
        assert self.fires is not None
        assert self.payload is not None
        who, sort = self.reference(of), self.sort_of(of)
        kinds = self.symbols.model.machine(sort).parameters(event)
        parts = [who.defined, self.fires(sort, event, who.value)]
        for name, expected in payload:
            actual = self.payload(sort, event, name, who.value)
            value = self.reference(expected) if isinstance(actual, Reference) else self.scalar(expected, kinds[name])
            parts.append(same_reference(actual, value) if isinstance(actual, Reference) else actual == value)
        return self.both(*parts)

    def defined(self, term: t.Term) -> Z:
        """The formula that evaluating ``term``, left to right, reads no attribute of NONE."""
        true = self.symbols.true()
        if not self._through_references(term):
            return true
        match term:
            case t.Attr(of):
                return self.both(self.defined(of), self.reference(of).defined)
            case t.Is(of):
                return self.both(self.defined(of), self.reference(of).defined)
            case t.Apply(base, element) if isinstance(self.type_of(base), SequenceType):
                index, length = self.scalar(element), self.sequence(base).length
                has_item = And(index >= 0, index < length)
                return self.both(self.defined(element), self.defined(base), has_item)
            case t.Apply(base, element):
                arguments = [each.defined for each in self._objects(element)]
                return self.both(self.defined(element), self.defined(base), *arguments)
            case t.FunctionOf(several, value):
                return self.quantified(True, several, lambda inner: inner.defined(value))
            case t.And(parts):
                return self.chain(parts)
            case t.Or(parts):
                result = true
                for part in reversed(parts):
                    result = self.both(self.defined(part), Or(self.formula(part), result))
                return result
            case t.Implies(premise, conclusion):
                rest = Implies(self.formula(premise), self.defined(conclusion))
                return self.both(self.defined(premise), rest)
            case t.Quantified(_, variables, body):
                return self.quantified(True, variables, lambda inner: inner.defined(body))
            case t.Those(var, where):
                return self.quantified(True, [var], lambda inner: inner.defined(where))
            case t.TuplesOf(several, where) | t.Count(several, where):
                return self.quantified(True, several, lambda inner: inner.defined(where))
            case t.After(part):
                return self.afterwards().defined(part)
        return self.both(*[self.defined(child) for child in t.children(term)])

    def _through_references(self, term: t.Term) -> bool:
        """Whether ``term`` reads a field of an object that might be none."""
        match term:
            case t.Attr(of) | t.Is(of) | t.Fires(of) | t.Adjusted(_, of):
                some = isinstance(of, t.Var) and not isinstance(self.bound.get(of.name), Reference)
                if not some and not isinstance(of, t.Me):
                    return True
            case t.Apply(base, element) if isinstance(self.type_of(base), SequenceType) or not self._are_objects(
                element
            ):
                return True
        return any(self._through_references(child) for child in t.children(term))

    def _are_objects(self, element: t.Term) -> bool:
        """Whether the arguments of a function surely are objects."""
        parts = element.parts if isinstance(element, t.Tuple) else (element,)
        return all(
            isinstance(part, t.Me) or (isinstance(part, t.Var) and not isinstance(self.bound.get(part.name), Reference))
            for part in parts
        )

    def chain(self, parts: Sequence[t.Term], last: Z | None = None) -> Z:
        """The formula that ``parts``, then ``last``, are defined in order, each assuming the earlier ones."""
        result = self.symbols.true() if last is None else last
        for part in reversed(parts):
            result = self.both(self.defined(part), Implies(self.formula(part), result))
        return result


def in_range(kind: Type, value: Z) -> list[Z]:
    """The formulas that keep a number within its type; an ``Int``, or a value that is not a number, has none."""
    match kind:
        case IntRange(low, high):
            return [And(value >= low, value <= high)]
        case Integer(int(low)):
            return [value >= low]
    return []


_WITH_TYPE = t.Var | t.Attr | t.Me | t.Given | t.Apply


def _inside_after(term: t.Term) -> t.Term:
    """What ``after(...)`` is about; another term is itself."""
    while isinstance(term, t.After):
        term = term.part
    return term


def _same_value(one: Any, other: Any) -> Z:
    """The formula that two items are the same."""
    return same_reference(one, other) if isinstance(one, Reference) else one == other


def same_reference(one: Reference, other: Reference) -> Z:
    """The formula that both are none, or both are the same object."""
    if one.value is None or other.value is None:
        return And(Not(one.defined), Not(other.defined))
    return And(one.defined == other.defined, Implies(one.defined, one.value == other.value))
