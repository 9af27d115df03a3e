"""Reads the warnings of Linux's lockdep about circular and recursive locking, as they are in the kernel's log.

Lockdep names classes of locks. Each entry of its chain was acquired under the next lower one, and entry 0 under the
highest. Source: print_circular_bug and print_deadlock_bug in kernel/locking/lockdep.c, Linux 3.11 to 6.8.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from schedproof.proofs.traces.errors import TraceError
from schedproof.proofs.traces.files.lines import TextLine

from .dump import Dump, Edge, Hold, Lock, ThreadState, Wait

PREFIX = re.compile(r"^(?:.*?kernel: ?)?(?:<\d+>)?\[ *\d+\.\d+\] ?(?:\[ *[TC]?\d+\] ?)?")
REPORT = re.compile(r"possible (?P<kind>circular|recursive) locking (?:dependency )?detected")
OTHER_REPORT = re.compile(r"(?:possible irq lock inversion|inconsistent lock state|(?:HARD|SOFT)IRQ-safe)")
TASK = re.compile(r"(?P<task>\S.*/\d+) is trying to acquire lock:")
HOLDS = "but task is already holding lock:"
LOCK = re.compile(r"(?:[0-9a-f]{8,16} )?\((?P<name>.{1,200}?)\)\{[^}]*\}(?:-\{[^}]*\})?, at: (?P<place>.*)")
ENTRY = re.compile(r"-> #(?P<number>\d+) \((?P<name>.{1,200}?)\)\{")
CALL = re.compile(r"(?:\[<[0-9a-f]+>\] )?(?P<function>[A-Za-z_][\w.]*)\+0x[0-9a-f]+/0x[0-9a-f]+")
HELD = re.compile(r"#\d+: +(?P<rest>.*)")
PRIMITIVE = re.compile(
    r"_*(?:lock_acquire|raw_|spin_|read_lock|write_lock|mutex_|down_|rt_|ww_|percpu_|validate_|check_)"
)
"""Functions that acquire a lock for their caller."""

LIMITATION = "Lockdep names classes of locks: the locks of a circle may be of different objects."


def read_lockdep(lines: Sequence[TextLine]) -> Dump:
    """What the first report in a kernel's log says.

    Raises:
        TraceError: it is about interrupts, or ends before it names the locks.
    """
    plain = [(line, PREFIX.sub("", line.text).strip()) for line in lines]
    first = next((n for n, (_, text) in enumerate(plain) if REPORT.search(text)), None)
    if first is None:
        raise TraceError(
            f"{lines[0].file}: lockdep reports something else than a circle; only circular and recursive locking is read"
        )
    report = _Report(plain[first][0])
    for line, text in plain[first + 1 :]:
        if REPORT.search(text):
            break
        report.read(line, text)
    return report.dump()


def reports(lines: Sequence[TextLine]) -> bool:
    """Whether a log has a report of lockdep, of any kind."""
    return any(REPORT.search(line.text) or OTHER_REPORT.search(line.text) for line in lines)


class _Report:
    """One report while its lines are read."""

    def __init__(self, line: TextLine) -> None:
        self.line, self.task = line, ""
        self.recursive = "recursive" in line.text
        self.expects = ""
        self.tries: tuple[Lock, str] | None = None
        self.holding: tuple[Lock, str] | None = None
        self.chain: list[tuple[Lock, str]] = []
        self.held: list[Hold] = []

    def read(self, line: TextLine, text: str) -> None:
        """Takes over what a line says."""
        if match := TASK.match(text):
            self.task, self.expects = match["task"], "tries"
        elif text == HOLDS:
            self.expects = "holding"
        elif match := ENTRY.match(text):
            self.chain.append((_lock(match["name"]), ""))
        elif match := HELD.match(text):
            if lock := LOCK.match(match["rest"]):
                self.held.append(Hold(_lock(lock["name"]), _place(lock["place"])))
        elif self.expects and (match := LOCK.match(text)):
            read = _lock(match["name"]), _place(match["place"])
            if self.expects == "tries":
                self.tries = read
            else:
                self.holding = read
            self.expects = ""
        elif self.chain and not self.chain[-1][1] and CALL.match(text) and not PRIMITIVE.match(_place(text)):
            self.chain[-1] = self.chain[-1][0], _place(text)

    def dump(self) -> Dump:
        """The report as a dump.

        Raises:
            TraceError: it is cut off.
        """
        if self.tries is None or self.holding is None or not (self.recursive or len(self.chain) > 1):
            raise TraceError(
                f"{self.line.file}, line {self.line.number}: the report of lockdep is cut off; add all of its lines",
                self.line.number,
            )
        held = {hold.lock: hold for hold in [Hold(*self.holding), *self.held]}
        # Later kernels list the lock that is waited for as held, too.
        holds = tuple(hold for lock, hold in held.items() if lock != self.tries[0] or lock == self.holding[0])
        waits = Wait("to acquire", *self.tries)
        orders = [Edge(under, lock, "an earlier task", place, "") for (lock, place), (under, _) in pairwise(self.chain)]
        if self.recursive:
            orders = [Edge(self.holding[0], self.tries[0], self.task, self.tries[1], self.holding[1])]
        return Dump("lockdep", (ThreadState(self.task, self.line.number, holds, waits),), tuple(orders), (LIMITATION,))


def _lock(name: str) -> Lock:
    return Lock(name, name)


def _place(text: str) -> str:
    """The function of a place: ``do_work+0x12/0x40 [module]`` or with an address before it."""
    match = CALL.match(text)
    return match["function"] if match is not None else text[:80]
