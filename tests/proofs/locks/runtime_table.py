"""Writes the table of words, their sources and scenarios into the reference: ``python -m tests.proofs.locks.runtime_table``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tests.proofs.locks.scenarios import GO, JAVA, POSIX, Scenario
from tests.support.places import ROOT

PAGE = ROOT / "docs" / "reference" / "lock-words.md"
BEGIN, END = "<!-- the table of scenarios -->\n", "<!-- end of the table -->"


class Row(NamedTuple):
    """A construct: its words, the document that says what it does, and the scenarios of a program."""

    words: str
    source: str
    program: Mapping[str, Scenario]
    scenarios: tuple[str, ...]


SPECIFICATION = "The Go Programming Language Specification"
MEMORY = "The Go Memory Model"
ROWS = (
    Row(
        "`close`",
        f'{SPECIFICATION}, "Close", "Receive operator"',
        GO,
        (
            *("closed, ends", "the rest is received, ends", "not closed", "sent to a closed one", "closed twice"),
            "a sender meets the end",
        ),
    ),
    Row(
        "`select`, `default`, `timeout`",
        f'{SPECIFICATION}, "Select statements"',
        GO,
        (
            *("default, ends", "no default", "time passes, ends", "one of two, ends", "both select, ends"),
            *("default only if full, ends", "default and full", "select under a lock"),
        ),
    ),
    Row(
        "`send C put`, branches of `receive C`",
        f'{SPECIFICATION}, "Channel types", "Receive operator", "Switch statements"',
        GO,
        (
            *("answers by kind, ends", "answers a kind too many", "first in, first out, ends"),
            *("the end after the kinds, ends", "selects by kind, ends", "selects another kind"),
            "called by kind under a lock",
        ),
    ),
    Row("`cancel`", "package context, CancelFunc", GO, ("canceled twice, ends", "not canceled")),
    Row(
        "`add`, `done`, `wait` of a group",
        "package sync, WaitGroup",
        GO,
        ("group, ends", "group, one short", "group under a lock", "group below zero", "group, reused too early"),
    ),
    Row(
        "a group and a context",
        "package golang.org/x/sync/errgroup",
        GO,
        ("a group of errors, ends", "a group of errors, canceled late"),
    ),
    Row("`go`", f'{MEMORY}, "Goroutine creation"', GO, ("started under a lock, ends",)),
    Row("`once`", "package sync, Once.Do", GO, ("once, ends", "once in itself", "once and a lock")),
    Row(
        "`unowned`",
        "package sync, Mutex.Unlock",
        GO,
        ("released by another, ends", "released by nobody", "released, not locked"),
    ),
    Row(
        "`wait`, `signal`, `broadcast`",
        "package sync, Cond",
        GO,
        (
            *("signal lost", "waits in a loop, ends", "one signal for two", "broadcast for two, ends"),
            "waits under another lock",
        ),
    ),
    Row("`swap`, `await`", f'{MEMORY}, "Atomic Values"', GO, ("swapped once, ends", "spins, ends")),
    Row(
        "`reentrant`",
        "Java Language Specification 17, 17.1; ReentrantLock",
        JAVA,
        ("again, ends", "monitors AB", "locks AB", "released once of two", "unlock without the lock"),
    ),
    Row(
        "conditions of `reentrant`",
        "Java Language Specification 17, 17.2; Condition",
        JAVA,
        (
            *("notify lost", "waits in a loop, ends", "waits at two levels, ends"),
            *("condition of a lock at two levels, ends", "one notify for two", "notify all, ends"),
            *("waits under another monitor", "notify without the monitor", "wait without the monitor"),
        ),
    ),
    Row(
        "`reentrant-rw`, `runlock`, `wunlock`",
        "java.util.concurrent.locks, ReentrantReadWriteLock",
        JAVA,
        (
            *("downgrade, ends", "downgraded, others read, ends", "upgrade", "reads past a writer, ends"),
            *("writes and reads again, ends", "signal without the write lock"),
        ),
    ),
    Row(
        "`stamped`",
        "java.util.concurrent.locks, StampedLock",
        JAVA,
        ("stamped, written again", "stamped, read again", "stamped, read again, ends"),
    ),
    Row(
        "`semaphore`",
        "java.util.concurrent, Semaphore",
        JAVA,
        ("semaphore, twice", "semaphore, released by another, ends", "semaphore and a lock"),
    ),
    Row(
        "`acquire s 2`, `barging`",
        "java.util.concurrent, Semaphore, fair or not",
        JAVA,
        (
            *("two permits at once, ends", "behind one that wants two", "past one that wants two, ends"),
            "one permit too few",
        ),
    ),
    Row(
        "`timed wait`",
        "Object.wait(long); Condition.await(long, TimeUnit)",
        JAVA,
        ("waits for a time, ends", "a signal to one that gives up"),
    ),
    Row("`await n = 0`", "java.util.concurrent, CountDownLatch", JAVA, ("latch, ends", "latch, one short")),
    Row(
        "`mutex`, `reentrant`, `errorcheck`",
        "POSIX.1-2017, pthread_mutex_lock, table of relock and unlock",
        POSIX,
        (
            *("normal, again", "recursive, again, ends", "recursive, released once of two", "errorcheck, again, ends"),
            "errorcheck, not held, ends",
        ),
    ),
    Row(
        "`semaphore`, conditions",
        "POSIX.1-2017, sem_wait, pthread_cond_wait",
        POSIX,
        ("semaphore, twice", "semaphore, released by another, ends", "signal lost", "waits in a loop, ends"),
    ),
    Row(
        "`timed wait`",
        "POSIX.1-2017, pthread_cond_timedwait",
        POSIX,
        ("waits for a time, ends", "waits again and again, ends", "no time, no signal"),
    ),
)
LANGUAGES = {id(GO): "Go", id(JAVA): "Java", id(POSIX): "C"}


def table() -> str:
    """The table, in Markdown."""
    lines = ["| words | source | program | scenarios that stand still | that end |", "|---|---|---|---|---|"]
    for row in ROWS:
        stand, end = [], []
        for name in row.scenarios:
            scenario = row.program[name]
            if scenario.kind is None:
                end.append(f"`{name}`")
            else:
                stand.append(f"`{name}` ({scenario.kind}{'' if scenario.always else ', *may*'})")
        cells = [row.words, row.source, LANGUAGES[id(row.program)], ", ".join(stand), ", ".join(end)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def written() -> str:
    """The page with the table."""
    page = PAGE.read_text("utf-8")
    head, rest = page.split(BEGIN)
    return head + BEGIN + table() + END + rest.split(END)[1]


if __name__ == "__main__":
    PAGE.write_text(written(), "utf-8")
