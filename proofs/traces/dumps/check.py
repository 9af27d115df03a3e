"""Reads a log or dump of any format about locks, which it recognises by its content, and checks it against a lock file."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from schedproof.model.locks import Locks
from schedproof.proofs.traces.errors import TraceError
from schedproof.proofs.traces.files.lines import TextLine, called, opened, text_lines
from schedproof.proofs.traces.formats.lock_log import check_lines

from . import go_deadlock, goroutines, jstack, lockdep
from .circle import find_circles
from .comparison import compare
from .dump import Dump, Edge, Lock
from .report import DumpReport, RecordsReport

LARGEST = 256 << 20
"""The most bytes of a dump."""

LONGEST = 1000
"""The most characters of a line of a dump that are read. Stacks have shorter lines."""

RECORD = re.compile(r'"(?:thread|op)"')
"""In the first line of records of locks. Other JSON is a program's log, which a dump may follow."""

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
TIME = re.compile(r"^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d) ")

FORMATS = (
    "records of locks (JSON Lines), a Go goroutine dump, a report of go-deadlock, a thread dump of jstack, "
    "or a warning of lockdep"
)


def check_locks_log(locks: Locks, path: Path) -> RecordsReport | DumpReport:
    """Checks a log or dump.

    Raises:
        TraceError: it cannot be read, or is of no known format.
        LocksError: the programs of the file cannot be run.
    """
    lines = _lines(path)
    if lines[0].text.startswith("{") and (RECORD.search(lines[0].text) or _reader(lines) is None):
        report, orders = check_lines(locks, lines)
        edges = [
            Edge(Lock(held.lock, held.of), Lock(one.lock, one.of), one.thread, f"line {one.line}", f"line {held.line}")
            for held, one in orders
        ]
        return RecordsReport(report, compare(locks, edges))
    reader = _reader(lines)
    if reader is None:
        raise TraceError(f"{called(path)}: {_unknown(lines)}")
    dump = reader(lines)
    return DumpReport(locks.name, dump, find_circles(dump), compare(locks, dump.edges))


def _lines(path: Path) -> list[TextLine]:
    """The lines of a file that are not blank.

    Raises:
        TraceError: it cannot be read, is too large, or has none.
    """
    lines, size = [], 0
    with opened(path) as file:
        for line in text_lines(file, called(path)):
            size += len(line.text) + 1
            if size > LARGEST:
                raise TraceError(f"{called(path)}: larger than {LARGEST >> 20} MiB; leave out what is not about locks")
            if not line.text.startswith("{"):
                # Colours, and the times that docker and kubectl write before each line, are not of the dump.
                line = line._replace(text=TIME.sub("", COLOUR.sub("", line.text[:LONGEST])).strip())
            lines.append(line)
    if not lines:
        raise TraceError(f"{called(path)}: the file is empty; write at least one line")
    return lines


def _reader(lines: Sequence[TextLine]) -> Callable[[Sequence[TextLine]], Dump] | None:
    """The reader of a dump. A report of go-deadlock can contain stacks of goroutines, so it is looked for first."""
    if any(go_deadlock.BEGINS in line.text for line in lines):
        return go_deadlock.read_go_deadlock
    if lockdep.reports(lines):
        return lockdep.read_lockdep
    if any(line.text.startswith(jstack.BEGINS) or jstack.thread_name(line.text) is not None for line in lines):
        return jstack.read_jstack
    if any(goroutines.HEADER.match(line.text) for line in lines):
        return goroutines.read_goroutines
    return None


def _unknown(lines: Sequence[TextLine]) -> str:
    if lines[0].text.startswith("goroutine profile: "):
        return "a profile of goroutines with debug=1 does not say what they wait for; take one with debug=2"
    return f"neither a log nor a dump that is known; write {FORMATS}"
