"""What a trace format is to the oracle: a name, how it begins, who reads it, and which variant judges it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from schedproof.model.lang import Model
from schedproof.model.semantics import Instance, State
from schedproof.proofs.traces.engine.candidates import Judgement, Record
from schedproof.proofs.traces.errors import TraceError
from schedproof.proofs.traces.files.lines import Line, TextLine
from schedproof.proofs.traces.reports.report import BrokenPromise


@dataclass(frozen=True)
class Reading:
    """A trace as the engine judges it.

    Args:
        size: the number of records.
        start: the state in which the run begins; None for the model's initial state.
        note: what the reading left out, for the report.
    """

    instance: Instance
    records: Iterable[Record]
    size: int
    start: State | None = None
    note: str = ""


@dataclass(frozen=True)
class Plain:
    """A trace as one of the plain format: its header, and its records as its lines come.

    ``note``: what was left out so far, for the report.
    """

    header: Line
    records: Iterator[Line]
    note: Callable[[], str] = lambda: ""


@dataclass(frozen=True)
class Told:
    """What the user says of who wrote the trace: the variant that is to judge it, or the release of the system."""

    variant: str | None = None
    release: str | None = None


@dataclass(frozen=True)
class Judged:
    """A trace with the verdict on it.

    Args:
        size: the number of records.
        note: what the reading left out, for the report.
        breaks: records that are explained but break what the document promises.
        releases: those that explain the whole trace, where the format differs between releases.
    """

    judgement: Judgement
    size: int
    note: str = ""
    breaks: Sequence[BrokenPromise] = ()
    releases: Sequence[str] = ()


@dataclass(frozen=True)
class Format:
    """One trace format.

    Args:
        begins: how to recognise it, for the message about a trace of no known format.
        recognises: whether these lines are of this format.
        plain: for what comes down to the plain format; raises TraceError.
        read: else, the reading of the lines by a model; raises TraceError. None where ``judge`` does all.
        judge: for a format that one model does not suffice for: reads and judges; raises TraceError.
        judged_by: the variant that judges it unless another is named; None for the system's own.
        fits: whether a model speaks of what the format speaks of.
        text: its lines are text, not JSON objects.
        whole: it is one document, to be read to its end before any of it is judged.
        settled: of a trace that may go on, the lines to which those that follow add nothing.
    """

    name: str
    begins: str
    recognises: Callable[[Sequence[TextLine]], bool]
    read: Callable[[Model, Sequence[TextLine]], Reading] | None = None
    judged_by: str | None = None
    fits: Callable[[Model], bool] = lambda model: True
    text: bool = False
    judge: Callable[[Model, Sequence[TextLine], Told], Judged] | None = None
    plain: Callable[[Model, Iterator[TextLine]], Plain] | None = None
    whole: bool = False
    settled: Callable[[Sequence[TextLine]], Sequence[TextLine]] = lambda lines: lines


def first_object(lines: Sequence[TextLine]) -> dict[str, object]:
    """The first line as a JSON object; an empty one if it is none."""
    try:
        return dict(lines[0].object().value)
    except TraceError:
        return {}  # what is wrong with it is said by whoever reads it
