"""The entry point of trace validation: from a file to a report. `formats_of` lists the formats of a system."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from schedproof.model.errors import require
from schedproof.model.lang import Model
from schedproof.model.quotes import FACT, footnotes
from schedproof.model.registry import discovery
from schedproof.model.registry.errors import UserError
from schedproof.model.registry.system import System

from .engine.watch import Watch
from .errors import TraceError
from .files.following import Following, RepeatedCheck
from .files.json_value import as_json
from .files.lines import Line, TextLine, called, opened, text_lines
from .formats.format import Format, ModelLog, Plain, Requested
from .formats.itf_trace import ITF, is_itf, itf_states
from .formats.mapping import read_mapping
from .formats.otel import OTEL, is_otel, log_records
from .formats.plain import PLAIN
from .reports.excerpt import excerpt
from .reports.report import NOTHING, LogVerdict, ValidationReport
from .reports.shorten import shortened
from .tally import Tally

T = TypeVar("T")

EVERY: Sequence[Format] = (PLAIN, OTEL, ITF)
"""The formats that traces of every system may have."""

SHORTENING = "looking for what matters"
"""What a check does after the first nonconforming record, in words."""


SHOWN = frozenset({"action", "event", "crash", "state"})
"""The keys of a record that show something of a run."""

SILENT = "no record has an action, an event or a state, so nothing was checked"
"""The note on a log whose records show nothing."""


def formats_of(system: System) -> Sequence[Format]:
    """The formats of a system's traces. The first format that recognises a trace reads it."""
    return (*system.trace_formats, *EVERY)


def check_trace(
    system: str | System,
    path: Path | str,
    variant: str | None = None,
    format: str | None = None,
    log_version: str | None = None,
    *,
    mapping: Path | str | None = None,
    following: Following | None = None,
    shorten: bool = False,
    tally: Tally | None = None,
) -> ValidationReport:
    """Checks the trace at ``path`` against the model of ``system``.

    A trace is checked against the steps of the variant, not against its properties: a run of a variant that violates a
    property conforms. Only the formats of YuniKorn and Jobmon also list violated properties (``breaks``). To have a
    property checked in any other format, choose a variant that satisfies it.

    Args:
        system: the system, or its name if it comes with schedproof or an installed package.
        path: the file of the trace; ``-`` for standard input.
        variant: the variant to check against. None: the one that the trace names, else the format's, else the system's
            (HiveD: as-written).
        format: the name of one of the system's formats. None: the content decides.
        log_version: the version of the system that wrote the trace, if its format differs between releases; None for any.
        mapping: a mapping file: it says how lines become records of the plain format.
        following: for a trace that is still being written. The report then comes at the first nonconformance, or when
            following stops.
        shorten: after a nonconformance, look for the relevant part of the trace; this takes up to three seconds.
        tally: counts the progress, for another thread to show.

    Raises:
        TraceError: for an unknown name, or a file that is not a trace. The message is one line. ``before`` is the
            report on the lines before the wrong one.
    """
    known = _system(system)
    require("path", path, (Path, str), "the path of a log, for example Path('run.jsonl')")
    require("following", following, (Following, type(None)), "Following(), or leave it out")
    path = Path(path)
    if mapping is not None:
        require("mapping", mapping, (Path, str), "the path of a mapping, for example Path('mapping.yaml')")
    if variant is not None:
        _choose(known.variants, variant, f"variant of {known.name}")
    formats = formats_of(known)
    names = [f.name for f in formats]
    if format is not None and format not in names:
        raise TraceError(f"unknown format {format!r}; choose from {', '.join(names)}")
    with opened(path, following) as file:
        lines = text_lines(file, called(path), following)
        first = next(lines, None)
        if first is None:
            raise TraceError(f"{called(path)}: the file is empty; write at least one line")
        read = chain([first], lines)
        request = _Request(known, Requested(variant, log_version), called(path), shorten, tally or Tally())
        if mapping is not None:
            return request.report(_mapped(Path(mapping), known, format, first), read).at_end()
        possible = [f for f in formats if format in (None, f.name)]
        streamed = [f for f in possible if f.streamed and (format is not None or f.recognises([first]))]
        if streamed:
            return request.report(streamed[0], read).at_end()
        return request.report_on_all(possible, read, following).at_end()


