"""The names and values that a lockstep implementation gets and shows, and their encoding in a state."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schedproof.model.lang import Attribute, SetOf, Type
from schedproof.model.semantics import Instance, State


class OutOfStep(AssertionError):
    """An implementation does not do what its model does, or does what its model forbids."""


@dataclass(frozen=True)
class World:
    """The objects that an implementation begins with.

    Args:
        objects: the names of the objects of each sort, ``{"Worker": ["w0", "w1"]}``.
        rigid: their rigid values, ``{sort: {attribute: {object: value}}}``; for example priorities.
    """

    objects: Mapping[str, Sequence[str]]
    rigid: Mapping[str, Mapping[str, Mapping[str, Any]]]


def world_of(instance: Instance) -> World:
    """The objects and rigid values of an instance of a model."""
    rigid: dict[str, dict[str, dict[str, object]]] = {}
    for machine in instance.model.machines:
        sort = machine.sort.name
        for attribute in machine.attributes:
            if attribute.rigid:
                values = instance.rigid_values(sort, attribute)
                named = zip(instance.object_names(sort), values, strict=True)
                rigid.setdefault(sort, {})[attribute.name] = {n: instance.show(attribute.type, x) for n, x in named}
    sorts = [machine.sort.name for machine in instance.model.machines]
    return World({sort: list(instance.object_names(sort)) for sort in sorts}, rigid)


@dataclass(frozen=True)
class Field:
    """One field of one object; ``attribute`` is None for the object's state."""

    object: str
    name: str
    sort: str
    attribute: Attribute | None


def fields(instance: Instance) -> dict[int, Field]:
    """Every field of a state, by its slot."""
    by_slot = {}
    for machine in instance.model.machines:
        sort = machine.sort.name
        state_field: list[tuple[str, Attribute | None]] = [("state", None)] if machine.states else []
        for name, attribute in [*state_field, *((a.name, a) for a in instance.attributes(sort))]:
            start = instance.slot(sort, "" if attribute is None else name)
            for number, object_name in enumerate(instance.object_names(sort)):
                by_slot[start + number] = Field(object_name, name, sort, attribute)
    return by_slot


def observed(instance: Instance, shown: object, whose: str) -> dict[int, int]:
    """The values that ``observe()`` returned, by slot.

    Args:
        instance: the instance of the model.
        shown: what ``observe()`` returned, ``{sort: {object: {field: value}}}``.
        whose: the name of the implementation, for messages.

    Raises:
        OutOfStep: the value has another shape, or names a sort, object or field that the model does not have.
    """
    problem = f"observe() of {whose}"
    known = {(f.sort, f.object, f.name): (slot, f) for slot, f in fields(instance).items()}
    by_slot = {}
    for sort, objects in _mapping(shown, f"{problem} must return {{sort: {{object: {{field: value}}}}}}").items():
        _one_of(sort, [m.sort.name for m in instance.model.machines], f"{problem}: unknown sort")
        for name, values in _mapping(objects, f"{problem}: {sort} must be {{object: {{field: value}}}}").items():
            _one_of(name, instance.object_names(sort), f"{problem}: unknown object of {sort}")
            for field, value in _mapping(values, f"{problem}: {sort} {name} must be {{field: value}}").items():
                of_object = [f for s, o, f in known if (s, o) == (sort, name)]
                _one_of(field, of_object, f"{problem}: unknown field of {sort}")
                slot, what = known[sort, name, field]
                by_slot[slot] = _number(instance, what, value, f"{problem}: {name}.{field}")
    return by_slot


def _number(instance: Instance, field: Field, value: object, where: str) -> int:
    if field.attribute is None:
        states = [state.name for state in instance.model.machine(field.sort).states]
        _one_of(value, states, f"{where}: unknown state")
        return states.index(str(value))
    return number(instance, field.attribute.type, value, where)


def number(instance: Instance, kind: Type, value: object, where: str) -> int:
    """A value that an implementation shows, encoded as in a state.

    Raises:
        OutOfStep: the value does not have the type ``kind``.
    """
    if isinstance(kind, SetOf) and isinstance(value, str):
        raise OutOfStep(f"{where}: {value!r} is a text; show a list of names of {kind.sort}")
    try:
        return instance.read(kind, value)
    except (ValueError, TypeError) as error:
        raise OutOfStep(f"{where}: {error}") from None


def show(instance: Instance, field: Field, value: int) -> object:
    """The decoded value of a field: names, lists of names, values."""
    if field.attribute is None:
        return instance.model.machine(field.sort).states[value].name
    return instance.show(field.attribute.type, value)


def overlaid(state: State, seen: Mapping[int, int]) -> dict[int, int]:
    """A whole state by slot: observed values, and the values of ``state`` for slots that were not observed."""
    return {**dict(enumerate(state)), **seen}


def _mapping(value: object, problem: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise OutOfStep(f"{problem}, not {value!r:.60}")
    return value


def _one_of(name: object, known: Collection[str], problem: str) -> None:
    if name not in known:
        raise OutOfStep(f"{problem} {name!r:.60}; choose from {', '.join(known)}")
