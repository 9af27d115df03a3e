"""A run of records on the fast path: one state that changes in place, and what each record wrote to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schedproof.model.semantics import State
from schedproof.model.semantics.step import Writes
from schedproof.proofs.traces.errors import TraceError
from schedproof.proofs.traces.files.lines import Line

from .fast_path import FastPath
from .trace_context import TraceCandidates, later

MOST_WRITES = 25
"""After so many records the state is kept, and no longer what they wrote."""

Change = Writes | tuple[State]
"""What a record wrote, or the state after it."""


class FastRun:
    """Takes records while one state explains the trace, each record is correct, and no object comes or goes.

    Args:
        path: takes the steps.
        start: the candidates before the records.
        noticing: the actions in which objects may take part that no record has named. They end the run.
    """

    def __init__(self, path: FastPath, start: TraceCandidates, noticing: frozenset[str]) -> None:
        self._path, self._start, self._noticing = path, start, noticing
        self._time, self.records = start.time, start.records
        self._kept, self._written = start.states[0], list[Writes]()
        self._complete = path.completed(self._kept)

    def take(self, record: Mapping[str, Any], line: Line | None) -> Change | None:
        """Takes a record.

        Args:
            record: the record.
            line: its line, for messages; None for the number of the record.

        Returns:
            What the record changed; None if it ends the run. The candidates are then those before it.

        Raises:
            TraceError: the record's time is wrong. The run is unchanged.
        """
        if self._noticing and record.get("action") in self._noticing:
            return None
        writes = self._path.take(record, self._complete)
        if writes is None:
            self._restore()
            return None
        if "time" in record:
            before, time = self._time, record["time"]
            if type(time) is not int or type(before) is not int or time < before:
                try:
                    time = later(before, line or Line("", self.records + 1, record))
                except TraceError:
                    self._restore()
                    raise
            self._time = time
        self.records += 1
        written = self._written
        written.append(writes)
        if len(written) < MOST_WRITES:
            return writes
        self._kept, self._written = self._state(), []
        return (self._kept,)

    def _state(self) -> State:
        return tuple(self._complete[: len(self._kept)])

    def _restore(self) -> None:
        """Writes anew what the records wrote: the last one may have been taken in part."""
        self._complete = self._path.completed(self._kept)
        for writes in self._written:
            for slot, value in writes:
                self._complete[slot] = value

    def candidates(self) -> TraceCandidates:
        """The candidates after the records."""
        if self.records > self._start.records:
            self._start = TraceCandidates((self._state(),), self.records, "", self._time, context=self._start.context)
        return self._start
