"""Compiles terms to Python closures over packed states: the interpreted meaning of the language."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import prod
from typing import Any

from schedproof.model.lang import terms as t
from schedproof.model.lang.errors import Place
from schedproof.model.lang.infer import value_type
from schedproof.model.lang.types import EnumType, Function, Integer, Ref, Type
from schedproof.model.lang.types import Sequence as SequenceType

from . import tuples
from .functions import Packing
from .instance import NO_OBJECT, Instance, State
from .search import Search, plan

Firings = dict[tuple[str, str], dict[int, dict[str, int]]]
"""The firings of a step: (sort, event) -> object number -> payload."""


class Undefined(Exception):
    """A term read an attribute of NONE: the model is not well-formed there."""


@dataclass(slots=True)
class Moment:
    """The values that a term can read: the state, the variables, and in a step the firings and the state after."""

    state: State
    bound: dict[str, int] = field(default_factory=dict)
    fired: Firings = field(default_factory=dict)
    after: State = ()


Eval = Callable[[Moment], int]


@dataclass(frozen=True)
class Owner:
    """The row that a term stands in: it gives ``me`` and ``given(...)`` their meaning."""

    sort: str = ""
    event: str = ""


NOBODY = Owner()
"""Outside a row."""


def compile_term(instance: Instance, term: t.Term, bound: Mapping[str, t.Var], me: Owner = NOBODY) -> Eval:
    """``term`` as a function of a moment.

    The function reads conjunctions, disjunctions and implications left to right and stops as soon as they are decided.
    It raises Undefined where the term reads an attribute of NONE.

    Args:
        bound: the variables in scope.
        me: the row that the term stands in.
    """

    def go(part: t.Term) -> Eval:
        return compile_term(instance, part, bound, me)

    match term:
        case t.Var(name):
            return lambda m: m.bound[name]
        case t.Is(of, states):
            sort = sort_of_term(instance, of, bound, me)
            names = [s.name for s in instance.model.machine(sort).states]
            accepted = frozenset(names.index(s) for s in states)
            return _read(go(of), of, term.place, "the state of NONE is read", instance.slot(sort), accepted)
        case t.Attr(of, name):
            return _attribute(instance, of, name, bound, me)
        case t.Equal(left, right):
            a = compile_value(instance, left, type_of_term(instance, right, bound, me), bound, me)
            b = compile_value(instance, right, type_of_term(instance, left, bound, me), bound, me)
            return lambda m: a(m) == b(m)
        case t.And(parts):
            return _joined([go(p) for p in parts], False)
        case t.Not(part):
            inner = go(part)
            return lambda m: not inner(m)
        case t.Or(parts):
            return _joined([go(p) for p in parts], True)
        case t.Constant(value):
            if isinstance(value, str):
                raise AssertionError("a quoted value is compiled by the comparison around it")
            number = int(value)
            return lambda m: number
        case t.Quantified(universal, variables, body):
            return _quantified(instance, universal, variables, body, bound, me)
        case t.Fires(of, event, payload):
            return _fires(instance, of, event, payload, bound, me)
        case t.Me():
            return lambda m: m.bound["me"]
        case t.Given(name):
            key = f"given {name}"
            return lambda m: m.bound[key]
        case t.Nothing():
            return lambda m: NO_OBJECT
        case t.EmptySet():
            return lambda m: 0
        case t.Less(left, right, or_equal):
            a, b = go(left), go(right)
            return (lambda m: a(m) <= b(m)) if or_equal else (lambda m: a(m) < b(m))
        case t.Sum(left, right, sign):
            a, b = go(left), go(right)
            return lambda m: a(m) + sign * b(m)
        case t.Has(base, element):
            if isinstance(kind := type_of_term(instance, base, bound, me), SequenceType):
                return _has_item(instance, kind, go(base), compile_value(instance, element, kind.of, bound, me))
            a, b = go(base), go(element)

            def has(m: Moment) -> int:
                number = b(m)
                return number >= 0 and a(m) >> number & 1

            return has
        case t.Adjusted(base, element, present):
            a, b = go(base), go(element)

            def adjusted(m: Moment) -> int:
                mask, number = a(m), b(m)
                if number < 0:
                    return mask
                return mask | 1 << number if present else mask & ~(1 << number)

            return adjusted
        case t.Those(var, where):
            inner = compile_term(instance, where, {**bound, var.name: var}, me)
            assert isinstance(var.type, Ref)
            size, name = instance.sizes[var.type.sort.name], var.name

            def those(m: Moment) -> int:
                outer, mask = m.bound.get(name), 0
                for i in range(size):
                    m.bound[name] = i
                    if inner(m):
                        mask |= 1 << i
                _restore(m, name, outer)
                return mask

            return those
        case t.Tuple(parts):
            return _tuple(
                [go(part) for part in parts],
                [instance.sizes[sort_of_term(instance, part, bound, me)] for part in parts],
            )
        case t.TuplesOf(several, where):
            return _tuples_of(instance, several, where, bound, me)
        case t.Apply(base, element):
            kind = type_of_term(instance, base, bound, me)
            if isinstance(kind, SequenceType):
                return _item(instance, kind, term, go(base), go(element))
            return _applied(instance, term, go(base), go(element), bound, me)
        case t.Length(of):
            kind = type_of_term(instance, of, bound, me)
            assert isinstance(kind, SequenceType)
            length, inner = instance.items(kind).length, go(of)
            return lambda m: length(inner(m))
        case t.Appended() | t.Sliced():
            kind = type_of_term(instance, term, bound, me)
            assert isinstance(kind, SequenceType)
            return _sequence(instance, term, kind, bound, me)
        case t.Count(several, where):
            return _count(instance, several, where, bound, me)
        case t.Implies(premise, conclusion):
            a, b = go(premise), go(conclusion)
            return lambda m: not a(m) or b(m)
        case t.Iff(left, right):
            a, b = go(left), go(right)
            return lambda m: bool(a(m)) == bool(b(m))
        case t.After(part):
            inner = go(part)
            return lambda m: inner(Moment(m.after, m.bound, m.fired))
    raise AssertionError(f"no meaning for {type(term).__name__}")


def _tuple(parts: Sequence[Eval], dimensions: Sequence[int]) -> Eval:
    """The number of a tuple of objects; ``NO_OBJECT`` if one of them is none."""
    pairs = tuple(zip(parts, dimensions, strict=True))

    def number(m: Moment) -> int:
        result, some = 0, True
        for part, size in pairs:
            each = part(m)
            some = some and each >= 0
            result = result * size + each
        return result if some else NO_OBJECT

    return number


def _applied(
    instance: Instance, term: t.Apply, function: Eval, element: Eval, bound: Mapping[str, t.Var], me: Owner
) -> Eval:
    kind = type_of_term(instance, term.base, bound, me)
    assert isinstance(kind, Function)
    packing = instance.packing(kind)

    def value(m: Moment) -> int:
        if (place := element(m)) < 0:
            raise Undefined(f"{term.place}: a function is read at NONE")
        return packing.at(function(m), place)

    return value


def _item(instance: Instance, kind: SequenceType, term: t.Apply, sequence: Eval, index: Eval) -> Eval:
    items = instance.items(kind)

    def item(m: Moment) -> int:
        if (value := items.at(sequence(m), place := index(m))) is None:
            raise Undefined(f"{term.place}: a sequence is read at {place}, where it has no item")
        return value

    return item


def _has_item(instance: Instance, kind: SequenceType, sequence: Eval, value: Eval) -> Eval:
    """Whether a sequence has an item; none is no item."""
    items, is_reference = instance.items(kind), isinstance(kind.of, Ref)

    def has_item(m: Moment) -> int:
        item = value(m)
        return not (is_reference and item < 0) and items.has(sequence(m), item)

    return has_item


def _sequence(instance: Instance, term: t.Term, kind: SequenceType, bound: Mapping[str, t.Var], me: Owner) -> Eval:
    """A sequence at a position of type ``kind``."""
    items = instance.items(kind)
    match term:
        case t.Appended(base, item):
            before = _sequence(instance, base, kind, bound, me)
            value = compile_value(instance, item, kind.of, bound, me)
            return lambda m: items.appended(before(m), value(m))
        case t.Sliced(base, at, first):
            whole, number = _sequence(instance, base, kind, bound, me), compile_term(instance, at, bound, me)
            return lambda m: items.sliced(whole(m), number(m), first=first)
    return compile_term(instance, term, bound, me)


def _function(instance: Instance, term: t.Term, kind: Function, bound: Mapping[str, t.Var], me: Owner) -> Eval:
    """A function that a row gives to an attribute."""
    match term:
        case t.Updated(base, element, value):
            return _updated(
                instance.packing(kind),
                _function(instance, base, kind, bound, me),
                compile_term(instance, element, bound, me),
                compile_value(instance, value, kind.to, bound, me),
            )
        case t.FunctionOf(several, value):
            scope = {**bound, **{v.name: v for v in several}}
            names, of_values = [v.name for v in several], compile_value(instance, value, kind.to, scope, me)
            return _function_of(instance.packing(kind), names, of_values)
    return compile_term(instance, term, bound, me)


def _updated(packing: Packing, base: Eval, element: Eval, value: Eval) -> Eval:
    def updated(m: Moment) -> int:
        number, place, new = base(m), element(m), value(m)
        return number if place < 0 else packing.put(number, place, new)

    return updated


def _function_of(packing: Packing, names: Sequence[str], value: Eval) -> Eval:
    """The function that has a value at each tuple of variables."""
    places = packing.places()

    def function(m: Moment) -> int:
        outer = [(name, m.bound.get(name)) for name in names]
        values = []
        for objects in places:
            m.bound.update(zip(names, objects, strict=True))
            values.append(value(m))
        for name, before in outer:
            _restore(m, name, before)
        return packing.of(values)

    return function


def _tuples_of(
    instance: Instance, several: tuple[t.Var, ...], where: t.Term, bound: Mapping[str, t.Var], me: Owner
) -> Eval:
    """The mask of the tuples of ``several`` for which ``where`` is true."""
    plan = search(instance, bound, several, [where], me)
    names = [v.name for v in several]
    dimensions = [len(instance.domain(v.type)) for v in several]

    def mask(m: Moment) -> int:
        result = 0
        for _ in _solutions(plan, names, m):
            result |= 1 << tuples.number([m.bound[name] for name in names], dimensions)
        return result

    return mask


def _count(
    instance: Instance, several: tuple[t.Var, ...], where: t.Term, bound: Mapping[str, t.Var], me: Owner
) -> Eval:
    """How many values of ``several`` make ``where`` true."""
    plan = search(instance, bound, several, [where], me)
    names = [v.name for v in several]

    return lambda m: sum(1 for _ in _solutions(plan, names, m))


def _solutions(plan: Search[Moment], names: Sequence[str], m: Moment) -> Iterator[None]:
    """One item for each solution; at the end ``names`` have their outer values again."""
    outer = [(name, m.bound.get(name)) for name in names]
    yield from plan.solutions(m)
    for name, value in outer:
        _restore(m, name, value)


def _joined(functions: Sequence[Eval], decisive: bool) -> Eval:
    """A disjunction if truth is ``decisive``, else a conjunction; it stops at the first part that decides it."""
    if len(functions) == 2:
        a, b = functions
        return (lambda m: a(m) or b(m)) if decisive else (lambda m: a(m) and b(m))

    def some(m: Moment) -> int:
        for function in functions:  # noqa: SIM110 - a generator costs more
            if function(m):
                return True
        return False

    def every(m: Moment) -> int:
        for function in functions:  # noqa: SIM110
            if not function(m):
                return False
        return True

    return some if decisive else every


def _read(who: Eval, of: t.Term, place: Place, what: str, slot: int, accepted: frozenset[int] | None = None) -> Eval:
    """A function that reads the value at ``slot`` of the object ``of``, or whether it is one of ``accepted``.

    Models read nearly all values this way, and mostly of a variable. So the variable's value is looked up inline,
    without a call.

    Args:
        who: ``of`` as a function.
        place, what: for the error if there is no such object.
    """
    if isinstance(of, t.Var):
        name = of.name
        if accepted is None:

            def read_variable(m: Moment) -> int:
                if (number := m.bound[name]) < 0:
                    raise Undefined(f"{place}: {what}")
                return m.state[slot + number]

            return read_variable

        if len(accepted) == 1:
            [only] = accepted

            def is_variable(m: Moment) -> int:
                if (number := m.bound[name]) < 0:
                    raise Undefined(f"{place}: {what}")
                return m.state[slot + number] == only

            return is_variable

        def is_one_of_variable(m: Moment) -> int:
            if (number := m.bound[name]) < 0:
                raise Undefined(f"{place}: {what}")
            return m.state[slot + number] in accepted

        return is_one_of_variable

    def read(m: Moment) -> int:
        if (number := who(m)) < 0:
            raise Undefined(f"{place}: {what}")
        return m.state[slot + number]

    return read if accepted is None else lambda m: read(m) in accepted


def compile_value(
    instance: Instance, term: t.Term, kind: Type | None, bound: Mapping[str, t.Var], me: Owner = NOBODY
) -> Eval:
    """``term`` at a position of type ``kind``: a quoted value is one of that enumeration."""
    if isinstance(term, t.Constant) and isinstance(term.value, str):
        assert isinstance(kind, EnumType)
        number = kind.values.index(term.value)
        return lambda m: number
    if isinstance(kind, Function):
        return _function(instance, term, kind, bound, me)
    if isinstance(kind, SequenceType):
        return _sequence(instance, term, kind, bound, me)
    return compile_term(instance, term, bound, me)


def type_of_term(instance: Instance, term: t.Term, bound: Mapping[str, t.Var], me: Owner) -> Type | None:
    """The declared type of a variable, ``me``, a parameter or an attribute, also after a step; None for other terms.

    A part of a sequence, or one with more items, is of the type of the sequence.
    """
    model = instance.model
    match term:
        case t.Var(name):
            return bound.get(name, term).type
        case t.Me():
            return Ref(model.machine(me.sort).sort)
        case t.Given(name):
            return model.machine(me.sort).parameters(me.event)[name]
        case t.Attr(of, name):
            attribute = model.machine(sort_of_term(instance, of, bound, me)).attribute(name)
            assert attribute is not None
            return attribute.type
        case t.After(part):
            return type_of_term(instance, part, bound, me)
        case t.Apply(base, _):
            return value_type(type_of_term(instance, base, bound, me))
        case t.Appended(base) | t.Sliced(base):
            return type_of_term(instance, base, bound, me)
    return None


def sort_of_term(instance: Instance, term: t.Term, bound: Mapping[str, t.Var], me: Owner) -> str:
    kind = type_of_term(instance, term, bound, me)
    assert isinstance(kind, Ref)
    return kind.sort.name


def _attribute(instance: Instance, of: t.Term, name: str, bound: Mapping[str, t.Var], me: Owner) -> Eval:
    sort = sort_of_term(instance, of, bound, me)
    attribute = instance.model.machine(sort).attribute(name)
    assert attribute is not None
    who, what = compile_term(instance, of, bound, me), f"attribute {sort}.{name} of NONE is read"
    if not attribute.rigid or instance.rigid_in_state:
        return _read(who, of, of.place, what, instance.slot(sort, name))
    values = instance.rigid_values(sort, attribute)
    if isinstance(of, t.Var):
        variable = of.name

        def rigid_of_variable(m: Moment) -> int:
            if (number := m.bound[variable]) < 0:
                raise Undefined(f"{of.place}: {what}")
            return values[number]

        return rigid_of_variable

    def rigid(m: Moment) -> int:
        if (number := who(m)) < 0:
            raise Undefined(f"{of.place}: {what}")
        return values[number]

    return rigid


def _fires(
    instance: Instance,
    of: t.Term,
    event: str,
    payload: tuple[tuple[str, t.Term], ...],
    bound: Mapping[str, t.Var],
    me: Owner,
) -> Eval:
    who, key = compile_term(instance, of, bound, me), (sort_of_term(instance, of, bound, me), event)
    kinds = instance.model.machine(key[0]).parameters(event)
    expected = [(name, compile_value(instance, value, kinds[name], bound, me)) for name, value in payload]

    def fires(m: Moment) -> int:
        firings_by_object = m.fired.get(key)
        if not firings_by_object:
            return False
        firing = firings_by_object.get(who(m))
        return firing is not None and all(firing[name] == value(m) for name, value in expected)

    return fires


def _quantified(
    instance: Instance,
    universal: bool,
    variables: tuple[t.Var, ...],
    body: t.Term,
    bound: Mapping[str, t.Var],
    me: Owner,
) -> Eval:
    # "all x with A have B" is "no x has A and not B"
    if not universal:
        conditions = [body]
    elif isinstance(body, t.Implies):
        conditions = [body.premise, t.Not(body.conclusion, place=body.place)]
    else:
        conditions = [t.Not(body, place=body.place)]
    plan = search(instance, bound, variables, conditions, me)
    names = [v.name for v in variables]
    if len(names) == 1:
        [name] = names

        def decide_one(m: Moment) -> int:
            outer = m.bound.get(name)  # a binder may reuse a name
            some = plan.succeeds(m)
            _restore(m, name, outer)
            return some != universal

        return decide_one

    def decide(m: Moment) -> int:
        outer = [(name, m.bound.get(name)) for name in names]
        some = plan.succeeds(m)
        for name, value in outer:
            _restore(m, name, value)
        return some != universal

    return decide


def reads(instance: Instance, term: t.Term, me: Owner = NOBODY) -> Iterator[tuple[str, str]]:
    """What a term may read of a state: (sort, attribute) pairs; attribute "" is the machine's state."""
    for part in t.subterms(term):
        if isinstance(part, t.Is):
            yield sort_of_term(instance, part.of, {}, me), ""
        if isinstance(part, t.Attr):
            sort = sort_of_term(instance, part.of, {}, me)
            attribute = instance.model.machine(sort).attribute(part.name)
            if attribute is not None and (not attribute.rigid or instance.rigid_in_state):
                yield sort, part.name


