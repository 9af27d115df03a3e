"""The objects that a trace has named so far, and what never changes of them.

Objects come and go: a new one begins in its initial state, in a place of its own or in that of one that has
ended and can be forgotten (:mod:`.object_gc`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from schedproof.model.lang import Model
from schedproof.model.lang.model import Rigid
from schedproof.model.lang.terms import Value
from schedproof.model.lang.types import EnumType, Ref, SetOf, Type
from schedproof.model.semantics import Instance, Moment, State, compile_term
from schedproof.proofs.traces.reports.wording import show_term

MOST_OBJECTS = 1000
"""Objects of a sort at a time; a trace with more is refused."""

MOST_RIGID = 4096
"""Values of the rigid attributes of which it is remembered whether they keep what the model assumes."""

RigidValues = Mapping[tuple[str, str], tuple[int, ...]]
"""Rigid attributes, encoded as in a state: (sort, attribute) -> one value per object."""


@dataclass(frozen=True)
class ObjectMap:
    """Objects with their names, by sort, and their rigid attributes, encoded as in a state.

    ``births``: when each object appeared, counted by sort.
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
        """The same with the model's default names: object maps that differ in names only have it in common."""
        kinds = self.model.rigid_attributes
        rigid: Rigid = {key: [decoded(kinds[key].type, v) for v in values] for key, values in self.rigid.items()}
        return Instance(self.model, self._sizes, rigid)

    @cached_property
    def layout(self) -> Instance:
        """The model with as many objects, their rigid attributes at the end of the state."""
        return Instance(self.model, self._sizes, rigid_in_state=True)

    @cached_property
    def rigid_state(self) -> State:
        """What completes a state of these objects to one of ``layout``."""
        return tuple(value for key in self.model.rigid_attributes for value in self.rigid[key])

    @property
    def _sizes(self) -> dict[str, int]:
        return {sort: len(names) for sort, names in self.names.items()}

    @property
    def shape(self) -> object:
        """What object maps with equal steps have in common."""
        return tuple(map(len, self.names.values())), tuple(self.rigid.values())

    def number(self, sort: str, name: str) -> int:
        """An object's number; -1 if there is none of that name."""
        numbers = self._numbers.get(sort)
        if numbers is None:
            numbers = self._numbers[sort] = {name: i for i, name in enumerate(self.names[sort])}
        return numbers.get(name, -1)

    @cached_property
    def _numbers(self) -> dict[str, Mapping[str, int]]:
        return {}

    def slots(self, sort: str, number: int) -> list[int]:
        """The slots of one object: of its state, if it has one, and of its attributes."""
        return [start + number for start in self._starts[sort].values()]

    @cached_property
    def _starts(self) -> Mapping[str, Mapping[str, int]]:
        """Where the values of each field begin, by sort; "" is the state."""
        return {
            m.sort.name: {
                field: self.layout.slot(m.sort.name, field)
                for field in ([""] if m.states else []) + [a.name for a in self.layout.attributes(m.sort.name)]
            }
            for m in self.model.machines
        }

    def _changed(
        self, names: Mapping[str, tuple[str, ...]], rigid: RigidValues, births: Mapping[str, tuple[int, ...]]
    ) -> ObjectMap:
        """Another object map, with what it has in common with this one."""
        changed = ObjectMap(self.model, names, rigid, births)
        vars(changed)["_numbers"] = {s: known for s, known in self._numbers.items() if names[s] is self.names[s]}
        if changed._sizes == self._sizes:
            vars(changed).update(layout=self.layout, _starts=self._starts)
        return changed

    def with_new(self, sort: str, name: str, place: int | None = None) -> ObjectMap:
        """This with one more object, or with a new one in the place of number ``place``, which is forgotten."""
        names, rigid, births = dict(self.names), dict(self.rigid), dict(self.births)
        number = len(names[sort]) if place is None else place
        names[sort] = (*names[sort][:number], name, *names[sort][number + 1 :])
        birth = max(births[sort], default=-1) + 1
        births[sort] = (*births[sort][:number], birth, *births[sort][number + 1 :])
        for (owner, attribute_name), attribute in self.model.rigid_attributes.items():
            values = rigid[owner, attribute_name]
            if place is not None:
                values = tuple([_without(attribute.type, sort, place, value) for value in values])
            if owner == sort:
                values = (*values[:number], Instance.default(attribute), *values[number + 1 :])
            rigid[owner, attribute_name] = values
        return self._changed(names, rigid, births)

    def without_relations(self, sort: str, number: int) -> ObjectMap:
        """This without what rigid sets say of an object that has ended, so that nobody need speak of it again."""
        rigid = dict(self.rigid)
        for (owner, name), attribute in self.model.rigid_attributes.items():
            if isinstance(attribute.type, SetOf):
                values = (_without(attribute.type, sort, number, value) for value in rigid[owner, name])
                rigid[owner, name] = tuple(0 if (owner, i) == (sort, number) else v for i, v in enumerate(values))
        return self._changed(self.names, rigid, self.births)

    def new_places(self, than: ObjectMap) -> dict[str, list[int]]:
        """The numbers of the objects that an earlier object map has not, by sort."""
        found = {}
        for sort, births in self.births.items():
            older = than.births[sort]
            if births is not older:
                new = [i for i, (now, before) in enumerate(zip(births, older, strict=False)) if now != before]
                new += range(len(older), len(births))
                if new:
                    found[sort] = new
        return found

    def newer(self, than: ObjectMap) -> dict[str, list[str]]:
        """The objects that an earlier object map has not, by sort."""
        return {sort: [self.names[sort][i] for i in new] for sort, new in self.new_places(than).items()}

    def with_rigid(self, values: Mapping[tuple[str, str], Mapping[int, int]]) -> ObjectMap:
        """This with other values of rigid attributes: (sort, attribute) -> object number -> value."""
        rigid = dict(self.rigid)
        for key, given in values.items():
            rigid[key] = tuple([given.get(i, old) for i, old in enumerate(rigid[key])])
        return self._changed(self.names, rigid, self.births)

    def broken_axiom(self) -> str:
        """What the model assumes of rigid attributes and these do not keep, in words; "" if they keep all."""
        return Axioms(self.layout).broken(self.rigid_state)

    def moved(self, states: Iterable[State], before: ObjectMap) -> tuple[State, ...]:
        """``states`` of the object map ``before`` this one; an object that is new is in its initial state."""
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
        for after in moved:
            for slot, value in fresh.items():
                after[slot] = value
        return tuple(map(tuple, moved))

    def _initial(self, sort: str, number: int) -> list[int]:
        """What an object begins with, in the order of its ``slots``."""
        machine = self.model.machine(sort)
        begins = [i for i, s in enumerate(machine.states) if s.begins and self.rigid[sort, s.begins][number]]
        start = [begins[-1] if begins else 0] if machine.states else []
        return [*start, *map(Instance.default, self.layout.attributes(sort))]


