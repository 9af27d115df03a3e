"""Which objects there are after a record that names new ones: each in a place of its own, or in that of one that has ended."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

from schedproof.model.semantics import State
from schedproof.proofs.traces.files.lines import Line
from schedproof.proofs.traces.formats.headers import read_rigid
from schedproof.proofs.traces.formats.records import mentioned

from .object_gc import refers
from .objects import MOST_OBJECTS, ObjectMap

KEPT_ENDED = 4
"""So many objects of a sort that have ended are kept, before a new one takes the place of the first of them."""


@dataclass(frozen=True)
class Appearing:
    """What new objects find.

    Args:
        objects: the objects that there are.
        open: the sorts whose objects appear as they are named.
        gone: objects that were forgotten: of any sort, they may be named again.
        ended: by sort, the states in which an object that nothing refers to can be forgotten.
        states: those of ``objects`` that explain the trace so far.
        broken: what an object map breaks of what the model assumes; "" if nothing.
    """

    objects: ObjectMap
    open: frozenset[str]
    gone: Container[tuple[str, str]]
    ended: Mapping[str, frozenset[str]]
    states: Sequence[State]
    broken: Callable[[ObjectMap], str]

    def objects_after(self, line: Line) -> ObjectMap:
        """The object map with what the record names for the first time.

        Raises:
            TraceError: what never changes of it breaks what the model assumes, or is said of others.
        """
        object_map, value = self.objects, line.value
        introduced = {(s, n) for s, names in value.get("objects", {}).items() for n in names}
        for sort in value.get("objects", {}):
            if sort not in object_map.names:
                raise line.error(f'"objects" has the unknown sort {sort!r}; there is {", ".join(object_map.names)}')
        named = dict.fromkeys(mentioned(self.objects.model, value))
        for sort, name in named:
            number = object_map.number(sort, name) if sort in object_map.names else -1
            if sort not in object_map.names or (number >= 0 and (sort, name) not in introduced):
                continue
            if number >= 0 and not self.over(sort, number):
                raise line.error(f'"objects" has {sort} {name}, which is there already and has not ended')
            if (
                number < 0
                and sort not in self.open
                and (sort, name) not in introduced
                and (sort, name) not in self.gone
            ):
                continue  # a name that there is not: its reading says so
            place = number if number >= 0 else self._free(object_map, sort, named)
            if place is None and len(object_map.names[sort]) >= MOST_OBJECTS:
                raise line.error(f"more than {MOST_OBJECTS} objects of {sort} at a time; judge a part of the system")
            object_map = object_map.with_new(sort, name, place)
        if "rigid" in value:
            object_map = self._with_rigid(object_map, line)
        if object_map is not self.objects and self.broken(object_map):
            object_map = self._retired(object_map)
            if broken := self.broken(object_map):
                raise line.error(f'"rigid" breaks what the model assumes of it: {broken}')
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

    def _with_rigid(self, object_map: ObjectMap, line: Line) -> ObjectMap:
        """What the record says of what never changes: of new objects, or of others that they have to do with new ones."""
        free = {name for names in object_map.newer(self.objects).values() for name in names}
        free |= {self.objects.names[sort][number] for sort, number in self._ended_in(object_map)}
        given = read_rigid(object_map, line.value["rigid"], line)
        for (sort, name), values in given.items():
            for number, value in values.items():
                before, obj = object_map.rigid[sort, name][number], object_map.names[sort][number]
                if obj in free or value == before:
                    continue
                attribute = self.objects.model.machine(sort).attribute(name)
                kind = getattr(attribute, "type", None)
                shown = object_map.instance.show(kind, value & ~before) if kind is not None else []
                if value & before != before or not isinstance(shown, list) or not set(shown) <= free:
                    raise line.error(f"{sort} {obj}.{name} never changes; say it where {obj} appears")
        return object_map.with_rigid(given)

    def _free(self, object_map: ObjectMap, sort: str, named: Container[tuple[str, str]]) -> int | None:
        """The number of the object that is forgotten for a new one; None if too few have ended."""
        before = self.objects.names[sort]
        if not self.ended.get(sort) or len(before) <= KEPT_ENDED:
            return None
        ended = [
            number
            for number, name in enumerate(before)
            if object_map.births[sort][number] == self.objects.births[sort][number]
            and (sort, name) not in named
            and self.over(sort, number)
        ]
        return min(ended, key=lambda i: self.objects.births[sort][i]) if len(ended) > KEPT_ENDED else None

    def over(self, sort: str, number: int) -> bool:
        """An object has ended in all states that explain the trace, and can be forgotten."""
        instance, slot = self.objects.instance, self.objects.instance.slot(sort) + number
        over = {i for i, s in enumerate(self.objects.model.machine(sort).states) if s.name in self.ended[sort]}
        return all(s[slot] in over and not refers(instance, s, sort, number) for s in self.states)
