"""The language of lock descriptions: classes of objects with locks, a lock order, and lock programs.

An object belongs to a class, and has its lock. An object may be *in* others: a queue is in its partition and in its
parent queue. A class that is in itself is a forest. Containment is transitive: an application of a queue is in the
partition of the queue. Objects of one class have different keys. The order of a file's objects is that of their keys.

Locks are those of Go, Java and POSIX. A program also waits for channels, counters and conditions.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from schedproof.model.lang.errors import Place


class Kind(enum.StrEnum):
    """The kinds of locks."""

    RW = "rw"
    """Go's RWMutex: not re-entrant, a waiting writer blocks new readers, and readers that waited come first."""
    MUTEX = "mutex"
    """Go's Mutex that only its holder releases, and a normal mutex of POSIX: not re-entrant."""
    REENTRANT = "reentrant"
    """A monitor or ReentrantLock of Java, and a recursive mutex of POSIX: its holder acquires it again."""
    ERRORCHECK = "errorcheck"
    """An errorcheck mutex of POSIX: its holder gets an error if it acquires it again, and another if it releases it."""
    REENTRANT_RW = "reentrant-rw"
    """Java's ReentrantReadWriteLock: a reader reads again, a writer does both again, a reader never becomes a writer."""
    STAMPED = "stamped"
    """Java's StampedLock: not re-entrant in any mode; a reader may pass a writer that waits, or wait for it."""
    UNOWNED = "unowned"
    """A mutex that any thread may release, as Go's Mutex and a binary semaphore."""
    ONCE = "once"
    """Go's Once: the first caller runs the steps, the others wait until these have ended."""

    @property
    def shared(self) -> bool:
        """Whether it is acquired for reading or for writing."""
        return self in (Kind.RW, Kind.REENTRANT_RW, Kind.STAMPED)

    def reacquires(self, held: Mode, mode: Mode) -> bool:
        """Whether a thread that holds it in mode ``held`` acquires it in ``mode`` without waiting."""
        if self is Kind.REENTRANT_RW:
            return held is Mode.WRITE or mode is Mode.READ
        return self is Kind.REENTRANT


class Mode(enum.StrEnum):
    """The modes of acquiring a lock: a mutex is locked, a reader-writer lock is acquired for reading or for writing."""

    READ = "rlock"
    WRITE = "wlock"
    LOCK = "lock"

    @property
    def shared(self) -> bool:
        """Whether the locks with this mode have readers and writers."""
        return self is not Mode.LOCK

    def covers(self, other: Mode) -> bool:
        """True if a lock held in this mode permits what needs it in mode ``other``."""
        return self is other or (self is Mode.WRITE and other is Mode.READ)


class Where(enum.StrEnum):
    """The position of an object relative to another."""

    IN = "in"
    """Directly in it."""
    AROUND = "around"
    """The other is directly in it."""
    AFTER = "after"
    """It has the same class and a higher key."""
    BEFORE = "before"
    """It has the same class and a lower key."""
    ANYWHERE = ""

    @property
    def by_key(self) -> bool:
        """Whether it compares keys."""
        return self in (Where.AFTER, Where.BEFORE)


class Verb(enum.StrEnum):
    """Access to a field. Adding and removing are writes; getting and looping are reads."""

    READ = "read"
    WRITE = "write"


@dataclass(frozen=True)
class LockClass:
    """A class of objects, each with one lock.

    Args:
        inside: the classes of the objects that contain it; its own among them makes it a forest.
        fields: the fields that its lock guards, by name.
    """

    name: str
    kind: Kind
    inside: tuple[str, ...]
    fields: tuple[str, ...]
    place: Place = field(compare=False, repr=False)

    @property
    def is_tree(self) -> bool:
        """True if its objects can be in each other."""
        return self.name in self.inside


@dataclass(frozen=True)
class OrderRow:
    """A thread that holds the lock of a ``holding`` may acquire that of an ``acquired``.

    ``where`` is the position of the latter relative to the former.
    """

    holding: str
    acquired: str
    where: Where
    line: int | None
    place: Place = field(compare=False, repr=False)

    @property
    def text(self) -> str:
        """The row as in the file."""
        position = f" {self.where} it" if self.where is not Where.ANYWHERE else ""
        return f"{self.holding} > {self.acquired}{position}"


