"""The proof obligations of a model, and the formulas that they may assume."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from schedproof.model.lang import (
    Action,
    Function,
    Integer,
    IntRange,
    Invariant,
    InvariantAtScope,
    Model,
    Recovery,
    Ref,
    Row,
    SetOf,
    StepInvariant,
    StepInvariantAtScope,
    Type,
    implies,
)
from schedproof.model.lang import terms as t
from schedproof.model.lang.check import checked
from schedproof.model.lang.infer import sort_of
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.lang.types import Sequence as SequenceType
from schedproof.proofs.exploration.safety import recovery_steps

from .cascade import Cascade, Cause
from .counting import counts_left
from .expressions import And, ForAll, Implies, Not, Or, is_true
from .time_limit import NO_LIMIT, TimeLimit
from .translate import Translator, in_range, same_reference
from .views import Initial, Symbols, Z

INITIAL = "(initial)"
"""The pseudo-action of the base case."""

SIZES = (1, 2, 3, 4)
"""The numbers of objects of each sort that counterexamples may have, in this order."""


@dataclass(frozen=True)
class Obligation:
    """``context`` and the invariants imply ``goal``.

    Attributes:
        invariant: the property that the obligation belongs to.
        action: the action of the step, or :data:`INITIAL`.
        detail: distinguishes the obligations of one property and action.
        goal: the formula to prove; internal.
        context: formulas to assume; internal.
        inductive: whether the proof may assume the invariants.
    """

    invariant: str
    action: str
    detail: str
    goal: Z = field(repr=False)  # z3 cannot print every formula
    context: tuple[Z, ...] = field(repr=False)
    inductive: bool = True

    @cached_property
    def name(self) -> str:
        """The name, unique in a model."""
        return f"{self.invariant} / {self.action}" + (f" / {self.detail}" if self.detail else "")


@dataclass(frozen=True)
class Proof:
    """The obligations of a model, and its invariants as formulas over the state before the step.

    Attributes:
        axioms: the model's own axioms.
        always: ``axioms``, and that numbers are in their ranges; both hold before a step.
        assumed: each invariant by name.
        contexts: what a step of each action may assume.
        stated: each of the ``assumed`` invariants, and also that it reads no attribute of NONE.
        sizes: the numbers of objects of each sort that counterexamples may have, in this order.
        time_limit: when solvers stop.
    """

    model: Model
    symbols: Symbols
    axioms: tuple[Z, ...]
    always: tuple[Z, ...]
    assumed: dict[str, Z]
    stated: dict[str, Z]
    cascades: dict[str, Cascade]
    obligations: tuple[Obligation, ...]
    contexts: dict[str, tuple[Z, ...]]
    sizes: tuple[int, ...] = SIZES
    time_limit: TimeLimit = NO_LIMIT


def closed(prop: Invariant | StepInvariant) -> t.Term:
    """The property as one closed formula."""
    body = prop.then if prop.given is None else implies(prop.given, prop.then)
    return t.Quantified(True, tuple(prop.over), body, place=prop.place) if prop.over else body


def leaves_counts(model: Model, prop: str) -> bool:
    """Whether proofs of a property take any number for a count: one of the property, or of the model's steps or axioms."""
    terms = [*model.premises, *(value for row in model.rows for _, value in row.sets)]
    for action in model.actions:
        terms += [*action.when, *action.fires]
    for rule in model.rules:
        terms += [*rule.when, *([rule.on] if isinstance(rule.on, t.Fires) else []), rule.fires]
    match next((p for p in model.properties if p.name == prop), None):
        case Invariant() | StepInvariant() as stated:
            terms.append(closed(stated))
        case Recovery(restores=restores):
            terms += [term for each in restores for term in (each.what, each.durable)]
    return any(True for term in terms for _ in counts_left(term))


def provable(model: Model) -> list[str]:
    """The names of the properties that induction can prove."""
    at_scope = (InvariantAtScope, StepInvariantAtScope)
    kinds = (Invariant, StepInvariant, Recovery)
    return [WELL_FORMED, *(p.name for p in model.properties if isinstance(p, kinds) and not isinstance(p, at_scope))]