def search(
    instance: Instance,
    known: Mapping[str, t.Var],
    choose: Sequence[t.Var],
    conditions: Sequence[t.Term],
    me: Owner = NOBODY,
) -> Search[Moment]:
    """The search for objects ``choose`` that satisfy ``conditions``, given the ``known`` variables."""
    scope = {**known, **{v.name: v for v in choose}}
    parts = [part for condition in conditions for part in t.conjuncts(condition)]
    return plan(
        [(v.name, NATURALS if isinstance(v.type, Integer) else instance.domain(v.type)) for v in choose],
        [(compile_term(instance, part, scope, me), frozenset(t.free_variables(part))) for part in parts],
        [dict(_values(instance, part, scope, me)) for part in parts],
        {n for n, part in enumerate(parts) if is_total(part)},
    )


def is_total(term: t.Term) -> bool:
    """True if a condition is never undefined, because it reads attributes of variables only."""
    cached: bool | None = vars(term).get("_total")
    if cached is None:
        cached = _is_total(term)
        object.__setattr__(term, "_total", cached)  # terms are immutable, and each configuration calls this
    return cached


def _is_total(term: t.Term) -> bool:
    if isinstance(term, t.Attr | t.Is) and not isinstance(term.of, t.Var):
        return False
    if isinstance(term, t.Apply) and not t.are_variables(term.element):
        return False
    known = isinstance(
        term,
        t.Attr
        | t.Is
        | t.Var
        | t.Constant
        | t.Nothing
        | t.Equal
        | t.Has
        | t.Tuple
        | t.Apply
        | t.Length
        | t.And
        | t.Or
        | t.Not
        | t.After,
    )
    return known and all(is_total(child) for child in t.children(term))


