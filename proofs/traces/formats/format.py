"""The definition of a trace format: its name, how to recognise and read it, and which variant checks its traces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from schedproof.model.lang import Model
from schedproof.model.semantics import Instance, State
from schedproof.proofs.traces.engine.candidates import Candidates, Record, check_run
from schedproof.proofs.traces.engine.objects import ObjectMap
from schedproof.proofs.traces.engine.origins import Origins
from schedproof.proofs.traces.errors import TraceError
from schedproof.proofs.traces.files.lines import Line, TextLine
from schedproof.proofs.traces.reports.nonconformance import validation_of
from schedproof.proofs.traces.reports.report import Validation


@dataclass(frozen=True)
class Plain:
    """A trace in terms of the plain format: its header, and its records as they arrive.

    Attributes:
        header: the header.
        records: the records.
        note: returns what was left out so far, for the report.
    """

    header: Line
    records: Iterator[Line]
    note: Callable[[], str] = lambda: ""


class Log(Protocol):
    """A trace with records of its own, all of which have been read."""

    def check(self) -> Validation:
        """The verdict on all records."""


@dataclass(frozen=True)
class ModelLog:
    """A log whose records are steps of one instance.

    Args:
        instance: the model with its objects.
        records: the records.
        size: the number of records.
        start: the state in which the run begins; None for the model's initial state.
        note: what the reading left out, for the report.
        explains: whether a nonconformance says which rows would explain it.
    """

    instance: Instance
    records: Iterable[Record[State]]
    size: int
    start: State | None = None
    note: str = ""
    explains: bool = True

    def check(self) -> Validation:
        """The verdict on all records."""
        begins = self.instance.initial() if self.start is None else self.start
        objects = ObjectMap.of(self.instance)
        origins = Origins(objects, (begins,))

        def explained(record: Record[State], after: Candidates[State]) -> None:
            origins.add(record.number, record.line, record.says, objects, after.states)

        outcome, breaks = check_run(Candidates((begins,)), self.records, explained=explained)
        validation = validation_of(self.instance, outcome, explains=self.explains)
        if validation.nonconformance is not None:
            report = validation.nonconformance.with_origins(
                lambda fields: origins.of(fields, lambda kept: str(kept.record))
            )
            validation = replace(validation, nonconformance=report)
        note = "; ".join(part for part in (validation.note, self.note) if part)
        return replace(validation, size=self.size, note=note, breaks=breaks)


@dataclass(frozen=True)
class Requested:
    """The user's choices for a trace: the variant to check against, or the release of the system that wrote it."""

    variant: str | None = None
    release: str | None = None


Read = Callable[[Model, Any, Requested], Plain | Log]
"""Reads lines with a model; raises TraceError.

The lines of a streamed format are an iterator, all others a sequence.
"""


@dataclass(frozen=True)
class Format:
    """One trace format.

    Args:
        name: the name, as ``--format`` has it.
        begins: how such a trace begins, for the message about a trace of unknown format.
        recognises: returns whether lines are of this format.
        read: reads the lines.
        validated_by: the default variant that checks its traces; None for the system's own.
        fits: returns whether a model has what the format describes.
        text: whether its lines are text, not JSON objects.
        streamed: whether its lines are checked as they arrive. If False, they are checked when all have been read.
        by_release: whether it differs between releases of its system.
        settled: returns the lines of a growing trace that later lines cannot affect.
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
    """The first line as a JSON object; an empty object if it is not one."""
    try:
        return dict(lines[0].object().value)
    except TraceError:
        return {}  # the reader of the format reports the error
