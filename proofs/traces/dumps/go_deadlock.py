"""Reads the reports of go-deadlock: two locks in reversed orders, a lock acquired again, a lock that took too long.

The frame that acquires a lock is marked. Reports of reversed orders have no addresses; there a lock is named by the
types whose methods acquire it. Source: deadlock.go and stacktraces.go of github.com/sasha-s/go-deadlock, v0.2 to v0.3.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from schedproof.proofs.traces.errors import TraceError
from schedproof.proofs.traces.files.lines import TextLine

from .dump import Dump, Edge, Hold, Lock, ThreadState, Wait
from .goroutines import HEADER, METHOD, Known, goroutines, thread_state

BEGINS = "POTENTIAL DEADLOCK:"
REVERSED, RECURSIVE = "Inconsistent locking", "Recursive locking"
FRAME = re.compile(r"(?P<file>\S.*?):(?P<line>\d+) (?P<function>\S+)(?: (?P<code>.*?))?(?P<mark> <<<<<)?$")
GOROUTINE = re.compile(r"(?:current )?goroutine (?P<number>\d+) lock (?P<lock>0x[0-9a-f]+)$")
SECTIONS = (
    "happened before",
    "happened after",
    "in another goroutine: happened before",
    "Previous place where the lock was grabbed",
    "Have been trying to lock it again for more than",
    "Here is what goroutine",
    "Other goroutines holding locks:",
    "All current goroutines:",
)


@dataclass
class _Section:
    """A part of a report: its first line, and for each goroutine in it the lock and the place of its acquisition."""

    title: str
    lines: list[TextLine]

    def places(self) -> list[tuple[str, str, str, str, str]]:
        """For each stack: the goroutine, the lock's address, its type, the place, and the source text."""
        result = []
        goroutine = lock = ""
        for line in self.lines:
            if match := GOROUTINE.match(line.text):
                goroutine, lock = match["number"], match["lock"]
            elif (match := FRAME.match(line.text)) and match["mark"]:
                method = METHOD.search(re.sub(r"\.func\d+(\.\d+)*$", "", match["function"]))
                of = method["type"] if method is not None else ""
                place = f"{match['file'].rpartition('/')[2]}:{match['line']}"
                result.append((goroutine, lock, of, place, (match["code"] or "").strip("{} ")))
                goroutine = lock = ""
        return result


def read_go_deadlock(lines: Sequence[TextLine]) -> Dump:
    """What the reports of go-deadlock in a log say.

    Raises:
        TraceError: a report is cut off before it names the locks.
    """
    starts = [n for n, line in enumerate(lines) if BEGINS in line.text]
    threads: dict[str, ThreadState] = {}
    orders: list[Edge] = []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        title, sections = lines[start], _sections(lines[start + 1 : end])
        if REVERSED in title.text:
            orders += _reversed(title, sections)
            continue
        for one in _waiting(title, sections, recursive=RECURSIVE in title.text):
            known = threads.get(one.name)
            holds = dict.fromkeys([*(known.holds if known else ()), *one.holds])
            waits = one.waits or (known.waits if known else None)
            threads[one.name] = ThreadState(one.name, one.line, tuple(holds), waits)
    return Dump("go-deadlock", tuple(threads.values()), tuple(orders))


def _sections(lines: Sequence[TextLine]) -> list[_Section]:
    sections: list[_Section] = [_Section("", [])]
    for line in lines:
        if line.text.startswith(SECTIONS):
            sections.append(_Section(line.text, []))
        else:
            sections[-1].lines.append(line)
    return sections


def _reversed(title: TextLine, sections: Sequence[_Section]) -> list[Edge]:
    """The two orders of a report."""
    places = [section.places()[0] for section in sections if "happened" in section.title and section.places()]
    if len(places) != 4:
        raise _cut_off(title)
    first, second, third, fourth = places
    # The lock acquired first in the one goroutine is the lock acquired last in the other.
    one, other = _named(first, fourth), _named(second, third)
    return [
        Edge(one, other, "one goroutine", second[3], first[3]),
        Edge(other, one, "another goroutine", fourth[3], third[3]),
    ]


def _named(*places: tuple[str, str, str, str, str]) -> Lock:
    """The lock that is acquired in two places."""
    of = next((of for _, _, of, _, _ in places if of), "")
    _, _, _, place, code = places[0]
    expression = re.sub(r"\.R?Lock\(\)$", "", code)
    return Lock(f"{of or expression or 'the lock'} of {place}", of, expression)


def _waiting(title: TextLine, sections: Sequence[_Section], *, recursive: bool) -> list[ThreadState]:
    """The goroutines of a report about a lock that is held: its holders, who waits for it, and who holds others."""
    holds: dict[str, list[Hold]] = {}
    waits: dict[str, Wait] = {}
    for section in sections:
        for number, address, of, place, _ in section.places():
            if section.title.startswith("Have been trying") or (recursive and not section.title):
                waits[number] = Wait("to acquire", Lock(address, of), place)
            elif number:
                holds.setdefault(number, []).append(Hold(Lock(address, of), place))
            elif recursive and section.title.startswith("Previous place") and waits:
                # The goroutine is the one that waits, and so is the lock.
                ((waiter, wait),) = waits.items()
                assert wait.lock is not None
                holds.setdefault(waiter, []).append(Hold(wait.lock, place))
        if section.title.startswith("Here is what goroutine"):
            for each in goroutines(section.lines):
                # go-deadlock's own methods have the address of the lock, which is that of its reports.
                state = thread_state(each.number, each, Known())
                address = next((f.receiver for f in each.frames if "deadlock." in f.function and f.receiver), "")
                if state.waits is not None and state.waits.lock is not None and address:
                    lock = Lock(address, state.waits.lock.of)
                    waits.setdefault(each.number, Wait(state.waits.how, lock, state.waits.where))
    if not waits or not holds:
        raise _cut_off(title)
    of_lock = {h.lock.name: h.lock.of for each in holds.values() for h in each if h.lock.of}
    return [
        ThreadState(
            f"goroutine {number}", title.number, tuple(holds.get(number, ())), _typed(waits.get(number), of_lock)
        )
        for number in dict.fromkeys([*waits, *holds])
    ]


def _typed(wait: Wait | None, of: dict[str, str]) -> Wait | None:
    """The wait with the type under which its lock is known elsewhere in the report."""
    if wait is None or wait.lock is None:
        return wait
    return Wait(wait.how, Lock(wait.lock.name, of.get(wait.lock.name, wait.lock.of)), wait.where)


def _cut_off(title: TextLine) -> TraceError:
    return TraceError(
        f"{title.file}, line {title.number}: the report of go-deadlock is cut off; add all of its lines", title.number
    )


__all__ = ["BEGINS", "HEADER", "read_go_deadlock"]
