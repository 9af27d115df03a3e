"""The entry: from a file to a report. The formats of each system are registered here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from schedproof.model.lang import Model
from schedproof.model.registry import discovery
from schedproof.model.registry.errors import UserError
from schedproof.model.registry.system import System

from .engine.candidates import judge
from .engine.watch import Watch
from .errors import TraceError
from .files.again import Again
from .files.following import Following
from .files.lines import Line, TextLine, called, opened, text_lines
from .formats.format import Format, Judged, Plain, Told
from .formats.itf_trace import ITF, is_itf, itf_states
from .formats.mapping import read_mapping
from .formats.otel import OTEL, is_otel, log_records
from .formats.plain import OWN
from .reports.excerpt import excerpt
from .reports.report import NOTHING, OracleReport, OracleVerdict
from .reports.shorten import shortened

T = TypeVar("T")

EVERY: Sequence[Format] = (OWN, OTEL, ITF)
"""The formats that traces of every system may come in."""


def formats_of(system: System) -> Sequence[Format]:
    """The formats that a system's traces come in; the first that recognises a trace reads it."""
    return (*system.trace_formats, *EVERY)


def check_trace(
    system: str | System,
    path: Path,
    variant: str | None = None,
    format: str | None = None,
    release: str | None = None,
    *,
    mapping: Path | None = None,
    following: Following | None = None,
    shorten: bool = False,
) -> OracleReport:
    """Judges the trace at ``path`` by the model of ``system``.

    Args:
        system: or its name, if it comes with schedproof or an installed package.
        path: of the trace; ``-`` for standard input.
        variant: None for the one that the trace names or its format is judged by, or else the system (HiveD: as-written).
        format: None to recognise it by the content, else the name of one of the system's formats.
        release: the release of the system that wrote it, where its format differs between releases; None for any.
        mapping: a file that says how the lines are to be read as records of the plain format.
        following: for a trace that is still being written; the report comes at the first departure, or when it stops.
        shorten: of a departure, look for what matters of the trace; this takes up to three seconds.

    Raises:
        TraceError: unknown names, or a file that is no trace; one line, no more. ``before`` has what is known of the
            lines before the one that is wrong.
    """
    known = _system(system)
    if variant is not None:
        _choose(known.variants, variant, f"variant of {known.name}")
    formats = formats_of(known)
    names = [f.name for f in formats]
    if format is not None and format not in names:
        raise TraceError(f"unknown format {format!r}; traces of {known.name} are {' or '.join(names)}")
    with opened(path, following) as file:
        lines = text_lines(file, called(path), following)
        first = next(lines, None)
        if first is None:
            raise TraceError(f"{called(path)}: the file is empty; a trace has at least one line")
        read = chain([first], lines)
        if mapping is not None:
            return _streamed(_mapped(mapping, known, format, first), known, variant, release, read, path, shorten)
        plain = [
            f for f in formats if _is_streamed(f) and (f.recognises([first]) if format is None else f.name == format)
        ]
        if plain:
            return _streamed(plain[0], known, variant, release, read, path, shorten)
        possible = [f for f in formats if format in (None, f.name)]
        return _whole(known, possible, Told(variant, release), read, path, shorten, following)


def check_records(
    system: str | System,
    header: Mapping[str, Any],
    records: Iterable[Mapping[str, Any]],
    variant: str | None = None,
    *,
    shorten: bool = False,
) -> OracleReport:
    """Judges records of the plain format, as :func:`check_trace` judges those of a file.

    Args:
        shorten: as of :func:`check_trace`.

    Raises:
        TraceError: unknown names, or what is no header or no record.
    """
    known = _system(system)
    model = _choose(known.variants, variant, f"variant of {known.name}") if variant is not None else None
    trace = Plain(Line("", 0, header), (Line("", n, r) for n, r in enumerate(records, 1)))
    return _judged(trace, known, model, "", OWN, shorten)


