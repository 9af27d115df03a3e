"""Which objects there are after a record that names new ones: each in a place of its own, or in that of one that has ended."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from schedproof.model.lang.types import SetOf
from schedproof.model.semantics import State
from schedproof.proofs.traces.files.lines import Line

from .object_gc import refers
from .objects import MOST_OBJECTS, ObjectMap

KEPT_ENDED = 4
"""So many objects of a sort that have ended are kept, before a new one takes the place of the first of them."""

ReadRigid = Callable[[ObjectMap, Line], Mapping[tuple[str, str], Mapping[int, int]]]
"""What a line says of what never changes: (sort, attribute) -> object number -> encoded value."""


@dataclass(frozen=True)
class Appearing:
    """What new objects find.

    Args:
        objects: the objects that there are.
        open: the sorts whose objects appear as they are named.
        gone: objects that were forgotten: of any sort, they may be named again.
        ended: by sort, the numbers of the states in which an object that nothing refers to can be forgotten.
        states: those of ``objects`` that explain the trace so far.
        broken: what an object map breaks of what the model assumes; "" if nothing.
    """

    objects: ObjectMap
    open: frozenset[str]
    gone: Container[tuple[str, str]]
    ended: Mapping[str, frozenset[int]]
    states: Sequence[State]
    broken: Callable[[ObjectMap], str]

    def objects_after(self, line: Line, named: Iterable[tuple[str, str]], read_rigid: ReadRigid) -> ObjectMap:
        """The object map with what the record names for the first time.

        Args:
            named: the objects that the record names, as (sort, name).
            read_rigid: reads what the record says of what never changes.

        Raises:
            TraceError: what never changes of it breaks what the model assumes, or is said of others.
        """
        object_map, value = self.objects, line.value
        introduced = {(s, n) for s, names in value.get("objects", {}).items() for n in names}
        for sort in value.get("objects", {}):
            if sort not in object_map.names:
                raise line.error(f'"objects" has the unknown sort {sort!r}; choose from {", ".join(object_map.names)}')
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
                and (sort, name) not in self.gone
            ):
                continue  # a name that there is not: its reading says so
            place = number if number >= 0 else self._free(object_map, sort, mentioned)
            if place is None and len(object_map.names[sort]) >= MOST_OBJECTS:
                raise line.error(f"more than {MOST_OBJECTS} objects of {sort} at a time; check a part of the system")
            object_map = object_map.with_new(sort, name, place)
        if "rigid" in value:
            object_map = self._with_rigid(object_map, line, read_rigid)
        if object_map is not self.objects and self.broken(object_map):
            object_map = self._retired(object_map)
            if broken := self.broken(object_map):
                raise line.error(f'"rigid" violates an axiom of the model: {broken}; correct "rigid"')
        return object_map

    def _retired(self, object_map: ObjectMap) -> ObjectMap:
        """The object map without what never changes of objects that have ended: a new one need not be compared with them."""
        for sort, number in self._ended_in(object_map):
            object_map = object_map.without_relations(sort, number)
        return object_map

    def _ended_in(self, object_map: ObjectMap) -> Iterator[tuple[str, int]]:
        """The objects of ``objects`` that have ended, and can be forgotten."""
        for sort, births in self.objects.births.items():
            for number, birth in enumerate(births):
                if self.ended[sort] and object_map.births[sort][number] == birth and self.over(sort, number):
                    yield sort, number

    def _with_rigid(self, object_map: ObjectMap, line: Line, read_rigid: ReadRigid) -> ObjectMap:
        """What the record says of what never changes: of new objects, or of others that they have to do with new ones."""
        free = {name for names in object_map.newer(self.objects).values() for name in names}
        free |= {self.objects.names[sort][number] for sort, number in self._ended_in(object_map)}
        given = read_rigid(object_map, line)
        for (sort, name), values in given.items():
            for number, value in values.items():
                before, obj = object_map.rigid[sort, name][number], object_map.names[sort][number]
                if obj in free or value == before:
                    continue
                kind = object_map.model.rigid_attributes[sort, name].type
                added = value & ~before
                if (
                    value & before != before
                    or not isinstance(kind, SetOf)
                    or any(added >> i & 1 and n not in free for i, n in enumerate(object_map.names[kind.sort.name]))
                ):
                    raise line.error(
                        f"{sort} {obj}.{name} never changes; write it in the record in which {obj} appears"
                    )
        return object_map.with_rigid(given)

    def _free(self, object_map: ObjectMap, sort: str, named: Container[tuple[str, str]]) -> int | None:
        """The number of the object that is forgotten for a new one; None if too few have ended."""
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
        """An object has ended in all states that explain the trace, and can be forgotten."""
        if not self.ended[sort]:
            return False
        layout, final = self.objects.layout, self.ended[sort]
        slot = layout.slot(sort) + number
        return all(s[slot] in final and not refers(layout, s, sort, number) for s in self._states)

    @cached_property
    def _states(self) -> Sequence[State]:
        """The states, with what never changes of the objects."""
        return [state + self.objects.rigid_state for state in self.states]
