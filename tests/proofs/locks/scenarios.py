"""Scenarios that real programs run: each in words of a lock file, and whether and how it stands still.

The programs are in ``programs``: ``words.go``, ``Words.java``, ``words.c``. ``kind`` is derived by hand from the
documents that :mod:`.runtime_table` cites.
"""

from __future__ import annotations

from typing import NamedTuple

from schedproof.model.locks import Locks, parse
from schedproof.proofs.locks.kinds import Kind

OBJECTS = (
    "objects: {a: mutex, b: mutex, u: unowned, o: once, e: reentrant, f: reentrant, k: errorcheck,\n"
    "  j: reentrant-rw, s: stamped}\n"
    "channels: {full: 1, meet: 0, ctx: context, requests: {capacity: 2, kinds: [put, get, stop]},\n"
    "  calls: {capacity: 0, kinds: [put, get]}}\n"
    "counters: {n: 0, one: 1, two: 2, g: group, p: semaphore 1, q: semaphore 2, r: semaphore 2 barging}\n"
    "conditions: {v: a, w: e, x: wlock j}\n"
    "threads:\n"
)


class Scenario(NamedTuple):
    """The threads of a scenario, and the kind of its standstill; None if it always ends.

    ``always``: the real program stands still whenever it runs. Otherwise a document allows it, and a runtime may not do it.
    """

    threads: tuple[str, ...]
    kind: Kind | None
    always: bool = True

    def locks(self) -> Locks:
        """The lock file."""
        lines = (f"  t{number}: {steps}\n" for number, steps in enumerate(self.threads))
        return parse(OBJECTS + "".join(lines), "made.yaml")


LOOP_A, LOOP_E = "while n = 0: [wait v]", "while n = 0: [wait w]"