def _is_streamed(format: Format) -> bool:
    """Its lines are judged as they come."""
    return format.plain is not None and not format.whole


def _streamed(
    chosen: Format,
    system: System,
    variant: str | None,
    release: str | None,
    lines: Iterator[TextLine],
    path: Path,
    shorten: bool,
) -> OracleReport:
    """A trace that is judged as its lines come."""
    _no_release(chosen, release, path)
    assert chosen.plain is not None
    model = system.variants[variant] if variant is not None else None
    trace = chosen.plain(model or system.variants[system.judged_by], lines)
    return _judged(trace, system, model, called(path), chosen, shorten)


def _judged(
    trace: Plain, system: System, model: Model | None, source: str, format: Format, shorten: bool
) -> OracleReport:
    watch = Watch(system, model, trace.header, source=source, format=format.name)
    try:
        for line in trace.records:
            _take(watch, line)
            if not watch.open:
                break
    except TraceError as error:
        error.before = _noted(watch.report(), trace.note()).until(str(error)) if watch.records else None
        raise
    report = _noted(watch.report(), trace.note())
    if shorten and report.verdict is OracleVerdict.DEPARTS and watch.since is not None:
        unlogged = trace.header.value.get("unlogged", 0)
        report = replace(report, shortened=shortened(system, watch.model, watch.since, unlogged))
    return report


def _take(watch: Watch, line: Line) -> None:
    """Hands on a record; a name that is wrong in it may stand in what has made it, and not in the log."""
    try:
        watch.take(line.value, line.number)
    except TraceError as error:
        if not line.made_by:
            raise
        raise TraceError(f"{error} (made by {line.made_by})", error.line) from None


def _noted(report: OracleReport, note: str) -> OracleReport:
    return replace(report, note="; ".join(part for part in (report.note, note) if part))


def _mapped(mapping: Path, system: System, format: str | None, first: TextLine) -> Format:
    """The format that a mapping makes of lines, of OpenTelemetry's log records, or of the states of an ITF trace."""
    said = read_mapping(mapping)
    if said.header["system"] != system.name:
        raise TraceError(
            f"{mapping}: is a mapping for {said.header['system']!r}, and the trace is judged as {system.name!r}"
        )
    inner: Mapping[str | None, Callable[[Iterator[TextLine]], Iterator[TextLine] | Iterator[Line]]] = {
        None: lambda lines: lines,
        OTEL.name: log_records,
        ITF.name: itf_states,
    }
    if format is None and said.pattern is None and is_otel([first]):
        format = OTEL.name
    if format not in inner:
        raise TraceError(
            f"--mapping reads lines, log records (--format {OTEL.name}) or states (--format {ITF.name}), not {format}"
        )
    return Format("mapping", "", lambda lines: True, plain=lambda _, lines: said.read(inner[format](lines)))


def _whole(
    system: System,
    formats: Sequence[Format],
    told: Told,
    lines: Iterator[TextLine],
    path: Path,
    shorten: bool,
    following: Following | None,
) -> OracleReport:
    """A trace that is judged when all of it is there; one that is followed, again whenever there is more.

    Args:
        formats: one of these is its format.
    """
    read: list[TextLine] = []
    if following is not None:
        following.at_end = Again(
            lambda: len(read), lambda: _decided(system, formats, read, told, path), following.stop
        ).look
    try:
        read.extend(lines)
        more = following is not None and following.interrupted
        chosen, report = _all_of(system, formats, read, told, path, shorten, more)
        if shorten and chosen.plain is None:
            report = replace(report, excerpt=_excerpt(report, chosen, system, read, told, path))
        return report
    except TraceError as error:
        # What is left of a document that breaks off is none.
        good = [] if is_itf(read) else [line for line in read if line.number < error.line]
        if good:
            with suppress(TraceError):
                _, before = _all_of(system, formats, good, told, path)
                error.before = before.until(str(error)) if before.records else None
        raise


