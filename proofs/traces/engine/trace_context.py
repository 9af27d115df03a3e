"""What explains a trace of the plain format so far, whose objects come and go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from schedproof.model.semantics import State

from .candidates import Candidates
from .collected_names import CollectedNames
from .objects import ObjectMap

MOST_SINCE = 200
"""Records kept to find those that matter; beyond that, the states that explain all of them take their place."""

MOST_STARTS = 200
"""States that may take their place; if there are more, it is not known which records matter."""


@dataclass(frozen=True)
class Since:
    """Where few states explain the trace, and the records since then."""

    objects: ObjectMap
    states: Sequence[State]
    records: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True)
class TraceContext:
    """What a trace has told beside its steps.

    Args:
        objects: the objects that there are, and what never changes of them.
        collected: the names of those that ended, and whose place others may have.
        unobserved: objects that no record has named may have had a part in some step.
        since: the last point where several, but few, states explained the trace; None if it is not known, or if one does.
    """

    objects: ObjectMap
    collected: CollectedNames = field(default_factory=CollectedNames)
    unobserved: bool = False
    since: Since | None = None


@dataclass(frozen=True)
class TraceCandidates(Candidates[State]):
    """The states of the objects in ``context`` that explain the trace so far.

    ``time``: of the last record that has one.
    """

    time: float | datetime | None = None
    context: TraceContext = field(kw_only=True)

    @property
    def since(self) -> Since | None:
        """The last point where few states explained the trace, and the records since then; None if it is not known."""
        if self.context.since is None and len(self.states) == 1 and not self.exceeded:
            return Since(self.context.objects, self.states)
        return self.context.since

    def marked(self) -> TraceCandidates:
        """With the point from which records matter moved on to here, if one state explains all, or there are many records."""
        since, few = self.context.since, len(self.states) <= MOST_STARTS
        if len(self.states) == 1:
            moved = None  # this is the point
        elif since is None or len(since.records) > MOST_SINCE:
            moved = Since(self.context.objects, self.states) if few else None
        else:
            moved = since
        return self if moved is since else replace(self, context=replace(self.context, since=moved))
