"""That an exchanged term means the same, as a property: proved by induction, its mutant is equivalent to the model."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TypeGuard

from schedproof.model.lang import Action, Invariant, Model, Ref, SetOf, StepInvariant, Term, Var, forall, iff
from schedproof.model.lang import terms as t
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.lang.types import Type
from schedproof.proofs.induction import prove
from tests.support.exchanges import CONDITION, UPDATE, Exchange, Site
from tests.support.mutants import Caught, Mutant


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


def proved_to_mean_the_same(exchange: Exchange, invariants: Collection[str]) -> bool:
    """Whether induction proves it for any number of objects, from ``invariants``, which are proved of the model."""
    model, claim = same_meaning(exchange)
    kept = [p for p in model.properties if isinstance(p, Invariant) and p.name in invariants]
    asked = model.asking([*kept, claim])
    return prove(asked, known={WELL_FORMED, *(p.name for p in kept)}).proved(claim.name)


def unexplained(model: Model, some: Iterable[Mutant], caught: Callable[[Mutant], Caught | None]) -> set[str]:
    """The mutants that nothing catches, and whose words are not proved to mean the same by the model's invariants."""
    invariants = [p.name for p in model.properties if isinstance(p, Invariant) and p.name not in model.refuted]
    missed = (mutant for mutant in some if caught(mutant) is None)
    return {m.name for m in missed if not (_has_a_claim(m) and proved_to_mean_the_same(m, invariants))}


def _has_a_claim(mutant: Mutant) -> TypeGuard[Exchange]:
    """Whether ``same_meaning`` says what is to be proved: not of another event, or another target."""
    return isinstance(mutant, Exchange) and mutant.kind != "event"
