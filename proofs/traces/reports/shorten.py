"""Finds the relevant records of a nonconforming trace.

A gap replaces each omitted record: it allows unlogged steps there. An omitted field is unobserved. Both only allow
more, so a nonconformance of the rest is one of the trace. At the end, objects that are irrelevant are omitted.
Nothing is omitted if the last record would then violate the model for another reason. Parameters stay: a record without
them cannot be read on its own.
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

from .report import NonconformanceReport

MOST_SECONDS = 3.0
"""The time for the search, in seconds. The result then does not conform either, but may be longer than necessary."""

LIMIT = 2_000
"""The limit for states that explain a shortened trace. An omission that exceeds it is not made."""

Record = Mapping[str, Any]

Unlogging = Mapping[str, Any] | int
"""``"unlogged"``, as traces write it."""


def shortened(system: System, model: Model, since: Since, unlogged: Unlogging = 0) -> list[Record]:
    """A short plain trace, header first, that does not conform at its last record, for the same reason as ``since``.

    Args:
        system: the system of the trace.
        model: the variant to check against.
        since: states, and the records that begin in them; the last record does not conform.
        unlogged: the value of ``"unlogged"`` in the trace's header.

    Returns:
        An empty list, if the records conform.
    """
    header = {**header_of(since.objects, since.states), **({"unlogged": unlogged} if unlogged else {})}
    until = time.monotonic() + MOST_SECONDS

    records: list[Record] = [{k: v for k, v in record.items() if k != "time"} for record in since.records]
    reason = _violation(system, model, header, records) if records else None
    if reason is None:
        return []

    def violates(records: Sequence[Record], header: Record = header) -> bool:
        if time.monotonic() >= until:
            return False
        other = _violation(system, model, header, records)
        return other is not None and _is_of(reason, other)

    records = _without_records(records, violates, _Gaps(model, unlogged))
    records = _without_parts(records, violates)
    return [_without_objects(header, records, violates), *records]


def _violation(system: System, model: Model, header: Record, records: Sequence[Record]) -> NonconformanceReport | None:
    """Why the trace does not conform at its last record; None if it does, or does not conform before."""
    try:
        watch = Watch(system, model, header, limit=LIMIT, explains=False)
        for record in records[:-1]:
            watch.take(record)
        return watch.take(records[-1]).nonconformance if watch.open else None
    except (TraceError, TooManyStates):
        return None


def _is_of(reason: NonconformanceReport, other: NonconformanceReport) -> bool:
    """Whether ``other`` has the same reason: the same properties, the same objection, and the same differing fields."""

    def properties(of: NonconformanceReport) -> set[str | None]:
        return {requirement.property for requirement in (*of.requirements, *of.if_taken)}

    def refused(of: NonconformanceReport) -> list[tuple[int | None, Sequence[str]]]:
        return [(each.line, each.objects) for candidate in of.candidates[:1] for each in candidate.refused]

    def differing(of: NonconformanceReport) -> set[tuple[str, str]]:
        return {(each.object, each.field) for candidate in of.candidates[:1] for each in candidate.differs}

    same = properties(reason) == properties(other) and refused(reason) == refused(other)
    return same and differing(reason) == differing(other)


def _without_records(records: list[Record], violates: Callable[[Sequence[Record]], bool], gaps: _Gaps) -> list[Record]:
    """Omits records other than the last: many at a time first, then fewer (delta debugging)."""
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
    """Makes gaps: records that only allow steps of any kind, and introduce new objects."""

    model: Model
    unlogged: Unlogging

    def of(self, most: int) -> Unlogging:
        """The value of ``"unlogged"`` for at most ``most`` steps."""
        some = isinstance(self.unlogged, Mapping) and "actions" in self.unlogged
        most = min(most, MOST_UNLOGGED)
        return {"most": most, "actions": [a.name for a in self.model.actions]} if some else most

    def instead_of(self, record: Record) -> Record:
        """A gap that allows everything that the record allows."""
        kept = {k: record[k] for k in ("objects", "rigid") if k in record}
        step = any(k in record for k in ("action", "event", "crash"))
        return {**kept, "unlogged": self.of(_most(record.get("unlogged", self.unlogged)) + step)}

    def joined(self, records: Sequence[Record]) -> list[Record]:
        """Merges adjacent gaps, and omits gaps that allow no step."""
        merged: list[Record] = []
        for record in records:
            last = merged[-1] if merged else {}
            if record.keys() == {"unlogged"} and last.keys() <= {"unlogged", "objects", "rigid"} and "unlogged" in last:
                merged[-1] = {**last, "unlogged": self.of(_most(last["unlogged"]) + _most(record["unlogged"]))}
            else:
                merged.append(record)
        return [r for r in merged if r.keys() != {"unlogged"} or _most(r["unlogged"])]


def _most(unlogged: Unlogging) -> int:
    return int(unlogged["most"]) if isinstance(unlogged, Mapping) else unlogged


def _without_parts(records: list[Record], violates: Callable[[Sequence[Record]], bool]) -> list[Record]:
    """Omits observed objects and fields that are irrelevant."""
    for at in range(len(records) - 1, -1, -1):
        for path in list(_parts(records[at])):
            less = _less(records[at], path)
            attempt = [*records[:at], less, *records[at + 1 :]]
            if less and violates(attempt):
                records = attempt
    return records


def _parts(record: Record) -> Iterator[tuple[str, ...]]:
    """The parts of a record that can be omitted, largest first. Parts of an omitted part no longer exist then."""
    state = record.get("state", {})
    yield ("state",)
    for sort, objects in state.items():
        yield "state", sort
        yield from (("state", sort, obj) for obj in objects)
        yield from (("state", sort, obj, field) for obj, fields in objects.items() for field in fields)


def _less(record: Record, path: tuple[str, ...]) -> Record:
    """``record`` without the part, and without what is empty then; {} if there is nothing to omit."""
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


def _without_objects(
    header: Record, records: Sequence[Record], violates: Callable[[Sequence[Record], Record], bool]
) -> Record:
    """Omits objects that are irrelevant.

    First all to which neither a record nor the start of a kept object refers. That may be too much: a property may be
    violated together with an object that refers to a kept one. Then some at a time, as long as that omits any.
    """
    named = set(_texts(list(records)))
    if violates(records, fewer := _of_objects(header, _referred(header, named))):
        return fewer
    left = [name for names in header["objects"].values() for name in names if name not in named]
    kept, size = named | set(left), len(left)
    while size:
        before = len(kept)
        for at in range(0, len(left), size):
            attempt = kept - set(left[at : at + size])
            if attempt != kept and violates(records, _of_objects(header, attempt)):
                kept = attempt
        if size > 1 or len(kept) == before:
            size //= 2
    return _of_objects(header, kept)


def _referred(header: Record, named: set[str]) -> set[str]:
    """The objects in ``named``, those to which their start refers, and so on."""
    kept: set[str] = set()
    more = named
    while more - kept:
        kept |= more
        fields = [of[name] for start in _starts(header) for of in start.values() for name in of if name in kept]
        more = set(_texts(fields))
    return kept


def _starts(header: Record) -> list[Record]:
    described = header.get("start", {})
    return described if isinstance(described, list) else [described]


def _of_objects(header: Record, kept: set[str]) -> Record:
    """The header with these objects only."""
    described, starts = header.get("start", {}), _starts(header)
    fewer = [{sort: kept_of for sort, of in start.items() if (kept_of := _only(kept, of))} for start in starts]
    rigid = {
        sort: {name: {o: _among(kept, v) for o, v in _only(kept, of).items()} for name, of in attributes.items()}
        for sort, attributes in header.get("rigid", {}).items()
    }
    return {
        **header,
        "objects": {sort: [name for name in names if name in kept] for sort, names in header["objects"].items()},
        **({"rigid": rigid} if "rigid" in header else {}),
        **({"start": fewer if isinstance(described, list) else fewer[0]} if "start" in header else {}),
    }


def _only(kept: set[str], objects: Record) -> Record:
    return {name: value for name, value in objects.items() if name in kept}


def _texts(value: object) -> Iterator[str]:
    """All texts in a JSON value, also the names of fields."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from (name, *_texts(inner))
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _among(kept: set[str], value: object) -> object:
    """A rigid value without the objects that are not kept."""
    return [each for each in value if each in kept] if isinstance(value, list) else value
