"""What is said of locks: classes of objects that have one, who may be acquired under whom, and lock programs.

An object belongs to a class, and its lock with it; an object may be *in* others (a queue in its partition, and in
its parent queue: a class that is in itself is a forest). What an object is in is in what that is in: an application
of a queue is in the partition of the queue.

Locks are those of Go: a mutex, or a reader-writer lock. Neither is re-entrant, and a writer that waits keeps new
readers out.
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
    MUTEX = "mutex"


class Mode(enum.StrEnum):
    """The ways of acquiring one; a mutex is only locked, a reader-writer lock for reading or for writing."""

    READ = "rlock"
    WRITE = "wlock"
    LOCK = "lock"

    @property
    def kind(self) -> Kind:
        """The kind of lock that is acquired so."""
        return Kind.MUTEX if self is Mode.LOCK else Kind.RW

    def covers(self, other: Mode) -> bool:
        """Who holds a lock so may do what needs it held as ``other``."""
        return self is other or (self is Mode.WRITE and other is Mode.READ)


class Where(enum.StrEnum):
    """Where an object is, seen from another."""

    IN = "in"
    """Directly in it."""
    AROUND = "around"
    """What it is directly in."""
    ANYWHERE = ""


class Verb(enum.StrEnum):
    """What is done to a field. To add and to remove is to write, to get and to loop is to read."""

    READ = "read"
    WRITE = "write"


@dataclass(frozen=True)
class LockClass:
    """A class of objects, each with one lock.

    Args:
        inside: the classes of what such an object is in; its own among them makes it a forest.
        fields: what its lock guards, by name.
    """

    name: str
    kind: Kind
    inside: tuple[str, ...]
    fields: tuple[str, ...]
    place: Place = field(compare=False, repr=False)

    @property
    def is_tree(self) -> bool:
        """Its objects can be in each other."""
        return self.name in self.inside


@dataclass(frozen=True)
class OrderRow:
    """Who holds the lock of a ``holding`` may acquire that of an ``acquired`` that is there, seen from it."""

    holding: str
    acquired: str
    where: Where
    line: int | None
    place: Place = field(compare=False, repr=False)

    @property
    def text(self) -> str:
        """As it is written."""
        there = f" {self.where} it" if self.where is not Where.ANYWHERE else ""
        return f"{self.holding} > {self.acquired}{there}"


@dataclass(frozen=True)
class Rule:
    """What is done to ``fields`` of an ``of`` needs a lock held in ``mode``: its own, or that of the ``lock`` it is in."""

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
    """An operation that writes more than one object of ``classes`` needs the ``lock`` that they are in held in ``mode``."""

    name: str
    classes: tuple[str, ...]
    mode: Mode
    lock: str
    line: int | None
    sentence: str
    place: Place = field(compare=False, repr=False)


@dataclass(frozen=True)
class Path:
    """An object: a variable, or what its object is in, of a class each (``queue.Partition.Cluster``)."""

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
    """Acquires a lock; with a ``body`` it is released after that, else by :class:`Release`."""

    mode: Mode
    path: Path
    body: tuple[Step, ...] | None


@dataclass(frozen=True, kw_only=True)
class Release(Step):
    """Releases what this thread acquired last of a lock."""

    path: Path


@dataclass(frozen=True, kw_only=True)
class Loop(Step):
    """For each (one after the other) or for some object of a class: of all, or of those in or around another.

    ``outermost``: only for what is in none of its own class.
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
    """One of several; ``maybe`` is either its steps or none."""

    alternatives: tuple[tuple[Step, ...], ...]


@dataclass(frozen=True, kw_only=True)
class Serve(Step):
    """Its steps over and over; a thread that waits for a message at their beginning, and holds nothing, is at rest."""

    body: tuple[Step, ...]


@dataclass(frozen=True, kw_only=True)
class Call(Step):
    """Does another operation."""

    operation: str
    arguments: tuple[Path, ...]


@dataclass(frozen=True, kw_only=True)
class Send(Step):
    """Puts a message into a channel; waits while it is full."""

    channel: str


@dataclass(frozen=True, kw_only=True)
class Receive(Step):
    """Takes a message out of a channel; waits for one."""

    channel: str


@dataclass(frozen=True, kw_only=True)
class Access(Step):
    """Reads or writes a field."""

    verb: Verb
    path: Path
    field: str


@dataclass(frozen=True)
class Under:
    """What the callers of an operation have to hold."""

    mode: Mode
    path: Path
    line: int | None
    place: Place = field(compare=False, repr=False)


@dataclass(frozen=True)
class Operation:
    """A lock program with parameters, each an object of a class; ``inside`` says of some what they are in."""

    name: str
    parameters: Mapping[str, str]
    inside: Mapping[str, Path]
    under: tuple[Under, ...]
    steps: tuple[Step, ...]
    line: int | None
    place: Place = field(compare=False, repr=False)


@dataclass(frozen=True)
class Object:
    """One object of an exploration, and what it is directly in."""

    name: str
    of: str
    inside: tuple[str, ...]
    place: Place = field(compare=False, repr=False)


@dataclass(frozen=True)
class Thread:
    """What one thread does, from beginning to end."""

    name: str
    steps: tuple[Step, ...]
    place: Place = field(compare=False, repr=False)


UNBOUNDED = -1
"""The capacity of a channel that is never full."""


@dataclass(frozen=True)
class Locks:
    """A description of locks: the whole of a file, with what it takes over from the one that it amends.

    Args:
        closed: what the order allows step by step it allows in several: who holds a lock may acquire what can be
            reached from it. Otherwise each lock that is held has to have a row of its own.
        objects, channels, threads: what is explored; by channel its capacity (0: sender and receiver meet).
        together: how many threads at once, of any choice of ``threads``, also several times the same; () means all of
            them, each once. Threads that serve are always there, once.
        refuted: the names of the checks that are expected to fail.
        repairs: of an amended description, or of a single deadlock (what is meant instead), by reason the names of the checks that what it amends does not pass and this
            one does.
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
    repairs: Mapping[str, tuple[str, ...]]

    @cached_property
    def around(self) -> Mapping[str, tuple[str, ...]]:
        """By class the classes of all that such an object is in, directly or not, itself apart."""
        found: dict[str, tuple[str, ...]] = {}

        def of(name: str) -> tuple[str, ...]:
            if name not in found:
                direct = [c for c in self.classes[name].inside if c != name]
                found[name] = tuple(dict.fromkeys([*direct, *(c for d in direct for c in of(d))]))
            return found[name]

        for name in self.classes:
            of(name)
        return found