def obligations(model: Model, known: Container[str] = ()) -> Proof:
    """Every proof obligation of ``model``: invariants x actions, steps, recovery, well-formedness.

    The properties in ``known`` get no obligations.
    """
    symbols = Symbols(checked(model))
    before = Translator(symbols, symbols)
    axioms = tuple(before.formula(axiom) for axiom in model.premises)
    provable = [p for p in model.properties if not isinstance(p, InvariantAtScope | StepInvariantAtScope)]
    invariants = [p for p in provable if isinstance(p, Invariant)]
    assumed = {p.name: before.formula(closed(p)) for p in invariants}
    ranges = tuple(number_ranges(model, before))
    always = axioms + ranges
    made: list[Obligation] = []
    reads = before.both(*[before.defined(axiom) for axiom in model.premises])
    asked = [p for p in invariants if p.name not in known]
    if WELL_FORMED not in known and not is_true(symbols.expressions.simplified(reads)):
        what = "the axioms read no attribute of NONE"
        made.append(Obligation(WELL_FORMED, INITIAL, what, reads, ranges, inductive=False))
    initial = Translator(symbols, Initial(symbols))
    for prop in asked:
        # The ranges concern rigid numbers here: all other numbers have their initial values.
        made.append(Obligation(prop.name, INITIAL, "", _whole(initial, closed(prop)), always, inductive=False))
    stated = {p.name: _whole(before, closed(p)) for p in invariants}
    read = {p.name: _read(model, closed(p)) for p in asked}
    cascades: dict[str, Cascade] = {}
    contexts: dict[str, tuple[Z, ...]] = {}
    for action in model.actions:
        cascade = cascades[action.name] = Cascade(symbols, action)
        context = contexts[action.name] = (*always, cascade.guard, *cascade.axioms)
        later = Translator(symbols, cascade.after)
        written = _written(cascade)
        for prop in asked:
            # A step keeps the formulas of what it does not write.
            goal = _whole(later, closed(prop)) if read[prop.name] & written else stated[prop.name]
            made.append(Obligation(prop.name, action.name, "", goal, context))
        for step in [p for p in provable if p.name not in known]:
            if isinstance(step, StepInvariant) and (not step.on or action.name in step.on):
                reader = cascade.step.bind(action.parameters, list(cascade.parameters.values()))
                made.append(Obligation(step.name, action.name, "", _whole(reader, closed(step)), context))
            if isinstance(step, Recovery) and action.crash:
                for n, part in enumerate(recovery_steps(model, step)):
                    goal = _whole(cascade.step, closed(part))
                    made.append(Obligation(step.name, action.name, f"part {n + 1}", goal, context))
        if WELL_FORMED not in known:
            made += [
                Obligation(WELL_FORMED, action.name, d, g, c)
                for d, g, c in well_formed(cascade, action, always, context)
            ]
    named = tuple(_with_distinct_names(made))
    return Proof(model, symbols, axioms, always, assumed, stated, cascades, named, contexts)


@dataclass(frozen=True)
class Added:
    """An invariant that a finished proof does not have: its formulas as in :class:`Proof`, and its obligations."""

    assumed: Z
    stated: Z
    obligations: tuple[Obligation, ...]


def added(proof: Proof, prop: Invariant) -> Added:
    """Another invariant over the symbols of a finished proof, which stays as it is."""
    symbols = proof.symbols
    before, term = Translator(symbols, symbols), closed(prop)
    stated, read = _whole(before, term), _read(proof.model, term)
    initial = Translator(symbols, Initial(symbols))
    made = [Obligation(prop.name, INITIAL, "", _whole(initial, term), proof.always, inductive=False)]
    for name, cascade in proof.cascades.items():
        # A step keeps the formulas of what it does not write.
        goal = _whole(Translator(symbols, cascade.after), term) if read & _written(cascade) else stated
        made.append(Obligation(prop.name, name, "", goal, proof.contexts[name]))
    return Added(before.formula(term), stated, tuple(made))


STATE = ""
"""The name for the state of a machine, beside the names of its attributes."""


def _read(model: Model, term: t.Term) -> set[tuple[str, str]]:
    """The fields that a formula reads: (sort, attribute), or (sort, :data:`STATE`)."""
    return {
        (sort_of(model, part.of, {}), part.name if isinstance(part, t.Attr) else STATE)
        for part in t.subterms(term)
        if isinstance(part, t.Attr | t.Is)
    }


