"""Which objects there are after a record that names new ones: each in a place of its own, or in that of one that has ended."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

from schedproof.model.semantics import State
from schedproof.proofs.traces.files.lines import Line
from schedproof.proofs.traces.formats.headers import read_rigid
from schedproof.proofs.traces.formats.records import mentioned

from .object_gc import refers
from .objects import MOST_OBJECTS, World

KEPT_ENDED = 4
"""So many objects of a sort that have ended are kept, before a new one takes the place of the first of them."""


@dataclass(frozen=True)
class Appearing:
    """What new objects find.

    Args:
        world: the objects that there are.
        open: the sorts whose objects appear as they are named.
        gone: objects that were forgotten: of any sort, they may be named again.
        ended: by sort, the states in which an object that nothing refers to can be forgotten.
        states: those of ``world`` that explain the trace so far.
        broken: what a world breaks of what the model assumes; "" if nothing.
    """

    world: World
    open: frozenset[str]
    gone: Container[tuple[str, str]]
    ended: Mapping[str, frozenset[str]]
    states: Sequence[State]
    broken: Callable[[World], str]

    def world_of(self, line: Line) -> World:
        """The world with what the record names for the first time.

        Raises:
            TraceError: what never changes of it breaks what the model assumes, or is said of others.
        """
        world, value = self.world, line.value
        introduced = {(s, n) for s, names in value.get("objects", {}).items() for n in names}
        for sort in value.get("objects", {}):
            if sort not in world.names:
                raise line.error(f'"objects" has the unknown sort {sort!r}; there is {", ".join(world.names)}')
        named = dict.fromkeys(mentioned(self.world.model, value))
        for sort, name in named:
            number = world.number(sort, name) if sort in world.names else -1
            if sort not in world.names or (number >= 0 and (sort, name) not in introduced):
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
            place = number if number >= 0 else self._free(world, sort, named)
            if place is None and len(world.names[sort]) >= MOST_OBJECTS:
                raise line.error(f"more than {MOST_OBJECTS} objects of {sort} at a time; judge a part of the system")
            world = world.with_new(sort, name, place)
        if "rigid" in value:
            world = self._with_rigid(world, line)
        if world is not self.world and self.broken(world):
            world = self._retired(world)
            if broken := self.broken(world):
                raise line.error(f'"rigid" breaks what the model assumes of it: {broken}')
        return world

    def _retired(self, world: World) -> World:
        """The world without what never changes of objects that have ended: a new one need not be compared with them."""
        for sort, number in self._ended_in(world):
            world = world.without_relations(sort, number)
        return world

    def _ended_in(self, world: World) -> Iterator[tuple[str, int]]:
        """The objects of ``world`` that have ended, and can be forgotten."""
        for sort, births in self.world.births.items():
            for number, birth in enumerate(births):
                if self.ended[sort] and world.births[sort][number] == birth and self.over(sort, number):
                    yield sort, number

    def _with_rigid(self, world: World, line: Line) -> World:
        """What the record says of what never changes: of new objects, or of others that they have to do with new ones."""
        free = {name for names in world.newer(self.world).values() for name in names}
        free |= {self.world.names[sort][number] for sort, number in self._ended_in(world)}
        given = read_rigid(world, line.value["rigid"], line)
        for (sort, name), values in given.items():
            for number, value in values.items():
                before, obj = world.rigid[sort, name][number], world.names[sort][number]
                if obj in free or value == before:
                    continue
                attribute = self.world.model.machine(sort).attribute(name)
                kind = getattr(attribute, "type", None)
                shown = world.instance.show(kind, value & ~before) if kind is not None else []
                if value & before != before or not isinstance(shown, list) or not set(shown) <= free:
                    raise line.error(f"{sort} {obj}.{name} never changes; say it where {obj} appears")
        return world.with_rigid(given)

    def _free(self, world: World, sort: str, named: Container[tuple[str, str]]) -> int | None:
        """The number of the object that is forgotten for a new one; None if too few have ended."""
        before = self.world.names[sort]
        if not self.ended.get(sort) or len(before) <= KEPT_ENDED:
            return None
        ended = [
            number
            for number, name in enumerate(before)
            if world.births[sort][number] == self.world.births[sort][number]
            and (sort, name) not in named
            and self.over(sort, number)
        ]
        return min(ended, key=lambda i: self.world.births[sort][i]) if len(ended) > KEPT_ENDED else None

    def over(self, sort: str, number: int) -> bool:
        """An object has ended in all states that explain the trace, and can be forgotten."""
        instance, slot = self.world.instance, self.world.instance.slot(sort) + number
        over = {i for i, s in enumerate(self.world.model.machine(sort).states) if s.name in self.ended[sort]}
        return all(s[slot] in over and not refers(instance, s, sort, number) for s in self.states)
