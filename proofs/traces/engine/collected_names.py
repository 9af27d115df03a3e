"""The names of objects that were collected, so that a log which speaks of one again is not taken to mean a new one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from weakref import ReferenceType, ref

from schedproof.model.semantics import State

from .objects import ObjectMap

MOST_NAMES = 10_000
"""Names that are kept, those of the last objects; a log that speaks of an earlier one means a new object."""

Ended = tuple[int, ...]
"""What an object was like when it was collected: its state, if it has one, and its attributes."""


class CollectedNames:
    """The last objects that were collected, (sort, name), and what they were like; None where that is not known.

    A trace has one after the other, and nearly always only the last is in use. So the next one takes the table along;
    what it has changed there is known, and one that is still in use then takes a copy of the table as it was.
    """

    def __init__(self, ended: Mapping[tuple[str, str], Ended | None] | None = None) -> None:
        self._table: dict[tuple[str, str], Ended | None] | None = dict(ended or {})
        self._next: _Next | None = None
        self._earlier: ReferenceType[CollectedNames] | None = None

    @property
    def ended(self) -> Mapping[tuple[str, str], Ended | None]:
        """The objects, those that were collected first before the others, with what they were like."""
        return self._own()

    def _own(self) -> dict[tuple[str, str], Ended | None]:
        """The table; a copy, if the next one has taken it along."""
        if self._table is None:
            assert self._next is not None
            names, added, dropped = self._next
            table = {**dropped, **names.ended}
            for key in added:
                del table[key]
            self._table, self._next = table, None
        return self._table

    def __len__(self) -> int:
        return len(self.ended)

    def __contains__(self, named: object) -> bool:
        return named in self.ended

    def after(self, before: ObjectMap, now: ObjectMap, states: Sequence[State]) -> CollectedNames:
        """With the objects of ``before``, whose states are ``states``, that are not in ``now``; without those that are back."""
        new = now.new_places(before)
        gone = [
            (sort, before.names[sort][number], number)
            for sort, numbers in new.items()
            for number in numbers
            if number < len(before.names[sort]) and now.number(sort, before.names[sort][number]) < 0
        ]
        back = [key for sort, numbers in new.items() for n in numbers if (key := (sort, now.names[sort][n])) in self]
        if not gone and not back:
            return self
        earlier = self._earlier() if self._earlier is not None else None
        if earlier is not None:
            earlier._own()  # it is still in use, and must not keep all that comes now
        table = self._own() if not back else {key: ended for key, ended in self.ended.items() if key not in back}
        for sort, name, number in gone:
            table[sort, name] = _alike(before, sort, number, states)
        dropped = {key: table.pop(key) for key in list(islice(table, max(0, len(table) - MOST_NAMES)))}
        after = CollectedNames()
        after._table = table
        if not back:
            after._earlier = ref(self)
            self._table, self._next = None, (after, [(sort, name) for sort, name, _ in gone], dropped)
        return after

    def restored(
        self, objects: ObjectMap, back: Sequence[tuple[str, str]], states: Sequence[State]
    ) -> Sequence[State] | None:
        """``states`` of ``objects`` with those named ``back`` as they were; None if it is not known of all how."""
        slots = dict[int, int]()
        for sort, name in back:
            ended = self.ended[sort, name]
            if ended is None:
                return None
            slots |= dict(zip(objects.slots(sort, objects.number(sort, name)), ended, strict=True))
        return tuple(tuple(slots.get(i, value) for i, value in enumerate(state)) for state in states)


_Next = tuple[CollectedNames, Sequence[tuple[str, str]], dict[tuple[str, str], Ended | None]]
"""The names that have the table now, those that were added to it, and those that were dropped for these."""


def _alike(objects: ObjectMap, sort: str, number: int, states: Sequence[State]) -> Ended | None:
    """What the object is like in all of the states; None if they differ."""
    slots = objects.slots(sort, number)
    found = {tuple([state[slot] for slot in slots]) for state in states}
    return found.pop() if len(found) == 1 else None
