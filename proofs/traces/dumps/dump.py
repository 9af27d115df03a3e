"""What a dump says of locks: the threads, what each holds and waits for, and orders in which locks were acquired."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Lock:
    """A lock as a dump names it.

    Args:
        name: its address or name, by which it is the same everywhere in the dump; "" if the dump does not identify it.
        of: the type of the object that has it; "" if the dump does not say.
        shown: its name for readers, if that is another.
    """

    name: str
    of: str
    shown: str = ""

    @property
    def text(self) -> str:
        """Its type and name."""
        name = self.shown or self.name
        if self.of and name and self.of not in name:
            return f"{self.of} {name}"
        return name or (f"some {self.of}" if self.of else "some lock")

    def may_be(self, other: Lock) -> bool:
        """Whether both can be the same lock: by name, or if one of the names is unknown, by type."""
        if self.name and other.name:
            return self.name == other.name
        return bool(self.of) and self.of == other.of


@dataclass(frozen=True)
class Hold:
    """A thread holds a lock, or may hold it.

    Args:
        lock: the lock.
        where: where it was acquired, or where the stack is in its object.
        certain: False if the format does not say who holds a lock.
    """

    lock: Lock
    where: str
    certain: bool = True


@dataclass(frozen=True)
class Wait:
    """What a thread waits for.

    Args:
        how: what it waits for, in words: "to lock", "to read", "to receive", ...
        lock: the lock; None if it waits for something else.
        where: the place in its stack.
        address: the address of the lock itself, where ``lock`` has the name of its object; "" if it is unknown.
    """

    how: str
    lock: Lock | None
    where: str
    address: str = ""

    @property
    def text(self) -> str:
        """The same in words."""
        what = f" {self.lock.text}" if self.lock is not None else ""
        return f"{self.how}{what}{f' ({self.where})' if self.where else ''}"

    def is_for_the_lock_of(self, other: Wait) -> bool:
        """Whether both certainly wait for the same lock."""
        if self.address and other.address:
            return self.address == other.address
        names = [one.lock.name for one in (self, other) if one.lock is not None and one.lock.name]
        return len(names) == 2 and names[0] == names[1]


@dataclass(frozen=True)
class ThreadState:
    """One thread of a dump; ``line`` is the line where it begins."""

    name: str
    line: int
    holds: tuple[Hold, ...] = ()
    waits: Wait | None = None


@dataclass(frozen=True)
class Edge:
    """A thread acquired, or waits to acquire, ``acquired`` while it held ``holding``.

    Args:
        by: the thread.
        where: the place of the acquisition.
        since: the place where ``holding`` was acquired.
        certain: False if the format does not say that ``holding`` was held.
    """

    holding: Lock
    acquired: Lock
    by: str
    where: str
    since: str
    certain: bool = True


@dataclass(frozen=True)
class Dump:
    """A dump or report.

    Args:
        format: its name.
        threads: the threads.
        orders: acquisitions under other locks that it reports, beside those of the threads.
        limitations: what the format does not say, one sentence each.
        deadlock: a sentence, if the runtime says that the program is in a deadlock; "" otherwise.
    """

    format: str
    threads: tuple[ThreadState, ...]
    orders: tuple[Edge, ...] = ()
    limitations: tuple[str, ...] = ()
    deadlock: str = ""

    @property
    def edges(self) -> tuple[Edge, ...]:
        """All acquisitions under other locks: those reported, and those of threads that hold one lock and wait for another."""
        waiting = [
            Edge(hold.lock, one.waits.lock, one.name, one.waits.where, hold.where, hold.certain)
            for one in self.threads
            if one.waits is not None and one.waits.lock is not None
            for hold in one.holds
            if hold.lock != one.waits.lock
        ]
        return (*self.orders, *waiting)