def _written(cascade: Cascade) -> set[tuple[str, str]]:
    """The fields that the steps of an action can write, as in :func:`_read`."""
    fields = set()
    for sort, event in cascade.fired:
        for row in cascade.symbols.model.table(sort):
            if row.event == event:
                fields |= {(sort, name) for name, _ in row.sets}
                fields |= {(sort, STATE)} if row.source != row.target else set()
    return fields


def _with_distinct_names(made: Sequence[Obligation]) -> Iterator[Obligation]:
    """The obligations, with a number where names are equal: two firings of one action can have equal obligations."""
    seen: Counter[str] = Counter()
    for obligation in made:
        seen[obligation.name] += 1
        number = seen[obligation.name]
        yield replace(obligation, detail=f"{obligation.detail} ({number})") if number > 1 else obligation


def _whole(reader: Translator, term: t.Term) -> Z:
    """The formula that ``term`` is true and reads no attribute of NONE."""
    defined, formula = reader.symbols.expressions.simplified(reader.defined(term)), reader.formula(term)
    return formula if is_true(defined) else And(defined, formula)


def number_ranges(model: Model, before: Translator) -> Iterator[Z]:
    """Formulas that numbers are in their ranges: an invariant of the encoding, checked as well-formedness."""
    for machine in model.machines:
        for attribute in machine.attributes:
            if isinstance(attribute.type, IntRange | Integer):
                x = before.symbols.constant("x", machine.sort)
                value = before.symbols.value(machine.sort.name, attribute.name, x)
                yield from (ForAll([x], inside) for inside in in_range(attribute.type, value))
            if isinstance(attribute.type, Function):
                x, arguments = before.symbols.constant("x", machine.sort), _arguments(before.symbols, attribute.type)
                value = before.symbols.value(machine.sort.name, attribute.name, x)(*arguments)
                yield from (ForAll([x, *arguments], inside) for inside in in_range(attribute.type.to, value))
            if isinstance(attribute.type, SequenceType):
                x, index = before.symbols.constant("x", machine.sort), _index(before.symbols)
                items = before.symbols.value(machine.sort.name, attribute.name, x)
                yield ForAll([x], items.length >= 0)
                yield from (ForAll([x, index], inside) for inside in in_range(attribute.type.of, items.item(index)))


def _index(symbols: Symbols) -> Z:
    """Any index of a sequence."""
    return symbols.expressions.constant("index", symbols.kind(Integer(0)))


def _arguments(symbols: Symbols, kind: Function) -> list[Z]:
    """Any objects as the arguments of a function."""
    return [symbols.constant(f"argument {n}", sort) for n, sort in enumerate(kind.sorts)]


def well_formed(
    cascade: Cascade, action: Action, always: tuple[Z, ...], context: tuple[Z, ...]
) -> Iterator[tuple[str, Z, tuple[Z, ...]]]:
    """The obligations that a step is well-formed: each as (detail, goal, context)."""
    symbols, before = cascade.symbols, cascade.before
    if action.when:
        yield "the guard reads no attribute of NONE", before.chain(action.when), always
    for key, causes in cascade.causes.items():
        x = symbols.constant("x", key[0])
        event = ".".join(key)
        sources = dict.fromkeys(r.source for r in symbols.model.table(key[0]) if r.event == key[1])
        inside = Or(*[symbols.state(key[0], x) == symbols.states[key[0]][s] for s in sources])
        yield f"{event} must fire in a source state", ForAll([x], Implies(cascade.fires(*key, x), inside)), context
        for cause in causes:
            reads = defined_reads(cascade, cause.written or cause)
            if not is_true(reads):
                yield f"{cause.by.name} reads no attribute of NONE", reads, context
        yield from one_payload(cascade, key, causes, context)
        for row in symbols.model.table(key[0]):
            for name, value in row.sets:
                if row.event == key[1]:
                    yield from _update(cascade, row, name, value, context)
    events = list(cascade.causes)
    for n, one in enumerate(events):
        for other in events[n + 1 :]:
            if one[0] == other[0]:
                x = symbols.constant("x", one[0])
                twice = And(cascade.fires(*one, x), cascade.fires(*other, x))
                what = f"{one[0]} does not fire {one[1]} and {other[1]} at once"
                yield what, ForAll([x], Not(twice)), context


