"""Which records of a nonconforming trace matter.

A record that is left out is replaced by the admission that steps may have happened there which nobody wrote down, and a
field that is left out by silence. Both only allow more, so what does not conform still does not conform because of what is left.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schedproof.model.lang import Model
from schedproof.model.registry.system import System
from schedproof.proofs.traces.engine.candidates import TooManyStates
from schedproof.proofs.traces.engine.trace_context import Since
from schedproof.proofs.traces.engine.watch import Watch
from schedproof.proofs.traces.errors import TraceError
from schedproof.proofs.traces.formats.headers import header_of
from schedproof.proofs.traces.formats.records import MOST_UNLOGGED

from .report import LogVerdict

MOST_SECONDS = 3.0
"""Time for the search; what has been found by then is a nonconforming trace as well, but perhaps not the shortest."""

LIMIT = 2_000
"""States that a shortened trace may be explained by; with more, what was left out is kept."""

Record = Mapping[str, Any]

Unlogging = Mapping[str, Any] | int
"""``"unlogged"``, as traces write it."""


def shortened(system: System, model: Model, since: Since, unlogged: Unlogging = 0) -> list[Record]:
    """A plain trace, header first, that does not conform at its last record, as ``since`` does, and says as little as possible.

    Args:
        since: records of which the last one does not conform, and the states that they begin in.
        unlogged: what the trace's header says of steps that are not logged.

    Returns:
        An empty list, if the records do not depart.
    """
    header = {**header_of(since.objects, since.states), **({"unlogged": unlogged} if unlogged else {})}
    until = time.monotonic() + MOST_SECONDS

    def violates(records: Sequence[Record]) -> bool:
        return time.monotonic() < until and _violates(system, model, header, records)

    records: list[Record] = [{k: v for k, v in record.items() if k != "time"} for record in since.records]
    if not records or not violates(records):
        return []
    records = _without_records(records, violates, _Gaps(model, unlogged))
    records = _without_parts(records, violates)
    return [header, *records]


def _violates(system: System, model: Model, header: Record, records: Sequence[Record]) -> bool:
    """The trace does not conform at its last record, and not before."""
    try:
        watch = Watch(system, model, header, limit=LIMIT)
        for record in records[:-1]:
            watch.take(record)
        return watch.open and watch.take(records[-1]).verdict is LogVerdict.VIOLATES
    except (TraceError, TooManyStates):
        return False


def _without_records(records: list[Record], violates: Callable[[Sequence[Record]], bool], gaps: _Gaps) -> list[Record]:
    """Records left out, but for the last one: many at a time first, then fewer (as in delta debugging)."""
    size = len(records) - 1
    while size:
        at = 0
        while at + 1 < len(records):
            some = records[at : min(at + size, len(records) - 1)]
            attempt = gaps.joined([*records[:at], *map(gaps.instead_of, some), *records[at + len(some) :]])
            if attempt != records and violates(attempt):
                records = attempt
            at += size
        size //= 2
    return records


@dataclass(frozen=True)
class _Gaps:
    """Records that only say that steps may have happened, of any kind, and which objects are new."""

    model: Model
    unlogged: Unlogging

    def of(self, most: int) -> Unlogging:
        """At most so many steps."""
        some = isinstance(self.unlogged, Mapping) and "actions" in self.unlogged
        most = min(most, MOST_UNLOGGED)
        return {"most": most, "actions": [a.name for a in self.model.actions]} if some else most

    def instead_of(self, record: Record) -> Record:
        """What allows all that the record allows."""
        kept = {k: record[k] for k in ("objects", "rigid") if k in record}
        step = any(k in record for k in ("action", "event", "crash"))
        return {**kept, "unlogged": self.of(_most(record.get("unlogged", self.unlogged)) + step)}

    def joined(self, records: Sequence[Record]) -> list[Record]:
        """Gaps that follow each other as one; what is no step at all is left out."""
        found: list[Record] = []
        for record in records:
            last = found[-1] if found else {}
            if record.keys() == {"unlogged"} and last.keys() <= {"unlogged", "objects", "rigid"} and "unlogged" in last:
                found[-1] = {**last, "unlogged": self.of(_most(last["unlogged"]) + _most(record["unlogged"]))}
            else:
                found.append(record)
        return [r for r in found if r.keys() != {"unlogged"} or _most(r["unlogged"])]


def _most(unlogged: Unlogging) -> int:
    return int(unlogged["most"]) if isinstance(unlogged, Mapping) else unlogged


def _without_parts(records: list[Record], violates: Callable[[Sequence[Record]], bool]) -> list[Record]:
    """Observed objects and fields, and parameters, left out where they do not matter."""
    for at in range(len(records) - 1, -1, -1):
        for path in list(_parts(records[at])):
            less = _less(records[at], path)
            attempt = [*records[:at], less, *records[at + 1 :]]
            if less and violates(attempt):
                records = attempt
    return records


def _parts(record: Record) -> Iterator[tuple[str, ...]]:
    """What can be left out of a record, the biggest parts first; parts of what is gone then are no longer there."""
    state = record.get("state", {})
    yield ("state",)
    for sort, objects in state.items():
        yield "state", sort
        yield from (("state", sort, obj) for obj in objects)
        yield from (("state", sort, obj, field) for obj, fields in objects.items() for field in fields)
    yield from (("parameters", name) for name in record.get("parameters", {}))


def _less(record: Record, path: tuple[str, ...]) -> Record:
    """``record`` without the part; what is empty then goes too. Empty where there is nothing to leave out."""
    name, *rest = path
    if name not in record:
        return {}
    if not rest:
        return {k: v for k, v in record.items() if k != name}
    inner = record[name]
    less = _less(inner, tuple(rest))
    if not less and (rest[0] not in inner or len(inner) > 1):
        return {}
    return {**record, name: less} if less else {k: v for k, v in record.items() if k != name}