def _is_rigid(instance: Instance, term: t.Term, scope: Mapping[str, t.Var], me: Owner) -> bool:
    """True if a total condition is the same in all states."""
    if isinstance(term, t.Is) or (isinstance(term, t.Attr) and instance.rigid_in_state):
        return False
    if isinstance(term, t.Attr):
        attribute = instance.model.machine(sort_of_term(instance, term.of, scope, me)).attribute(term.name)
        return attribute is not None and attribute.rigid
    return all(_is_rigid(instance, child, scope, me) for child in t.children(term))


def _values(
    instance: Instance, part: t.Term, scope: Mapping[str, t.Var], me: Owner
) -> Iterator[tuple[str, Callable[[Moment], Iterable[int]]]]:
    """The variables whose values the condition determines, each with a function that computes the values."""
    free = list(t.free_variables(part))
    if (
        len(free) == 1
        and not isinstance(scope[free[0]].type, Integer)
        and is_total(part)
        and _is_rigid(instance, part, scope, me)
    ):
        holds, domain = compile_term(instance, part, scope, me), instance.domain(scope[free[0]].type)
        always = tuple(value for value in domain if holds(Moment((), {free[0]: value})))
        yield free[0], lambda m: always
        return
    match part:
        case t.Has(base) if isinstance(type_of_term(instance, base, scope, me), SequenceType):
            return
        case t.Has(base, t.Var(name)) if name not in t.free_variables(base):
            members = compile_term(instance, base, scope, me)
            yield name, lambda m: _numbers(members(m))
        case t.Has(base, t.Tuple(parts)):
            for place, one in enumerate(parts):
                others = [base, *parts[:place], *parts[place + 1 :]]
                if isinstance(one, t.Var) and not any(one.name in t.free_variables(other) for other in others):
                    yield one.name, _completing(instance, base, parts, place, scope, me)
        case t.Less(t.Var(name), right, or_equal) if isinstance(
            scope[name].type, Integer
        ) and name not in t.free_variables(right):
            yield name, _below(compile_term(instance, right, scope, me), or_equal)
        case t.Equal(left, right):
            for one, other in ((left, right), (right, left)):
                if isinstance(one, t.Var) and isinstance(one.type, Ref) and one.name not in t.free_variables(other):
                    yield one.name, _the_one(compile_term(instance, other, scope, me))
        case t.Fires(t.Var(name), event, payload) if not payload:
            key = sort_of_term(instance, part.of, scope, me), event
            yield name, lambda m: sorted(m.fired.get(key, ()))


