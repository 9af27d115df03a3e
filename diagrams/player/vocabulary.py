"""What formulas over a run may read, and the values of states as the page's script reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from schedproof.model.lang import Machine, Var
from schedproof.model.lang.types import BoolType, EnumType, Function, Integer, IntRange, Ref, Relation, SetOf, Type
from schedproof.model.lang.types import Sequence as SequenceType
from schedproof.model.semantics import Choice, Instance, State

from .data import Encoded, FieldPlace, SortWords, ValueType, Vocabulary

EXACT = (1 << 53) - 1
"""The page's script reads numbers from -EXACT to EXACT exactly. Others are texts."""


def encoded(kind: Type, value: int) -> Encoded:
    """A value of a type, for the page."""
    return str(value) if isinstance(kind, SetOf) or abs(value) > EXACT else value


class Encoder:
    """Encodes the states and choices of an instance for the page."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._sets = frozenset(
            instance.slot(sort, attribute.name) + n
            for sort, size in instance.sizes.items()
            for attribute in instance.attributes(sort)
            if isinstance(attribute.type, SetOf)
            for n in range(size)
        )

    def state(self, state: State) -> tuple[Encoded, ...]:
        """A whole state."""
        return tuple(self._value(slot, value) for slot, value in enumerate(state))

    def writes(self, before: State, after: State) -> tuple[tuple[int, Encoded], ...]:
        """The slots in which two states differ, with the values of the second."""
        return tuple(
            (slot, self._value(slot, new))
            for slot, (old, new) in enumerate(zip(before, after, strict=True))
            if old != new
        )

    def parameters(self, choice: Choice) -> dict[str, Encoded]:
        """The parameters of a choice, by name."""
        types = {v.name: v.type for v in self._instance.model.action(choice.action).parameters}
        return {name: encoded(types[name], value) for name, value in choice.parameters}

    def payload(self, sort: str, event: str, values: Mapping[str, int]) -> dict[str, Encoded]:
        """The parameters of an event, by name."""
        types = self._instance.model.machine(sort).parameters(event)
        return {name: encoded(types[name], value) for name, value in values.items()}

    def _value(self, slot: int, value: int) -> Encoded:
        return str(value) if slot in self._sets or abs(value) > EXACT else value


def vocabulary(instance: Instance) -> Vocabulary:
    """What formulas over the runs of an instance may read."""
    model = instance.model
    return Vocabulary(
        {machine.sort.name: _sort(instance, machine) for machine in model.machines},
        {action.name: types_of(action.parameters) for action in model.actions},
        Encoder(instance).state(instance.initial()),
    )


def _sort(instance: Instance, machine: Machine) -> SortWords:
    name = machine.sort.name
    events = dict.fromkeys(row.event for row in instance.model.table(machine.sort))
    return SortWords(
        machine.sort.short,
        tuple(instance.object_names(name)),
        tuple(state.name for state in machine.states),
        instance.slot(name) if machine.states else 0,
        dict(_fields(instance, machine)),
        {event: {n: value_type(kind) for n, kind in machine.parameters(event).items()} for event in events},
    )


def _fields(instance: Instance, machine: Machine) -> Iterator[tuple[str, FieldPlace]]:
    name = machine.sort.name
    in_state = {attribute.name for attribute in instance.attributes(name)}
    for attribute in machine.attributes:
        if isinstance(attribute.type, Relation | Function | SequenceType):
            continue  # the page has no values of these types
        kind = value_type(attribute.type)
        if attribute.name in in_state:
            yield attribute.name, FieldPlace(kind, slot=instance.slot(name, attribute.name))
        elif attribute.rigid:
            values = instance.rigid_values(name, attribute)
            yield attribute.name, FieldPlace(kind, values=tuple(encoded(attribute.type, value) for value in values))


def types_of(parameters: Sequence[Var]) -> dict[str, ValueType]:
    """The types of parameters, by name."""
    return {v.name: value_type(v.type) for v in parameters}


def value_type(kind: Type) -> ValueType:
    """A type, for the page."""
    match kind:
        case BoolType():
            return ValueType("bool")
        case IntRange() | Integer():
            return ValueType("int")
        case EnumType(values):
            return ValueType("enum", values=tuple(values))
        case Ref(sort):
            return ValueType("ref", sort.name)
        case SetOf(sort):
            return ValueType("set", sort.name)
        case Relation() | Function() | SequenceType():
            raise AssertionError("no variable is a relation, a function or a sequence")
