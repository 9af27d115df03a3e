"""The header of a plain trace: the objects, their rigid attributes, and the start of the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schedproof.model.errors import choose_from
from schedproof.model.lang import Model
from schedproof.model.semantics import Instance, State, configurations
from schedproof.proofs.traces.engine.objects import MOST_OBJECTS, ObjectMap
from schedproof.proofs.traces.files.lines import Line

from .records import Unlogged
from .values import listed, read_state, read_value


@dataclass(frozen=True)
class Header:
    """A header.

    Args:
        objects: the objects at the start.
        open: the sorts whose objects appear when a record names them: the sorts that the header does not list.
        starts: the states in which the run may begin.
        unlogged: the steps that may have happened before any record.
    """

    objects: ObjectMap
    open: frozenset[str]
    starts: Sequence[State]
    unlogged: Unlogged


def read_header(model: Model, header: Line) -> Header:
    """Reads ``header``, which has the right shape.

    Raises:
        TraceError: it is for another system, or names something that the model does not have.
    """
    value = header.value
    if value["system"] != model.system:
        raise header.error(
            f"this is a trace of {value['system']!r}, and it is checked as {model.system!r}; name that system", "system"
        )
    objects: Mapping[str, Sequence[str]] = value.get("objects", {})
    sorts = [s.name for s in model.sorts]
    for sort, listed_names in objects.items():
        if sort not in sorts:
            raise header.error(f'"objects" has the unknown sort {sort!r}; {choose_from(sort, sorts)}', "objects", sort)
        if len(listed_names) > MOST_OBJECTS:
            raise header.error(
                f'"objects" has {len(listed_names)} of {sort}; name at most {MOST_OBJECTS}',
                "objects",
                sort,
            )
        if len(listed_names) > 1 and model.machine(sort).sort.single:
            problem = f'"objects" has {len(listed_names)} of {sort}, of which the model has exactly one; name one'
            raise header.error(problem, "objects", sort)
    opened = frozenset(s for s in sorts if s not in objects)
    names = {sort: tuple(objects.get(sort, ())) for sort in sorts}
    sizes = {sort: len(of) for sort, of in names.items()}
    plain = ObjectMap.of(Instance(model, sizes, {}, names=names))
    if "rigid" not in value and not opened:
        choices = [dict(rigid) for rigid in configurations(model, sizes)]
        if len(choices) != 1:
            raise header.error(
                '"rigid" is missing, and the model has several configurations; write the rigid attributes of one'
            )
        object_map = ObjectMap.of(Instance(model, sizes, choices[0], names=names))
    else:
        object_map = plain.with_rigid(read_rigid(plain, value.get("rigid", {}), header))
    if broken := object_map.broken_axiom():
        raise header.error(f'"rigid" violates an axiom of the model: {broken}; correct "rigid"', "rigid")
    unlogged = Unlogged.read(model, value.get("unlogged"), header, Unlogged())
    return Header(object_map, opened, _starts(object_map, value.get("start"), header), unlogged)


def read_rigid(object_map: ObjectMap, given: Mapping[str, Any], line: Line) -> dict[tuple[str, str], dict[int, int]]:
    """The rigid attributes that a line gives: (sort, attribute) -> object number -> encoded value.

    Raises:
        TraceError: unknown names, or values of the wrong type.
    """
    rigid_attributes, by_attribute = object_map.model.rigid_attributes, dict[tuple[str, str], dict[int, int]]()
    for sort, attributes in given.items():
        for name, values in attributes.items():
            if (sort, name) not in rigid_attributes:
                known = ", ".join(f"{s}.{n}" for s, n in rigid_attributes) or "none"
                raise line.error(
                    f'"rigid" has the unknown attribute {sort}.{name}; choose from {known}',
                    "rigid",
                    sort,
                    name,
                )
            for obj, shown in values.items():
                number = object_map.number(sort, obj)
                if number < 0:
                    known = listed(object_map.instance, sort)
                    raise line.error(
                        f'"rigid" names the unknown {sort} {obj!r}; choose from {known}', "rigid", sort, name, obj
                    )
                kind = rigid_attributes[sort, name].type
                where = f"rigid.{sort}.{name}.{obj}"
                by_attribute.setdefault((sort, name), {})[number] = read_value(
                    object_map.instance, kind, shown, line, where
                )
    return by_attribute


def _starts(object_map: ObjectMap, start: Any, header: Line) -> list[State]:
    """The states that ``"start"`` describes, one or a list. Fields that it omits have their initial values."""
    initial = object_map.instance.initial()
    states = []
    described: Sequence[Mapping[str, Any]] = start if isinstance(start, list) else [start or {}]
    for state in described:
        slots = read_state(object_map.instance, state, header, "start")
        states.append(tuple(slots.get(slot, value) for slot, value in enumerate(initial)))
    return states


def header_of(object_map: ObjectMap, starts: Sequence[State] = ()) -> dict[str, Any]:
    """The header of a trace that begins with these objects, in one of these states."""
    model, instance = object_map.model, object_map.instance
    rigid: dict[str, dict[str, dict[str, Any]]] = {}
    for (sort, name), attribute in model.rigid_attributes.items():
        for i, value in enumerate(object_map.rigid[sort, name]):
            if value != instance.default(attribute):
                shown = instance.show(attribute.type, value)
                rigid.setdefault(sort, {}).setdefault(name, {})[object_map.names[sort][i]] = shown
    header: dict[str, Any] = {
        "schedproof": 1,
        "system": model.system,
        "variant": model.variant,
        "objects": {sort: list(names) for sort, names in object_map.names.items()},
    }
    if model.rigid_attributes:
        header["rigid"] = rigid
    if starts:
        described = [_changed(instance, state) for state in starts]
        header["start"] = described[0] if len(described) == 1 else described
    return header


def _changed(instance: Instance, state: State) -> dict[str, dict[str, dict[str, object]]]:
    """The fields that differ from the initial state."""
    initial = instance.describe(instance.initial())
    changes: dict[str, dict[str, dict[str, object]]] = {}
    for sort, objects in instance.describe(state).items():
        for obj, fields in objects.items():
            changed = {name: value for name, value in fields.items() if value != initial[sort][obj][name]}
            if changed:
                changes.setdefault(sort, {})[obj] = changed
    return changes
