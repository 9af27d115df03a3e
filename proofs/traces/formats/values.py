"""Values and observed states, as traces write them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schedproof.model.errors import choose_from
from schedproof.model.lang.types import BoolType, EnumType, Function, Integer, IntRange, Ref, Relation, SetOf, Type
from schedproof.model.lang.types import Sequence as SequenceType
from schedproof.model.semantics import Instance
from schedproof.proofs.traces.files.lines import Line


def read_value(instance: Instance, kind: Type, shown: object, line: Line, where: str) -> int:
    """A value of ``kind``, encoded as in a state.

    Raises:
        TraceError: it is not of this kind; ``where`` names its place.
    """
    right = {
        BoolType: isinstance(shown, bool),
        IntRange: isinstance(shown, int) and not isinstance(shown, bool),
        Integer: isinstance(shown, int) and not isinstance(shown, bool),
        EnumType: isinstance(shown, str),
        Ref: shown is None or isinstance(shown, str),
        SetOf: isinstance(shown, list) and all(isinstance(x, str) for x in shown),
        Relation: isinstance(shown, list) and all(_is_tuple(kind, x) for x in shown),
        Function: isinstance(shown, list) and all(isinstance(x, list) for x in shown),
        SequenceType: isinstance(shown, list),
    }[type(kind)]
    if right:
        try:
            return instance.read(kind, shown)
        except ValueError as error:
            raise line.error(f"{where}: {error}", *where.split(".")) from None
    match kind:
        case SetOf(sort):
            advice = f"a list of names of {sort.name}"
        case Relation(sorts):
            advice = f"a list with a list of names ({', '.join(sort.name for sort in sorts)}) for each tuple"
        case Function(sorts):
            names = ", ".join(sort.name for sort in sorts)
            advice = f"a list with [{f'[{names}]' if len(sorts) > 1 else names}, value] for each entry"
        case SequenceType(of):
            advice = f"a list of its items, each {of}"
        case Ref(sort):
            names = f"a name of {sort.name} ({listed(instance, sort.name)})"
            advice = names if where.startswith("parameters.") else f"{names} or null"
        case Integer(low):
            advice = "a whole number" if low is None else f"a whole number from {low}"
        case _:
            advice = f"a value of {kind}"
    raise line.error(f"{where}: {shown!r:.60} does not fit; write {advice}", *where.split("."))


def _is_tuple(kind: Type, shown: object) -> bool:
    """Whether a value has the form of a tuple of a relation: a name for each of its sorts."""
    fits = isinstance(kind, Relation) and isinstance(shown, list) and len(shown) == len(kind.sorts)
    return fits and isinstance(shown, list) and all(isinstance(name, str) for name in shown)


def read_state(instance: Instance, state: Mapping[str, Any], line: Line, where: str = "state") -> dict[int, int]:
    """The observed part of the state: slot -> value.

    Raises:
        TraceError: unknown names, or values of the wrong type.
    """
    slots: dict[int, int] = {}
    machines = {m.sort.name: m for m in instance.model.machines}
    for sort, objects in state.items():
        if sort not in machines:
            raise line.error(f"{where} has the unknown sort {sort!r}; {choose_from(sort, machines)}", where, sort)
        names = list(instance.object_names(sort))
        attributes = {a.name: a for a in instance.attributes(sort)}
        states = [s.name for s in machines[sort].states]
        for obj, fields in objects.items():
            at = f"{where}.{sort}.{obj}"
            if obj not in names:
                raise line.error(
                    f"{where}.{sort} has the unknown object {obj!r}; choose from {listed(instance, sort)}",
                    where,
                    sort,
                    obj,
                )
            for name, value in fields.items():
                if name == "state" and states:
                    if value not in states:
                        what = "null is no state" if value is None else f"unknown state {value!r:.60}"
                        raise line.error(f"{at}.state: {what}; {choose_from(value, states)}", *at.split("."))
                    slots[instance.slot(sort) + names.index(obj)] = states.index(value)
                elif name in attributes:
                    slot = instance.slot(sort, name) + names.index(obj)
                    slots[slot] = read_value(instance, attributes[name].type, value, line, f"{at}.{name}")
                else:
                    remedy = choose_from(name, [*(["state"] if states else []), *attributes])
                    raise line.error(f"{at} has the unknown field {name!r}; {remedy}", *at.split("."), name)
    return slots


def listed(instance: Instance, sort: str) -> str:
    return ", ".join(instance.object_names(sort)) or "none so far"
