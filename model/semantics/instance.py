"""A model with finitely many objects: its state layout, initial state and names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from schedproof.model.errors import SchedproofError, require, shown
from schedproof.model.lang.check import checked
from schedproof.model.lang.disposable import least
from schedproof.model.lang.errors import ModelError
from schedproof.model.lang.machine import Attribute
from schedproof.model.lang.model import MOST_OBJECTS, Model, Rigid, RigidValue
from schedproof.model.lang.terms import Value
from schedproof.model.lang.types import (
    BoolType,
    EnumType,
    Function,
    Integer,
    IntRange,
    Ref,
    Relation,
    SetOf,
    Sort,
    Type,
)
from schedproof.model.lang.types import Sequence as SequenceType

from . import functions, sequences, tuples

State = tuple[int, ...]
"""A state: one small number per slot.

States and enumeration values are their positions, booleans 0 or 1, references the object's number or -1, sets a bit
mask of object numbers, relations a bit mask of numbers of tuples (:mod:`.tuples`), functions some bits for each tuple
(:mod:`.functions`), sequences some bits for each item (:mod:`.sequences`).
"""

NO_OBJECT = -1


class ScopeError(SchedproofError, ValueError):
    """A scope names an unknown sort or an impossible number of objects."""


def scope_text(sizes: Mapping[str, int]) -> str:
    """``PodGroup=3,Cell=3``: sort names with their numbers of objects, as in options and verdicts."""
    return ",".join(f"{sort}={n}" for sort, n in sizes.items())


def check_scope(model: Model, scope: Mapping[str, int]) -> dict[str, int]:
    """The complete scope: ``scope`` over the model's default.

    Raises:
        ArgumentError: the scope is not a dictionary, or a number is not an integer.
        ScopeError: unknown sort, or a number outside 1..64.
    """
    known = [s.name for s in checked(model).sorts]
    require("scope", scope, Mapping, f"a dictionary, for example {dict.fromkeys(known, 2)}")
    for sort, size in scope.items():
        require("a sort of the scope", sort, str, f"its name, for example {dict.fromkeys(known, 2)}")
        if sort not in known:
            raise ScopeError(f"unknown sort {sort!r} in the scope; choose from {', '.join(known)}")
        require(f"the number of objects of {sort}", size, int, f"a whole number, for example {{{sort!r}: 2}}")
        if not 1 <= size <= MOST_OBJECTS:
            raise ScopeError(f"scope {sort}={size} cannot be explored; write a number from 1 to {MOST_OBJECTS}")
        few = least(model.actions, model.machine(sort).sort)
        if size < few:
            raise ScopeError(f"scope {sort}={size} leaves no {sort} for the next one; write at least {sort}={few}")
        if size > 1 and model.machine(sort).sort.single:
            raise ScopeError(f"scope {sort}={size}: the model has exactly one {sort}; leave it out of the scope")
    return {
        sort.name: scope.get(sort.name, model.default_scope.get(sort.name, least(model.actions, sort)))
        for sort in model.sorts
    }


@dataclass(frozen=True)
class Instance:
    """``model`` with ``sizes`` objects per sort and the rigid attributes ``rigid``.

    Args:
        with_history: keeps history attributes in the state.
        history: the history attributes to keep, by sort and attribute, if not all (a *slice*).
        rigid_in_state: puts the rigid attributes at the end of the state, so that configurations of one size share
            their steps.
    """

    model: Model
    sizes: Mapping[str, int]
    rigid: Rigid = field(default_factory=dict)
    with_history: bool = False
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    history: frozenset[tuple[str, str]] | None = None
    rigid_in_state: bool = False

    def __post_init__(self) -> None:
        checked(self.model)
        slots: dict[tuple[str, str], int] = {}
        width = 0
        for machine in self.model.machines:
            fields = ([""] if machine.states else []) + [a.name for a in self.attributes(machine.sort.name)]
            for name in fields:
                slots[machine.sort.name, name] = width
                width += self.sizes[machine.sort.name]
        for sort, name in self.model.rigid_attributes if self.rigid_in_state else ():
            slots[sort, name] = width
            width += self.sizes[sort]
        for (sort, name), values in self.rigid.items():
            self._check_rigid(sort, name, values)
        object.__setattr__(self, "_slots", slots)
        object.__setattr__(self, "width", width)

    width: int = field(init=False, default=0)

    def _check_rigid(self, sort: str, name: str, values: Sequence[RigidValue]) -> None:
        """Refuses rigid attributes whose values are not one of the attribute's type for each object."""
        known = [s.name for s in self.model.sorts]
        attribute = self.model.machine(sort).attribute(name) if sort in known else None
        if attribute is None or not attribute.rigid:
            raise ScopeError(
                f"a configuration of {self.model.system} gives {sort}.{name}, which is not a rigid attribute; leave it out"
            )
        if len(values) != self.sizes[sort]:
            raise ScopeError(
                f"a configuration gives {len(values)} values of {sort}.{name} to {self.sizes[sort]} objects; give one for each"
            )
        for value in values:
            if not self._is_value(attribute.type, value):
                raise ScopeError(
                    f"a configuration gives {sort}.{name} the value {value!r}; give a value of {attribute.type}"
                )

    def _is_object(self, sort: Sort, value: object) -> bool:
        """Whether a value is the number of an object: not -1, which encodes none, and would be another tuple."""
        return value is not None and value != NO_OBJECT and self._is_value(Ref(sort), value)

    def _is_value(self, kind: Type, value: object) -> bool:
        """Whether a configuration may give an attribute of a type this value."""
        if isinstance(value, bool) and not isinstance(kind, BoolType):  # True is 1 in Python
            return False
        if isinstance(kind, SetOf):
            return isinstance(value, frozenset) and all(self._is_object(kind.sort, i) for i in value)
        if isinstance(kind, Relation):
            return isinstance(value, frozenset) and all(
                isinstance(each, tuple)
                and len(each) == len(kind.sorts)
                and all(self._is_object(s, i) for s, i in zip(kind.sorts, each, strict=True))
                for each in value
            )
        if isinstance(kind, Function):
            return isinstance(value, Mapping) and all(
                len(each := _tuple_of(key)) == len(kind.sorts)
                and all(self._is_object(s, i) for s, i in zip(kind.sorts, each, strict=True))
                and self._is_value(kind.to, to)
                and (not isinstance(kind.to, Integer) or functions.fits(int(to)))
                for key, to in value.items()
            )
        if isinstance(kind, SequenceType):
            return isinstance(value, tuple) and all(self._is_value(kind.of, item) for item in value)
        if isinstance(value, frozenset | Mapping | tuple):
            return False
        try:
            number = encode(kind, value)
        except ValueError:
            return False
        if isinstance(kind, Integer):
            return number in kind
        return (number == NO_OBJECT and isinstance(kind, Ref)) or number in self.domain(kind)

    def attributes(self, sort: str) -> tuple[Attribute, ...]:
        """The attributes of a sort that are part of the state."""
        return self._attributes[sort]

    @cached_property
    def _attributes(self) -> dict[str, tuple[Attribute, ...]]:
        return {
            machine.sort.name: tuple(a for a in machine.attributes if not a.rigid and self._keeps(machine.sort.name, a))
            for machine in self.model.machines
        }

    def _keeps(self, sort: str, attribute: Attribute) -> bool:
        """True if a changeable attribute is part of the state."""
        chosen = self.history is None or (sort, attribute.name) in self.history
        return not attribute.history or (self.with_history and chosen)

    @cached_property
    def unsliced(self) -> Instance:
        """The instance with all history attributes; this one if it is not sliced."""
        return self if self.history is None else replace(self, history=None)

    @property
    def layout(self) -> Sequence[tuple[str, str]]:
        """What a state has of each object, in the order of its slots: (sort, attribute), or (sort, "") for the machine's state."""
        return list(self._slots)  # type: ignore[attr-defined]

    def slot(self, sort: str, attribute: str = "") -> int:
        """The first slot of an attribute's values ("" for the machine's state); one slot per object."""
        return int(self._slots[sort, attribute])  # type: ignore[attr-defined]

    def object_names(self, sort: str) -> Sequence[str]:
        """The names of the objects of a sort."""
        short = self.model.machine(sort).sort.short
        return self.names.get(sort) or [f"{short}{i}" for i in range(self.sizes[sort])]

    def rigid_values(self, sort: str, attribute: Attribute) -> list[int]:
        """A rigid attribute's value for each object, encoded as in a state."""
        key = (sort, attribute.name)
        if key not in self._rigid_values:
            given = self.rigid.get(key)
            self._rigid_values[key] = (
                [self.default(attribute)] * self.sizes[sort]
                if given is None
                else [self.encoded(attribute.type, value) for value in given]
            )
        return self._rigid_values[key]

    def encoded(self, kind: Type, value: object) -> int:
        """A value as a configuration writes it, encoded as in a state.

        Raises:
            ValueError: ``value`` is not of type ``kind``.
        """
        if isinstance(kind, Relation) and isinstance(value, frozenset):
            return tuples.encoded(value, self.dimensions(kind))
        if isinstance(kind, Function) and isinstance(value, Mapping):
            packing, number = self.packing(kind), 0
            for key, to in value.items():
                number = packing.put(number, tuples.number(_tuple_of(key), packing.dimensions), encode(kind.to, to))
            return number
        if isinstance(kind, SequenceType) and isinstance(value, tuple):
            return self.items(kind).of([encode(kind.of, item) for item in value])
        return encode(kind, value)

    def decoded(self, kind: Type, value: int) -> RigidValue:
        """The value as a configuration writes it: the inverse of :meth:`encoded`."""
        match kind:
            case Ref():
                return None if value == NO_OBJECT else value
            case SetOf():
                return frozenset(n for n in range(value.bit_length()) if value >> n & 1)
            case Relation():
                return tuples.decoded(value, self.dimensions(kind))
            case Function():
                packing = self.packing(kind)
                return {
                    objects if len(objects) > 1 else objects[0]: self._one_decoded(kind.to, to)
                    for objects, to in zip(packing.places(), packing.all(value), strict=True)
                }
            case SequenceType(of):
                return tuple([self._one_decoded(of, item) for item in self.items(kind).all(value)])
            case EnumType(values):
                return values[value]
            case BoolType():
                return bool(value)
            case IntRange() | Integer():
                return value

    def _one_decoded(self, kind: Type, value: int) -> Value | None:
        decoded = self.decoded(kind, value)
        assert not isinstance(decoded, frozenset | Mapping | tuple)
        return decoded

    def dimensions(self, kind: Relation | Function) -> tuple[int, ...]:
        """The numbers of objects of the sorts of a relation, or of the arguments of a function."""
        return tuple([self.sizes[sort.name] for sort in kind.sorts])

    def packing(self, kind: Function) -> functions.Packing:
        """How functions of a type are numbers."""
        return functions.packing(kind, self.sizes)

    def items(self, kind: SequenceType) -> sequences.Items:
        """How sequences of a type are numbers."""
        return sequences.items(kind, self.sizes)

    @cached_property
    def _rigid_values(self) -> dict[tuple[str, str], list[int]]:
        return {}

    @staticmethod
    def default(attribute: Attribute) -> int:
        """The initial value of an attribute."""
        if attribute.initial is not None:
            return encode(attribute.type, attribute.initial)
        match attribute.type:
            case Ref():
                return NO_OBJECT
            case IntRange(low, _):
                return low
            case Integer(low):
                return low or 0
            case _:
                return 0

    def initial(self) -> State:
        """The initial state."""
        return self._initial

    @cached_property
    def _initial(self) -> State:
        state = [0] * self.width
        for machine in self.model.machines:
            sort = machine.sort.name
            for position, other in enumerate(machine.states):
                begins = machine.attribute(other.begins)
                for n, begins_here in enumerate(self.rigid_values(sort, begins) if begins is not None else []):
                    if begins_here:
                        state[self.slot(sort) + n] = position
            for attribute in self.attributes(sort):
                start = self.slot(sort, attribute.name)
                state[start : start + self.sizes[sort]] = [self.default(attribute)] * self.sizes[sort]
        for (sort, name), attribute in self.model.rigid_attributes.items() if self.rigid_in_state else ():
            start = self.slot(sort, name)
            state[start : start + self.sizes[sort]] = self.rigid_values(sort, attribute)
        return tuple(state)

    def domain(self, kind: Type) -> Sequence[int]:
        """All values of a type, encoded.

        Raises:
            TypeError: the type has integers without a bound; see :mod:`.bounds`.
        """
        match kind:
            case Integer():
                raise TypeError(f"{kind} has no finite domain")
            case Ref(sort):
                return range(self.sizes[sort.name])
            case SetOf(sort):
                return range(1 << self.sizes[sort.name])
            case Relation():
                return range(1 << tuples.number_of(self.dimensions(kind)))
            case Function() | SequenceType():
                raise TypeError(f"no term tries every {kind}")
            case IntRange(low, high):
                return range(low, high + 1)
            case EnumType(values):
                return range(len(values))
            case BoolType():
                return (0, 1)

    def show(self, kind: Type, value: int) -> object:
        """A value of ``kind`` as a reader sees it: names, None, lists of names or of tuples of names, numbers."""
        match kind:
            case Ref(sort):
                return None if value == NO_OBJECT else self.object_names(sort.name)[value]
            case SetOf(sort):
                return [n for i, n in enumerate(self.object_names(sort.name)) if value >> i & 1]
            case Relation(sorts):
                names = [self.object_names(sort.name) for sort in sorts]
                return [
                    tuples.Names(of[i] for of, i in zip(names, each, strict=True))
                    for each in tuples.of_mask(value, self.dimensions(kind))
                ]
            case Function(sorts, to):
                names, packing = [self.object_names(sort.name) for sort in sorts], self.packing(kind)
                first = packing.value(0)
                return [
                    functions.Entry((self._named(names, objects), self.show(to, one)))
                    for objects, one in zip(packing.places(), packing.all(value), strict=True)
                    if one != first
                ]
            case SequenceType(of):
                return sequences.Shown(self.show(of, item) for item in self.items(kind).all(value))
            case EnumType(values):
                return values[value]
            case BoolType():
                return bool(value)
            case IntRange() | Integer():
                return value

    @staticmethod
    def _named(names: Sequence[Sequence[str]], objects: Sequence[int]) -> object:
        """The name of an object, or those of several."""
        listed = tuples.Names(of[i] for of, i in zip(names, objects, strict=True))
        return listed if len(listed) > 1 else listed[0]

    def read(self, kind: Type, shown: object) -> int:
        """The inverse of :meth:`show`.

        Raises:
            ValueError: ``shown`` is not a value of ``kind``.
        """
        match kind:
            case Ref(sort):
                if shown is None:
                    return NO_OBJECT
                names = list(self.object_names(sort.name))
                if shown not in names:
                    raise ValueError(f"unknown {sort.name} {shown!r}; choose from {', '.join(names)}")
                return names.index(str(shown))
            case SetOf(sort):
                if not isinstance(shown, list | tuple | set | frozenset):
                    raise ValueError(f"{shown!r} is not a list; write a list of names of {sort.name}")
                return sum(1 << self.read(Ref(sort), name) for name in set(shown))
            case Relation(sorts):
                return tuples.encoded(self._read_tuples(sorts, shown), self.dimensions(kind))
            case Function():
                return self._read_function(kind, shown)
            case SequenceType(of):
                return self._read_items(kind, of, shown)
            case _:
                if isinstance(shown, bool) is not isinstance(kind, BoolType):  # True is 1 in Python
                    raise ValueError(f"{shown!r} is not a value of type {kind}")
                value = encode(kind, shown)
                if value not in (kind if isinstance(kind, Integer) else self.domain(kind)):
                    raise ValueError(f"{shown!r} is not a value of type {kind}")
                return value

    def _read_tuples(self, sorts: Sequence[Sort], shown: object) -> frozenset[tuple[int, ...]]:
        """The object numbers of shown tuples of names.

        Raises:
            ValueError: ``shown`` is not a list of such tuples.
        """
        listed = ", ".join(sort.name for sort in sorts)
        if not isinstance(shown, list | tuple | set | frozenset):
            raise ValueError(f"{shown!r} is not a list; write a list with a list of names ({listed}) for each tuple")
        read = set()
        for each in shown:
            if not isinstance(each, list | tuple) or len(each) != len(sorts) or None in each:
                raise ValueError(f"{each!r} is not a tuple of the relation; write a list of names ({listed})")
            read.add(tuple([self.read(Ref(sort), name) for sort, name in zip(sorts, each, strict=True)]))
        return frozenset(read)

    def _read_function(self, kind: Function, shown: object) -> int:
        """The function of shown entries; where there is none, it has the first value of its type.

        Raises:
            ValueError: ``shown`` is not a list of entries, or two are for the same objects.
        """
        listed = ", ".join(sort.name for sort in kind.sorts)
        example = f"[{listed}, value]" if len(kind.sorts) == 1 else f"[[{listed}], value]"
        if not isinstance(shown, list | tuple):
            raise ValueError(f"{shown!r} is not a list; write a list with {example} for each entry")
        packing, number, seen = self.packing(kind), 0, set()
        for each in shown:
            if not isinstance(each, list | tuple) or len(each) != 2:
                raise ValueError(f"{each!r} is not an entry of the function; write {example}")
            names = each[0] if len(kind.sorts) > 1 else [each[0]]
            if not isinstance(names, list | tuple) or len(names) != len(kind.sorts) or None in names:
                raise ValueError(f"{each!r} is not an entry of the function; write {example}")
            objects = [self.read(Ref(sort), name) for sort, name in zip(kind.sorts, names, strict=True)]
            place = tuples.number(objects, packing.dimensions)
            if place in seen:
                raise ValueError(f"{each!r} is a second entry for the same objects; write one")
            seen.add(place)
            try:
                number = packing.put(number, place, self.read(kind.to, each[1]))
            except OverflowError as error:
                raise ValueError(str(error)) from None
        return number

    def _read_items(self, kind: SequenceType, of: Type, shown: object) -> int:
        """The sequence of shown items.

        Raises:
            ValueError: ``shown`` is not a list of values of the type of its items.
        """
        if not isinstance(shown, list | tuple):
            raise ValueError(f"{shown!r} is not a list; write a list with each item, the first one first")
        try:
            return self.items(kind).of([self.read(of, item) for item in shown])
        except OverflowError as error:
            raise ValueError(str(error)) from None

    def describe(self, state: State) -> dict[str, dict[str, dict[str, object]]]:
        """A state as nested dictionaries: sort -> object -> field -> value ("state" for the state)."""
        by_sort: dict[str, dict[str, dict[str, object]]] = {}
        for machine in self.model.machines:
            sort = machine.sort.name
            for i, name in enumerate(self.object_names(sort)):
                by_sort.setdefault(sort, {})[name] = self.fields(state, sort, i)
        return by_sort

    def fields(self, state: State, sort: str, number: int) -> dict[str, object]:
        """The fields of one object in a state: field -> value ("state" for the state)."""
        machine, fields = self.model.machine(sort), dict[str, object]()
        if machine.states:
            fields["state"] = machine.states[state[self.slot(sort) + number]].name
        for attribute in self.attributes(sort):
            fields[attribute.name] = self.show(attribute.type, state[self.slot(sort, attribute.name) + number])
        return fields


