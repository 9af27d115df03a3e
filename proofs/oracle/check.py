"""The entry: from a file to a report. The formats of each system are registered here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from schedproof.model.lang import Model
from schedproof.model.systems import SYSTEMS, System

from .beaker_changes import BEAKER_CHANGES
from .beaker_messages import BEAKER_MESSAGES
from .beakerd import BEAKERD
from .engine import judge
from .errors import TraceError
from .formats import Format, Judged, Told
from .hived import HIVED
from .jobmon_audit import AUDIT
from .jobmon_dumps import DUMPS
from .jobmon_events import EVENTS
from .lines import TextLine, read_text
from .lock_log import LOCKS
from .own import OWN
from .report import OracleReport, OracleVerdict
from .yunikorn_events import EVENT_RECORDS
from .yunikorn_log import LOG
from .yunikorn_statelog import STATE_LOG
from .yunikorn_walks import WALKS

T = TypeVar("T")

FORMATS: Mapping[str, Sequence[Format]] = {
    "hived": (HIVED, OWN),
    "beaker": (BEAKER_CHANGES, BEAKERD, BEAKER_MESSAGES, OWN),
    "yunikorn": (STATE_LOG, EVENT_RECORDS, WALKS, LOG, OWN),
    "yunikorn-merge": (LOCKS, OWN),
    "jobmon": (AUDIT, DUMPS, EVENTS, OWN),
}
"""The formats that each system's traces come in; the first that recognises a trace reads it. Other systems have the plain one."""


def check_trace(
    system: str | System, path: Path, variant: str | None = None, format: str | None = None, release: str | None = None
) -> OracleReport:
    """Judges the trace at ``path`` by the model of ``system``.

    Args:
        system: one of this project's by name, or any.
        variant: None for the one that the format is judged by, or else the system (HiveD: as-written).
        format: None to recognise it by the content, else the name of one of the system's formats.
        release: the release of the system that wrote it, where its format differs between releases; None for any.

    Raises:
        TraceError: unknown names, or a file that is no trace; one line, no more.
    """
    known = system if isinstance(system, System) else _choose(SYSTEMS, system, "system")
    if variant is not None:
        _choose(known.variants, variant, f"variant of {known.name}")
    formats = FORMATS.get(known.name, (OWN,))
    names = [f.name for f in formats]
    if format is not None and format not in names:
        raise TraceError(f"unknown format {format!r}; traces of {known.name} are {' or '.join(names)}")
    lines = read_text(path)
    chosen = formats[names.index(format)] if format is not None else _recognise(lines, formats)
    model = known.variants[variant or chosen.judged_by or known.judged_by]
    if not chosen.fits(model):
        fitting = ", ".join(v for v, m in known.variants.items() if chosen.fits(m))
        raise TraceError(
            f"{path}: traces of the format {chosen.name} do not speak of what {model.variant} has; "
            f"variants that can judge it: {fitting}"
        )
    judged = _judge(chosen, model, lines, Told(variant, release), path)
    judgement, note = judged.judgement, judged.note
    if not judged.size and judgement.verdict is OracleVerdict.CONFORMS:
        nothing = "the trace has no records: nothing contradicts the model, and nothing was checked"
        note = "; ".join(part for part in (nothing, note) if part)
    return OracleReport(
        known.name,
        model.variant,
        chosen.name,
        judgement.verdict,
        judged.size,
        judgement.departure,
        note,
        judged.breaks,
        judged.releases,
    )


def _judge(chosen: Format, model: Model, lines: Sequence[TextLine], told: Told, path: Path) -> Judged:
    if chosen.judge is not None:
        if told.variant is not None and told.release is not None:
            raise TraceError("a variant judges by its own tables alone; leave out the variant or the release")
        return chosen.judge(model, lines, told)
    assert chosen.read is not None, f"format {chosen.name} has neither read nor judge"
    if told.release is not None:
        raise TraceError(f"{path}: traces of the format {chosen.name} do not differ by release; leave the release out")
    reading = chosen.read(model, lines)
    judgement = judge(reading.instance, reading.records, start=reading.start)
    return Judged(judgement, reading.size, "; ".join(part for part in (judgement.note, reading.note) if part))


def _choose(known: Mapping[str, T], name: str, what: str) -> T:
    if name not in known:
        raise TraceError(f"unknown {what} {name!r}; there is {', '.join(known)}")
    return known[name]


def _recognise(lines: Sequence[TextLine], formats: Sequence[Format]) -> Format:
    for candidate in formats:
        if candidate.recognises(lines):
            return candidate
    if not any(candidate.text for candidate in formats):
        lines[0].object()  # what is wrong with it comes first
    begins = ", ".join(candidate.begins for candidate in formats)
    what = "the header of" if not any(candidate.text for candidate in formats) else "of"
    first = lines[0]
    raise TraceError(
        f"{first.file}, line {first.number}: this is {what} no known format; {begins} (see proofs/oracle/README.md)"
    )
