"""Reads a thread dump of a Java virtual machine: ``jstack -l``, ``jcmd Thread.print -l``, or SIGQUIT.

It says who holds each monitor, and with ``-l`` each lock of java.util.concurrent. A thread in ``Object.wait`` has
released the monitor, though the dump lists it as locked. If the dump does not say for which object it waits, it is
that of the innermost monitor. Source: the output of OpenJDK 8 to 21.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from schedproof.proofs.traces.files.lines import TextLine

from .dump import Dump, Hold, Lock, ThreadState, Wait

BEGINS = "Full thread dump "
NAMELESS = "<no object reference available>"
ENTRY = re.compile(r"- (?P<what>[a-z][\w ()-]{1,40}?)\s+<(?P<address>0x[0-9a-f]+)> \(a (?P<type>.+)\)$")
SYNCHRONIZER = re.compile(r"- <(?P<address>0x[0-9a-f]+)> \(a (?P<type>.+)\)$")
AT = re.compile(r"at (?P<function>\S+)\((?P<place>[^)]*)\)")

WAITS = {
    "waiting to lock": "to lock",
    "waiting to re-lock in wait()": "to lock again after wait",
    "parking to wait for": "to acquire",
}
LOCKS = re.compile(r"Lock|Mutex|Semaphore")
"""Types for which a thread waits to acquire them. Of other types, as queues and latches, it waits for a signal."""

NO_OWNERS = "The dump has no locks of java.util.concurrent; jstack -l adds them."
NO_READERS = "A thread dump does not say who holds a ReentrantReadWriteLock or a StampedLock for reading."


def read_jstack(lines: Sequence[TextLine]) -> Dump:
    """What a thread dump says of locks. Of several dumps in one file, the last one counts."""
    first = max((n for n, line in enumerate(lines) if line.text.startswith(BEGINS)), default=0)
    threads: list[_Thread] = []
    owners = readers = False
    for line in lines[first:]:
        if line.text.startswith("Found ") and "deadlock" in line.text:
            break  # a summary, which repeats stacks
        if (name := thread_name(line.text)) is not None:
            threads.append(_Thread(name, line.number))
        elif line.text.startswith("Locked ownable synchronizers"):
            owners = True
            if threads:
                threads[-1].at = ""
        elif threads:
            readers |= "ReadWriteLock" in line.text or "StampedLock" in line.text
            threads[-1].read(line.text)
    names = [one.name for one in threads]
    of = {lock.name: lock.of for one in threads for lock in one.locks()}
    limitations = (*([] if owners else [NO_OWNERS]), *([NO_READERS] if readers else []))
    owned = {name for one in threads for name in one.holds}
    for one in threads:
        one.signals(owned)
    return Dump("jstack", tuple(one.state(of, names) for one in threads), limitations=limitations)


def thread_name(text: str) -> str | None:
    """The name in the first line of a thread, ``"main" #1 prio=5 tid=0x...``; None for another line."""
    if not text.startswith('"') or (number := text.rfind(" tid=0x")) < 0:
        return None
    return text[1:end] if (end := text.rfind('"', 1, number)) > 0 else None


class _Thread:
    """One thread while its lines are read."""

    def __init__(self, name: str, line: int) -> None:
        self.name, self.line, self.at = name, line, ""
        self.holds: dict[str, Hold] = {}
        self.released: set[str] = set()
        self.waits: Wait | None = None
        self.in_library = self.innermost = False

    def read(self, text: str) -> None:
        """Takes over what a line says."""
        if match := AT.match(text):
            self.at = match["place"]
            if self.in_library and self.waits is not None:
                # The place of a wait is the caller of the library.
                self.in_library = match["function"].startswith(("java.", "jdk.", "sun."))
                self.waits = Wait(self.waits.how, self.waits.lock, self.at)
            return
        if NAMELESS in text and text.startswith("- waiting"):
            self.innermost = True
            self.waits = self.waits or Wait("for a signal", None, self.at)
            self.in_library = True
        elif match := ENTRY.match(text):
            lock = Lock(match["address"], simple(match["type"]))
            if match["what"] == "waiting on":
                self.released.add(lock.name)
                self.waits = self.waits or Wait("for a signal", None, self.at)
                self.in_library = True
            elif match["what"] in WAITS:
                if match["what"] == "waiting to re-lock in wait()":
                    self.released.add(lock.name)
                if self.waits is None or self.waits.lock is None:
                    self.waits = Wait(WAITS[match["what"]], lock, self.at)
                    self.in_library = match["what"].startswith("parking")
            elif match["what"] == "locked":
                if self.innermost:
                    self.innermost = False
                    self.released.add(lock.name)
                self.holds.setdefault(lock.name, Hold(lock, self.at))
        elif match := SYNCHRONIZER.match(text):
            lock = Lock(match["address"], simple(match["type"]))
            self.holds.setdefault(lock.name, Hold(lock, ""))

    def signals(self, owned: Collection[str]) -> None:
        """Corrects what the thread waits for: what is no lock and not ``owned`` by a thread gives signals."""
        if self.waits is None or self.waits.lock is None or self.waits.how != WAITS["parking to wait for"]:
            return
        if self.waits.lock.name not in owned and not LOCKS.search(self.waits.lock.of):
            self.waits = Wait("for a signal", None, self.waits.where)

    def locks(self) -> list[Lock]:
        """All locks that the thread names."""
        waits = [self.waits.lock] if self.waits is not None and self.waits.lock is not None else []
        return [*waits, *(hold.lock for hold in self.holds.values())]

    def state(self, of: dict[str, str], names: Sequence[str]) -> ThreadState:
        """The thread; with its line in its name if several have the name."""
        name = self.name if names.count(self.name) == 1 else f"{self.name} (line {self.line})"
        holds = tuple(hold for address, hold in self.holds.items() if address not in self.released)
        return ThreadState(name, self.line, holds, self.waits)


def simple(type_: str) -> str:
    """The name of a class without its package, and without the synchronizer inside a lock."""
    name = type_.rpartition(".")[2]
    outer, _, inner = name.partition("$")
    return outer if inner.endswith("Sync") or not inner else inner.rpartition("$")[2]