def defined_reads(cascade: Cascade, cause: Cause) -> Z:
    """The formula that what a cause reads is there, for every choice of its variables: no attribute of NONE."""

    def body(inside: Translator) -> Z:
        head = inside.both(
            inside.defined(cause.head.of),
            inside.reference(cause.head.of).defined,
            *[inside.defined(value) for _, value in cause.head.payload],
        )
        return inside.chain(cause.body, head)

    return cascade.before.quantified(True, cause.extras, body)


def one_payload(
    cascade: Cascade, key: tuple[str, str], causes: Sequence[Cause], context: tuple[Z, ...]
) -> Iterator[tuple[str, Z, tuple[Z, ...]]]:
    """Obligations that an event gets one payload on an object, from two causes or from one cause twice."""
    if not causes[0].head.payload:
        return
    before, kinds = cascade.before, cascade.symbols.model.machine(key[0]).parameters(key[1])
    for n, one in enumerate(causes):
        for other in causes[n:]:
            if one is other and not one.extras:
                continue
            a_values, a_symbols, a_ranges = before.constants(one.extras, " a")
            b_values, b_symbols, b_ranges = before.constants(other.extras, " b")
            a, b = cascade.inside(one, a_values), cascade.inside(other, b_values)
            first, second = a.reference(one.head.of), b.reference(other.head.of)
            both = And(
                *a_ranges,
                *b_ranges,
                *[a.formula(part) for part in one.body],
                *[b.formula(part) for part in other.body],
                first.value == second.value,
            )
            first_given, second_given = cascade.given(one, a), cascade.given(other, b)
            same = [_same(cascade, kind, first_given[name], second_given[name]) for name, kind in kinds.items()]
            goal = Implies(both, And(*same))
            symbols = [*a_symbols, *b_symbols]
            what = f"{'.'.join(key)} has one payload ({one.by.name}, {other.by.name})"
            yield what, ForAll(symbols, goal) if symbols else goal, context


def _same(cascade: Cascade, kind: Type, one: Any, other: Any) -> Z:
    if isinstance(kind, Ref):
        return same_reference(one, other)
    if isinstance(kind, SetOf):
        element = cascade.symbols.constant("element", kind.sort)
        return ForAll([element], one(element) == other(element))
    return one == other


def _update(
    cascade: Cascade, row: Row, name: str, value: t.Term, context: tuple[Z, ...]
) -> Iterator[tuple[str, Z, tuple[Z, ...]]]:
    symbols, key = cascade.symbols, (row.sort.name, row.event)
    x = symbols.constant("x", key[0])
    fires, event = cascade.fires(*key, x), ".".join(key)
    defined = cascade.after.reader(*key, x).defined(value)
    if not is_true(defined):
        # Another row reads other objects.
        applies = And(fires, symbols.state(key[0], x) == symbols.states[key[0]][row.source])
        yield f"{event} computes {name} from objects that are", ForAll([x], Implies(applies, defined)), context
    declared = symbols.model.machine(key[0]).attribute(name)
    assert declared is not None
    if isinstance(declared.type, IntRange | Integer):
        for inside in in_range(declared.type, cascade.after.value(key[0], name, x)):
            yield f"{event} keeps {name} in {declared.type}", ForAll([x], Implies(fires, inside)), context
    if isinstance(declared.type, Function):
        arguments = _arguments(symbols, declared.type)
        value_after = cascade.after.value(key[0], name, x)(*arguments)
        for inside in in_range(declared.type.to, value_after):
            every = ForAll([x, *arguments], Implies(fires, inside))
            yield f"{event} keeps the values of {name} in {declared.type.to}", every, context
    if isinstance(declared.type, SequenceType):
        index, items = _index(symbols), cascade.after.value(key[0], name, x)
        for inside in in_range(declared.type.of, items.item(index)):
            has_item = And(fires, index >= 0, index < items.length)
            every = ForAll([x, index], Implies(has_item, inside))
            yield f"{event} keeps the items of {name} in {declared.type.of}", every, context