def encode(kind: Type, value: object) -> int:
    """A Python value, encoded as in a slot of the state.

    Raises:
        ValueError: ``value`` is not of type ``kind``.
    """
    if value is None:
        return NO_OBJECT
    if isinstance(value, frozenset):
        return sum(1 << i for i in value)
    if isinstance(kind, EnumType):
        if value not in kind.values:
            raise ValueError(f"{value!r} is not a value of type {kind}")
        return kind.values.index(str(value))
    if isinstance(value, bool | int):
        return int(value)
    raise ValueError(f"{value!r} is not a value of type {kind}")


def _tuple_of(key: int | tuple[int, ...]) -> tuple[int, ...]:
    """The objects of an entry of a rigid function, whose key is a number or a tuple of numbers."""
    return key if isinstance(key, tuple) else (key,)


def domain_size(domain: Sequence[int]) -> int:
    """The number of values. ``len`` fails for the ranges of large set types."""
    return domain.stop - domain.start if isinstance(domain, range) else len(domain)


def configurations(model: Model, sizes: Mapping[str, int]) -> list[Rigid]:
    """The configurations that the model declares for these numbers of objects.

    Raises:
        ModelError: the model's function returns something else.
    """
    element, declared = f"variant {model.variant}", model.configurations(sizes)
    if isinstance(declared, Iterable) and not isinstance(declared, Mapping):
        each = list(declared)
        if (wrong := next((entry for one in each for entry in _wrong_entries(one)), None)) is not None:
            problem = f"a configuration {wrong}"
            remedy = (
                'write (sort, attribute) and a value for each object, for example {("Job", "urgent"): [True, False]}'
            )
            raise ModelError(element, model.place, problem, remedy, name="configurations")
        return each
    problem = f"configurations returns {shown(declared)}, not a list"
    raise ModelError(element, model.place, problem, "return a list of configurations, or yield them")