GO = {
    "closed, ends": Scenario(("[receive meet]", "[close meet]"), None),
    "the rest is received, ends": Scenario(("[receive full, receive full]", "[send full, close full]"), None),
    "not closed": Scenario(("[receive full, receive full]", "[send full]"), Kind.NO_MESSAGE),
    "sent to a closed one": Scenario(("[close full, send full]",), Kind.FATAL),
    "closed twice": Scenario(("[close full, close full]",), Kind.FATAL),
    "a sender meets the end": Scenario(("[send meet]", "[close meet]"), Kind.FATAL),
    "default, ends": Scenario(("[select: [receive meet, default]]",), None),
    "no default": Scenario(("[select: [receive meet, receive full]]",), Kind.NO_MESSAGE),
    "time passes, ends": Scenario(("[select: [receive meet, timeout]]",), None),
    "one of two, ends": Scenario(("[select: [send meet, receive ctx]]", "[cancel ctx]"), None),
    "both select, ends": Scenario(
        ("[select: [send meet, receive full]]", "[select: [receive meet, receive full]]"), None
    ),
    "default only if full, ends": Scenario(("[select: [send full, default], receive full]",), None),
    "default and full": Scenario(("[send full, select: [{send full: []}, {default: [send full]}]]",), Kind.NO_MESSAGE),
    "select under a lock": Scenario(("[lock a: [select: [send meet]]]", "[lock a: [], receive meet]"), Kind.MESSAGE),
    "group, ends": Scenario(("[add g 2, go: [done g], go: [done g], wait g]",), None),
    "group, one short": Scenario(("[add g 2, go: [done g], wait g]",), Kind.NO_COUNT),
    "group under a lock": Scenario(("[add g, lock a: [go: [lock a: [done g]], wait g]]",), Kind.HELD),
    "group below zero": Scenario(("[done g]",), Kind.FATAL),
    "group, reused too early": Scenario(("[add g, go: [done g, add g, done g], wait g]",), Kind.FATAL, always=False),
    "once, ends": Scenario(("[once o: [receive full]]", "[once o: [receive full]]", "[send full]"), None),
    "once in itself": Scenario(("[once o: [once o: []]]",), Kind.SELF),
    "once and a lock": Scenario(("[once o: [lock a: []]]", "[lock a: [once o: []]]"), Kind.REVERSED),
    "released by another, ends": Scenario(("[lock u, send full, lock u, unlock u]", "[receive full, unlock u]"), None),
    "released by nobody": Scenario(("[lock u, lock u]",), Kind.NO_COUNT),
    "released, not locked": Scenario(("[unlock u]",), Kind.FATAL),
    "signal lost": Scenario(("[signal v]", "[lock a: [wait v]]"), Kind.NO_SIGNAL),
    "waits in a loop, ends": Scenario((f"[lock a: [{LOOP_A}]]", "[lock a: [set n 1, signal v]]"), None),
    "one signal for two": Scenario(
        (f"[lock a: [{LOOP_A}]]", f"[lock a: [{LOOP_A}]]", "[lock a: [set n 1, signal v]]"), Kind.NO_SIGNAL
    ),
    "broadcast for two, ends": Scenario(
        (f"[lock a: [{LOOP_A}]]", f"[lock a: [{LOOP_A}]]", "[lock a: [set n 1, broadcast v]]"), None
    ),
    "waits under another lock": Scenario(
        (f"[lock b: [lock a: [{LOOP_A}]]]", "[lock b: [lock a: [set n 1, broadcast v]]]"), Kind.HELD
    ),
    "canceled twice, ends": Scenario(("[receive ctx]", "[cancel ctx, cancel ctx]"), None),
    "not canceled": Scenario(("[receive ctx]",), Kind.NO_MESSAGE),
    "a group of errors, ends": Scenario(
        ("[add g 2, go: [receive ctx, done g], go: [cancel ctx, done g], wait g]",), None
    ),
    "a group of errors, canceled late": Scenario(
        ("[add g, go: [receive ctx, done g], wait g, cancel ctx]",), Kind.NO_COUNT
    ),
    "started under a lock, ends": Scenario(("[lock a: [go: [lock a: []]]]",), None),
    "swapped once, ends": Scenario(
        ("[swap n 0 1: [receive full]]", "[swap n 0 1: [receive full]]", "[send full]"), None
    ),
    "spins, ends": Scenario(("[await n = 1]", "[set n 1]"), None),
    "answers by kind, ends": Scenario(
        (
            "[repeat 3: [receive requests: {put: [], get: [send meet], stop: []}]]",
            "[send requests put, send requests get, receive meet, send requests stop]",
        ),
        None,
    ),
    "answers a kind too many": Scenario(
        (
            "[repeat 3: [receive requests: {put: [send meet], get: [send meet], stop: []}]]",
            "[send requests put, send requests get, receive meet, send requests stop]",
        ),
        Kind.NO_MESSAGE,
    ),
    "first in, first out, ends": Scenario(
        (
            "[send requests put, send requests get, receive requests: {put: [], get: [receive meet], stop: [receive meet]},"
            " receive requests: {put: [receive meet], get: [], stop: [receive meet]}]",
        ),
        None,
    ),
    "the end after the kinds, ends": Scenario(
        (
            "[send requests get, close requests,"
            " receive requests: {put: [receive meet], get: [], stop: [], closed: [receive meet]},"
            " receive requests: {put: [receive meet], get: [receive meet], stop: [], closed: []}]",
        ),
        None,
    ),
    "selects by kind, ends": Scenario(
        ("[select: [receive full, {receive calls: {put: [receive meet], get: []}}]]", "[send calls get]"), None
    ),
    "selects another kind": Scenario(
        ("[select: [receive full, {receive calls: {put: [receive meet], get: []}}]]", "[send calls put]"),
        Kind.NO_MESSAGE,
    ),
    "called by kind under a lock": Scenario(
        ("[lock a: [send calls get]]", "[lock a: [], receive calls: {put: [], get: []}]"), Kind.MESSAGE
    ),
}
"""Scenarios of ``words.go``. The runtime's own detector, or its panic, ends those with a kind."""

