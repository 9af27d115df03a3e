"""The names of objects that were forgotten, so that a log which speaks of one again is not taken to mean a new one."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence

from schedproof.model.semantics import State

from .objects import World

MOST_GONE = 10_000
"""Forgotten objects whose names are kept, the last ones; a log that speaks of an earlier one means a new object."""

Ended = tuple[int, ...]
"""What an object was like when it was forgotten: its state, if it has one, and its attributes."""


class Gone:
    """The last objects that were forgotten, and what they were like."""

    def __init__(self) -> None:
        self._ended: OrderedDict[tuple[str, str], Ended | None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._ended)

    def __contains__(self, named: object) -> bool:
        return named in self._ended

    def note(self, before: World, now: World, states: Sequence[State]) -> None:
        """Notes which objects of ``before``, whose states are ``states``, are forgotten in ``now``, and which are back."""
        for sort, names in before.names.items():
            for number, name in enumerate(names) if now.names[sort] != names else ():
                if now.number(sort, name) < 0:
                    self._ended[sort, name] = _alike(before, sort, number, states)
        for sort, new in now.newer(before).items():
            for name in new:
                self._ended.pop((sort, name), None)
        while len(self._ended) > MOST_GONE:
            self._ended.popitem(last=False)

    def restored(
        self, world: World, back: Sequence[tuple[str, str]], states: Sequence[State]
    ) -> Sequence[State] | None:
        """``states`` of ``world`` with the objects ``back`` as they were; None if it is not known of all how."""
        slots = dict[int, int]()
        for sort, name in back:
            ended = self._ended[sort, name]
            if ended is None:
                return None
            slots |= dict(zip(_slots(world, sort, world.number(sort, name)), ended, strict=True))
        return tuple(tuple(slots.get(i, value) for i, value in enumerate(state)) for state in states)


def _alike(world: World, sort: str, number: int, states: Sequence[State]) -> Ended | None:
    """What the object is like in all of the states; None if they differ."""
    slots = list(_slots(world, sort, number))
    found = {tuple(state[slot] for slot in slots) for state in states}
    return found.pop() if len(found) == 1 else None


def _slots(world: World, sort: str, number: int) -> Iterator[int]:
    """The slots of one object."""
    if world.model.machine(sort).states:
        yield world.unnamed.slot(sort) + number
    yield from (world.unnamed.slot(sort, a.name) + number for a in world.unnamed.attributes(sort))
