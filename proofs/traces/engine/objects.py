"""The objects that a trace has named so far, and what never changes of them.

Objects come and go: a new one begins in its initial state, in a place of its own or in that of one that has
ended and can be forgotten (:mod:`.object_gc`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from schedproof.model.lang import Model
from schedproof.model.lang.machine import Attribute
from schedproof.model.lang.model import Rigid
from schedproof.model.lang.terms import Value
from schedproof.model.lang.types import EnumType, Ref, SetOf, Type
from schedproof.model.semantics import Instance, Moment, State, compile_term
from schedproof.proofs.traces.reports.wording import show_term

MOST_OBJECTS = 1000
"""Objects of a sort at a time; a trace with more is refused."""


@dataclass(frozen=True)
class ObjectMap:
    """Objects with their names, by sort, and their rigid attributes, encoded as in a state.

    ``rigid``: (sort, attribute) -> one value per object. ``births``: when each object appeared, counted by sort.
    """

    model: Model
    names: Mapping[str, tuple[str, ...]]
    rigid: Mapping[tuple[str, str], tuple[int, ...]]
    births: Mapping[str, tuple[int, ...]]

    @staticmethod
    def of(instance: Instance) -> ObjectMap:
        """The objects of an instance."""
        return ObjectMap(
            instance.model,
            {s.name: tuple(instance.object_names(s.name)) for s in instance.model.sorts},
            {key: tuple(instance.rigid_values(key[0], a)) for key, a in rigid_attributes(instance.model).items()},
            {sort: tuple(range(size)) for sort, size in instance.sizes.items()},
        )

    @cached_property
    def instance(self) -> Instance:
        """The model with these objects."""
        return replace(self.unnamed, names=self.names)

    @cached_property
    def unnamed(self) -> Instance:
        """The same with the model's default names: object maps that differ in names only have it in common."""
        kinds = rigid_attributes(self.model)
        sizes = {sort: len(names) for sort, names in self.names.items()}
        rigid: Rigid = {key: [decoded(kinds[key].type, v) for v in values] for key, values in self.rigid.items()}
        return Instance(self.model, sizes, rigid)

    @property
    def shape(self) -> object:
        """What object maps with equal steps have in common."""
        return tuple(map(len, self.names.values())), tuple(self.rigid.values())

    def number(self, sort: str, name: str) -> int:
        """An object's number; -1 if there is none of that name."""
        return self._numbers[sort].get(name, -1)

    @cached_property
    def _numbers(self) -> Mapping[str, Mapping[str, int]]:
        return {sort: {name: i for i, name in enumerate(names)} for sort, names in self.names.items()}

    def with_new(self, sort: str, name: str, place: int | None = None) -> ObjectMap:
        """This with one more object, or with a new one in the place of number ``place``, which is forgotten."""
        names, rigid, births = dict(self.names), dict(self.rigid), dict(self.births)
        number = len(names[sort]) if place is None else place
        names[sort] = (*names[sort][:number], name, *names[sort][number + 1 :])
        birth = max(births[sort], default=-1) + 1
        births[sort] = (*births[sort][:number], birth, *births[sort][number + 1 :])
        for (owner, attribute_name), attribute in rigid_attributes(self.model).items():
            values = rigid[owner, attribute_name]
            if place is not None:
                values = tuple(_without(attribute.type, sort, place, value) for value in values)
            if owner == sort:
                default = self.unnamed.default(attribute)
                values = (*values[:number], default, *values[number + 1 :])
            rigid[owner, attribute_name] = values
        return ObjectMap(self.model, names, rigid, births)

    def without_relations(self, sort: str, number: int) -> ObjectMap:
        """This without what rigid sets say of an object that has ended, so that nobody need speak of it again."""
        rigid = dict(self.rigid)
        for (owner, name), attribute in rigid_attributes(self.model).items():
            if isinstance(attribute.type, SetOf):
                values = (_without(attribute.type, sort, number, value) for value in rigid[owner, name])
                rigid[owner, name] = tuple(0 if (owner, i) == (sort, number) else v for i, v in enumerate(values))
        return ObjectMap(self.model, self.names, rigid, self.births)

    def newer(self, than: ObjectMap) -> dict[str, list[str]]:
        """The objects that an earlier object map has not, by sort."""
        new = {
            sort: [n for n, birth in zip(names, self.births[sort], strict=True) if birth not in than.births[sort]]
            for sort, names in self.names.items()
        }
        return {sort: names for sort, names in new.items() if names}

    def with_rigid(self, values: Mapping[tuple[str, str], Mapping[int, int]]) -> ObjectMap:
        """This with other values of rigid attributes: (sort, attribute) -> object number -> value."""
        rigid = {
            key: tuple(values.get(key, {}).get(i, old) for i, old in enumerate(before))
            for key, before in self.rigid.items()
        }
        return ObjectMap(self.model, self.names, rigid, self.births)

    def broken_axiom(self) -> str:
        """What the model assumes of rigid attributes and these do not keep, in words; "" if they keep all."""
        for axiom in self.model.axioms:
            if not compile_term(self.unnamed, axiom, {})(Moment(self.unnamed.initial())):
                return show_term(axiom)
        return ""

    def moved(self, states: Iterable[State], before: ObjectMap) -> tuple[State, ...]:
        """``states`` of the object map ``before`` this one; an object that is new is in its initial state."""
        here, there = self.unnamed, before.unnamed
        new = here.initial()
        kept: list[int] = []  # for each slot, the one that it was; -1 for a new object's
        for machine in self.model.machines:
            sort = machine.sort.name
            older = before.births[sort]
            stays = [i if birth in older[i : i + 1] else -1 for i, birth in enumerate(self.births[sort])]
            for field in ([""] if machine.states else []) + [a.name for a in here.attributes(sort)]:
                start = there.slot(sort, field)
                kept += [start + i if i >= 0 else -1 for i in stays]
        return tuple(
            tuple(state[slot] if slot >= 0 else fresh for slot, fresh in zip(kept, new, strict=True))
            for state in states
        )


def rigid_attributes(model: Model) -> Mapping[tuple[str, str], Attribute]:
    """The rigid attributes of a model, by (sort, attribute)."""
    return {(m.sort.name, a.name): a for m in model.machines for a in m.attributes if a.rigid}


def decoded(kind: Type, value: int) -> Value | frozenset[int] | None:
    """A value as topologies write it: the inverse of how states hold it."""
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
