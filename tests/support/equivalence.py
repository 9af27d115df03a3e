"""That an exchanged term means the same, as a property: proved by induction, its mutant is equivalent to the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from schedproof.model.lang import (
    Action,
    Invariant,
    Model,
    Ref,
    Row,
    SetOf,
    StepInvariant,
    Term,
    Var,
    forall,
    iff,
    implies,
)
from schedproof.model.lang import terms as t
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.lang.types import Type
from schedproof.proofs.checking.slices import formulas
from schedproof.proofs.induction import prove
from tests.support.exchanges import CONDITION, UPDATE, Exchange, RowExchange, Site
from tests.support.mutants import Caught, Mutant

Claim = tuple[Model, StepInvariant]
"""A property, and the model of which it is to be proved."""


def claims(mutant: Mutant) -> Sequence[Claim]:
    """What together says that ``mutant`` has the graph of the model; none if that cannot be said so."""
    match mutant:
        case RowExchange():
            return [(mutant.model, _never_noticed(mutant))]
        case Exchange(kind="event"):
            return list(_same_effect(mutant))
        case Exchange():
            return [same_meaning(mutant)]
    return []


def _never_noticed(mutant: RowExchange) -> StepInvariant:
    """No object takes the row, or both rows have the same target, and write what the object has after either of them."""
    it, row, other = Var("it", Ref(mutant.row.sort)), mutant.row, mutant.other
    machine = mutant.model.machine(row.sort.name)
    parameters = {name: Var(name, kind) for name, kind in machine.parameters(row.event).items()}
    payload = tuple((name, v) for name, v in parameters.items() if not isinstance(v.type, SetOf))
    firing = t.Fires(it, row.event, payload)
    given = [firing, it.is_(row.source)]
    if row.target == other.target and len(payload) == len(parameters):
        return _claim(mutant.name, [], _over(given, []), given, _same_values(mutant.model, firing, row, other))
    given = [it.fires(row.event), it.is_(row.source)]
    return _claim(mutant.name, [], [it], given, t.lift(False))


def _same_values(model: Model, firing: t.Fires, one: Row, other: Row) -> Term:
    """Two rows write the same values when ``firing`` comes."""
    attributes = {a.name: a.type for a in model.machine(one.sort.name).attributes}
    written = dict.fromkeys(name for name, _ in (*one.sets, *other.sets))
    values = {n: [_at(firing, dict(row.sets).get(n, t.Attr(t.Me(), n))) for row in (one, other)] for n in written}
    return t.both([_equal(before, after, attributes[name]) for name, (before, after) in values.items()])


def _same_effect(exchange: Exchange) -> Iterator[Claim]:
    """The other event has a row with the same effect wherever it comes, and nothing else fires the event that it stands for.

    If a rule or a property could distinguish the two events, then the firing never happens.
    """
    site, old, new = exchange.site, exchange.site.term, exchange.term
    assert isinstance(old, t.Fires) and isinstance(new, t.Fires) and old.payload == new.payload
    if _heard(site.model, {old.event, new.event}):
        yield site.model, _of_a_step(exchange, t.lift(False))
    else:
        yield site.model, _of_a_step(exchange, _like_rows(site, old, new))
        yield exchange.build(), _of_a_step(exchange, ~t.Fires(old.of, old.event, ()))


def _heard(model: Model, events: Collection[str]) -> bool:
    """Whether a rule, or a property, reads that one of ``events`` happens."""
    terms = [
        part for rule in model.rules for part in (*rule.when, *(() if isinstance(rule.on, Action) else (rule.on,)))
    ]
    terms += [formula for prop in model.properties for formula in formulas(prop)]
    return any(isinstance(part, t.Fires) and part.event in events for term in terms for part in t.subterms(term))


def _like_rows(site: Site, old: t.Fires, new: t.Fires) -> Term:
    """In the state of the receiver, the rows of both events have the same target and write the same values."""
    owner = site.type_of(old.of)
    assert isinstance(owner, Ref)
    some, others = (
        {row.source: row for row in site.model.table(owner.sort.name) if row.event == each.event} for each in (old, new)
    )
    parts: list[Term] = []
    for source in dict.fromkeys((*some, *others)):
        one, other = some.get(source), others.get(source)
        in_source = t.Is(old.of, (source,))
        if one is None or other is None or one.target != other.target:
            parts.append(~in_source)
            continue
        if one.sets or other.sets:
            parts.append(implies(in_source, _same_values(site.model, old, one, other)))
    return t.both(parts)


def _at(firing: t.Fires, term: Term) -> Term:
    """The value of ``term``, an update of a row, when ``firing`` comes."""
    match term:
        case t.Me():
            return firing.of
        case t.Given(name):
            return dict(firing.payload)[name]
        case _:
            return t.rebuilt(term, lambda part: _at(firing, part))


def _of_a_step(exchange: Exchange, then: Term) -> StepInvariant:
    """Whenever the firing of the exchange counts, so does ``then``."""
    site = exchange.site
    if isinstance(site.on, Action):
        over = _over([*site.others, then], site.on.parameters)
        return _claim(exchange.name, [site.on.name], over, site.others, then)
    assert site.on is not None
    others = [site.on, *site.others]
    return _claim(exchange.name, [], _over([*others, then], []), others, then)


def same_meaning(exchange: Exchange) -> tuple[Model, StepInvariant]:
    """A model, and a property of it: whenever the term counts, the other one has the same value.

    It is the model itself; for a guard's conjunct the model without it, so that steps that only the other term allows count.
    """
    site = exchange.site
    if site.role == UPDATE:
        names = {name: Var("it" if name == "me" else name, kind) for name, kind in site.types.items()}
        old, new, *others = (_named(names, term) for term in (site.term, exchange.term, *site.others))
        then = _equal(old, new, _written(site))
        return site.model, _claim(exchange.name, [], _over([*others, new], []), others, then)
    then = iff(site.term, exchange.term) if site.role == CONDITION else _same_firing(site.term, exchange.term)
    if not isinstance(site.on, Action):
        assert site.on is not None
        others = [site.on, *site.others]
        return site.model, _claim(exchange.name, [], _over([*others, then], []), others, then)
    model = site.put(t.lift(True)) if site.role == CONDITION and _is_guard(site) else site.model
    return model, _claim(
        exchange.name, [site.on.name], _over([*site.others, then], site.on.parameters), site.others, then
    )


def _is_guard(site: Site) -> bool:
    assert isinstance(site.on, Action)
    return any(part is site.term for part in site.on.when)


def _claim(name: str, on: list[str], over: Sequence[Var], given: Sequence[Term], then: Term) -> StepInvariant:
    return StepInvariant(name=name, says="", over=over, on=on, given=t.both(given), then=then)


def _over(parts: Sequence[Term], parameters: Sequence[Var]) -> list[Var]:
    """The free variables that are no parameters."""
    free = {name: v for part in parts for name, v in t.free_variables(part).items()}
    return [v for name, v in free.items() if name not in {p.name for p in parameters}]


def _same_firing(old: Term, new: Term) -> Term:
    """Both send the same event with the same payload to the same object."""
    assert isinstance(old, t.Fires) and isinstance(new, t.Fires) and old.event == new.event
    pairs = [(old.of, new.of), *((a, b) for (_, a), (_, b) in zip(old.payload, new.payload, strict=True) if a is not b)]
    return t.both([_equal(a, b) for a, b in pairs])


def _written(site: Site) -> Type:
    """The type of the attribute that an update writes."""
    owner, attribute = site.types["me"], site.name.rpartition(", ")[2]
    assert isinstance(owner, Ref)
    (written,) = [a.type for a in site.model.machine(owner.sort).attributes if a.name == attribute]
    return written


def _equal(a: Term, b: Term, kind: Type | None = None) -> Term:
    """Two values of a type are the same. Of two constants the language has no comparison, nor of two sets."""
    if isinstance(kind, SetOf):
        element = Var("element", Ref(kind.sort))
        return forall(element, iff(a.has(element), b.has(element)))
    return t.lift(a.value == b.value) if isinstance(a, t.Constant) and isinstance(b, t.Constant) else a == b


def _named(names: Mapping[str, Var], term: Term) -> Term:
    """``term`` about variables instead of ``me`` and the event's parameters."""
    match term:
        case t.Me():
            return names["me"]
        case t.Given(name):
            return names[name]
        case _:
            return t.rebuilt(term, lambda part: _named(names, part))


