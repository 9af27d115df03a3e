"""States and steps in terms of objects' names, for a run in which objects come and go: their numbers change, their names do not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from schedproof.model.lang import Model
from schedproof.model.lang.types import Ref, SetOf, Type
from schedproof.model.semantics import Choice, State
from schedproof.proofs.traces.engine.objects import ObjectMap

from .data import Encoded, FieldPlace, SortWords, Vocabulary
from .vocabulary import encoded, types_of, value_type

NamedValue = int | str | None | frozenset[str]
"""A value in which an object is its name; None is no object."""

Key = tuple[str, str]
"""The sort and the name of an object."""

Write = tuple[Key, str, NamedValue]
"""An object, one of its fields ("" is its state), and the value."""


def named(objects: ObjectMap, kind: Type, value: int) -> NamedValue:
    """An encoded value with the names of objects."""
    match kind:
        case Ref(sort):
            return objects.names[sort.name][value] if value >= 0 else None
        case SetOf(sort):
            names = objects.names[sort.name]
            return frozenset(names[n] for n in range(value.bit_length()) if value >> n & 1)
    return value


def fields_of(objects: ObjectMap, state: State, sort: str, number: int) -> Iterator[tuple[str, NamedValue]]:
    """The fields of an object in a state; the field "" is its state."""
    machine, instance = objects.model.machine(sort), objects.instance
    if machine.states:
        yield "", state[instance.slot(sort) + number]
    for attribute in instance.attributes(sort):
        value = state[instance.slot(sort, attribute.name) + number]
        yield attribute.name, named(objects, attribute.type, value)


def writes(objects: ObjectMap, before: State, after: State, keys: Iterable[Key]) -> tuple[Write, ...]:
    """The fields of some objects that differ in two states, with the values of the second."""
    changed = []
    for sort, name in keys:
        number = objects.number(sort, name)
        old = dict(fields_of(objects, before, sort, number))
        new = fields_of(objects, after, sort, number)
        changed += [((sort, name), field, value) for field, value in new if old[field] != value]
    return tuple(changed)


@dataclass(frozen=True)
class NamedParameters:
    """Parameters of an action or an event: name -> (type, value)."""

    values: Mapping[str, tuple[Type, NamedValue]]

    @staticmethod
    def of_choice(objects: ObjectMap, choice: Choice) -> NamedParameters:
        """Those of an action."""
        types = {v.name: v.type for v in objects.model.action(choice.action).parameters}
        return NamedParameters({n: (types[n], named(objects, types[n], value)) for n, value in choice.parameters})

    @staticmethod
    def of_event(objects: ObjectMap, sort: str, event: str, values: Mapping[str, int]) -> NamedParameters:
        """Those of an event."""
        types = objects.model.machine(sort).parameters(event)
        return NamedParameters({n: (types[n], named(objects, types[n], value)) for n, value in values.items()})


NO_PARAMETERS = NamedParameters({})


class Register:
    """Numbers all objects of a run, and the fields of their states, for the expressions of a page.

    Args:
        model: the model.
        keys: the objects.
        shown: sort, name -> the name on the page.
    """

    def __init__(self, model: Model, keys: Iterable[Key], shown: Mapping[Key, str]) -> None:
        self._model, self._shown = model, shown
        self._names: dict[str, dict[str, int]] = {machine.sort.name: {} for machine in model.machines}
        for sort, name in keys:
            self._names[sort].setdefault(name, len(self._names[sort]))
        self._types: dict[tuple[str, str], Type | None] = {}
        self._slots: dict[tuple[str, str], int] = {}
        self.size = 0
        for machine in model.machines:
            sort = machine.sort.name
            changing = [a for a in machine.attributes if not a.rigid and not a.history]
            states: list[tuple[str, Type | None]] = [("", None)] if machine.states else []
            for field, kind in (*states, *((a.name, a.type) for a in changing)):
                self._types[sort, field], self._slots[sort, field] = kind, self.size
                self.size += len(self._names[sort])

    def value(self, kind: Type | None, value: NamedValue) -> Encoded:
        """A value for the page."""
        match kind:
            case Ref(sort):
                return -1 if value is None else self._number(sort.name, str(value))
            case SetOf(sort):
                assert isinstance(value, frozenset)
                return encoded(kind, sum(1 << self._number(sort.name, name) for name in value))
        assert isinstance(value, int)
        return value if kind is None else encoded(kind, value)

    def _number(self, sort: str, name: str) -> int:
        return self._names[sort][name]

    def write(self, write: Write) -> tuple[int, Encoded]:
        """A slot and its value."""
        (sort, name), field, value = write
        return self._slots[sort, field] + self._names[sort][name], self.value(self._types[sort, field], value)

    def parameters(self, given: NamedParameters) -> dict[str, Encoded]:
        """Parameters for the page."""
        return {name: self.value(kind, value) for name, (kind, value) in given.values.items()}

    def vocabulary(
        self, initial: Iterable[Write], rigid: Mapping[tuple[str, str], Mapping[str, NamedValue]]
    ) -> Vocabulary:
        """What expressions may read.

        Args:
            initial: the fields of each object at first.
            rigid: (sort, attribute) -> name of an object -> value.
        """
        state: list[Encoded] = [0] * self.size
        for slot, value in map(self.write, initial):
            state[slot] = value
        model = self._model
        sorts = {machine.sort.name: self._words(machine.sort.name, rigid) for machine in model.machines}
        return Vocabulary(sorts, {a.name: types_of(a.parameters) for a in model.actions}, tuple(state))

    def _words(self, sort: str, rigid: Mapping[tuple[str, str], Mapping[str, NamedValue]]) -> SortWords:
        machine = self._model.machine(sort)
        places = {}
        for attribute in machine.attributes:
            kind = value_type(attribute.type)
            if (sort, attribute.name) in self._slots:
                places[attribute.name] = FieldPlace(kind, slot=self._slots[sort, attribute.name])
            elif (known := rigid.get((sort, attribute.name))) is not None:
                values = tuple(self.value(attribute.type, known[name]) for name in self._names[sort])
                places[attribute.name] = FieldPlace(kind, values=values)
        return SortWords(
            machine.sort.short,
            tuple(self._shown[sort, name] for name in self._names[sort]),
            tuple(state.name for state in machine.states),
            self._slots.get((sort, ""), 0),
            places,
            {
                event: {n: value_type(kind) for n, kind in machine.parameters(event).items()}
                for event in dict.fromkeys(row.event for row in self._model.table(machine.sort))
            },
        )