JAVA = {
    "again, ends": Scenario(("[lock e: [lock e: []]]",), None),
    "monitors AB": Scenario(("[lock e: [lock f: []]]", "[lock f: [lock e: []]]"), Kind.REVERSED),
    "locks AB": Scenario(("[lock e: [lock f: []]]", "[lock f: [lock e: []]]"), Kind.REVERSED),
    "released once of two": Scenario(("[lock e, lock e, unlock e]", "[lock e: []]"), Kind.LEAKED),
    "notify lost": Scenario(("[lock e: [signal w]]", "[lock e: [wait w]]"), Kind.NO_SIGNAL),
    "waits in a loop, ends": Scenario((f"[lock e: [{LOOP_E}]]", "[lock e: [set n 1, signal w]]"), None),
    "waits at two levels, ends": Scenario((f"[lock e: [lock e: [{LOOP_E}]]]", "[lock e: [set n 1, signal w]]"), None),
    "condition of a lock at two levels, ends": Scenario(
        (f"[lock e: [lock e: [{LOOP_E}]]]", "[lock e: [set n 1, signal w]]"), None
    ),
    "one notify for two": Scenario(
        (f"[lock e: [{LOOP_E}]]", f"[lock e: [{LOOP_E}]]", "[lock e: [set n 1, signal w]]"), Kind.NO_SIGNAL
    ),
    "notify all, ends": Scenario(
        (f"[lock e: [{LOOP_E}]]", f"[lock e: [{LOOP_E}]]", "[lock e: [set n 1, broadcast w]]"), None
    ),
    "waits under another monitor": Scenario(
        (f"[lock f: [lock e: [{LOOP_E}]]]", "[lock f: [lock e: [set n 1, broadcast w]]]"), Kind.HELD
    ),
    "notify without the monitor": Scenario(("[signal w]",), Kind.NOT_HELD),
    "wait without the monitor": Scenario(("[wait w]",), Kind.NOT_HELD),
    "unlock without the lock": Scenario(("[unlock e]",), Kind.NOT_HELD),
    "signal without the write lock": Scenario(("[wlock j: [], signal x]",), Kind.NOT_HELD),
    "downgrade, ends": Scenario(("[wlock j, rlock j, wunlock j, runlock j]", "[rlock j: []]"), None),
    "downgraded, others read, ends": Scenario(
        ("[wlock j, rlock j, wunlock j, send full, receive meet, runlock j]", "[receive full, rlock j: [send meet]]"),
        None,
    ),
    "upgrade": Scenario(("[rlock j: [wlock j: []]]",), Kind.SELF),
    "reads past a writer, ends": Scenario(("[rlock j: [rlock j: []]]", "[wlock j: []]"), None),
    "writes and reads again, ends": Scenario(("[wlock j: [wlock j: [rlock j: []]]]", "[wlock j: []]"), None),
    "stamped, written again": Scenario(("[wlock s: [wlock s: []]]",), Kind.SELF),
    "stamped, read again": Scenario(("[rlock s: [rlock s: []]]", "[wlock s: []]"), Kind.READ_AGAIN, always=False),
    "stamped, read again, ends": Scenario(("[rlock s: [rlock s: []]]", "[rlock s: []]"), None),
    "semaphore, twice": Scenario(("[acquire p, acquire p]",), Kind.NO_COUNT),
    "semaphore, released by another, ends": Scenario(("[acquire p, acquire p]", "[release p]"), None),
    "semaphore and a lock": Scenario(("[acquire p: [lock e: []]]", "[lock e: [acquire p: []]]"), Kind.HELD),
    "two permits at once, ends": Scenario(("[acquire q 2: []]", "[acquire q: []]", "[acquire q 2: []]"), None),
    "behind one that wants two": Scenario(("[acquire q, acquire q, release q 2]", "[acquire q 2: []]"), Kind.NO_COUNT),
    "past one that wants two, ends": Scenario(("[acquire r, acquire r, release r 2]", "[acquire r 2: []]"), None),
    "one permit too few": Scenario(("[acquire r 2, acquire r 2]", "[release r]"), Kind.NO_COUNT),
    "waits for a time, ends": Scenario(("[lock f: [lock e: [timed wait w]]]", "[lock f: []]"), None),
    "a signal to one that gives up": Scenario(
        ("[lock e: [timed wait w]]", f"[lock e: [{LOOP_E}]]", "[lock e: [set n 1, signal w]]"), Kind.NO_SIGNAL
    ),
    "latch, ends": Scenario(("[await two = 0]", "[subtract two]", "[subtract two]"), None),
    "latch, one short": Scenario(("[await two = 0]", "[subtract two]"), Kind.NO_COUNT),
}
"""Scenarios of ``Words.java``. A scenario whose threads have not ended after a time, or that throws, has a kind."""

POSIX = {
    "normal, again": Scenario(("[lock a: [lock a: []]]",), Kind.SELF),
    "recursive, again, ends": Scenario(("[lock e: [lock e: []]]",), None),
    "recursive, released once of two": Scenario(("[lock e, lock e, unlock e]", "[lock e: []]"), Kind.LEAKED),
    "errorcheck, again, ends": Scenario(("[lock k: [lock k: []]]", "[lock k: []]"), None),
    "errorcheck, not held, ends": Scenario(("[unlock k]", "[lock k: []]"), None),
    "semaphore, twice": Scenario(("[acquire p, acquire p]",), Kind.NO_COUNT),
    "semaphore, released by another, ends": Scenario(("[acquire p, acquire p]", "[release p]"), None),
    "signal lost": Scenario(("[signal v]", "[lock a: [wait v]]"), Kind.NO_SIGNAL),
    "waits in a loop, ends": Scenario((f"[lock a: [{LOOP_A}]]", "[lock a: [set n 1, signal v]]"), None),
    "waits for a time, ends": Scenario(("[lock a: [timed wait v]]", "[lock a: []]"), None),
    "waits again and again, ends": Scenario(("[lock a: [while n = 0: [timed wait v]]]", "[lock a: [set n 1]]"), None),
    "no time, no signal": Scenario((f"[lock a: [{LOOP_A}]]", "[lock a: [set n 1]]"), Kind.NO_SIGNAL),
}
"""Scenarios of ``words.c``: those with a kind do not end within a time."""