def in_context(mutant: Mutant) -> Sequence[Claim]:
    """What says that the smallest formula that differs means the same wherever the exchanged condition reads it.

    It counts only where the formulas beside it leave it to decide: the others of a conjunction hold, those of a disjunction do not.
    None if the mutant exchanges something else, or if a variable that is bound there has the name of another one.
    """
    if not isinstance(mutant, Exchange) or mutant.site.role != CONDITION:
        return []
    site = mutant.site
    bound, beside, old, new = _innermost(site.term, mutant.term)
    names = [v.name for v in bound]
    around = [*site.others, *([] if isinstance(site.on, Action) or site.on is None else [site.on])]
    outer = {name for part in (site.term, *around) for name in t.free_variables(part)}
    if len({*names}) < len(names) or outer & {*names}:
        return []
    others, then = [*site.others, *beside], iff(old, new)
    if not isinstance(site.on, Action):
        given = [*around, *beside]
        return [(site.model, _claim(mutant.name, [], _over([*given, then], []), given, then))]
    model = site.put(t.lift(True)) if _is_guard(site) else site.model
    return [(model, _claim(mutant.name, [site.on.name], _over([*others, then], site.on.parameters), others, then))]


def _innermost(old: Term, new: Term) -> tuple[list[Var], list[Term], Term, Term]:
    """The variables bound around the smallest formulas that differ, what holds where they count, and the two."""
    variables: list[Var] = []
    beside: list[Term] = []
    while True:
        match old, new:
            case (t.Not(one), t.Not(other)):
                old, new = one, other
                continue
            case (t.Quantified(universal, some, one), t.Quantified(other_universal, _, other)):
                if universal == other_universal:
                    variables += some
                    old, new = one, other
                    continue
            case (t.And(), t.And()) | (t.Or(), t.Or()):
                pairs = list(zip(old.parts, new.parts, strict=True))
                if len(differing := [pair for pair in pairs if pair[0] is not pair[1]]) == 1:
                    same = [one for one, other in pairs if one is other]
                    beside += same if isinstance(old, t.And) else [~part for part in same]
                    ((old, new),) = differing
                    continue
            case (t.Implies(premise, then), t.Implies(other_premise, other)):
                if premise is other_premise:
                    beside.append(premise)
                    old, new = then, other
                    continue
                if then is other:
                    beside.append(~then)
                    old, new = premise, other_premise
                    continue
            case _:
                pass
        return variables, beside, old, new