@dataclass(frozen=True)
class Rule:
    """Access to ``fields`` of an ``of`` needs a lock held in ``mode``: its own, or that of the ``lock`` it is in."""

    name: str
    verb: Verb
    of: str
    fields: tuple[str, ...]
    mode: Mode
    lock: str
    line: int | None
    sentence: str
    place: Place = field(compare=False, repr=False)


@dataclass(frozen=True)
class SeveralRule:
    """An operation that writes several objects of ``classes`` must hold, in ``mode``, the ``lock`` that contains them."""

    name: str
    classes: tuple[str, ...]
    mode: Mode
    lock: str
    line: int | None
    sentence: str
    place: Place = field(compare=False, repr=False)


@dataclass(frozen=True)
class Path:
    """An object: a variable, or the object of each further class that contains it (``queue.Partition.Cluster``)."""

    variable: str
    classes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return ".".join([self.variable, *self.classes])


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step of a program, with its text and its place in the file."""

    text: str
    place: Place = field(compare=False, repr=False)


@dataclass(frozen=True, kw_only=True)
class Acquire(Step):
    """Acquires a lock and releases it after ``body``; without ``body``, :class:`Release` does.

    Args:
        tries: it never waits: it gets the lock if it is free, or else leaves out ``body``. It may fail at any time, as
            Go's TryLock under contention, and as a lock with a time-out.
    """

    mode: Mode
    path: Path
    body: tuple[Step, ...] | None
    tries: bool = False


@dataclass(frozen=True, kw_only=True)
class AcquireMany(Step):
    """Acquires locks of one class, the lowest key first, and releases them after ``body``.

    Args:
        every: all of them; else any choice of them, also none.
        of: only objects directly in this one; by default all.
    """

    mode: Mode
    every: bool
    over: str
    of: Path | None
    body: tuple[Step, ...]


@dataclass(frozen=True, kw_only=True)
class CompareKeys(Step):
    """Runs ``body`` if the object ``first`` is ``where`` relative to ``second``; ANYWHERE: if both are one object."""

    first: Path
    where: Where
    second: Path
    body: tuple[Step, ...]


@dataclass(frozen=True, kw_only=True)
class Release(Step):
    """Releases the thread's last acquisition of a lock, or the last one in ``mode``."""

    path: Path
    mode: Mode | None = None


@dataclass(frozen=True, kw_only=True)
class Loop(Step):
    """Steps for each object of a class, one after the other, or for some object.

    Args:
        where, of: only the objects in or around another; by default all.
        outermost: only objects that are in none of their own class.
    """

    every: bool
    outermost: bool
    variable: str
    over: str
    where: Where
    of: Path | None
    body: tuple[Step, ...]


@dataclass(frozen=True, kw_only=True)
class Either(Step):
    """One of several alternatives; ``maybe`` is either its steps or none."""

    alternatives: tuple[tuple[Step, ...], ...]


@dataclass(frozen=True, kw_only=True)
class Serve(Step):
    """Repeats its steps for ever.

    A thread is at rest when it waits for a message at their beginning and holds no lock.
    """

    body: tuple[Step, ...]


@dataclass(frozen=True, kw_only=True)
class Call(Step):
    """Runs another operation."""

    operation: str
    arguments: tuple[Path, ...]


@dataclass(frozen=True, kw_only=True)
class Send(Step):
    """Puts a message into a channel; waits while it is full.

    Args:
        kind: that of the message; "" if the channel has no kinds.
    """

    channel: str
    kind: str = ""


@dataclass(frozen=True, kw_only=True)
class Receive(Step):
    """Takes a message out of a channel; waits for one.

    Args:
        kind: only a message of this kind, or :data:`CLOSED` for the end of the channel; "" for whatever comes.
    """

    channel: str
    kind: str = ""


@dataclass(frozen=True, kw_only=True)
class Close(Step):
    """Closes a channel; with ``cancels`` a context, which may be closed already."""

    channel: str
    cancels: bool


@dataclass(frozen=True, kw_only=True)
class Case(Step):
    """One case of a :class:`Select`.

    Args:
        on: the step that can proceed; None for ``default`` and ``timeout``.
        waits: it may be chosen at any time, for a time passes (``timeout``); else ``default`` only if no case can proceed.
    """

    on: Send | Receive | None
    waits: bool
    body: tuple[Step, ...]


