"""Mutants of a model in which one word is another one: a state, an event, a receiver, a quantifier, an attribute, a bound.

Each operator is a function with its own kind, the key of ``ON_TERMS``; ``targets`` and ``updates`` change rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count

from schedproof.model.lang import EMPTY, NONE, Action, BoolType, EnumType, Model, Ref, Row, SetOf, Term, Var, me
from schedproof.model.lang import terms as t
from schedproof.model.lang.digest import Digester
from schedproof.model.lang.rules import Rule
from schedproof.model.lang.triggers import caused
from schedproof.model.lang.types import IntRange, Type
from schedproof.model.lang.wording import show_term
from tests.support.mutants import Mutant

CONDITION, EFFECT, UPDATE = "condition", "effect", "update"
Words = tuple[Term, str]
"""Another term, and what was exchanged for what."""


@dataclass(frozen=True)
class Site:
    """One term of a model.

    Args:
        name: where it stands.
        role: a condition (of a rule, or a guard's conjunct), an effect (a firing), or an update of a row.
        known: the variables in scope; in a row, ``me`` and the event's parameters.
        types: their types.
        on: the action or the firing on which the term is read; of an update, none.
        others: the conditions that hold whenever the term counts.
        put: makes the model with another term here.
    """

    model: Model
    name: str
    role: str
    term: Term
    known: Sequence[Term]
    types: Mapping[str, Type]
    on: Action | t.Fires | None
    others: Sequence[Term]
    put: Callable[[Term], Model]

    def type_of(self, term: Term) -> Type | None:
        """The type of a variable, a parameter, ``me`` or an attribute; None of any other term."""
        match term:
            case t.Var():
                return term.type
            case t.Me():
                return self.types["me"]
            case t.Given(name):
                return self.types[name]
            case t.Attr(of, name):
                owner = self.type_of(of)
                attribute = self.model.machine(owner.sort).attribute(name) if isinstance(owner, Ref) else None
                return None if attribute is None else attribute.type
            case _:
                return None

    def terms_of(self, kind: Type) -> Iterator[Term]:
        """What is in scope of the type ``kind``: variables, and attributes of variables, that rules may read."""
        for known in self.known:
            if self.type_of(known) == kind:
                yield known
        for known in self.known:
            owner = self.type_of(known)
            if isinstance(owner, Ref):
                attributes = self.model.machine(owner.sort).attributes
                yield from (t.Attr(known, a.name) for a in attributes if a.type == kind and not a.history)


@dataclass(frozen=True)
class Exchange(Mutant):
    """A mutant with ``term`` at a site."""

    site: Site
    term: Term


@dataclass(frozen=True)
class RowExchange(Mutant):
    """A mutant in which ``row`` is ``other``: it can differ from the model only where the row is taken."""

    model: Model
    row: Row
    other: Row


def sites(model: Model) -> Iterator[Site]:
    """Every guard conjunct, condition, firing and update of ``model``."""
    for action in model.actions:
        yield from _sites_of_action(model, action)
    for rule in model.rules:
        yield from _sites_of_rule(model, rule)
    for row in model.rows:
        yield from _sites_of_row(model, row)


def _sites_of_action(model: Model, action: Action) -> Iterator[Site]:
    def put(other: Action) -> Model:
        return replace(model, actions=[other if a is action else a for a in model.actions])

    def put_conjunct(n: int, term: Term) -> Model:
        return put(replace(action, when=_with(action.when, n, term)))

    def put_firing(n: int, term: Term) -> Model:
        assert isinstance(term, t.Fires)
        return put(replace(action, fires=[*action.fires[:n], term, *action.fires[n + 1 :]]))

    def site(name: str, role: str, term: Term, others: Sequence[Term], put: Callable[[Term], Model]) -> Site:
        return Site(model, f"action {action.name}, {name}", role, term, action.parameters, {}, action, others, put)

    for n, conjunct in enumerate(action.when):
        others = _without(action.when, n)
        yield site(f"conjunct {n + 1}", CONDITION, conjunct, others, partial(put_conjunct, n))
    for n, firing in enumerate(action.fires):
        yield site(f"firing {n + 1}", EFFECT, firing, action.when, partial(put_firing, n))


def _sites_of_rule(model: Model, rule: Rule) -> Iterator[Site]:
    def put(other: Rule) -> Model:
        return replace(model, rules=[other if r is rule else r for r in model.rules])

    def put_condition(n: int, term: Term) -> Model:
        return put(replace(rule, when=_with(rule.when, n, term)))

    def put_firing(term: Term) -> Model:
        assert isinstance(term, t.Fires)
        return put(replace(rule, fires=term))

    of_action = rule.on.parameters if isinstance(rule.on, Action) else t.free_variables(rule.on).values()
    free = {v.name: v for v in of_action}
    for part in (*rule.when, rule.fires):
        free |= t.free_variables(part)

    def site(name: str, role: str, term: Term, others: Sequence[Term], put: Callable[[Term], Model]) -> Site:
        return Site(model, f"rule {rule.name}, {name}", role, term, list(free.values()), {}, rule.on, others, put)

    for n, condition in enumerate(rule.when):
        others = _without(rule.when, n)
        yield site(f"condition {n + 1}", CONDITION, condition, others, partial(put_condition, n))
    yield site("firing", EFFECT, rule.fires, rule.when, put_firing)


def _sites_of_row(model: Model, row: Row) -> Iterator[Site]:
    def put(name: str, term: Term) -> Model:
        return _with_row(model, row, sets={**dict(row.sets), name: term})

    parameters = model.machine(row.sort).parameters(row.event)
    types = {"me": Ref(row.sort), **parameters}
    known = [me, *map(t.given, parameters)]
    payload = {name: t.given(name) for name, kind in parameters.items() if not isinstance(kind, SetOf)}
    holds = [me.fires(row.event, **payload), me.is_(row.source)]
    for name, value in row.sets:
        yield Site(model, f"row {row.name}, {name}", UPDATE, value, known, types, None, holds, partial(put, name))


def _with(terms: Sequence[Term], n: int, term: Term) -> list[Term]:
    return [*terms[:n], term, *terms[n + 1 :]]


def _without(terms: Sequence[Term], n: int) -> list[Term]:
    return [*terms[:n], *terms[n + 1 :]]


def _with_row(model: Model, row: Row, *, target: str = "", sets: Mapping[str, Term] | None = None) -> Model:
    other = _other_row(row, target=target, sets=sets)
    return replace(model, rows=[other if r is row else r for r in model.rows])


def _other_row(row: Row, *, target: str = "", sets: Mapping[str, Term] | None = None) -> Row:
    sets = dict(row.sets) if sets is None else sets
    return Row(row.sort, row.event, row.source, target or row.target, line=row.line, fact=row.fact, **sets)


# --- Operators on terms: other terms for a term -----------------------------------------------------------------------


def receivers(site: Site, term: Term) -> Iterator[Words]:
    """The firing of an action or a rule, sent to another object of the same sort."""
    if site.role == EFFECT and isinstance(term, t.Fires) and (kind := site.type_of(term.of)) is not None:
        for other in site.terms_of(kind):
            yield replace(term, of=other), _for(other, term.of)


def values(site: Site, term: Term) -> Iterator[Words]:
    """The value of a payload, or of an update, by another one of its type."""
    if site.role == EFFECT and isinstance(term, t.Fires):
        machine = site.model.machine(_sort(site, term.of))
        for n, (name, value) in enumerate(term.payload):
            for other in _others(site, machine.parameters(term.event)[name]):
                payload = (*term.payload[:n], (name, other), *term.payload[n + 1 :])
                yield replace(term, payload=payload), f"{name}: {_for(other, value)}"
    if site.role == UPDATE and term is site.term:
        attribute = site.model.machine(_sort(site, me)).attribute(site.name.rpartition(", ")[2])
        assert attribute is not None
        for other in _others(site, attribute.type):
            if not (isinstance(other, t.Attr) and other.of is me and other.name == attribute.name):  # see updates
                yield other, _for(other, term)


def _sort(site: Site, term: Term) -> str:
    kind = site.type_of(term)
    assert isinstance(kind, Ref)
    return kind.sort.name


def _others(site: Site, kind: Type) -> Iterator[Term]:
    """The constants of the type ``kind``, and what else of it is in scope; numbers are left to ``bounds``."""
    match kind:
        case Ref():
            yield NONE
        case SetOf():
            yield EMPTY
        case BoolType():
            yield from map(t.lift, (False, True))
        case EnumType(names):
            yield from map(t.lift, names)
        case IntRange():
            pass
    yield from site.terms_of(kind)


def quantifiers(site: Site, term: Term) -> Iterator[Words]:
    """``forall`` for ``exists``, and the other way round."""
    if site.role == CONDITION and isinstance(term, t.Quantified):
        yield replace(term, universal=not term.universal), "some for every" if term.universal else "every for some"


def attributes(site: Site, term: Term) -> Iterator[Words]:
    """An attribute by another one of the same sort and type."""
    if isinstance(term, t.Attr) and (kind := site.type_of(term)) is not None:
        for other in site.model.machine(_sort(site, term.of)).attributes:
            if other.type == kind:
                yield replace(term, name=other.name), f"{other.name} for {show_term(term)}"


def bounds(site: Site, term: Term) -> Iterator[Words]:
    """A number one higher or lower, and ``<`` for ``<=``."""
    if isinstance(term, t.Less):
        yield replace(term, or_equal=not term.or_equal), "< for <=" if term.or_equal else "<= for <"
    if isinstance(term, t.Constant) and type(term.value) is int:
        for other in (term.value - 1, term.value + 1):
            yield replace(term, value=other), f"{other} for {term.value}"


def states(site: Site, term: Term) -> Iterator[Words]:
    """A state that a condition names, by another one of the machine."""
    if site.role == CONDITION and isinstance(term, t.Is):
        names = [state.name for state in site.model.machine(_sort(site, term.of)).states]
        for n, name in enumerate(term.states):
            for other in names:
                if other not in term.states:
                    exchanged = (*term.states[:n], other, *term.states[n + 1 :])
                    yield replace(term, states=exchanged), f"{other} for {name} of {show_term(term.of)}"


def events(site: Site, term: Term) -> Iterator[Words]:
    """The event that an action or a rule fires, by another one of the machine with the same parameters."""
    if site.role == EFFECT and isinstance(term, t.Fires):
        sort = _sort(site, term.of)
        machine = site.model.machine(sort)
        for other in dict.fromkeys(row.event for row in site.model.table(sort)):
            if other != term.event and machine.parameters(other) == machine.parameters(term.event):
                yield replace(term, event=other), f"{other} for {term.event}"


def negations(site: Site, term: Term) -> Iterator[Words]:
    """The whole condition or conjunct, negated."""
    if site.role == CONDITION and term is site.term:
        yield term.part if isinstance(term, t.Not) else ~term, "negated"


def _for(new: Term, old: Term) -> str:
    return f"{show_term(new)} for {show_term(old)}"


ON_TERMS: Mapping[str, Callable[[Site, Term], Iterator[Words]]] = {
    "receiver": receivers,
    "quantifier": quantifiers,
    "attribute": attributes,
    "value": values,
    "state": states,
    "event": events,
    "negation": negations,
    "bound": bounds,
}
"""By kind."""


def once(term: Term, change: Callable[[Term], Iterator[Words]]) -> Iterator[Words]:
    """``term`` with each change in each of its subterms, one at a time."""
    yield from change(term)
    parts = [part for part in t.children(term) if not (isinstance(term, t.Those) and isinstance(part, Var))]
    for n, part in enumerate(parts):
        for other, words in once(part, change):
            yield _put(term, n, other), words


def _put(term: Term, n: int, other: Term) -> Term:
    """``term`` with ``other`` as its child number ``n``."""
    numbers = count()
    return t.rebuilt(term, lambda part: other if next(numbers) == n else part)


# --- Operators on rows ------------------------------------------------------------------------------------------------


def targets(model: Model) -> Iterator[Mutant]:
    """A row that leads to another state; of its own kind if the row is one of recovery."""
    recovery = {event for action in model.actions if action.crash for event in caused(model, action.name)}
    for row in model.rows:
        kind = "recovery" if (row.sort.name, row.event) in recovery else "target"
        for state in model.machine(row.sort).states:
            if state.name != row.target:
                name = f"row {row.name}, {kind}: {state.name} for {row.target}"
                other = _other_row(row, target=state.name)
                yield RowExchange(name, kind, partial(_with_row, model, row, target=state.name), model, row, other)


def updates(model: Model) -> Iterator[Mutant]:
    """A row without one of its updates, or with an update of another attribute of the same type."""
    for row in model.rows:
        machine, sets = model.machine(row.sort), dict(row.sets)
        for (name, value), site in zip(row.sets, _sites_of_row(model, row), strict=True):
            less = {n: v for n, v in row.sets if n != name}
            build = partial(_with_row, model, row, sets=less)
            yield Exchange(f"row {row.name}, update: without {name}", "update", build, site, t.Attr(me, name))
            written = machine.attribute(name)
            for other in machine.attributes:
                if written is not None and other.type == written.type and other.name not in sets:
                    build = partial(_with_row, model, row, sets={**less, other.name: value})
                    changed = _other_row(row, sets={**less, other.name: value})
                    words = f"row {row.name}, attribute: writes {other.name} for {name}"
                    yield RowExchange(words, "attribute", build, model, row, changed)


def exchanges(model: Model) -> Iterator[Mutant]:
    """Every mutant of ``model`` with another word; none is textually equal to the model or to another one."""
    digester, names = Digester(), Counter[str]()
    for site in sites(model):
        seen = {digester.digest(site.term)}
        for kind, operator in ON_TERMS.items():
            for term, words in once(site.term, partial(operator, site)):
                if (digest := digester.digest(term)) in seen:
                    continue
                seen.add(digest)
                name = f"{site.name}, {kind}: {words}"
                names[name] += 1
                name = name if names[name] == 1 else f"{name} ({names[name]})"
                yield Exchange(name, kind, partial(site.put, term), site, term)
    yield from targets(model)
    yield from updates(model)


KINDS = (*ON_TERMS, "target", "recovery", "update")
