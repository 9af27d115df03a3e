"""The origin of a value: the record since which every explanation of the trace has it.

A report on a nonconforming record says with it which earlier record brought the objects into their states. The last
records are kept for this, so that neither time nor memory grows with the trace.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from schedproof.model.semantics import State
from schedproof.proofs.traces.files.lines import Line
from schedproof.proofs.traces.reports.report import Origin

from .fast_run import MOST_WRITES, Change
from .objects import ObjectMap

MOST_RECORDS = 200
"""The limit for records that are kept. Of an older origin only that is known."""

MOST_STATES = 20
"""The limit for states of a record that are kept. Of a record with more, no value is known."""

MOST_VALUES = 1_000_000
"""The limit for values in all kept states."""


class Kept(NamedTuple):
    """A record, and what explains the trace after it.

    Attributes:
        number: the number of the record; 0 for the start of the trace.
        place: its line, or the number of its line; 0 for the number of the record.
        record: the record.
        objects: the objects after it.
        states: the states after it; empty if they are too many to keep.
    """

    number: int
    place: int | Line
    record: Any
    objects: ObjectMap
    states: tuple[State, ...]

    @property
    def line(self) -> int:
        """The number of its line."""
        return self.place.number if isinstance(self.place, Line) else self.place or self.number

    def values(self, sort: str, obj: str, field: str) -> frozenset[int] | None:
        """The values of a field in the states; None if there is no such object or field."""
        start, number = self.objects.field_start(sort, "" if field == "state" else field), -1
        if start is not None:
            number = self.objects.number(sort, obj)
        return frozenset(state[start + number] for state in self.states) if number >= 0 and start is not None else None


class Origins:
    """The last records of a trace, with the states that explain it after each of them."""

    def __init__(self, objects: ObjectMap, states: tuple[State, ...]) -> None:
        self._kept: deque[tuple[int, int | Line, Any, ObjectMap, tuple[State, ...] | Change]]
        # What Kept has; a plain tuple takes a fifth of its time. The oldest states are needed for later changes.
        self._kept = deque(maxlen=MOST_RECORDS + MOST_WRITES)
        self.add(0, 0, None, objects, states)

    def add(
        self, number: int, place: int | Line, record: Any, objects: ObjectMap, states: tuple[State, ...] | Change
    ) -> None:
        """Keeps a record that was explained.

        Args:
            number, place, record, objects: the attributes of :class:`Kept`.
            states: the states after it, or what it wrote to the one state before it.
        """
        kept = self._kept
        if isinstance(states, tuple):
            if len(states) > MOST_STATES:
                states = ()
            elif len(kept) * len(states[0]) * len(states) > MOST_VALUES:
                kept.popleft()
        kept.append((number, place, record, objects, states))

    def copy(self) -> Origins:
        """The same records, for which later ones are added to one of the two only."""
        other = Origins.__new__(Origins)
        other._kept = self._kept.copy()
        return other

    @property
    def kept(self) -> list[Kept]:
        """The kept records, the oldest first. The first may be the start of the trace, which has the number 0."""
        kept, states = list[Kept](), tuple[State, ...]()
        for number, place, record, objects, change in self._kept:
            if isinstance(change, tuple):
                states = change
            elif states:
                (before,) = states
                after = list(before)
                for slot, value in change:
                    after[slot] = value
                states = (tuple(after),)
            else:
                continue  # the states before it are no longer kept
            kept.append(Kept(number, place, record, objects, states))
        most = MOST_VALUES // max(1, sum(map(len, states))) + 1
        return kept[-min(most, MOST_RECORDS) :]

    def of(self, before: Mapping[str, Mapping[str, Any]], says: Callable[[Kept], str]) -> list[Origin]:
        """Where the values of objects come from, the newest origin first; those that are known.

        Args:
            before: object -> field -> value, after the last record.
            says: returns a kept record in a few words.
        """
        kept = self.kept
        fields_since: dict[tuple[int, int, str], list[str]] = {}
        for obj, fields in before.items():
            for sort in kept[-1].objects.names:
                for field in fields:
                    origin, is_older = _origin(kept, sort, obj, field)
                    if origin is not None:
                        what = says(origin) if origin.number and not is_older else ""
                        fields_since.setdefault((origin.number, origin.line, what), []).append(f"{obj}.{field}")
        return [Origin(*place, tuple(fields)) for place, fields in sorted(fields_since.items(), reverse=True)]


def _origin(kept: Sequence[Kept], sort: str, obj: str, field: str) -> tuple[Kept | None, bool]:
    """The record since which every explanation has the last value of a field, or None if it is unknown.

    True with it means that the origin is older than this record, the oldest that is kept.
    """
    *older, origin = kept
    value = origin.values(sort, obj, field)
    if value is None or len(value) != 1:
        return None, False
    for entry in reversed(older):
        values = entry.values(sort, obj, field)
        if values == frozenset():
            return None, False  # too many states to keep
        if values != value:
            return origin, False
        origin = entry
    return origin, bool(origin.number)