def check_records(
    system: str | System,
    header: Mapping[str, Any],
    records: Iterable[Mapping[str, Any]],
    variant: str | None = None,
    *,
    shorten: bool = False,
) -> ValidationReport:
    """Checks records of the plain format, as :func:`check_trace` checks those of a file.

    They are checked against the steps of the variant, not against its properties. In the report, the line of a record is
    its number.

    Args:
        system: as in :func:`check_trace`.
        header: the header of the trace.
        records: the records, in order. A generator is read only until the first record that does not conform.
        variant: as in :func:`check_trace`.
        shorten: as in :func:`check_trace`.

    Raises:
        ArgumentError: an argument has the wrong type.
        TraceError: for an unknown name, a wrong header or a wrong record. ``before`` is the report on the records before it.
    """
    require("header", header, Mapping, "the header of the trace, a dictionary")
    require("records", records, Iterable, "a list of records, each a dictionary")
    require("shorten", shorten, bool, "True or False")
    known = _system(system)
    if variant is not None:
        _choose(known.variants, variant, f"variant of {known.name}")
    trace = Plain(
        Line("", 0, as_json(header)), (Line("", n, as_json(r, f"record {n}", n)) for n, r in enumerate(records, 1))
    )
    return _Request(known, Requested(variant), "", shorten).report_on_plain(PLAIN, trace).at_end()


@dataclass(frozen=True)
class _Request:
    """A request to check a trace.

    Args:
        system: the system that wrote the trace.
        requested: the variant and the release that were asked for.
        source: what messages call the trace as a whole.
        shorten: after a nonconformance, look for the relevant part of the trace.
        tally: counts the progress.
        explains: whether a nonconformance says which rows would explain it.
    """

    system: System
    requested: Requested
    source: str
    shorten: bool
    tally: Tally = field(default_factory=Tally)
    explains: bool = True

    def report(self, chosen: Format, lines: Iterable[TextLine]) -> ValidationReport:
        """The report on the lines of a trace in the format ``chosen``."""
        model = self.system.variants[self.requested.variant or chosen.validated_by or self.system.validated_by]
        if not chosen.fits(model):
            fitting = ", ".join(v for v, m in self.system.variants.items() if chosen.fits(m))
            raise TraceError(
                f"{self.source}: the format {chosen.name} does not fit the variant {model.variant!r}; "
                f"choose from {fitting}"
            )
        if self.requested.release is not None and not chosen.by_release:
            raise TraceError(
                f"{self.source}: the format {chosen.name} is the same in every version of the system; leave the version out"
            )
        if self.requested.release is not None and self.requested.variant is not None:
            raise TraceError("a variant has the tables of one version; leave out the variant or the version")
        last: deque[TextLine] = deque(maxlen=1)
        trace = chosen.read(model, _noted(lines, last) if chosen.streamed else lines, self.requested)
        if isinstance(trace, Plain):
            report = self.report_on_plain(chosen, trace)
            violation = report.first_nonconformance
            if chosen is PLAIN or violation is None or not last or last[0].number != violation.line:
                return report
            return replace(report, excerpt=[(last[0].number, last[0].text)])
        self.tally.does("checking")
        if isinstance(trace, ModelLog):
            counted = self.tally.counted(trace.records, "checking", "records")
            trace = replace(trace, records=counted, explains=self.explains)
        validation = trace.check()
        if not validation.size and validation.verdict is LogVerdict.CONFORMS:
            validation = replace(validation, note=_joined(NOTHING, validation.note))
        report = ValidationReport.of(self.system.name, model.variant, chosen.name, validation)
        if report.first_nonconformance is not None:
            text = "\n".join(report.first_nonconformance.text())
            report = replace(report, citations=footnotes(model.document, [m[0] for m in FACT.finditer(text)]))
        return replace(report, excerpt=self.excerpt(report, chosen, list(lines))) if self.shorten else report

    def report_on_plain(self, chosen: Format, trace: Plain) -> ValidationReport:
        """The report on records of the plain format. It reads them one by one."""
        variant = self.requested.variant
        model = self.system.variants[variant] if variant is not None else None
        watch = Watch(self.system, model, trace.header, format=chosen.name)
        silent = True
        try:
            for line in self.tally.counted(trace.records, "checking", "records"):
                watch.take(line.value, line)
                silent = silent and not any(line.value.get(key) for key in SHOWN)
                if not watch.open:
                    break
        except TraceError as error:
            error.before = _with_note(watch.report(), trace.note()).until(str(error)) if watch.records else None
            raise
        report = _with_note(watch.report(), trace.note())
        if silent and watch.records and report.verdict is LogVerdict.CONFORMS:
            return replace(report, verdict=LogVerdict.UNDETERMINED, note=_joined(SILENT, report.note))
        if self.shorten and report.verdict is LogVerdict.VIOLATES and watch.since is not None:
            self.tally.does(SHORTENING)
            unlogged = trace.header.value.get("unlogged", 0)
            report = replace(report, shortened=shortened(self.system, watch.model, watch.since, unlogged))
        return report

    def report_on_all(
        self, formats: Sequence[Format], lines: Iterable[TextLine], following: Following | None
    ) -> ValidationReport:
        """The report on a trace that is checked only when it is complete.

        A followed trace is checked again as it grows.

        Args:
            formats: the possible formats; one of them must recognise the trace.
            lines: the lines of the trace.
            following: None if the trace is complete.
        """
        read: list[TextLine] = []
        if following is not None:
            following.at_end = RepeatedCheck(
                lambda: len(read), lambda: self.is_decided(formats, read), following.stop
            ).check_if_due
        try:
            read.extend(self.tally.counted(lines, "reading", "lines"))
            chosen = _recognise(read, formats)
            return self.report(
                chosen, chosen.settled(read) if following is not None and following.interrupted else read
            )
        except TraceError as error:
            # An ITF document is one JSON value: the part before an error is no document.
            good = [] if is_itf(read) else [line for line in read if line.number < error.line]
            if good:
                with suppress(TraceError):
                    before = replace(self, shorten=False, tally=Tally()).report(_recognise(good, formats), good)
                    error.before = before.until(str(error)) if before.records else None
            raise

    def is_decided(self, formats: Sequence[Format], lines: Sequence[TextLine]) -> bool:
        """Whether later lines can no longer change the verdict: a line does not conform, or is wrong."""
        try:
            chosen = _recognise(lines, formats)
            report = replace(self, shorten=False, tally=Tally()).report(chosen, chosen.settled(lines))
            return report.verdict is not LogVerdict.CONFORMS
        except TraceError as error:
            return 0 < error.line < lines[-1].number  # on the last line, the cause may be that more text must follow

    def excerpt(self, report: ValidationReport, chosen: Format, lines: Sequence[TextLine]) -> Sequence[tuple[int, str]]:
        """The relevant lines of a log that does not conform, as (number, text)."""
        if report.first_nonconformance is None:
            return ()
        at, quietly = report.first_nonconformance.line, replace(self, shorten=False, tally=Tally(), explains=False)
        self.tally.does(SHORTENING)

        def reason(some: Sequence[TextLine]) -> str:
            try:
                nonconformance = quietly.report(chosen, some).first_nonconformance
            except TraceError:
                return ""
            return nonconformance.reason if nonconformance is not None and nonconformance.line == at else ""

        return [(line.number, line.text) for line in excerpt([line for line in lines if line.number <= at], reason)]