@dataclass(frozen=True, kw_only=True)
class Select(Step):
    """Runs one of the cases that can proceed; waits for one if there is no ``default``.

    A receiver with a branch for each kind of message is a select with a case for each.
    """

    cases: tuple[Case, ...]

    @property
    def may_wait(self) -> bool:
        """Whether a thread may wait there for a message for ever."""
        return all(case.on is not None for case in self.cases)


@dataclass(frozen=True, kw_only=True)
class Go(Step):
    """Starts a thread with the steps of ``body``, and goes on."""

    body: tuple[Step, ...]


@dataclass(frozen=True, kw_only=True)
class Count(Step):
    """Changes a counter, and never waits: ``set``, ``add``, ``subtract``; ``done`` of a group, ``release`` of a semaphore."""

    verb: str
    on: str
    number: int


@dataclass(frozen=True)
class Comparison:
    """A comparison of a counter with a number."""

    on: str
    sign: str
    number: int

    def ranges(self) -> tuple[tuple[int, int], ...]:
        """The intervals of the numbers that pass, between 0 and :data:`MOST_COUNTED`."""
        n = self.number
        intervals = {
            "=": ((n, n),),
            "!=": ((0, n - 1), (n + 1, MOST_COUNTED)),
            "<": ((0, n - 1),),
            "<=": ((0, n),),
            ">": ((n + 1, MOST_COUNTED),),
            ">=": ((n, MOST_COUNTED),),
        }[self.sign]
        return tuple((least, most) for least, most in intervals if least <= most)

    def negated(self) -> Comparison:
        """The comparison that holds if this one does not."""
        opposites = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
        return Comparison(self.on, opposites[self.sign], self.number)


