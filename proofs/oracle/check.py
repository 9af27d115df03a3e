"""The entry: from a file to a report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from schedproof.model.lang import Model
from schedproof.model.semantics import Instance
from schedproof.model.systems import SYSTEMS

from .engine import Record, judge
from .errors import TraceError
from .hived import HivedReading
from .hived_trace import is_hived, read_hived
from .lines import Line, read_lines
from .own import is_own, read_own
from .report import OracleReport, OracleVerdict

T = TypeVar("T")

OWN = "schedproof"
"""The name of the plain format."""


FORMATS: Mapping[str, Sequence[str]] = {"hived": ("hived", OWN)}
"""The formats that each system's traces come in."""


def check_trace(system: str, path: Path, variant: str | None = None, format: str | None = None) -> OracleReport:
    """Judges the trace at ``path`` by the model of ``system``.

    Args:
        variant: None for the one that the system is judged by (HiveD: as-written).
        format: None to recognise it by the header, else ``hived`` or ``schedproof``.

    Raises:
        TraceError: unknown names, or a file that is no trace; one line, no more.
    """
    known = _choose(SYSTEMS, system, "system")
    model = _choose(known.variants, variant or known.judged_by, f"variant of {system}")
    formats = FORMATS[system]
    if format is not None and format not in formats:
        raise TraceError(f"unknown format {format!r}; traces of {system} are {' or '.join(formats)}")
    lines = read_lines(path)
    chosen = format or _recognise(lines[0], formats)
    instance, records = _read(chosen, model, lines)
    judgement = judge(instance, records)
    note = judgement.note
    if len(lines) == 1 and judgement.verdict is OracleVerdict.CONFORMS:
        note = "the trace has no records: nothing contradicts the model, and nothing was checked"
    return OracleReport(system, model.variant, chosen, judgement.verdict, len(lines) - 1, judgement.departure, note)


def _choose(known: Mapping[str, T], name: str, what: str) -> T:
    if name not in known:
        raise TraceError(f"unknown {what} {name!r}; there is {', '.join(known)}")
    return known[name]


def _recognise(header: Line, formats: Sequence[str]) -> str:
    for name, recognises in (("hived", is_hived), (OWN, is_own)):
        if name in formats and recognises(header.value):
            return name
    raise header.error(
        'this is the header of no known format; a HiveD trace begins with "header": true, '
        'a plain one with "schedproof": 1 (see proofs/oracle/README.md)'
    )


def _read(chosen: str, model: Model, lines: Sequence[Line]) -> tuple[Instance, Iterable[Record]]:
    if chosen == OWN:
        return read_own(model, lines)
    reading = HivedReading(model, read_hived(lines))
    return reading.instance, reading.records()
