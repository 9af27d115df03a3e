"""What a trace format is: a name, how it begins, who reads it, and which variant its traces are checked by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from schedproof.model.lang import Model
from schedproof.model.semantics import Instance, State
from schedproof.proofs.traces.engine.candidates import Candidates, Record, check_run
from schedproof.proofs.traces.errors import TraceError
from schedproof.proofs.traces.files.lines import Line, TextLine
from schedproof.proofs.traces.reports.nonconformance import validation_of
from schedproof.proofs.traces.reports.report import Validation


@dataclass(frozen=True)
class Plain:
    """A trace as one of the plain format: its header, and its records as its lines come.

    ``note``: what was left out so far, for the report.
    """

    header: Line
    records: Iterator[Line]
    note: Callable[[], str] = lambda: ""


class Log(Protocol):
    """A trace in records of its own, all of which have been read."""

    def check(self) -> Validation:
        """The verdict on all records."""


@dataclass(frozen=True)
class ModelLog:
    """A log whose records are steps of one instance.

    Args:
        size: the number of records.
        start: the state in which the run begins; None for the model's initial state.
        note: what the reading left out, for the report.
    """

    instance: Instance
    records: Iterable[Record[State]]
    size: int
    start: State | None = None
    note: str = ""

    def check(self) -> Validation:
        """The verdict on all records."""
        begins = self.instance.initial() if self.start is None else self.start
        outcome, breaks = check_run(Candidates((begins,)), self.records)
        found = validation_of(self.instance, outcome)
        note = "; ".join(part for part in (found.note, self.note) if part)
        return replace(found, size=self.size, note=note, breaks=breaks)


@dataclass(frozen=True)
class Requested:
    """What the user says of who wrote the trace: the variant that it is checked by, or the release of the system."""

    variant: str | None = None
    release: str | None = None


Read = Callable[[Model, Any, Requested], Plain | Log]
"""Reads lines by a model; raises TraceError. The lines are an iterator where the format is streamed, or else a sequence."""


@dataclass(frozen=True)
class Format:
    """One trace format.

    Args:
        begins: how to recognise it, for the message about a trace of no known format.
        recognises: whether these lines are of this format.
        validated_by: the variant that its traces are checked by unless another is named; None for the system's own.
        fits: whether a model speaks of what the format speaks of.
        text: its lines are text, not JSON objects.
        streamed: its lines are checked as they come; the others when all are there.
        by_release: it differs between releases of its system.
        settled: of a trace that may go on, the lines to which those that follow add nothing.
    """

    name: str
    begins: str
    recognises: Callable[[Sequence[TextLine]], bool]
    read: Read
    validated_by: str | None = None
    fits: Callable[[Model], bool] = lambda model: True
    text: bool = False
    streamed: bool = False
    by_release: bool = False
    settled: Callable[[Sequence[TextLine]], Sequence[TextLine]] = lambda lines: lines


def first_object(lines: Sequence[TextLine]) -> dict[str, object]:
    """The first line as a JSON object; an empty one if it is none."""
    try:
        return dict(lines[0].object().value)
    except TraceError:
        return {}  # what is wrong with it is said by whoever reads it
