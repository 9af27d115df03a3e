"""Which property or rule of the model an observed state or an impossible step violates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod

from schedproof.model.cited import quote
from schedproof.model.lang import Invariant, Model, Row
from schedproof.model.lang import terms as t
from schedproof.model.lang.types import Type
from schedproof.model.lang.wording import show_term
from schedproof.model.semantics import Choice, Instance, Moment, State, Undefined, compile_term
from schedproof.model.semantics.instance import domain_size
from schedproof.model.semantics.reasons import conditions, counted_text, holds, named, value_text, witness
from schedproof.proofs.traces.reports.report import Requirement

MOST_TUPLES = 100_000
"""The limit for objects for which a report evaluates an invariant. One with more does not count as violated."""


def broken_invariants(
    instance: Instance, before: State, observed: Mapping[int, int], rest: State | None = None
) -> list[Requirement]:
    """The invariants that the observed state violates and the state before did not.

    Invariants that the variant is expected to violate (``refuted``) do not count.

    Args:
        instance: the model with its objects.
        before: the state before.
        observed: slot -> value.
        rest: the values that are not observed. None: the list is empty unless the state is observed completely.
    """
    whole = len(observed) == instance.width
    if not whole and (rest is None or not observed):
        return []
    state = tuple(observed[slot] if rest is None else observed.get(slot, rest[slot]) for slot in range(instance.width))
    return newly_violated(instance, before, state, "" if whole else "what is not observed is as in the model")


def newly_violated(instance: Instance, before: State, state: State, note: str = "") -> list[Requirement]:
    """The invariants that ``state`` violates and ``before`` did not; ``note`` is added to each.

    Invariants that the variant is expected to violate (``refuted``) do not count.
    """
    model, violated = instance.model, []
    for prop in model.properties:
        if isinstance(prop, Invariant) and prop.name not in model.refuted and _readable(instance, prop):
            violations, earlier = dict(_violations(instance, prop, state)), dict(_violations(instance, prop, before))
            if broken := violations.keys() - earlier.keys():
                first = min(broken)
                who = ", ".join(f"{n} = {v}" for n, v in first)
                shown = [f"violated for {who}"] if who else []
                scope = {v.name: v for v in prop.over}
                counted = counted_text(instance, violations[first], [prop.then], scope)
                shown += [counted] if counted else []
                shown += [note] if note else []
                says = f"{prop.says} ({'; '.join(shown)})" if shown else prop.says
                violated.append(Requirement(prop.name, says, model.document.name, prop.line, prop.sentence))
    return violated


def _readable(instance: Instance, prop: Invariant) -> bool:
    """Whether the property reads no history variable: the states of a trace do not have those."""
    history = {a.name for m in instance.model.machines for a in m.attributes if a.history}

    def reads(term: t.Term) -> bool:
        return any(isinstance(part, t.Attr) and part.name in history for part in t.subterms(term))

    return not reads(prop.then) and not (prop.given is not None and reads(prop.given))


def _violations(
    instance: Instance, prop: Invariant, state: State
) -> Iterator[tuple[tuple[tuple[str, str], ...], Moment]]:
    """The objects, in words, for which a state violates an invariant, and the moment with their values."""
    scope = {v.name: v for v in prop.over}
    given = compile_term(instance, prop.given, scope) if prop.given is not None else None
    then = compile_term(instance, prop.then, scope)
    domains = [instance.domain(v.type) for v in prop.over]
    if prod(map(domain_size, domains)) > MOST_TUPLES:
        return
    for values in product(*domains):
        moment = Moment(state, dict(zip(scope, values, strict=True)))
        try:
            kept = (given is not None and not given(moment)) or then(moment)
        except Undefined:
            kept = False
        if not kept:
            yield tuple((v.name, str(instance.show(v.type, x))) for v, x in zip(prop.over, values, strict=True)), moment


def cited(model: Model, says: str, line: int | None) -> Requirement:
    """The objection of a guard, a table or a rule to a step, with its line of the document."""
    return Requirement(None, says, model.document.name, line, quote(model.document, line))


def broken_guard(instance: Instance, state: State, choice: Choice) -> list[Requirement]:
    """The first condition of the action's guard that does not hold, with an object that shows it; [] if all hold."""
    guard = guard_met(instance, state, choice)[1]
    return [guard] if guard is not None else []


