"""The names of objects that were collected, so that a log which speaks of one again is not taken to mean a new one."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from itertools import islice

from schedproof.model.semantics import State

from .objects import ObjectMap

MOST_NAMES = 10_000
"""Names that are kept, those of the last objects; a log that speaks of an earlier one means a new object."""

Ended = tuple[int, ...]
"""What an object was like when it was collected: its state, if it has one, and its attributes."""


class CollectedNames:
    """The last objects that were collected, (sort, name), and what they were like; None where that is not known.

    A trace has one after the other. So only the last has a table; one before it knows what was added since, and copies
    the table if it is asked after all.
    """

    def __init__(self, ended: Mapping[tuple[str, str], Ended | None] | None = None) -> None:
        self._table: dict[tuple[str, str], Ended | None] | None = dict(ended or {})
        self._later: _Later | None = None

    @property
    def ended(self) -> Mapping[tuple[str, str], Ended | None]:
        """The objects, those that were collected first before the others, with what they were like."""
        if self._table is None:
            self._table, self._later = self._copied(), None
        return self._table

    def _copied(self) -> dict[tuple[str, str], Ended | None]:
        """The table as it was, from that of the last of those after this one."""
        since: list[_Later] = []
        names = self
        while names._later is not None:
            since.append(names._later)
            names = names._later[0]
        table = OrderedDict(names.ended)
        for _, added, dropped in reversed(since):
            for key in reversed(dropped):
                table[key] = dropped[key]
                table.move_to_end(key, last=False)
            for key in added:
                del table[key]
        return dict(table)

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
        table = self.ended if not back else {key: ended for key, ended in self.ended.items() if key not in back}
        assert isinstance(table, dict)
        for sort, name, number in gone:
            table[sort, name] = _alike(before, sort, number, states)
        dropped = {key: table.pop(key) for key in list(islice(table, max(0, len(table) - MOST_NAMES)))}
        after = CollectedNames()
        after._table = table
        if not back:
            self._table, self._later = None, (after, [(sort, name) for sort, name, _ in gone], dropped)
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


_Later = tuple[CollectedNames, Sequence[tuple[str, str]], dict[tuple[str, str], Ended | None]]
"""The names after, those that were added to them, and those that were dropped for these."""


def _alike(objects: ObjectMap, sort: str, number: int, states: Sequence[State]) -> Ended | None:
    """What the object is like in all of the states; None if they differ."""
    slots = objects.slots(sort, number)
    found = {tuple([state[slot] for slot in slots]) for state in states}
    return found.pop() if len(found) == 1 else None