def _noted(lines: Iterable[TextLine], last: deque[TextLine]) -> Iterator[TextLine]:
    """The lines; ``last`` has the last one that was read."""
    for line in lines:
        last.append(line)
        yield line


def _with_note(report: ValidationReport, note: str) -> ValidationReport:
    return replace(report, note=_joined(report.note, note))


def _joined(*notes: str) -> str:
    return "; ".join(note for note in notes if note)


def _mapped(mapping: Path, system: System, format: str | None, first: TextLine) -> Format:
    """The format that a mapping defines: on lines of text, OpenTelemetry log records, or states of an ITF trace."""
    parsed = read_mapping(mapping)
    if parsed.header.value["system"] != system.name:
        raise parsed.header.error(
            f"this is a mapping for {parsed.header.value['system']!r}, and the trace is checked as {system.name!r}; "
            "name that system, or another mapping",
            "system",
        )
    inner: Mapping[str | None, Callable[[Iterator[TextLine]], Iterator[TextLine] | Iterator[Line]]] = {
        None: lambda lines: lines,
        OTEL.name: log_records,
        ITF.name: itf_states,
    }
    if format is None and parsed.pattern is None and is_otel([first]):
        format = OTEL.name
    if format not in inner:
        raise TraceError(
            f"--mapping cannot read the format {format}; leave out --format for lines, or write --format {OTEL.name} or --format {ITF.name}"
        )

    def read(model: Model, lines: Any, requested: Requested) -> Plain:
        named = str(requested.variant or parsed.header.value.get("variant", ""))
        parsed.check(system.variants.get(named, model), system.variants.values)
        return parsed.read(inner[format](lines))

    return Format("mapping", "", lambda lines: True, read, streamed=True)


def _system(system: str | System) -> System:
    require("system", system, (System, str), "a system or its name, for example System.of(model)")
    if isinstance(system, System):
        return system
    try:
        return discovery.system(system)
    except UserError as error:
        raise TraceError(f"{error}, or pass System.of(model)") from None


def _choose(known: Mapping[str, T], name: str, what: str) -> T:
    if name not in known:
        raise TraceError(f"unknown {what} {name!r}; choose from {', '.join(known)}")
    return known[name]


def _recognise(lines: Sequence[TextLine], formats: Sequence[Format]) -> Format:
    if len(formats) == 1:
        return formats[0]
    for candidate in formats:
        if candidate.recognises(lines):
            return candidate
    if not any(candidate.text for candidate in formats):
        lines[0].object()  # report an error in the line first
    begins = ", ".join(candidate.begins for candidate in formats)
    what = "the first line of a known one" if not any(candidate.text for candidate in formats) else "a known one"
    first = lines[0]
    raise TraceError(
        f"{first.file}, line {first.number}: unknown format; {what}: {begins}; "
        "for any other, write a mapping and give --mapping FILE (see docs/reference/trace-formats.md)",
        0 if any(candidate.text for candidate in formats) else first.number,  # a later line may still decide the format
    )