def _wrong_entries(rigid: object) -> Iterator[str]:
    """What is not of the form of a configuration, in words. Whether the model has what it names, ``Instance`` checks."""
    if not isinstance(rigid, Mapping):
        yield f"is {shown(rigid)}, not a dictionary"
        return
    for key, values in rigid.items():
        if not (isinstance(key, tuple) and len(key) == 2):
            yield f"has the key {shown(key)}"
        elif not isinstance(values, Sequence):
            yield f"has {shown(values)} for {key[0]}.{key[1]}"


def instances(model: Model, scope: Mapping[str, int], *, with_history: bool = False) -> Iterator[Instance]:
    """One instance for each configuration that the model declares at this scope."""
    sizes = check_scope(model, scope)
    for rigid in configurations(model, sizes):
        yield Instance(model, fitted(sizes, rigid), rigid, with_history)


def instance_with(model: Model, rigid: Rigid) -> Instance:
    """The instance with as many objects of each sort as ``rigid`` gives values to, and one of every other sort."""
    sizes = {sort.name: 1 for sort in model.sorts} | {sort: len(values) for (sort, _), values in rigid.items()}
    return Instance(model, sizes, rigid)


def fitted(sizes: Mapping[str, int], rigid: Rigid) -> dict[str, int]:
    """The numbers of objects of a configuration: ``sizes``, or fewer where ``rigid`` gives fewer values."""
    given = {sort: len(values) for (sort, _), values in rigid.items()}
    return {sort: min(size, given.get(sort, size)) for sort, size in sizes.items()}
