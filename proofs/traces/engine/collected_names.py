"""The names of collected objects. A log that names one of them again does not mean a new object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from weakref import ReferenceType, ref

from schedproof.model.lang.types import Function, Type
from schedproof.model.lang.types import Sequence as SequenceType
from schedproof.model.semantics import State

from .objects import Named, ObjectMap

MOST_NAMES = 10_000
"""How many names are kept: those of the last objects. A log that names an earlier one means a new object."""


@dataclass(frozen=True)
class References:
    """A value that names objects. It keeps their names: their numbers may be those of others when the object returns."""

    kind: Type
    objects: frozenset[Named]


Ended = tuple[int | References, ...]
"""The values of an object when it was collected: its state, if its sort has states, then its attributes."""


class CollectedNames:
    """The last objects that were collected, as (sort, name), with their values; None where these are unknown.

    A trace makes one version after another, and usually only the last is in use. So the new version takes the table
    over, and remembers its changes. An older version that is still in use then rebuilds its own copy.
    """

    def __init__(self, ended: Mapping[tuple[str, str], Ended | None] | None = None) -> None:
        self._table: dict[tuple[str, str], Ended | None] | None = dict(ended or {})
        self._next: _Next | None = None
        self._earlier: ReferenceType[CollectedNames] | None = None

    @property
    def ended(self) -> Mapping[tuple[str, str], Ended | None]:
        """The collected objects with their values, first collected first."""
        return self._own_table()

    def _own_table(self) -> dict[tuple[str, str], Ended | None]:
        """The table of this version; a copy, if the next version has taken it over."""
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

    def named_by(self, named: tuple[str, str]) -> Iterator[tuple[str, str]]:
        """The objects that the last values of a collected object name; none if it is not one, or they are unknown."""
        for value in self.ended.get(named) or ():
            if isinstance(value, References):
                for several in value.objects:
                    yield from several

    def after(self, before: ObjectMap, now: ObjectMap, states: Sequence[State]) -> CollectedNames:
        """The version for ``now``: objects that ended since ``before`` are added, objects that returned are removed.

        Args:
            before: the object map before the record.
            now: the object map after it.
            states: the states of ``before`` that explain the trace so far.
        """
        new = now.new_places(before)
        newly_collected = [
            (sort, before.names[sort][number], number)
            for sort, numbers in new.items()
            for number in numbers
            if number < len(before.names[sort]) and now.number(sort, before.names[sort][number]) < 0
        ]
        back = [key for sort, numbers in new.items() for n in numbers if (key := (sort, now.names[sort][n])) in self]
        if not newly_collected and not back:
            return self
        earlier = self._earlier() if self._earlier is not None else None
        if earlier is not None:
            earlier._own_table()  # the earlier version is still in use, and must not store every later change
        table = self._own_table() if not back else {key: ended for key, ended in self.ended.items() if key not in back}
        for sort, name, number in newly_collected:
            table[sort, name] = _alike(before, sort, number, states)
        dropped = {key: table.pop(key) for key in list(islice(table, max(0, len(table) - MOST_NAMES)))}
        after = CollectedNames()
        after._table = table
        if not back:
            after._earlier = ref(self)
            self._table, self._next = None, (after, [(sort, name) for sort, name, _ in newly_collected], dropped)
        return after

    def restored(
        self, objects: ObjectMap, back: Sequence[tuple[str, str]], states: Sequence[State]
    ) -> Sequence[State] | None:
        """``states`` of ``objects``, in which those of ``back`` have their last values; None if some are unknown."""
        slots = dict[int, int]()
        for sort, name in back:
            ended = self.ended[sort, name]
            if ended is None:
                return None
            for slot, last in zip(objects.slots(sort, objects.number(sort, name)), ended, strict=True):
                value = objects.naming(last.kind, last.objects) if isinstance(last, References) else last
                if value is None:
                    return None
                slots[slot] = value
        return tuple(tuple(slots.get(i, value) for i, value in enumerate(state)) for state in states)


_Next = tuple[CollectedNames, Sequence[tuple[str, str]], dict[tuple[str, str], Ended | None]]
"""The version that has the table now, the names that it added, and the entries that it dropped for them."""


def _alike(objects: ObjectMap, sort: str, number: int, states: Sequence[State]) -> Ended | None:
    """The values of the object, if all states agree on them; else None."""
    slots = objects.slots(sort, number)
    values = {tuple([state[slot] for slot in slots]) for state in states}
    if len(values) != 1:
        return None
    ended: list[int | References] = list(values.pop())
    attributes = objects.layout.attributes(sort)
    for place, attribute in enumerate(attributes, len(slots) - len(attributes)):
        value = ended[place]
        assert isinstance(value, int)
        if isinstance(attribute.type, Function | SequenceType) and value:
            return None  # it names objects by numbers that may be those of others later
        if named := objects.named_in(attribute.type, value):
            ended[place] = References(attribute.type, named)
    return tuple(ended)