class Axioms:
    """What a model assumes of the rigid attributes.

    Args:
        layout: the objects; the rigid attributes are in the state.
    """

    def __init__(self, layout: Instance) -> None:
        initial = layout.initial()
        self._start = initial[: len(initial) - sum(layout.sizes[sort] for sort, _ in layout.model.rigid_attributes)]
        self._axioms = [(show_term(axiom), compile_term(layout, axiom, {})) for axiom in layout.model.axioms]
        self.broken = lru_cache(MOST_RIGID)(self._broken)
        """What these rigid attributes (as in a state of ``layout``) break, in words; "" if nothing."""

    def _broken(self, rigid: State) -> str:
        return next((says for says, kept in self._axioms if not kept(Moment(self._start + rigid))), "")


def decoded(kind: Type, value: int) -> Value | frozenset[int] | None:
    """A value as configurations write it: the inverse of how states hold it."""
    match kind:
        case SetOf():
            return frozenset(i for i in range(value.bit_length()) if value >> i & 1)
        case EnumType(values):
            return values[value]
        case Ref():
            return value if value >= 0 else None
        case _:
            return value


def _without(kind: Type, sort: str, number: int, value: int) -> int:
    """A rigid value without the object of ``sort`` that is forgotten."""
    match kind:
        case SetOf(of) if of.name == sort:
            return value & ~(1 << number)
        case Ref(of) if of.name == sort and value == number:
            return -1
        case _:
            return value