def equivalent(some: Iterable[Mutant], invariants: Collection[str], lemmas: Sequence[Invariant] = ()) -> set[str]:
    """The mutants of one model that induction proves to have the model's graph, for any number of objects.

    Args:
        invariants: those of the model that are proved of it.
        lemmas: other invariants of the model; they are proved along with the claims.
    """
    some = list(some)
    proved = _all_proved(some, claims, invariants, lemmas)
    return proved | _all_proved([m for m in some if m.name not in proved], in_context, invariants, lemmas)


def _all_proved(
    some: Iterable[Mutant],
    claims_of: Callable[[Mutant], Sequence[Claim]],
    invariants: Collection[str],
    lemmas: Sequence[Invariant],
) -> set[str]:
    """The mutants of which all claims are proved, and at least one."""
    asked: dict[object, tuple[Model, list[StepInvariant]]] = {}
    needed: Counter[str] = Counter()
    for mutant in some:
        for model, claim in claims_of(mutant):
            needed[mutant.name] += 1
            asked.setdefault(_same_model(mutant, model), (model, []))[1].append(claim)
    proved = Counter(name for model, each in asked.values() for name in _proved(model, each, invariants, lemmas))
    return {name for name, many in needed.items() if proved[name] == many}


def _same_model(mutant: Mutant, model: Model) -> object:
    """What is the same for claims of one model, so that they can be proved together."""
    if not isinstance(mutant, Exchange) or model is mutant.site.model:
        return id(model)
    return mutant.name if mutant.kind == "event" else mutant.site.name


def _proved(
    model: Model, asked: Sequence[StepInvariant], invariants: Collection[str], lemmas: Sequence[Invariant]
) -> list[str]:
    kept = [p for p in model.properties if isinstance(p, Invariant) and p.name in invariants]
    known = {WELL_FORMED, *(p.name for p in kept)}
    induction = prove(model.asking([*kept, *lemmas, *asked]), every=False, known=known)
    return [claim.name for claim in asked if induction.proved(claim.name)]


def proved_to_mean_the_same(mutant: Mutant, invariants: Collection[str]) -> bool:
    """Whether induction proves that ``mutant`` has the graph of the model, from ``invariants``; see ``equivalent``."""
    return mutant.name in equivalent([mutant], invariants)


def unexplained(
    model: Model,
    some: Iterable[Mutant],
    caught: Callable[[Mutant], Caught | None],
    lemmas: Sequence[Invariant] = (),
) -> set[str]:
    """The mutants that nothing catches, and that are not proved to have the model's graph by its invariants."""
    invariants = [p.name for p in model.properties if isinstance(p, Invariant) and p.name not in model.refuted]
    missed = [mutant for mutant in some if caught(mutant) is None]
    return {m.name for m in missed} - equivalent(missed, invariants, lemmas)
