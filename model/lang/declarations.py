"""Checks the declarations of a model and refuses wrong sorts, states, attributes, events and rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from schedproof.model.errors import choose_from

from . import terms as t
from .errors import ModelError, Place
from .infer import Context, compatible, infer, known_type, machine_of
from .machine import Attribute, Machine, Row, State
from .model import Model
from .same import NOTHING_SAME, Same
from .triggers import reachable
from .types import BoolType, EnumType, Function, Integer, IntRange, Relation, Type
from .types import Sequence as SequenceType

FIELDS = {"name", "type", "of", "value", "var", "where", "base", "element", "present", "left", "right", "sign"} | {
    "states", "or_equal", "set", "event", "payload", "parts", "part", "premise", "conclusion", "universal", "variables",
    "body", "place", "fact", "line", "is_", "fires", "has", "append", "with_", "without", "state", "sort", "source", "target",
}  # fmt: skip
"""Reserved attribute names: ``x.name`` has another meaning for them (``state``: in states as printed; ``source``: in Row)."""


def unique(kind: str, named: Sequence[tuple[str, Place]], remedy: str = "give it another name") -> None:
    """Refuses two elements of one name."""
    for name, count in Counter(n for n, _ in named).items():
        if count > 1:
            first, second, *_ = [place for n, place in named if n == name]
            raise ModelError(f"{kind} {name}", second, f"is declared twice (first at {first.in_folder()})", remedy)


def check_declarations(model: Model, same: Same = NOTHING_SAME) -> None:
    """Refuses wrong sorts, machines and rows.

    Args:
        same: what was checked before.

    Raises:
        ModelError: names the element, its place, and what to write instead.
    """
    unique("sort", [(m.sort.name, m.place) for m in model.machines])
    unique("the letter of a sort,", [(m.sort.short, m.sort.place) for m in model.machines], "give it another letter")
    for machine in model.machines:
        _machine(model, machine)
    for row in model.rows:
        if row not in same:
            _row(model, row)
    unique("row", [(r.name, r.place) for r in model.rows], "merge the two rows: one (event, source) has one target")
    for machine in model.machines:
        _reachable(model, machine)


def _machine(model: Model, machine: Machine) -> None:
    name = f"machine {machine.sort}"
    unique(f"{name}: state", [(s.name, s.place) for s in machine.states])
    unique(f"{name}: attribute", [(a.name, a.place) for a in machine.attributes])
    unique(f"{name}: event", [(e.name, e.place) for e in machine.events])
    for attribute in machine.attributes:
        _attribute(model, machine, attribute)
    for state in machine.states:
        _begins(machine, state)
    events = {r.event for r in model.table(machine.sort)}
    for event in machine.events:
        element = f"event {machine.sort}.{event.name}"
        for kind in event.parameters.values():
            known_type(Context(model, element, event.place), kind, event.place)
            if isinstance(kind, SequenceType):
                problem = f"a parameter is a {kind}, and only attributes are sequences"
                raise ModelError(
                    element, event.place, problem, "give the event the object whose sequence the row reads"
                )
            if isinstance(kind, Relation | Function):
                what = "functions" if isinstance(kind, Function) else "relations"
                problem = f"a parameter is a {kind}, and only attributes are {what}"
                raise ModelError(element, event.place, problem, "give the event a parameter for each object of a tuple")
        if event.name not in events:
            raise ModelError(
                element, event.place, "no row of the table has this event", "add a row for it, or drop the event"
            )


def _begins(machine: Machine, state: State) -> None:
    if not state.begins:
        return
    attribute = machine.attribute(state.begins)
    if attribute is None or not attribute.rigid or not isinstance(attribute.type, BoolType):
        names = [a.name for a in machine.attributes if a.rigid and isinstance(a.type, BoolType)]
        raise ModelError(
            f"state {state.name} of {machine.sort}",
            state.place,
            f"begins names {state.begins!r}, which is not a rigid BoolType attribute of {machine.sort}",
            choose_from(state.begins, names),
            name=state.begins,
        )


def _attribute(model: Model, machine: Machine, attribute: Attribute) -> None:
    element = f"attribute {machine.sort}.{attribute.name}"
    if attribute.name in FIELDS or attribute.name.startswith("_"):
        raise ModelError(element, attribute.place, "that name has another meaning in terms", "give it another name")
    context, kind, initial = Context(model, element, attribute.place), attribute.type, attribute.initial
    known_type(context, kind, attribute.place)
    if attribute.assumed is not None and not (
        isinstance(attribute.assumed, bool) and attribute.rigid and isinstance(kind, BoolType)
    ):
        raise ModelError(
            element,
            attribute.place,
            f"assumed={attribute.assumed!r} of an attribute that is {kind}{'' if attribute.rigid else ' and not rigid'}",
            "write assumed=True or assumed=False, the value with which the environment does less, of a rigid BoolType",
        )
    if isinstance(kind, SequenceType) and attribute.rigid:
        problem = "a sequence begins empty and grows, and this attribute is rigid"
        raise ModelError(element, attribute.place, problem, "leave out rigid, or write a rigid Function", name="rigid")
    if initial is None:
        return
    if isinstance(kind, SequenceType):
        problem = f"a sequence begins empty, and initial is {initial!r}"
        raise ModelError(element, attribute.place, problem, "leave out initial", name="initial")
    if isinstance(kind, Function):
        problem = f"a function begins with the first value of {kind.to} everywhere, and initial is {initial!r}"
        raise ModelError(element, attribute.place, problem, "leave out initial", name="initial")
    fits = isinstance(initial, int | str) and compatible(kind, infer(t.lift(initial), context))
    if isinstance(kind, IntRange):
        fits = fits and kind.low <= int(initial) <= kind.high
    if isinstance(kind, Integer):
        fits = fits and int(initial) in kind
    if not fits:
        raise ModelError(
            element,
            attribute.place,
            f"type mismatch: {initial!r} is not a value of type {kind}",
            "give an initial value of that type",
        )


def _row(model: Model, row: Row) -> None:
    element = f"row {row.name}"
    context = Context(model, element, row.place, me=row.sort)
    machine = machine_of(context, row.sort, row.place)
    for state in (row.source, row.target):
        if machine.state(state) is None:
            remedy = choose_from(state, [s.name for s in machine.states] or ["none: the machine has no states"])
            problem = f"unknown state {state!r} of {row.sort}"
            raise ModelError(element, row.place, problem, remedy, name=state, skip=int(state == row.event))
    context = replace(context, given=machine.parameters(row.event))
    for name, value in row.sets:
        attribute = machine.attribute(name)
        if attribute is None or attribute.rigid:
            problem = f"undeclared attribute {name!r}" if attribute is None else f"attribute {name!r} is rigid"
            remedy = choose_from(name, [a.name for a in machine.attributes if not a.rigid])
            raise ModelError(element, row.place, problem, remedy, name=name)
        value_type = infer(value, replace(context, history=attribute.history))
        _constant(element, row, name, attribute.type, value)
        if not compatible(attribute.type, value_type):
            raise ModelError(
                element,
                row.place,
                f"type mismatch: {name} is of type {attribute.type}, not {value_type}",
                "set a value of its type",
                name=name,
            )


def _constant(element: str, row: Row, name: str, kind: Type, value: t.Term) -> None:
    """Refuses a constant that an attribute of this type does not have, also as a value of a function."""
    if isinstance(kind, Function):
        while isinstance(value, t.Updated):
            _constant(element, row, name, kind.to, value.value)
            value = value.base
        if isinstance(value, t.FunctionOf):
            _constant(element, row, name, kind.to, value.value)
        return
    if isinstance(kind, SequenceType):
        while isinstance(value, t.Appended | t.Sliced):
            if isinstance(value, t.Appended):
                _constant(element, row, name, kind.of, value.element)
            value = value.base
        return
    match kind, value:
        case EnumType(values), t.Constant(str(text)) if text not in values:
            problem = f"unknown value {text!r} of {name}"
            raise ModelError(element, row.place, problem, choose_from(text, values), name=text)
        case IntRange(low, high), t.Constant(int(number)) if not low <= number <= high:
            problem = f"{number} is not in {low}..{high}, the range of {name}"
            raise ModelError(element, row.place, problem, "set a value of the range", name=name)
        case Integer(), t.Constant(int(number)) if number not in kind:
            problem = f"{number} is not a {kind}, the type of {name}"
            raise ModelError(element, row.place, problem, f"set a value from {kind.low}", name=name)


def _reachable(model: Model, machine: Machine) -> None:
    if not machine.states:
        return
    targets: dict[str, list[str]] = {}
    for row in model.table(machine.sort):
        targets.setdefault(row.source, []).append(row.target)
    reached = reachable(targets, {machine.states[0].name, *(s.name for s in machine.states if s.begins)})
    for state in machine.states:
        if (state.name in reached) == state.unreachable:
            was = (
                "is declared unreachable but rows lead to it"
                if state.unreachable
                else "is unreachable: no rows lead to it"
            )
            to = "drop unreachable=True" if state.unreachable else "add a row, or say State(..., unreachable=True)"
            raise ModelError(f"state {state.name} of {machine.sort}", state.place, was, to)