def guard_met(instance: Instance, state: State, choice: Choice) -> tuple[int, Requirement | None]:
    """How many conditions of the guard hold before the first that does not, and that one.

    Later conditions may only be defined if this one holds.
    """
    action = instance.model.action(choice.action)
    guard = conditions(action.when)
    met = conditions_met(instance, state, choice)
    if met == len(guard):
        return met, None
    condition = guard[met]
    scope, moment = {v.name: v for v in action.parameters}, Moment(state, dict(choice.parameters))
    _, within, at = witness(instance, moment, condition, scope)
    values = named(condition, moment, within, at)
    parts = [f"{v.name} = {_object(instance, state, v.type, value)}" for v, value in values]
    where = f" ({', '.join(parts)})" if parts else ""
    counted = counted_text(instance, moment, [condition], scope)
    says = f"{action.name} needs {show_term(condition)}{where}{f': {counted}' if counted else ''}"
    shown = [instance.show(v.type, value) for v, value in values]
    objects = [str(name) for each in shown for name in (each if isinstance(each, list) else [each])]
    return met, replace(cited(instance.model, says, action.line), objects=objects)


def conditions_met(instance: Instance, state: State, choice: Choice) -> int:
    """How many conditions of the guard hold before the first that does not; all, if there is none."""
    action = instance.model.action(choice.action)
    scope, moment = {v.name: v for v in action.parameters}, Moment(state, dict(choice.parameters))
    parts = conditions(action.when)
    return next((n for n, part in enumerate(parts) if not holds(instance, moment, part, scope)), len(parts))


def _object(instance: Instance, state: State, kind: Type, value: int) -> str:
    """An object with its fields, or a value."""
    shown = instance.show(kind, value)
    if not isinstance(shown, str):
        return value_text(shown)
    for objects in instance.describe(state).values():
        if shown in objects:
            fields = [
                f"{k} {value_text(v)}" if k != "state" else str(v) for k, v in objects[shown].items() if v is not None
            ]
            return f"{shown}: {' '.join(fields)}" if fields else shown
    return shown


def broken_table(instance: Instance, before: State, reached: State, observed: Mapping[int, int]) -> Requirement | None:
    """The objection of a table to the first object whose observed state differs from the one that the step reaches.

    There are three cases. A row moves the object, but it is observed to stay. No row leads to its observed state. Or
    only rows of an event that did not happen lead there.

    Args:
        instance: the model with its objects.
        before: the state before the step.
        reached: the state after it; the same as ``before``, if there was no step.
        observed: slot -> value.
    """
    model = instance.model
    for machine in model.machines:
        sort = machine.sort.name
        for number, name in enumerate(instance.object_names(sort) if machine.states else []):
            slot = instance.slot(sort) + number
            if slot not in observed or observed[slot] == reached[slot]:
                continue
            source, seen, target = (machine.states[s[slot]].name for s in (before, observed, reached))
            table = model.table(sort)
            if seen == source:
                moves = [r for r in table if (r.source, r.target) == (source, target)]
                says = f"{name} stays {source}, though {_events(moves)} takes it to {target}"
                return cited(model, says, moves[0].line if moves else machine.line)
            rows = [r for r in table if (r.source, r.target) == (source, seen)]
            if not rows:
                says = f"{name} goes from {source} to {seen}, where {sort}'s table has no row"
                return cited(model, says, machine.line)
            says = f"{name} goes from {source} to {seen}, which only {_events(rows)} does, and nothing here fires it"
            return cited(model, says, rows[0].line)
    return None


def _events(rows: Sequence[Row]) -> str:
    return " or ".join(dict.fromkeys(r.event for r in rows))
