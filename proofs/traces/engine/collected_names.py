"""The names of objects that were collected, so that a log which speaks of one again is not taken to mean a new one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from schedproof.model.semantics import State

from .objects import ObjectMap

MOST_NAMES = 10_000
"""Names that are kept, those of the last objects; a log that speaks of an earlier one means a new object."""

Ended = tuple[int, ...]
"""What an object was like when it was collected: its state, if it has one, and its attributes."""


@dataclass(frozen=True)
class CollectedNames:
    """The last objects that were collected, (sort, name), and what they were like; None where that is not known."""

    ended: Mapping[tuple[str, str], Ended | None] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ended)

    def __contains__(self, named: object) -> bool:
        return named in self.ended

    def after(self, before: ObjectMap, now: ObjectMap, states: Sequence[State]) -> CollectedNames:
        """With the objects of ``before``, whose states are ``states``, that are not in ``now``; without those that are back."""
        ended = dict(self.ended)
        for sort, names in before.names.items():
            for number, name in enumerate(names) if now.names[sort] != names else ():
                if now.number(sort, name) < 0:
                    ended[sort, name] = _alike(before, sort, number, states)
        for sort, new in now.newer(before).items():
            for name in new:
                ended.pop((sort, name), None)
        while len(ended) > MOST_NAMES:
            del ended[next(iter(ended))]
        return CollectedNames(ended)

    def restored(
        self, objects: ObjectMap, back: Sequence[tuple[str, str]], states: Sequence[State]
    ) -> Sequence[State] | None:
        """``states`` of ``objects`` with those named ``back`` as they were; None if it is not known of all how."""
        slots = dict[int, int]()
        for sort, name in back:
            ended = self.ended[sort, name]
            if ended is None:
                return None
            slots |= dict(zip(_slots(objects, sort, objects.number(sort, name)), ended, strict=True))
        return tuple(tuple(slots.get(i, value) for i, value in enumerate(state)) for state in states)


def _alike(objects: ObjectMap, sort: str, number: int, states: Sequence[State]) -> Ended | None:
    """What the object is like in all of the states; None if they differ."""
    slots = list(_slots(objects, sort, number))
    found = {tuple(state[slot] for slot in slots) for state in states}
    return found.pop() if len(found) == 1 else None


def _slots(objects: ObjectMap, sort: str, number: int) -> Iterator[int]:
    """The slots of one object."""
    if objects.model.machine(sort).states:
        yield objects.unnamed.slot(sort) + number
    yield from (objects.unnamed.slot(sort, a.name) + number for a in objects.unnamed.attributes(sort))