class _Naturals(Sequence[int]):
    """The domain of a variable of type ``Nat``. Only its limit says which values to try: see ``terms.limit_of``."""

    def __len__(self) -> int:
        return 1

    def __getitem__(self, index: Any) -> Any:
        raise AssertionError("a variable of type Nat has no limit")


NATURALS = _Naturals()


def _below(limit: Eval, or_equal: bool) -> Callable[[Moment], Iterable[int]]:
    more = int(or_equal)
    return lambda m: range(limit(m) + more)


def _completing(
    instance: Instance, base: t.Term, parts: Sequence[t.Term], place: int, scope: Mapping[str, t.Var], me: Owner
) -> Callable[[Moment], Iterable[int]]:
    """The objects that at one place of a tuple make it one of a relation, given those at the other places."""
    sizes = [instance.sizes[sort_of_term(instance, part, scope, me)] for part in parts]
    weights = [prod(sizes[n + 1 :]) for n in range(len(sizes))]
    members = compile_term(instance, base, scope, me)
    others = [(compile_term(instance, part, scope, me), weights[n]) for n, part in enumerate(parts) if n != place]
    bits = [(number, number * weights[place]) for number in range(sizes[place])]

    def values(m: Moment) -> Iterable[int]:
        numbers = [(other(m), weight) for other, weight in others]
        if any(number < 0 for number, _ in numbers):
            return ()
        mask = members(m) >> sum(number * weight for number, weight in numbers)
        return [number for number, bit in bits if mask >> bit & 1]

    return values


def _the_one(value: Eval) -> Callable[[Moment], Iterable[int]]:
    def values(m: Moment) -> Iterable[int]:
        number = value(m)
        return (number,) if number >= 0 else ()

    return values


@lru_cache(1 << 16)
def _numbers(mask: int) -> tuple[int, ...]:
    return tuple(n for n in range(mask.bit_length()) if mask >> n & 1)


def _restore(m: Moment, name: str, outer: int | None) -> None:
    """Restores the value of ``name`` outside the binder, or unbinds it."""
    if outer is None:
        m.bound.pop(name, None)
    else:
        m.bound[name] = outer
