"""The plain trace format: one action or event a line, with as much of the state as was observed.

A record with an action (or with the event that an action begins with) is exactly one step of the
model; parameters that it leaves out may have any value. A record without one is an observation
and no step. The format knows no system: names and types come from the model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schedproof.model.lang import Model
from schedproof.model.lang.machine import Attribute
from schedproof.model.lang.model import Rigid
from schedproof.model.lang.rules import Action
from schedproof.model.lang.terms import Var
from schedproof.model.lang.types import BoolType, EnumType, IntRange, Ref, SetOf, Type
from schedproof.model.semantics import (
    Choice,
    Instance,
    Moment,
    ScopeError,
    Stepper,
    check_scope,
    compile_term,
)

from .engine import Observation, Path, Record
from .formats import Format, Reading, first_object
from .lines import Line, Shape, TextLine, as_objects
from .steps import Steps, Wanted
from .wording import show_choice, show_term

SCHEMA = "trace.schema.json"


def is_own(lines: Sequence[TextLine]) -> bool:
    """The first line is the header of a plain trace."""
    return "schedproof" in first_object(lines)


def read_own(model: Model, lines: Sequence[Line]) -> tuple[Instance, list[Record]]:
    """The instance that the header names, and the records.

    Raises:
        TraceError: a line has the wrong shape, or names what the model does not have.
    """
    header, *rest = lines
    if "schedproof" not in header.value:
        raise header.error('this is no header of a plain trace; its first line has "schedproof": 1')
    Shape.load(SCHEMA, "header").check(header)
    instance = _instance(model, header)
    shape, reader = Shape.load(SCHEMA, "record"), _Reader(instance, Steps(Stepper(instance)))
    records = []
    for number, line in enumerate(rest, start=1):
        shape.check(line)
        records.append(reader.record(number, line))
    return instance, records


def _read(model: Model, lines: Sequence[TextLine]) -> Reading:
    instance, records = read_own(model, as_objects(lines))
    return Reading(instance, records, len(records))


OWN = Format("schedproof", 'a plain one with "schedproof": 1', is_own, _read)
"""The plain format, of every system."""


def _instance(model: Model, header: Line) -> Instance:
    value = header.value
    if value["system"] != model.system:
        raise header.error(f"this is a trace of {value['system']!r}; it is judged as {model.system!r}")
    objects: Mapping[str, list[str]] = value["objects"]
    sorts = [s.name for s in model.sorts]
    if missing := [s for s in sorts if s not in objects]:
        raise header.error(f'"objects" lacks the sort {missing[0]}; name its objects: {{"{missing[0]}": [...]}}')
    if empty := [s for s, names in objects.items() if not names and s in sorts and not _may_be_empty(model, s)]:
        raise header.error(f'"objects" has no {empty[0]}; name at least one')
    try:
        sizes = check_scope(model, {sort: len(names) or 1 for sort, names in objects.items()})
    except ScopeError as error:
        raise header.error(str(error)) from None
    sizes |= {sort: 0 for sort, names in objects.items() if not names}
    named = Instance(model, sizes, {}, names=objects)
    instance = Instance(model, sizes, _rigid(model, named, header), names=objects)
    for axiom in model.axioms:
        if not compile_term(instance, axiom, {})(Moment(instance.initial())):
            raise header.error(f'"rigid" breaks what the model assumes of it: {show_term(axiom)}')
    return instance


def _may_be_empty(model: Model, sort: str) -> bool:
    """A topology may do without a sort whose rigid attributes it gives no values."""
    return any(attribute.rigid for attribute in model.machine(sort).attributes)


def _rigid(model: Model, named: Instance, header: Line) -> Rigid:
    given: Mapping[str, Mapping[str, Mapping[str, object]]] = header.value.get("rigid", {})
    wanted = {(m.sort.name, a.name): a for m in model.machines for a in m.attributes if a.rigid}
    for sort, attributes in given.items():
        for name in attributes:
            if (sort, name) not in wanted:
                there = ", ".join(f"{s}.{n}" for s, n in wanted) or "none"
                raise header.error(f'"rigid" has {sort}.{name}; rigid attributes of {model.system}: {there}')
    if not given:
        choices = [dict(rigid) for rigid in model.topologies(named.sizes)]
        if len(choices) != 1:
            raise header.error('"rigid" is missing; several topologies are possible: name one')
        return choices[0]
    found: dict[tuple[str, str], list[Any]] = {}
    for (sort, name), attribute in wanted.items():
        values = given.get(sort, {}).get(name, {})
        for obj in values:
            if obj not in named.object_names(sort):
                raise header.error(f'"rigid" names the unknown {sort} {obj!r}; there is {_list(named, sort)}')
        found[sort, name] = [
            _value(named, attribute.type, values[obj], header, f"rigid.{sort}.{name}.{obj}")
            if obj in values
            else named.default(attribute)
            for obj in named.object_names(sort)
        ]
        if isinstance(attribute.type, SetOf):
            found[sort, name] = [frozenset(i for i in range(v.bit_length()) if v >> i & 1) for v in found[sort, name]]
        elif isinstance(attribute.type, EnumType):
            found[sort, name] = [attribute.type.values[v] for v in found[sort, name]]
    return found


def _list(instance: Instance, sort: str) -> str:
    return ", ".join(instance.object_names(sort))


def _value(instance: Instance, kind: Type, shown: object, line: Line, where: str) -> int:
    """A value of ``kind``, encoded.

    Raises:
        TraceError: it is none.
    """
    right = {
        BoolType: isinstance(shown, bool),
        IntRange: isinstance(shown, int) and not isinstance(shown, bool),
        EnumType: isinstance(shown, str),
        Ref: shown is None or isinstance(shown, str),
        SetOf: isinstance(shown, list) and all(isinstance(x, str) for x in shown),
    }[type(kind)]
    if right:
        try:
            return instance.read(kind, shown)
        except ValueError as error:
            raise line.error(f"{where}: {error}") from None
    match kind:
        case SetOf(sort):
            advice = f"a list of names of {sort.name}"
        case Ref(sort):
            advice = f"a name of {sort.name} ({_list(instance, sort.name)}) or null"
        case _:
            advice = f"a value of {kind}"
    raise line.error(f"{where}: {shown!r:.60} where {advice} belongs")


@dataclass(frozen=True)
class _Reader:
    instance: Instance
    steps: Steps

    def record(self, number: int, line: Line) -> Record:
        observed = Observation(self.slots(line))
        action, given = self.action(line)
        if action is None:
            return Record(number, line.number, "observation", lambda state: [Path((), state)], observed)
        wanted, steps = Wanted(action, given), self.steps
        names = [v.name for v in action.parameters]
        if all(name in given for name in names):
            says = show_choice(self.instance, Choice(action.name, tuple((n, given[n]) for n in names)))
        else:
            says = f"{action.name} with {', '.join(n for n in names if n not in given)} not given"
        return Record(
            number,
            line.number,
            says,
            steps.from_zero(lambda state: steps.paths(Path((), state), wanted)),
            observed,
            steps.from_zero(lambda state: steps.refused(state, wanted), each=True),
        )

    def action(self, line: Line) -> tuple[Action | None, Mapping[str, int]]:
        """The action that the record names, and the parameters that it gives."""
        value, model = line.value, self.instance.model
        if "action" in value:
            known = {a.name: a for a in model.actions}
            if value["action"] not in known:
                raise line.error(f"unknown action {value['action']!r}; {model.system} has {', '.join(known)}")
            action = known[value["action"]]
            return action, self.parameters(line, action, {})
        if "event" in value:
            action, who = self.beginning(line)
            given = {who: value["object"]} if who and "object" in value else {}
            if "object" in value and not who:
                raise line.error(f'{value["event"]} happens to every object: leave out "object"')
            return action, self.parameters(line, action, given)
        if value.get("parameters"):
            raise line.error('"parameters" without "action" or "event": name one of them')
        return None, {}

    def beginning(self, line: Line) -> tuple[Action, str]:
        """The action that begins with the record's event, and the parameter that it happens to."""
        wanted = line.value["event"]
        found: dict[str, tuple[Action, str]] = {}
        for action in self.instance.model.actions:
            for firing in action.fires:
                who = firing.of
                assert isinstance(who, Var) and isinstance(who.type, Ref)
                found[f"{who.type.sort.name}.{firing.event}"] = (action, who.name)
            if action.crash:
                found[action.name] = (action, "")
        if wanted not in found:
            raise line.error(f"no action begins with the event {wanted!r}; there is {', '.join(found)}")
        return found[wanted]

    def parameters(self, line: Line, action: Action, by_event: Mapping[str, object]) -> dict[str, int]:
        types = {v.name: v.type for v in action.parameters}
        given: dict[str, object] = {**line.value.get("parameters", {})}
        for name, value in by_event.items():
            if given.setdefault(name, value) != value:
                raise line.error(f'"object" is {value!r}, and parameter {name} is {given[name]!r}; write one of them')
        for name, value in given.items():
            if name not in types:
                there = ", ".join(types) or "none"
                raise line.error(f"{action.name} has no parameter {name!r}; its parameters: {there}")
            if value is None:
                raise line.error(f"parameters.{name}: null where an object or a value belongs, or leave it out")
        return {n: _value(self.instance, types[n], v, line, f"parameters.{n}") for n, v in given.items()}

    def slots(self, line: Line) -> dict[int, int]:
        """What the record observes of the state."""
        found: dict[int, int] = {}
        machines = {m.sort.name: m for m in self.instance.model.machines}
        for sort, objects in line.value.get("state", {}).items():
            if sort not in machines:
                raise line.error(f"state has the unknown sort {sort!r}; there is {', '.join(machines)}")
            names = list(self.instance.object_names(sort))
            attributes: dict[str, Attribute] = {a.name: a for a in self.instance.attributes(sort)}
            states = [s.name for s in machines[sort].states]
            for obj, fields in objects.items():
                where = f"state.{sort}.{obj}"
                if obj not in names:
                    raise line.error(f"state.{sort} has the unknown object {obj!r}; there is {', '.join(names)}")
                for name, value in fields.items():
                    if name == "state" and states:
                        if value not in states:
                            raise line.error(f"{where}.state: {value!r:.60} is none of {', '.join(states)}")
                        found[self.instance.slot(sort) + names.index(obj)] = states.index(value)
                    elif name in attributes:
                        slot = self.instance.slot(sort, name) + names.index(obj)
                        found[slot] = _value(self.instance, attributes[name].type, value, line, f"{where}.{name}")
                    else:
                        there = ", ".join([*(["state"] if states else []), *attributes])
                        raise line.error(f"{where} has the unknown field {name!r}; fields of {sort}: {there}")
        return found