def _all_of(
    system: System,
    formats: Sequence[Format],
    lines: Sequence[TextLine],
    told: Told,
    path: Path,
    shorten: bool = False,
    more: bool = False,
) -> tuple[Format, OracleReport]:
    """The format of these lines, and the report on them; on what is complete of them, if there may be ``more``."""
    chosen = formats[0] if len(formats) == 1 else _recognise(lines, formats)
    if more:
        lines = chosen.settled(lines)
    if chosen.plain is not None:
        return chosen, _streamed(chosen, system, told.variant, told.release, iter(lines), path, shorten)
    return chosen, _report(chosen, system, lines, told, path)


def _decided(system: System, formats: Sequence[Format], lines: Sequence[TextLine], told: Told, path: Path) -> bool:
    """What comes after these lines makes no difference: they are not explained, or one of them is wrong."""
    try:
        return _all_of(system, formats, lines, told, path, more=True)[1].verdict is not OracleVerdict.CONFORMS
    except TraceError as error:
        return 0 < error.line < lines[-1].number  # else what is wrong may be that there has to be more


def _report(chosen: Format, system: System, lines: Sequence[TextLine], told: Told, path: Path) -> OracleReport:
    model = system.variants[told.variant or chosen.judged_by or system.judged_by]
    if not chosen.fits(model):
        fitting = ", ".join(v for v, m in system.variants.items() if chosen.fits(m))
        raise TraceError(
            f"{called(path)}: traces of the format {chosen.name} do not speak of what {model.variant} has; "
            f"variants that can judge it: {fitting}"
        )
    judged = _judge(chosen, model, lines, told, path)
    judgement, note = judged.judgement, judged.note
    if not judged.size and judgement.verdict is OracleVerdict.CONFORMS:
        note = "; ".join(part for part in (NOTHING, note) if part)
    return OracleReport(
        system.name,
        model.variant,
        chosen.name,
        judgement.verdict,
        judged.size,
        judgement.departure,
        note,
        judged.breaks,
        judged.releases,
    )


def _excerpt(
    report: OracleReport, chosen: Format, system: System, lines: Sequence[TextLine], told: Told, path: Path
) -> Sequence[tuple[int, str]]:
    """What matters of a log that departs: numbers and texts of its lines."""
    if report.first_departure is None:
        return ()
    at = report.first_departure.line

    def reason(some: Sequence[TextLine]) -> str:
        try:
            departure = _report(chosen, system, some, told, path).first_departure
        except TraceError:
            return ""
        return departure.reason if departure is not None and departure.line == at else ""

    return [(line.number, line.text) for line in excerpt([line for line in lines if line.number <= at], reason)]


def _judge(chosen: Format, model: Model, lines: Sequence[TextLine], told: Told, path: Path) -> Judged:
    if chosen.judge is not None:
        if told.variant is not None and told.release is not None:
            raise TraceError("a variant judges by its own tables alone; leave out the variant or the release")
        return chosen.judge(model, lines, told)
    assert chosen.read is not None, f"format {chosen.name} is not read in any way"
    _no_release(chosen, told.release, path)
    reading = chosen.read(model, lines)
    judgement = judge(reading.instance, reading.records, start=reading.start)
    return Judged(judgement, reading.size, "; ".join(part for part in (judgement.note, reading.note) if part))


def _no_release(chosen: Format, release: str | None, path: Path) -> None:
    if release is not None:
        raise TraceError(
            f"{called(path)}: traces of the format {chosen.name} do not differ by release; leave the release out"
        )


def _system(system: str | System) -> System:
    if isinstance(system, System):
        return system
    try:
        return discovery.system(system)
    except UserError as error:
        raise TraceError(str(error)) from None


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
        f"{first.file}, line {first.number}: this is {what} no known format; {begins}; "
        f"any other is read with --mapping FILE (see proofs/traces/README.md)",
        0 if any(candidate.text for candidate in formats) else first.number,  # a later line of text may tell it
    )
