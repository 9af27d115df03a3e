"""The candidates of a trace in the plain format, whose objects come and go."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from schedproof.model.semantics import State
from schedproof.proofs.traces.files.lines import Line

from .candidates import Candidates
from .collected_names import CollectedNames
from .objects import ObjectMap

MOST_SINCE = 200
"""Records kept to find the relevant ones. After that many, the states that explain them replace them."""

MOST_STARTS = 200
"""States that may replace records. With more states, the relevant records are unknown."""


@dataclass(frozen=True)
class Since:
    """A point of the trace that few states explain, and the records after it."""

    objects: ObjectMap
    states: Sequence[State]
    records: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True)
class TraceContext:
    """What a trace has established besides its steps.

    Args:
        objects: the current objects and their rigid attributes.
        collected: the names of collected objects, whose places others may have.
        unobserved: whether objects that no record has named may have taken part in some step.
        since: the last point that several, but few, states explained. None if it is unknown, or if one state explains
            the trace.
    """

    objects: ObjectMap
    collected: CollectedNames = field(default_factory=CollectedNames)
    unobserved: bool = False
    since: Since | None = None


@dataclass(frozen=True)
class TraceCandidates(Candidates[State]):
    """The states of the objects in ``context`` that explain the trace so far.

    Attributes:
        time: the time of the last record that has one.
        context: the objects, and what else the trace has established.
    """

    time: float | datetime | None = None
    context: TraceContext = field(kw_only=True)

    @property
    def since(self) -> Since | None:
        """The last point that few states explained, and the records since then; None if it is unknown."""
        if self.context.since is None and len(self.states) == 1 and not self.exceeded:
            return Since(self.context.objects, self.states)
        return self.context.since

    def marked(self) -> TraceCandidates:
        """These candidates; ``since`` moves to this point if one state explains all, or if there are many records."""
        since, few = self.context.since, len(self.states) <= MOST_STARTS
        if len(self.states) == 1:
            moved = None  # the property ``since`` then returns this point
        elif since is None or len(since.records) > MOST_SINCE:
            moved = Since(self.context.objects, self.states) if few else None
        else:
            moved = since
        return self if moved is since else replace(self, context=replace(self.context, since=moved))


def later(before: float | datetime | None, line: Line) -> float | datetime | None:
    """The record's time, or that of the record before.

    Raises:
        TraceError: it is earlier, or of another kind.
    """
    shown = line.value.get("time")
    if shown is None:
        return before
    time = _time(shown, line)
    if before is None:
        return time
    try:
        if time < before:  # type: ignore[operator]
            raise line.error(
                f"time {shown} is before that of an earlier record; put the records in order, and validate each run in a log of its own"
            )
    except TypeError:
        raise line.error(
            f"time {shown!r} cannot be compared with that of an earlier record; write all times in one form"
        ) from None
    return time


def _time(shown: object, line: Line) -> float | datetime:
    if isinstance(shown, str):
        try:
            return datetime.fromisoformat(shown)
        except ValueError:
            raise line.error(
                f"time {shown!r:.60} is not in ISO 8601; write a text such as 2026-02-01T12:00:05Z"
            ) from None
    assert isinstance(shown, int | float)
    if isinstance(shown, float) and not math.isfinite(shown):
        raise line.error(f"time {shown} is not a time; write seconds, or a text in ISO 8601")
    return shown
