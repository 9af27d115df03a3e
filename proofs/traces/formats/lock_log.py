"""Logs of lock acquisitions (JSON Lines), checked against the proved order of a lock file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from schedproof.model.lang import Model
from schedproof.model.locks import Locks, read
from schedproof.proofs.locks.log import Acquisition, Logged, Orders, mode_of, validate_log
from schedproof.proofs.locks.rank import Rank, check_order
from schedproof.proofs.traces.errors import TraceError
from schedproof.proofs.traces.files.lines import TextLine, read_text
from schedproof.proofs.traces.files.schema import Shape
from schedproof.proofs.traces.reports.report import LogVerdict, NonconformanceReport, Validation, ValidationReport

from .format import Format, Requested, first_object

NAME = "locks"

BEGINS = 'a log of locks begins with {"thread": ..., "op": "acquire", "class": ..., "lock": ..., "mode": ...}'

SHAPE = Shape.load(Path(__file__).parent / "lock_log.schema.json", "record")


def acquisitions(locks: Locks, lines: Sequence[TextLine]) -> Iterator[Acquisition]:
    """The records of a log.

    Raises:
        TraceError: a line is not a record, or contradicts an earlier one.
    """
    known: dict[str, tuple[str, tuple[str, ...]]] = {}
    for number, text in enumerate(lines, 1):
        line = text.object()
        SHAPE.check(line)
        value = line.value
        of, lock, acquires = value["class"], value["lock"], value["op"] == "acquire"
        if not locks.classes:
            raise line.error(
                f'"class": the class {of} is not known; write schedproof locks FILE --log LOG, and declare it in FILE'
            )
        if of not in locks.classes:
            raise line.error(f'"class": unknown class {of!r}; choose from {", ".join(locks.classes)}')
        if "in" in value and not locks.classes[of].is_tree:
            raise line.error(f'"in": a {of} is never in another; leave it out')
        if acquires and "mode" not in value:
            raise line.error('"mode" is missing; write read or write')
        outer = value.get("in", [])
        inside = tuple(outer) if isinstance(outer, list) else (outer,)
        if lock in inside:
            raise line.error(f'"in": {lock} cannot be in itself; name the lock around it')
        if acquires and known.setdefault(lock, (of, inside)) != (of, inside):
            was, within = known[lock]
            raise line.error(f"{lock} was a {' in '.join([was, *within])} before; give each lock a name of its own")
        mode = mode_of(locks, of, value["mode"]) if acquires else None
        if acquires and mode is None:
            raise line.error(f'"mode": the lock of a {of} is a mutex, which is not read; write "write"')
        yield Acquisition(number, line.number, value["thread"], lock, of, inside, mode)


def _recognises(lines: Sequence[TextLine]) -> bool:
    return {"thread", "op", "lock"} <= first_object(lines).keys()


def lock_format(description: Path, variant: str) -> Format:
    """The format of logs that are checked against the order of ``description``, which belongs to ``variant``."""

    def read_log(model: Model, lines: Sequence[TextLine], requested: Requested) -> LockLog:
        if requested.release is not None:
            raise TraceError("the format of lock logs is the same in every version; leave the version out")
        locks = read(description)
        return LockLog(locks, check_order(locks).rank, lines)

    return Format(
        NAME, BEGINS, _recognises, read_log, validated_by=variant, fits=lambda m: m.variant == variant, by_release=True
    )


def check_log(locks: Locks, path: Path) -> ValidationReport:
    """Checks a log against a user's lock file. Without an order in the file, the check looks for cycles.

    Raises:
        TraceError: it is not a log, or the order has a cycle.
    """
    return check_lines(locks, read_text(path))[0]


def check_lines(locks: Locks, lines: Sequence[TextLine]) -> tuple[ValidationReport, Orders]:
    """Checks the lines of a log, as :func:`check_log`; with the acquisitions under other locks, one for each two classes.

    Raises:
        TraceError: it is not a log, or the order has a cycle.
    """
    rank: Rank | None = None
    if locks.order:
        rank = check_order(locks).rank
        if rank is None:
            raise TraceError(
                f"{locks.name}: its order has a cycle, so no log can be checked against it; correct the order first"
            )
    log = LockLog(locks, rank, lines)
    return ValidationReport.of("locks", locks.name, NAME, log.check()), log.logged.orders


@dataclass(frozen=True)
class LockLog:
    """A log that is checked against the order of a lock file. Without a rank, the check looks for cycles."""

    locks: Locks
    rank: Rank | None
    lines: Sequence[TextLine]

    @cached_property
    def logged(self) -> Logged:
        """The result of the log.

        Raises:
            TraceError: a line is not a record.
        """
        return validate_log(self.locks, self.rank, acquisitions(self.locks, self.lines))

    def check(self) -> Validation:
        """The verdict on all records.

        Raises:
            TraceError: a line is not a record.
        """
        result = self.logged
        nonconformance = _nonconformance(self.locks, result)
        verdict = LogVerdict.CONFORMS if nonconformance is None else LogVerdict.VIOLATES
        return Validation(verdict, nonconformance, _note(result), len(self.lines))


def _nonconformance(locks: Locks, result: Logged) -> NonconformanceReport | None:
    if result.wrong is None:
        return None
    record, row = result.wrong.record, result.wrong.row
    cited = ""
    if row is not None:
        cited = f" ({row.text}{f', {locks.document} line {row.line}' if row.line is not None else ''})"
    return NonconformanceReport(record.number, record.line, result.wrong.reason + cited)


def _note(result: Logged) -> str:
    if not result.held:
        return ""
    locks = ", ".join(f"{one.lock} by {one.thread} (line {one.line})" for one in result.held[:5])
    more = f" and {len(result.held) - 5} more" if len(result.held) > 5 else ""
    return f"still held at the end: {locks}{more}"