@dataclass(frozen=True, kw_only=True)
class Await(Step):
    """Waits until a counter passes a test: ``await``, ``wait`` for a group, ``acquire`` of a semaphore.

    Args:
        takes: what is subtracted from the counter in the same step.
        body: the steps after which a semaphore is released; None without.
    """

    test: Comparison
    takes: int = 0
    body: tuple[Step, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class Branch(Step):
    """Runs ``body`` if a counter passes a test (``if``), as long as it does (``while``).

    Args:
        to: the number that the counter gets in the same step if it passes, as with a compare-and-swap.
    """

    test: Comparison
    repeats: bool
    body: tuple[Step, ...]
    to: int | None = None


@dataclass(frozen=True, kw_only=True)
class Wait(Step):
    """Releases the lock of a condition, sleeps until a signal, and acquires the lock again.

    Args:
        timed: it may stop sleeping at any time.
    """

    condition: str
    timed: bool = False


@dataclass(frozen=True, kw_only=True)
class Signal(Step):
    """Wakes one thread that waits for a condition, or ``everyone``; without such a thread the signal is lost."""

    condition: str
    everyone: bool


@dataclass(frozen=True, kw_only=True)
class Once(Step):
    """Runs ``body`` if no thread has; waits while another thread runs it."""

    path: Path
    body: tuple[Step, ...]


@dataclass(frozen=True, kw_only=True)
class Callback(Step):
    """Calls code that the file does not know, which may acquire any lock and wait for anything."""

    name: str


@dataclass(frozen=True, kw_only=True)
class Access(Step):
    """Reads or writes a field."""

    verb: Verb
    path: Path
    field: str


@dataclass(frozen=True)
class Under:
    """A lock that the callers of an operation must hold."""

    mode: Mode
    path: Path
    line: int | None
    place: Place = field(compare=False, repr=False)


@dataclass(frozen=True)
class Operation:
    """A lock program. Its parameters are objects of classes; ``positions`` says what some are in, after or before."""

    name: str
    parameters: Mapping[str, str]
    positions: Mapping[str, tuple[Where, Path]]
    under: tuple[Under, ...]
    steps: tuple[Step, ...]
    line: int | None
    place: Place = field(compare=False, repr=False)


@dataclass(frozen=True)
class Object:
    """One object of an exploration, and the objects it is directly in."""

    name: str
    of: str
    inside: tuple[str, ...]
    place: Place = field(compare=False, repr=False)


@dataclass(frozen=True)
class Thread:
    """The steps of one thread, from beginning to end."""

    name: str
    steps: tuple[Step, ...]
    place: Place = field(compare=False, repr=False)


@dataclass(frozen=True)
class Repair:
    """One reason why a description passes checks that another one fails.

    Args:
        why: what is different, in one sentence.
        checks: the names of the checks that fail for the amended description and pass for this one. A single deadlock may
            have repairs too: ``why`` is the intended behaviour.
        name: the name of the defect that it repairs; "" for that of a check.
        wrong: what is wrong without it, in one sentence.
        shown: the check whose run shows that best; "" for the first.
        rests: the interpretations of the document, by name, without which the run of ``shown`` is not one.
        lines: of the document, what is wrong; () for the line of the check.
    """

    why: str
    checks: tuple[str, ...]
    name: str
    wrong: str
    shown: str
    rests: tuple[str, ...]
    lines: tuple[int, ...]
    place: Place = field(compare=False, repr=False)


UNBOUNDED = -1
"""The capacity of a channel that is never full."""

CLOSED = "closed"
"""The branch of a receiver that finds the channel closed and empty."""

MOST_ORDERED = 8
"""The largest capacity of a channel whose messages have kinds: their order is part of each state."""

MOST_COUNTED = 255
"""The largest number of a counter."""


class Counts(enum.StrEnum):
    """What a counter stands for."""

    NUMBER = "number"
    GROUP = "group"
    """Go's WaitGroup."""
    SEMAPHORE = "semaphore"


@dataclass(frozen=True)
class Counter:
    """A number that threads change and wait for, with its first value.

    Args:
        barging: of a semaphore: who comes and finds enough permits passes those who wait for more.
    """

    name: str
    counts: Counts
    first: int
    place: Place = field(compare=False, repr=False)
    barging: bool = False


@dataclass(frozen=True)
class Condition:
    """A condition variable, and the lock that a thread holds, in ``mode``, to wait for it."""

    name: str
    lock: str
    mode: Mode
    place: Place = field(compare=False, repr=False)


@dataclass(frozen=True)
class Locks:
    """A description of locks: a whole file, with the parts that it inherits from the description that it amends.

    Args:
        closed: whether the order is transitive: a thread that holds a lock may acquire every lock reachable by several
            rows. Otherwise each held lock needs a row of its own.
        objects, channels, threads: the objects of an exploration; for each channel its capacity (0: sender and receiver
            meet).
        contexts: the channels that are contexts: only ``cancel`` closes them, and no message is sent.
        kinds: of channels whose messages have kinds, the names of these.
        counters, conditions: by name.
        together: the numbers of threads that run at once, for any choice of ``threads`` with repetition; () means all
            of them, each once. Threads that serve always run, once.
        refuted: the names of the checks that are expected to fail.
        repairs: why the description passes checks that the amended one fails.
        place: its beginning.
    """

    name: str
    about: str
    document: str
    classes: Mapping[str, LockClass]
    order: Sequence[OrderRow]
    closed: bool
    rules: Sequence[Rule | SeveralRule]
    operations: Mapping[str, Operation]
    objects: Mapping[str, Object]
    channels: Mapping[str, int]
    threads: Mapping[str, Thread]
    together: tuple[int, ...]
    refuted: frozenset[str]
    repairs: Sequence[Repair]
    place: Place = field(compare=False, repr=False)
    contexts: frozenset[str] = frozenset()
    counters: Mapping[str, Counter] = field(default_factory=dict)
    conditions: Mapping[str, Condition] = field(default_factory=dict)
    kinds: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @cached_property
    def around(self) -> Mapping[str, tuple[str, ...]]:
        """By class, the classes of all objects that contain such an object, directly or indirectly, except itself."""
        containers: dict[str, tuple[str, ...]] = {}

        def of(name: str) -> tuple[str, ...]:
            if name not in containers:
                direct = [c for c in self.classes[name].inside if c != name]
                containers[name] = tuple(dict.fromkeys([*direct, *(c for d in direct for c in of(d))]))
            return containers[name]

        for name in self.classes:
            of(name)
        return containers
