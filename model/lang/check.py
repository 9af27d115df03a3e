"""A wrong model is refused here, with one message: element, place, problem, remedy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import networkx as nx

from . import terms as t
from .errors import ModelError, Place
from .infer import Context, compatible, formula, infer, machine_of
from .machine import Machine, Row
from .properties import (
    AlwaysCanReach,
    Invariant,
    LeadsTo,
    LifeCycle,
    Property,
    Recovery,
    StepInvariant,
)
from .rules import Action, Rule

if TYPE_CHECKING:
    from .model import Model

FIELDS = {"name", "type", "of", "value", "var", "where", "base", "element", "present", "left", "right", "sign"} | {
    "states", "or_equal", "set", "event", "payload", "parts", "part", "premise", "conclusion", "universal", "variables",
    "body", "place", "is_", "fires", "has", "with_", "without",
}  # fmt: skip
"""Names that an attribute cannot have, because ``x.name`` means something else."""


def check_model(model: Model) -> None:
    """Refuses a model that says something impossible.

    Raises:
        ModelError: names the element, its place, and what to write instead.
    """
    _unique("sort", [(m.sort.name, m.place) for m in model.machines])
    for machine in model.machines:
        _machine(model, machine)
    for row in model.rows:
        _row(model, row)
    _unique("row", [(r.name, r.place) for r in model.rows], "merge the two rows: one (event, source) has one target")
    for machine in model.machines:
        _reachable(model, machine)
    _unique("action", [(a.name, a.place) for a in model.actions])
    _unique("rule", [(r.name, r.place) for r in model.rules])
    _unique("property", [(p.name, p.place) for p in model.properties])
    for axiom in model.axioms:
        formula(axiom, Context(model, "axiom"))
    for action in model.actions:
        _action(model, action)
    for rule in model.rules:
        _rule(model, rule)
    _acyclic(model)
    for prop in model.properties:
        _property(model, prop)
    _manifest(model)


def _unique(kind: str, named: Sequence[tuple[str, Place]], remedy: str = "give it another name") -> None:
    for name, count in Counter(n for n, _ in named).items():
        if count > 1:
            first, second, *_ = [place for n, place in named if n == name]
            raise ModelError(f"{kind} {name}", second, f"is declared twice (first at {first})", remedy)


def _machine(model: Model, machine: Machine) -> None:
    name = f"machine {machine.sort}"
    _unique(f"{name}: state", [(s.name, s.place) for s in machine.states])
    _unique(f"{name}: attribute", [(a.name, a.place) for a in machine.attributes])
    for attribute in machine.attributes:
        element = f"attribute {machine.sort}.{attribute.name}"
        if attribute.name in FIELDS or attribute.name.startswith("_"):
            raise ModelError(element, attribute.place, "that name has another meaning in terms", "choose another name")
        context = Context(model, element)
        if hasattr(attribute.type, "sort"):
            machine_of(context, attribute.type.sort, t.Nothing(place=attribute.place))
        if attribute.initial is not None and not compatible(attribute.type, infer(t.lift(attribute.initial), context)):
            raise ModelError(
                element,
                attribute.place,
                f"type mismatch: {attribute.initial!r} is no value of type {attribute.type}",
                "give an initial value of that type",
            )
    events = {r.event for r in model.table(machine.sort)}
    for event in machine.events:
        if event.name not in events:
            raise ModelError(
                f"event {machine.sort}.{event.name}",
                event.place,
                "has no source",
                "add a row for it, or drop the event",
            )


def _row(model: Model, row: Row) -> None:
    element = f"row {row.name}"
    context = Context(model, element, me=row.sort)
    machine = machine_of(context, row.sort, t.Nothing(place=row.place))
    for state in (row.source, row.target):
        if machine.state(state) is None:
            names = ", ".join(s.name for s in machine.states)
            raise ModelError(element, row.place, f"unknown state {state!r} of {row.sort}", f"use one of: {names}")
    context = replace(context, given=machine.parameters(row.event))
    for name, value in row.sets:
        attribute = machine.attribute(name)
        if attribute is None or attribute.rigid:
            problem = f"undeclared attribute {name!r}" if attribute is None else f"attribute {name!r} is rigid"
            names = ", ".join(a.name for a in machine.attributes if not a.rigid) or "none"
            raise ModelError(element, row.place, problem, f"set one of: {names}")
        found = infer(value, replace(context, history=attribute.history))
        if not compatible(attribute.type, found):
            raise ModelError(
                element,
                row.place,
                f"type mismatch: {name} is of type {attribute.type}, not {found}",
                "set a value of its type",
            )


def _reachable(model: Model, machine: Machine) -> None:
    if not machine.states:
        return
    graph = nx.DiGraph((r.source, r.target) for r in model.table(machine.sort))
    initial = machine.states[0].name
    graph.add_node(initial)
    found = {initial} | nx.descendants(graph, initial)
    for state in machine.states:
        if (state.name in found) == state.unreachable:
            was = (
                "is declared unreachable but rows lead to it"
                if state.unreachable
                else "is unreachable: no rows lead to it"
            )
            to = "drop unreachable=True" if state.unreachable else "add a row, or say State(..., unreachable=True)"
            raise ModelError(f"state {state.name} of {machine.sort}", state.place, was, to)


def _action(model: Model, action: Action) -> None:
    context = Context(model, f"action {action.name}", history=False).bind(action.parameters)
    for conjunct in action.when:
        formula(conjunct, context)
    for firing in action.fires:
        _complete(model, firing, replace(context, fires=True))


def _rule(model: Model, rule: Rule) -> None:
    element = f"rule {rule.name}"
    free = {n: v for part in (*rule.when, rule.fires) for n, v in t.free_variables(part).items()}
    if isinstance(rule.on, Action):
        if all(a.name != rule.on.name for a in model.actions):
            names = ", ".join(a.name for a in model.actions)
            raise ModelError(element, rule.place, f"unknown action {rule.on.name!r}", f"use one of: {names}")
        free |= {v.name: v for v in rule.on.parameters}
    else:
        free |= t.free_variables(rule.on)
    context = Context(model, element, fires=True, history=False).bind(list(free.values()))
    if not isinstance(rule.on, Action):
        formula(rule.on, context)
    for conjunct in rule.when:
        formula(conjunct, context)
    _complete(model, rule.fires, context)


def _complete(model: Model, firing: t.Fires, context: Context) -> None:
    """A firing that is caused (not asked for) gives every parameter of its event."""
    formula(firing, context)
    found = infer(firing.of, context)
    assert not isinstance(found, str) and hasattr(found, "sort")
    declared = model.machine(found.sort).parameters(firing.event)
    if missing := [name for name in declared if name not in dict(firing.payload)]:
        raise ModelError(
            context.element,
            firing.place,
            f"{firing.event} is fired without its parameter {missing[0]}",
            f"write fires({firing.event!r}, {missing[0]}=...)",
        )


def firings(term: t.Term) -> Iterable[t.Fires]:
    """Every firing that ``term`` asks for."""
    if isinstance(term, t.Fires):
        yield term
    for child in t.children(term):
        yield from firings(child)


def sort_of(model: Model, term: t.Term, bound: dict[str, t.Var]) -> str:
    """The sort name of an object-valued term of a checked model."""
    if isinstance(term, t.Var):
        found = bound.get(term.name, term).type
    else:
        assert isinstance(term, t.Attr)
        attribute = model.machine(sort_of(model, term.of, bound)).attribute(term.name)
        assert attribute is not None
        found = attribute.type
    assert hasattr(found, "sort")
    return str(found.sort.name)


def trigger_graph(model: Model) -> nx.DiGraph[tuple[str, str]]:
    """Which event triggers which: nodes (sort, event) and (action name, ""), edges labelled by rule.

    An edge's ``negative`` is true if the rule asks that the event does *not* happen.
    """
    graph: nx.DiGraph[tuple[str, str]] = nx.DiGraph()
    for action in model.actions:
        for firing in action.fires:
            head = (sort_of(model, firing.of, {}), firing.event)
            graph.add_edge((action.name, ""), head, rule=action.name, place=action.place, negative=False)
    for rule in model.rules:
        head = (sort_of(model, rule.fires.of, {}), rule.fires.event)
        on = [((rule.on.name, ""), False)] if isinstance(rule.on, Action) else []
        asked = [rule.on] if isinstance(rule.on, t.Fires) else []
        on += [((sort_of(model, f.of, {}), f.event), False) for f in asked]
        on += [((sort_of(model, f.of, {}), f.event), True) for part in rule.when for f in firings(part)]
        for node, negative in on:
            if not graph.has_edge(node, head) or not negative:
                graph.add_edge(node, head, rule=rule.name, place=rule.place, negative=negative)
    return graph


def _acyclic(model: Model) -> None:
    graph = trigger_graph(model)
    try:
        cycle = nx.find_cycle(graph)
    except nx.NetworkXNoCycle:
        return
    rule = graph.edges[cycle[0][0], cycle[0][1]]
    path = " -> ".join(".".join(filter(None, node)) for node, *_ in [*cycle, cycle[0]])
    raise ModelError(
        f"rule {rule['rule']}",
        rule["place"],
        f"trigger cycle: {path}",
        "let one of these events be an action's, so that every cascade ends",
    )


def _property(model: Model, prop: Property) -> None:
    context = Context(model, f"property {prop.name}", after=False)
    match prop:
        case Invariant(over=over, given=premise, then=then):
            inside = context.bind(over)
            for part in _given((premise, then)):
                formula(part, inside)
        case StepInvariant(over=over, given=premise, then=then, on=on):
            inside = replace(context.bind(over), after=True, fires=True)
            for part in _given((premise, then)):
                formula(part, inside)
            _known_actions(model, prop, on)
        case LifeCycle(sort=sort, states=states):
            machine = machine_of(context, sort, t.Nothing(place=prop.place))
            for name in states:
                if machine.state(name) is None:
                    names = ", ".join(s.name for s in machine.states)
                    raise ModelError(
                        context.element, prop.place, f"unknown state {name!r} of {sort}", f"use one of: {names}"
                    )
        case AlwaysCanReach(over=over, given=premise, goal=goal) | LeadsTo(over=over, given=premise, goal=goal):
            inside = context.bind(over)
            for part in _given((premise, goal)):
                formula(part, inside)
            if isinstance(prop, LeadsTo):
                _known_actions(model, prop, [*prop.weak, *prop.strong, *prop.without])
        case Recovery(restores=restores):
            if not any(a.crash for a in model.actions):
                raise ModelError(context.element, prop.place, "the model declares no crash", "add one with crash(...)")
            for restored in restores:
                inside = context.bind(restored.over)
                formula(restored.what, inside)
                formula(restored.durable, replace(inside, durable_only=True))
        case _:
            pass


def _known_actions(model: Model, prop: Property, names: Sequence[str]) -> None:
    known = [a.name for a in model.actions]
    for name in names:
        if name not in known:
            raise ModelError(
                f"property {prop.name}", prop.place, f"unknown action {name!r}", f"use one of: {', '.join(known)}"
            )


WELL_FORMED = "well-formed"
"""The property that every model has: see :mod:`schedproof.proofs.induction`."""


def _manifest(model: Model) -> None:
    known = [WELL_FORMED, *(p.name for p in model.properties)]
    for name in sorted(model.refuted):
        if name not in known:
            raise ModelError(
                f"variant {model.variant}",
                model.place,
                f"the manifest names no property of this model: {name!r}",
                f"use one of: {', '.join(known)}",
            )
    for sort in model.default_scope:
        if sort not in {s.name for s in model.sorts}:
            names = ", ".join(s.name for s in model.sorts)
            raise ModelError(
                f"variant {model.variant}", model.place, f"scope of an unknown sort {sort!r}", f"use one of: {names}"
            )


def _given(parts: Sequence[t.Term | None]) -> list[t.Term]:
    return [part for part in parts if part is not None]
