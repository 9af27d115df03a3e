"""The objects that a trace has named so far, and their rigid attributes.

Objects come and go. A new object begins in its initial state. It gets a place of its own, or that of an object that has
ended and can be collected (:mod:`.object_gc`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from schedproof.model.lang import Model
from schedproof.model.lang.model import Rigid
from schedproof.model.lang.types import Function, Ref, Relation, SetOf, Sort, Type
from schedproof.model.lang.types import Sequence as SequenceType
from schedproof.model.lang.wording import show_term
from schedproof.model.semantics import Instance, Moment, State, compile_term, functions, sequences, tuples

MOST_OBJECTS = 1000
"""The limit for objects of one sort at one time. A trace with more is refused."""

MOST_RIGID = 4096
"""For how many values of the rigid attributes the check of the model's axioms is cached."""

Named = tuple[tuple[str, str], ...]
"""The objects at the places of a tuple, or the one object of a reference or in a set, as (sort, name)."""

RigidValues = Mapping[tuple[str, str], tuple[int, ...]]
"""Rigid attributes, encoded as in a state: (sort, attribute) -> one value per object."""


@dataclass(frozen=True)
class ObjectMap:
    """Objects with their names, by sort, and their rigid attributes, encoded as in a state.

    Attributes:
        model: the model of the trace.
        names: sort -> the names of its objects, by number.
        rigid: the rigid attributes.
        births: when each object appeared, counted by sort.
    """

    model: Model
    names: Mapping[str, tuple[str, ...]]
    rigid: RigidValues
    births: Mapping[str, tuple[int, ...]]

    @staticmethod
    def of(instance: Instance) -> ObjectMap:
        """The objects of an instance."""
        return ObjectMap(
            instance.model,
            {s.name: tuple(instance.object_names(s.name)) for s in instance.model.sorts},
            {key: tuple(instance.rigid_values(key[0], a)) for key, a in instance.model.rigid_attributes.items()},
            {sort: tuple(range(size)) for sort, size in instance.sizes.items()},
        )

    @cached_property
    def instance(self) -> Instance:
        """The model with these objects."""
        return replace(self.unnamed, names=self.names)

    @cached_property
    def unnamed(self) -> Instance:
        """The model with these objects under default names. Object maps that differ only in names share it."""
        kinds = self.model.rigid_attributes
        rigid: Rigid = {
            key: [self.layout.decoded(kinds[key].type, v) for v in values] for key, values in self.rigid.items()
        }
        return Instance(self.model, self._sizes, rigid)

    @cached_property
    def layout(self) -> Instance:
        """The model with the same number of objects; the rigid attributes are at the end of the state."""
        return Instance(self.model, self._sizes, rigid_in_state=True)

    @cached_property
    def rigid_state(self) -> State:
        """The values that complete a state of these objects to one of ``layout``."""
        return tuple(value for key in self.model.rigid_attributes for value in self.rigid[key])

    @property
    def _sizes(self) -> dict[str, int]:
        return {sort: len(names) for sort, names in self.names.items()}

    @property
    def shape(self) -> object:
        """A key: object maps with equal keys have equal steps."""
        return tuple(map(len, self.names.values())), tuple(self.rigid.values())

    def number(self, sort: str, name: str) -> int:
        """The number of an object; -1 if the name is unknown."""
        numbers = self._numbers.get(sort)
        if numbers is None:
            numbers = self._numbers[sort] = {name: i for i, name in enumerate(self.names[sort])}
        return numbers.get(name, -1)

    @cached_property
    def _numbers(self) -> dict[str, Mapping[str, int]]:
        return {}

    def field_start(self, sort: str, field: str) -> int | None:
        """The slot of a field ("" is the state) of a sort's first object; None if states have no such field."""
        return self._starts.get(sort, {}).get(field)

    def slots(self, sort: str, number: int) -> list[int]:
        """The slots of one object: of its state, if its sort has states, and of its attributes."""
        return [start + number for start in self._starts[sort].values()]

    @cached_property
    def _starts(self) -> Mapping[str, Mapping[str, int]]:
        """Where the values of each field begin, by sort. The field "" is the state."""
        return {
            m.sort.name: {
                field: self.layout.slot(m.sort.name, field)
                for field in ([""] if m.states else []) + [a.name for a in self.layout.attributes(m.sort.name)]
            }
            for m in self.model.machines
        }

    @cached_property
    def _relations(self) -> list[tuple[Relation, range]]:
        """The changing relations, each with its slots."""
        return [
            (a.type, range(start, start + len(self.names[m.sort.name])))
            for m in self.model.machines
            for a in self.layout.attributes(m.sort.name)
            if isinstance(a.type, Relation)
            for start in [self.layout.slot(m.sort.name, a.name)]
        ]

    @cached_property
    def _functions(self) -> list[tuple[Function, range]]:
        """The changing functions, each with its slots."""
        return [
            (a.type, range(start, start + len(self.names[m.sort.name])))
            for m in self.model.machines
            for a in self.layout.attributes(m.sort.name)
            if isinstance(a.type, Function)
            for start in [self.layout.slot(m.sort.name, a.name)]
        ]

    @cached_property
    def _sequences(self) -> list[tuple[SequenceType, range]]:
        """The sequences, each with its slots."""
        return [
            (a.type, range(start, start + len(self.names[m.sort.name])))
            for m in self.model.machines
            for a in self.layout.attributes(m.sort.name)
            if isinstance(a.type, SequenceType)
            for start in [self.layout.slot(m.sort.name, a.name)]
        ]

    def _changed(
        self, names: Mapping[str, tuple[str, ...]], rigid: RigidValues, births: Mapping[str, tuple[int, ...]]
    ) -> ObjectMap:
        """Another object map, which shares caches with this one where they stay valid."""
        changed = ObjectMap(self.model, names, rigid, births)
        vars(changed)["_numbers"] = {s: known for s, known in self._numbers.items() if names[s] is self.names[s]}
        if changed._sizes == self._sizes:
            vars(changed).update(layout=self.layout, _starts=self._starts)
        return changed

    def with_new(self, sort: str, name: str, place: int | None = None) -> ObjectMap:
        """This map with one more object; with ``place``, it replaces the object of that number, which is collected."""
        names, rigid, births = dict(self.names), dict(self.rigid), dict(self.births)
        number = len(names[sort]) if place is None else place
        names[sort] = (*names[sort][:number], name, *names[sort][number + 1 :])
        birth = max(births[sort], default=-1) + 1
        births[sort] = (*births[sort][:number], birth, *births[sort][number + 1 :])
        for (owner, attribute_name), attribute in self.model.rigid_attributes.items():
            values = rigid[owner, attribute_name]
            if place is not None:
                values = tuple([self._without(attribute.type, sort, place, value) for value in values])
            elif isinstance(attribute.type, Relation):
                before = self.layout.dimensions(attribute.type)
                after = [len(names[each.name]) for each in attribute.type.sorts]
                values = tuple([tuples.moved(value, before, after) for value in values])
            elif isinstance(kind := attribute.type, Function):
                sizes = {each: len(names[each]) for each in names}
                packings = self.layout.packing(kind), functions.packing(kind, sizes)
                values = tuple([functions.moved(value, *packings) for value in values])
            if owner == sort:
                values = (*values[:number], Instance.default(attribute), *values[number + 1 :])
            rigid[owner, attribute_name] = values
        return self._changed(names, rigid, births)

    def without_relations(self, sort: str, number: int) -> ObjectMap:
        """This map with an ended object removed from all rigid sets, so that later records need not mention it."""
        rigid = dict(self.rigid)
        for (owner, name), attribute in self.model.rigid_attributes.items():
            if isinstance(attribute.type, SetOf | Relation | Function):
                values = (self._without(attribute.type, sort, number, value) for value in rigid[owner, name])
                rigid[owner, name] = tuple(0 if (owner, i) == (sort, number) else v for i, v in enumerate(values))
        return self._changed(self.names, rigid, self.births)

    def _without(self, kind: Type, sort: str, number: int, value: int) -> int:
        """A rigid value without the collected object of ``sort``."""
        match kind:
            case SetOf(of) if of.name == sort:
                return value & ~(1 << number)
            case Relation(sorts):
                dimensions = self.layout.dimensions(kind)
                kept = (each for each in tuples.of_mask(value, dimensions) if not has(sorts, each, sort, number))
                return tuples.encoded(kept, dimensions)
            case Function(sorts, to):
                packing = self.layout.packing(kind)
                values = [
                    packing.value(0)
                    if has(sorts, objects, sort, number)
                    or (isinstance(to, Ref) and self._without(to, sort, number, one) != one)
                    else one
                    for objects, one in zip(packing.places(), packing.all(value), strict=True)
                ]
                return packing.of(values)
            case Ref(of) if of.name == sort and value == number:
                return -1
            case _:
                return value

    def related_names(self, kind: Relation, value: int) -> frozenset[tuple[str, ...]]:
        """The tuples of a relation, by names."""
        return frozenset(
            tuple([self.names[of.name][i] for of, i in zip(kind.sorts, each, strict=True)])
            for each in tuples.of_mask(value, self.layout.dimensions(kind))
        )

    def entries(self, kind: Function, value: int) -> frozenset[tuple[object, ...]]:
        """The values of a function that are not the first one: the names of the objects, and the value as a reader sees it."""
        packing = self.layout.packing(kind)
        return frozenset(
            (
                *[self.names[of.name][i] for of, i in zip(kind.sorts, objects, strict=True)],
                self.layout.show(kind.to, one),
            )
            for objects, one in zip(packing.places(), packing.all(value), strict=True)
            if one != packing.value(0)
        )

    def named_in(self, kind: Type, value: int) -> frozenset[Named]:
        """The objects that a value names; empty for a value that names none."""
        match kind:
            case Ref(of):
                return frozenset() if value < 0 else frozenset({((of.name, self.names[of.name][value]),)})
            case SetOf(of):
                each = tuples.of_mask(value, [len(self.names[of.name])])
                return frozenset(((of.name, self.names[of.name][n]),) for (n,) in each)
            case Relation(sorts):
                return frozenset(
                    tuple([(of.name, name) for of, name in zip(sorts, names, strict=True)])
                    for names in self.related_names(kind, value)
                )
            case _:
                return frozenset()

    def naming(self, kind: Type, named: frozenset[Named]) -> int | None:
        """The value of a reference, a set or a relation that names these objects; None if one is unknown."""
        numbers = [[self.number(*each) for each in several] for several in named]
        if any(number < 0 for several in numbers for number in several):
            return None
        if isinstance(kind, Ref):
            return numbers[0][0]
        sorts = kind.sorts if isinstance(kind, Relation) else [kind.sort] if isinstance(kind, SetOf) else []
        return tuples.encoded(numbers, [len(self.names[of.name]) for of in sorts])

    def new_places(self, than: ObjectMap) -> dict[str, list[int]]:
        """The numbers of the objects that the earlier map ``than`` does not have, by sort."""
        places = {}
        for sort, births in self.births.items():
            older = than.births[sort]
            if births is not older:
                new = [i for i, (now, before) in enumerate(zip(births, older, strict=False)) if now != before]
                new += range(len(older), len(births))
                if new:
                    places[sort] = new
        return places

    def newer(self, than: ObjectMap) -> dict[str, list[str]]:
        """The names of the objects that the earlier map ``than`` does not have, by sort."""
        return {sort: [self.names[sort][i] for i in new] for sort, new in self.new_places(than).items()}

    def with_rigid(self, values: Mapping[tuple[str, str], Mapping[int, int]]) -> ObjectMap:
        """This map with other values of rigid attributes: (sort, attribute) -> object number -> value."""
        rigid = dict(self.rigid)
        for key, given in values.items():
            rigid[key] = tuple([given.get(i, old) for i, old in enumerate(rigid[key])])
        return self._changed(self.names, rigid, self.births)

    def broken_axiom(self) -> str:
        """The axiom of the model that the rigid attributes violate, in words; "" if they satisfy all."""
        return Axioms(self.layout).broken(self.rigid_state)

    def moved(self, states: Iterable[State], before: ObjectMap) -> tuple[State, ...]:
        """``states`` of the object map ``before``, as states of this one. A new object is in its initial state."""
        fresh = {
            slot: value
            for sort, numbers in self.new_places(before).items()
            for number in numbers
            for slot, value in zip(self.slots(sort, number), self._initial(sort, number), strict=True)
        }
        if self._sizes == before._sizes:
            moved = [list(state) for state in states]
        else:
            kept = [
                before._starts[sort][field] + i if i < len(before.names[sort]) else -1
                for sort, fields in self._starts.items()
                for field in fields
                for i in range(len(self.names[sort]))
            ]
            moved = [[state[slot] if slot >= 0 else 0 for slot in kept] for state in states]
            for function, slots in self._functions:
                packings = before.layout.packing(function), self.layout.packing(function)
                if packings[0] != packings[1]:
                    for after in moved:
                        for slot in slots:
                            after[slot] = functions.moved(after[slot], *packings)
            for sequence, slots in self._sequences:
                items = before.layout.items(sequence), self.layout.items(sequence)
                if items[0] != items[1]:
                    for after in moved:
                        for slot in slots:
                            after[slot] = sequences.moved(after[slot], *items)
            for kind, slots in self._relations:
                earlier, now = before.layout.dimensions(kind), self.layout.dimensions(kind)
                if earlier != now:
                    for after in moved:
                        for slot in slots:
                            after[slot] = tuples.moved(after[slot], earlier, now)
        for after in moved:
            for slot, value in fresh.items():
                after[slot] = value
        return tuple(map(tuple, moved))

    def _initial(self, sort: str, number: int) -> list[int]:
        """The initial values of an object, in the order of its ``slots``."""
        machine = self.model.machine(sort)
        begins = [i for i, s in enumerate(machine.states) if s.begins and self.rigid[sort, s.begins][number]]
        start = [begins[-1] if begins else 0] if machine.states else []
        return [*start, *map(Instance.default, self.layout.attributes(sort))]


class Axioms:
    """The axioms of a model about rigid attributes.

    Args:
        layout: the model with its objects; the rigid attributes are in the state.
    """

    def __init__(self, layout: Instance) -> None:
        initial = layout.initial()
        self._start = initial[: len(initial) - sum(layout.sizes[sort] for sort, _ in layout.model.rigid_attributes)]
        premises = [(show_term(axiom), axiom) for axiom in layout.model.axioms]
        premises += [(f"{name} ({show_term(axiom)})", axiom) for name, axiom in layout.model.assuming.items()]
        self._axioms = [(says, compile_term(layout, axiom, {})) for says, axiom in premises]
        self.broken = lru_cache(MOST_RIGID)(self._broken)
        """The axiom that these rigid attributes (as in a state of ``layout``) violate, in words; "" if none."""

    def _broken(self, rigid: State) -> str:
        return next((says for says, kept in self._axioms if not kept(Moment(self._start + rigid))), "")


def has(sorts: Sequence[Sort], objects: Sequence[int], sort: str, number: int) -> bool:
    """Whether an object is in a tuple over some sorts."""
    return any(of.name == sort and each == number for of, each in zip(sorts, objects, strict=True))
