"""Translates between running objects, which use names, and the model's terms, which use numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from schedproof.model.lang import BoolType, EnumType, Function, Integer, IntRange, Ref, Relation, SetOf, Type
from schedproof.model.lang.types import Sequence as SequenceType
from schedproof.model.semantics import tuples
from schedproof.model.semantics.instance import NO_OBJECT, Instance, State, encode

from .machines import ObjectMachine
from .values import checked


class Codec:
    """Translates names to numbers and back, for the objects of one instance."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._names = {s.name: list(instance.object_names(s.name)) for s in instance.model.sorts}
        self._states = {m.sort.name: {s.name: i for i, s in enumerate(m.states)} for m in instance.model.machines}
        self._columns = {
            s.name: [(a.type, a.name, instance.slot(s.name, a.name)) for a in instance.attributes(s.name)]
            for s in instance.model.sorts
        }
        self._initial = instance.initial()
        self._numbers = {sort: {name: i for i, name in enumerate(names)} for sort, names in self._names.items()}

    def number(self, sort: str, name: object) -> int:
        """The number of the object of ``sort`` named ``name``.

        Raises:
            ValueError: there is none.
        """
        object_number = self._numbers[sort].get(name) if isinstance(name, str) else None
        if object_number is None:
            raise ValueError(f"unknown {sort} {name!r}; choose from {', '.join(self._names[sort])}")
        return object_number

    def encode(self, kind: Type, value: object) -> int:
        """A value of type ``kind``, encoded for terms.

        Raises:
            ValueError: it names an object that does not exist.
        """
        match kind:
            case Ref(sort):
                return NO_OBJECT if value is None else self.number(sort.name, value)
            case SetOf(sort):
                assert isinstance(value, frozenset)
                return sum(1 << self.number(sort.name, name) for name in value)
            case Relation(sorts):
                assert isinstance(value, frozenset)
                numbered = [
                    [self.number(sort.name, name) for sort, name in zip(sorts, each, strict=True)] for each in value
                ]
                return tuples.encoded(numbered, self._instance.dimensions(kind))
            case Function(sorts, to):
                assert isinstance(value, Mapping)
                packing, number = self._instance.packing(kind), 0
                for key, each in value.items():
                    names = key if isinstance(key, tuple) else (key,)
                    objects = [self.number(sort.name, name) for sort, name in zip(sorts, names, strict=True)]
                    number = packing.put(number, tuples.number(objects, packing.dimensions), self.encode(to, each))
                return number
            case SequenceType(of):
                assert isinstance(value, tuple)
                return self._instance.items(kind).of([self.encode(of, item) for item in value])
        return encode(kind, value)

    def decode(self, kind: Type, value: int) -> object:
        """The inverse of :meth:`encode`."""
        match kind:
            case Ref(sort):
                return None if value == NO_OBJECT else self._names[sort.name][value]
            case SetOf(sort):
                return frozenset(n for i, n in enumerate(self._names[sort.name]) if value >> i & 1)
            case Relation(sorts):
                return frozenset(
                    tuple([self._names[sort.name][i] for sort, i in zip(sorts, each, strict=True)])
                    for each in tuples.of_mask(value, self._instance.dimensions(kind))
                )
            case Function(sorts, to):
                packing = self._instance.packing(kind)
                entries = {}
                for objects, each in zip(packing.places(), packing.all(value), strict=True):
                    names = tuple([self._names[sort.name][i] for sort, i in zip(sorts, objects, strict=True)])
                    if each != packing.value(0):  # what is left out has the first value
                        entries[names if len(names) > 1 else names[0]] = self.decode(to, each)
                return entries
            case SequenceType(of):
                return tuple([self.decode(of, item) for item in self._instance.items(kind).all(value)])
            case EnumType(values):
                return values[value]
            case BoolType():
                return bool(value)
            case IntRange() | Integer():
                return value

    def pack(self, objects: Mapping[str, Sequence[ObjectMachine]]) -> State:
        """The state of a system, packed for terms; ``objects`` are by sort, in the instance's order."""
        state = list(self._initial)
        for sort, members in objects.items():
            numbers, columns, first = self._states[sort], self._columns[sort], self._instance.slot(sort)
            for i, it in enumerate(members):
                state[first + i] = numbers[it.state]
                values = it.values
                for kind, name, slot in columns:
                    state[slot + i] = self.encode(kind, values[name])
        return tuple(state)

    def choice(self, action: str, parameters: Mapping[str, object]) -> dict[str, int]:
        """The parameters of an action, checked and encoded.

        Raises:
            ValueError: unknown action; unknown, missing or wrong parameter.
        """
        model = self._instance.model
        if all(a.name != action for a in model.actions):
            names = ", ".join(a.name for a in model.actions)
            raise ValueError(f"unknown action {action!r}; choose from {names}")
        parameter_types = {v.name: v.type for v in model.action(action).parameters}
        for name in parameters:
            if name not in parameter_types:
                raise ValueError(
                    f"unknown parameter {name!r} of {action}; choose from {', '.join(parameter_types) or 'none'}"
                )
        encoded = {}
        for name, kind in parameter_types.items():
            if name not in parameters:
                raise ValueError(f"{action} needs its parameter {name}, of type {kind}: do({action!r}, {name}=...)")
            value = checked(kind, parameters[name], f"{action}: parameter {name}")
            if isinstance(kind, Ref) and value is None:
                raise ValueError(f"{action}: parameter {name}: name a {kind.sort}, not None")
            try:
                encoded[name] = self.encode(kind, value)
            except ValueError as problem:
                raise ValueError(f"{action}: parameter {name}: {problem}") from None
        return encoded

    def payload(self, sort: str, event: str, payload: Mapping[str, int]) -> dict[str, object]:
        """The parameters of an object's event, decoded."""
        kinds = self._instance.model.machine(sort).parameters(event)
        return {name: self.decode(kinds[name], value) for name, value in payload.items()}

    def show(self, action: str, parameters: Mapping[str, int]) -> str:
        """An action as a reader writes it: ``preempt(p=g1, K={c0, c1})``."""
        kinds = {v.name: v.type for v in self._instance.model.action(action).parameters}
        shown = {name: self.decode(kinds[name], value) for name, value in parameters.items()}
        text = [f"{n}={{{', '.join(sorted(v))}}}" if isinstance(v, frozenset) else f"{n}={v}" for n, v in shown.items()]
        return f"{action}({', '.join(text)})"
