"""The fast path for records that leave nothing open: tables translate names, and steps are cached.

It answers only if the record is correct in every respect. All other records go through
:mod:`schedproof.proofs.traces.formats.records` and :mod:`.candidates`. Both ways must agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any

from schedproof.model.lang.types import BoolType, EnumType, Function, Integer, IntRange, Ref, Relation, SetOf, Type
from schedproof.model.lang.types import Sequence as SequenceType
from schedproof.model.semantics import Instance, State, functions, sequences
from schedproof.model.semantics.step import Writes

from .known_steps import KnownSteps
from .objects import ObjectMap

Codes = tuple[Mapping[Any, int], type | None]
"""The encodings of a type's values (of a set: of its elements).

The Python type is there if values of other types compare equal; else None.
"""

ARRIVALS = ("objects", "rigid")
"""The fields by which a record brings new objects."""

PLAIN = (int, bool)
"""The Python types whose values are their own codes."""

NONE_WRITTEN: Writes = []
"""What an observation writes."""

TIMES = (int, float, str)
"""The Python types of times. Other code checks that a time is valid and not before the last one."""


class _TupleBits(Mapping[Any, int]):
    """The bit of each tuple of a relation, by its list of names.

    Args:
        numbers: of each place, the numbers of its objects by name. They follow the current objects.
    """

    def __init__(self, numbers: Sequence[Mapping[Any, int]]) -> None:
        self._numbers = numbers

    def __getitem__(self, names: Any) -> int:
        if type(names) is not list or len(names) != len(self._numbers):
            raise TypeError
        number = 0
        for name, numbers in zip(names, self._numbers, strict=True):
            number = number * len(numbers) + numbers[name]
        return 1 << number

    def __iter__(self) -> Iterator[Any]:
        return (list(names) for names in product(*self._numbers))

    def __len__(self) -> int:
        return prod(map(len, self._numbers))


class _Functions(Mapping[Any, int]):
    """The codes of functions, by their lists of entries.

    Args:
        kind: the type of the functions.
        numbers: of each argument, the numbers of its objects by name. They follow the current objects.
        to: the codes of the values.
        sizes: by sort, the numbers of its objects.
    """

    def __init__(
        self, kind: Function, numbers: Sequence[Mapping[Any, int]], to: Codes, sizes: Mapping[str, Mapping[Any, int]]
    ) -> None:
        self._kind, self._numbers, self._to, self._sizes = kind, numbers, to, sizes

    def __getitem__(self, entries: Any) -> int:
        if type(entries) is not list:
            raise TypeError
        packing = functions.packing(self._kind, {sort: len(each) for sort, each in self._sizes.items()})
        number, seen = 0, set()
        for objects, value in entries:
            names = [objects] if len(self._numbers) == 1 else objects
            if len(names) != len(self._numbers) or type(names) is not list:
                raise TypeError
            place = 0
            for name, numbers in zip(names, self._numbers, strict=True):
                place = place * len(numbers) + numbers[name]
            if place in seen:
                raise KeyError(place)  # the complete check says so
            seen.add(place)
            number = packing.put(number, place, _code(value, *self._to))
        return number

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("nothing lists all functions")

    def __len__(self) -> int:
        raise TypeError("nothing counts all functions")


class _Sequences(Mapping[Any, int]):
    """The codes of sequences, by their lists of items.

    Args:
        kind: the type of the sequences.
        of: the codes of the items.
        sizes: by sort, the numbers of its objects.
    """

    def __init__(self, kind: SequenceType, of: Codes, sizes: Mapping[str, Mapping[Any, int]]) -> None:
        self._kind, self._of, self._sizes = kind, of, sizes

    def __getitem__(self, items: Any) -> int:
        if type(items) is not list:
            raise TypeError
        packing = sequences.items(self._kind, {sort: len(each) for sort, each in self._sizes.items()})
        return packing.of([_code(item, *self._of) for item in items])

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("nothing lists all sequences")

    def __len__(self) -> int:
        raise TypeError("nothing counts all sequences")


class FastPath:
    """Takes the step that a record names, if the whole record agrees with the model.

    Its tables follow the current objects. The cost of a new or an ended object is independent of the number of others.
    """

    def __init__(self, objects: ObjectMap, known: KnownSteps) -> None:
        model = objects.model
        self._numbers: dict[str, dict[Any, int]] = {sort: {} for sort in objects.names}
        self._references: dict[str, dict[Any, int]] = {sort: {None: -1} for sort in objects.names}
        self._bits: dict[str, dict[Any, int]] = {sort: {} for sort in objects.names}
        codes = {m.sort.name: {a.name: self._codes(a.type) for a in m.attributes} for m in model.machines}
        self._rigid = {(sort, name): codes[sort][name] for sort, name in model.rigid_attributes}
        self._actions = {a.name: [(v.name, *self._codes(v.type, True)) for v in a.parameters] for a in model.actions}
        self._kinds: dict[str, dict[str, tuple[str, Mapping[Any, int], type | None]]] = {}
        for machine in model.machines:
            sort = machine.sort.name
            kinds = self._kinds[sort] = {
                a.name: (a.name, *codes[sort][a.name]) for a in objects.layout.attributes(sort)
            }
            if machine.states:
                kinds["state"] = ("", {s.name: i for i, s in enumerate(machine.states)}, None)
        self._names = {sort: tuple[str, ...]() for sort in objects.names}
        self._layout: Instance | None = None
        self.enter(objects, known)

    def _codes(self, kind: Type, an_object: bool = False) -> Codes:
        """The codes of a type. ``an_object`` excludes "no object" from the values of a reference."""
        match kind:
            case SetOf(sort):
                return self._bits[sort.name], list
            case Ref(sort):
                return (self._numbers if an_object else self._references)[sort.name], None
            case Relation(sorts):
                return _TupleBits([self._numbers[sort.name] for sort in sorts]), list
            case Function(sorts, to):
                numbers = [self._numbers[sort.name] for sort in sorts]
                return _Functions(kind, numbers, self._codes(to), self._numbers), None
            case SequenceType(of):
                return _Sequences(kind, self._codes(of), self._numbers), None
            case BoolType():
                return {False: 0, True: 1}, bool
            case IntRange(low, high):
                return {value: value for value in range(low, high + 1)}, int
            case Integer():
                return _Integers(kind), int
            case EnumType(values):
                return {value: i for i, value in enumerate(values)}, None

    def enter(self, objects: ObjectMap, known: KnownSteps) -> None:
        """Switches to these objects, whose cached steps are ``known``."""
        self._known, self._rigid_state = known, objects.rigid_state
        if objects.layout is not self._layout:
            self._layout = objects.layout
            self._fields = {
                sort: {
                    field: (objects.layout.slot(sort, a), None if kind in PLAIN else codes, kind)
                    for field, (a, codes, kind) in kinds.items()
                }
                for sort, kinds in self._kinds.items()
            }
        for sort, names in objects.names.items():
            before = self._names[sort]
            if names is not before:
                self._rename(sort, before, names)
                self._names[sort] = names

    def _rename(self, sort: str, before: Sequence[str], now: Sequence[str]) -> None:
        tables = self._numbers[sort], self._references[sort], self._bits[sort]
        changed = [i for i, (old, new) in enumerate(zip(before, now, strict=False)) if old != new]
        for old in [*(before[i] for i in changed), *before[len(now) :]]:
            for table in tables:
                del table[old]
        for i in [*changed, *range(len(before), len(now))]:
            for table, code in zip(tables, (i, i, 1 << i), strict=True):
                table[now[i]] = code

    def rigid(self, given: Mapping[str, Any]) -> dict[tuple[str, str], dict[int, int]]:
        """The values that ``"rigid"`` gives: (sort, attribute) -> object number -> encoded value.

        Raises:
            KeyError, TypeError, AttributeError: a part of it is wrong.
        """
        by_attribute: dict[tuple[str, str], dict[int, int]] = {}
        for sort, attributes in given.items():
            numbers = self._numbers[sort]
            for name, values in attributes.items():
                codes, kind = self._rigid[sort, name]
                for obj, shown in values.items():
                    by_attribute.setdefault((sort, name), {})[numbers[obj]] = _code(shown, codes, kind)
        return by_attribute

    def after(self, record: Mapping[str, Any], state: State) -> State | None:
        """The state after the record's step or observation; None if the complete check must decide."""
        complete = self.completed(state)
        return tuple(complete[: len(state)]) if self.take(record, complete) is not None else None

    def completed(self, state: State) -> list[int]:
        """A state with the rigid attributes at its end."""
        return [*state, *self._rigid_state]

    def take(self, record: Mapping[str, Any], complete: list[int]) -> Writes | None:
        """Changes a state to that after the record's step or observation.

        Args:
            record: the record.
            complete: the state before, with the rigid attributes at its end.

        Returns:
            What was written. None if the complete check must decide; the state may then be a wrong one.
        """
        try:
            acts, shows, timed = "action" in record, "state" in record, "time" in record
            if not record or len(record) != 2 * acts + shows + timed:
                return None
            writes = NONE_WRITTEN
            if acts:
                name, given = record["action"], record["parameters"]
                expected = self._actions[name]
                if type(given) is not dict or len(given) != len(expected):
                    return None
                chosen = tuple(
                    [codes[given[n]] if kind is None else _code(given[n], codes, kind) for n, codes, kind in expected]
                )
                known = self._known.writes(name, chosen, complete)
                if known is None:
                    return None
                writes = known
                for slot, value in writes:
                    complete[slot] = value
            if timed and type(record["time"]) not in TIMES:
                return None
            for sort, objects in record["state"].items() if shows else ():
                numbers, fields = self._numbers[sort], self._fields[sort]
                for obj, values in objects.items():
                    number = numbers[obj]
                    for field, shown in values.items():
                        start, codes, kind = fields[field]
                        if codes is None:
                            if type(shown) is not kind or shown != complete[start + number]:
                                return None
                        elif (codes[shown] if kind is None else _code(shown, codes, kind)) != complete[start + number]:
                            return None
            return writes
        except (KeyError, TypeError, ValueError, OverflowError, AttributeError):
            return None  # something is wrong: the complete check reports what


class _Integers(dict[int, int]):
    """The codes of integers without an upper bound: each is its own. None is stored."""

    def __init__(self, kind: Integer) -> None:
        self._kind = kind

    def __missing__(self, value: int) -> int:
        if value not in self._kind:
            raise KeyError(value)
        return value


def _code(shown: Any, codes: Mapping[Any, int], kind: type | None) -> int:
    """A value, encoded as in a state.

    Raises:
        KeyError, TypeError: it is not a value of the type.
    """
    if kind is None:
        return codes[shown]
    if type(shown) is not kind:
        raise TypeError
    if not isinstance(shown, list):
        return codes[shown]
    mask = 0
    for name in shown:
        mask |= codes[name]
    return mask


def introduces(record: Mapping[str, Any]) -> bool:
    """Whether the parts of the record that bring new objects have the right types."""
    objects, rigid = record.get("objects", {}), record.get("rigid", {})
    return (
        type(objects) is dict
        and all(type(names) is list and all(type(n) is str and n for n in names) for names in objects.values())
        and all(len(set(names)) == len(names) for names in objects.values())
        and type(rigid) is dict
        and all(type(of) is dict and all(type(values) is dict for values in of.values()) for of in rigid.values())
    )
