"""The objects after a record that names new ones. Each gets a place of its own, or that of an object that has ended."""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from schedproof.model.errors import choose_from
from schedproof.model.lang.types import Function, Relation, SetOf
from schedproof.model.semantics import State
from schedproof.proofs.traces.files.lines import Line

from .object_gc import refers
from .objects import MOST_OBJECTS, ObjectMap

KEPT_ENDED = 4
"""How many ended objects of a sort are kept, before a new object replaces the first of them."""

ReadRigid = Callable[[ObjectMap, Line], Mapping[tuple[str, str], Mapping[int, int]]]
"""Reads the rigid attributes of a line: (sort, attribute) -> object number -> encoded value."""


@dataclass(frozen=True)
class Appearing:
    """The objects before a record, and the rules for new ones.

    Args:
        objects: the current objects.
        open: the sorts whose objects appear when a record names them.
        collected: the collected objects. They may be named again, whatever their sort.
        ended: by sort, the numbers of the states in which an unreferenced object can be collected.
        states: the states of ``objects`` that explain the trace so far.
        broken: the axiom that an object map violates; "" if none.
    """

    objects: ObjectMap
    open: frozenset[str]
    collected: Container[tuple[str, str]]
    ended: Mapping[str, frozenset[int]]
    states: Sequence[State]
    broken: Callable[[ObjectMap], str]

    def objects_after(self, line: Line, named: Iterable[tuple[str, str]], read_rigid: ReadRigid) -> ObjectMap:
        """The object map with the objects that the record names for the first time.

        Args:
            line: the record.
            named: the objects that the record names, as (sort, name).
            read_rigid: reads the rigid attributes that the record gives.

        Raises:
            TraceError: its rigid attributes violate an axiom of the model, or belong to an object that is not new.
        """
        object_map, value = self.objects, line.value
        introduced = {(s, n) for s, names in value.get("objects", {}).items() for n in names}
        for sort in value.get("objects", {}):
            if sort not in object_map.names:
                raise line.error(f'"objects" has the unknown sort {sort!r}; {choose_from(sort, object_map.names)}')
        mentioned = dict.fromkeys(named)
        for sort, name in mentioned:
            number = object_map.number(sort, name) if sort in object_map.names else -1
            if sort not in object_map.names or (number >= 0 and (sort, name) not in introduced):
                continue
            if number >= 0 and not self.over(sort, number):
                raise line.error(
                    f'"objects" has {sort} {name}, which exists already and has not ended; give it another name'
                )
            if (
                number < 0
                and sort not in self.open
                and (sort, name) not in introduced
                and (sort, name) not in self.collected
            ):
                continue  # the name is unknown: reading the record reports it
            place = number if number >= 0 else self._free(object_map, sort, mentioned)
            if place is None and len(object_map.names[sort]) >= MOST_OBJECTS:
                raise line.error(f"more than {MOST_OBJECTS} objects of {sort} at a time; check a part of the system")
            known = object_map.names[sort]
            if place is None and known and object_map.model.machine(sort).sort.single:
                raise line.error(
                    f"{sort} {name} is a second one, and the model has exactly one, {known[0]}; use its name"
                )
            object_map = object_map.with_new(sort, name, place)
        if "rigid" in value:
            object_map = self._with_rigid(object_map, line, read_rigid)
        if object_map is not self.objects and self.broken(object_map):
            object_map = self._retired(object_map)
            if broken := self.broken(object_map):
                raise line.error(f'"rigid" violates an axiom of the model: {broken}; correct "rigid"')
        return object_map

    def _retired(self, object_map: ObjectMap) -> ObjectMap:
        """The object map without the rigid sets of ended objects: a new object need not be compared with them."""
        for sort, number in self._ended_in(object_map):
            object_map = object_map.without_relations(sort, number)
        return object_map

    def _ended_in(self, object_map: ObjectMap) -> Iterator[tuple[str, int]]:
        """The objects of ``objects`` that have ended and can be collected."""
        for sort, births in self.objects.births.items():
            for number, birth in enumerate(births):
                if self.ended[sort] and object_map.births[sort][number] == birth and self.over(sort, number):
                    yield sort, number

    def _with_rigid(self, object_map: ObjectMap, line: Line, read_rigid: ReadRigid) -> ObjectMap:
        """The object map with the record's rigid attributes.

        These belong to new objects, or relate other objects to new ones.
        """
        free = {name for names in object_map.newer(self.objects).values() for name in names}
        free |= {self.objects.names[sort][number] for sort, number in self._ended_in(object_map)}
        given = read_rigid(object_map, line)
        for (sort, name), values in given.items():
            for number, value in values.items():
                before, obj = object_map.rigid[sort, name][number], object_map.names[sort][number]
                if obj in free or value == before:
                    continue
                kind = object_map.model.rigid_attributes[sort, name].type
                instead = f"write it in the record in which {obj} appears"
                if isinstance(kind, SetOf):
                    added = [n for i, n in enumerate(object_map.names[kind.sort.name]) if (value & ~before) >> i & 1]
                    if all(n in free for n in added):
                        if value & before == before:
                            continue
                        whole = [n for i, n in enumerate(object_map.names[kind.sort.name]) if (value | before) >> i & 1]
                        instead = f"write the whole set: {json.dumps(whole)}"
                if isinstance(kind, Relation):
                    shown_before, shown = (object_map.related_names(kind, each) for each in (before, value))
                    if all(free.intersection(each) for each in shown - shown_before):
                        if shown_before <= shown:
                            continue
                        instead = f"write the whole relation: {json.dumps(sorted(shown | shown_before))}"
                if isinstance(kind, Function):
                    entries_before, entries = (object_map.entries(kind, each) for each in (before, value))
                    if all(free.intersection(each[:-1]) for each in entries - entries_before):
                        if entries_before <= entries:
                            continue
                        instead = "write all entries of the function, the earlier ones too"
                raise line.error(f"{sort} {obj}.{name} never changes; {instead}")
        return object_map.with_rigid(given)

    def _free(self, object_map: ObjectMap, sort: str, named: Container[tuple[str, str]]) -> int | None:
        """The number of the object that a new one replaces; None if too few objects have ended."""
        names, births = self.objects.names[sort], self.objects.births[sort]
        if not self.ended.get(sort) or len(names) <= KEPT_ENDED:
            return None
        ended = [
            number
            for number, name in enumerate(names)
            if object_map.births[sort][number] == births[number]
            and (sort, name) not in named
            and self.over(sort, number)
        ]
        return min(ended, key=births.__getitem__) if len(ended) > KEPT_ENDED else None

    def over(self, sort: str, number: int) -> bool:
        """Whether an object has ended in all states that explain the trace, and can be collected."""
        if not self.ended[sort]:
            return False
        layout, final = self.objects.layout, self.ended[sort]
        slot = layout.slot(sort) + number
        return all(s[slot] in final and not refers(layout, s, sort, number) for s in self._states)

    @cached_property
    def _states(self) -> Sequence[State]:
        """The states, completed with the rigid attributes."""
        return [state + self.objects.rigid_state for state in self.states]
