"""Reader-writer locks with an order: who acquires one against it is refused at once, before anything blocks.

A lock behaves as Go's sync.RWMutex: it is not re-entrant, and a writer that waits keeps new readers out. On top of
that each lock has a class and, where objects of a class are in each other, a depth. A thread may acquire a lock only
if it comes after all those that it holds: of a later class, or of the same class and deeper, whatever it is in. Threads that keep to
that cannot wait for each other in a circle, so an acquisition that does not is an error where it is made, also when it
would not have blocked this time.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from types import FrameType


class Mode(StrEnum):
    """How a lock is held."""

    READ = "read"
    WRITE = "write"


class LockOrderError(Exception):
    """A lock was to be acquired against the order; nothing has been acquired.

    Args:
        held, wanted: the locks; ``since`` is the stack where the first was acquired, ``now`` that of the attempt.
    """

    def __init__(self, held: OrderedLock, wanted: OrderedLock, since: Sequence[str], now: Sequence[str]) -> None:
        self.held, self.wanted, self.since, self.now = held, wanted, tuple(since), tuple(now)
        again = "it again, and it is not re-entrant" if held is wanted else f"{wanted}"
        order = (
            ""
            if held is wanted
            else f"; the order is {' < '.join(wanted.order.classes)}, and the outer before the inner"
        )
        super().__init__(
            f"{threading.current_thread().name} holds {held} and may not acquire {again}{order}\n"
            f"{held} was acquired at:\n{''.join(self.since)}{wanted} is wanted at:\n{''.join(self.now)}"
        )


class NotHeldError(Exception):
    """This thread does not hold a lock that it is to release, or that what it does needs."""


@dataclass(frozen=True)
class Acquired:
    """One record of what happens to locks, as observers are told: after an acquisition, before a release."""

    thread: str
    lock: OrderedLock
    mode: Mode | None

    def as_json(self) -> dict[str, object]:
        """A record of the format ``locks`` of the validator."""
        record: dict[str, object] = {
            "thread": self.thread,
            "op": "acquire" if self.mode is not None else "release",
            "class": self.lock.of,
            "lock": self.lock.name,
        }
        if self.mode is not None:
            record["mode"] = str(self.mode)
        if self.lock.inside:
            record["in"] = list(self.lock.inside)
        return record


Observer = Callable[[Acquired], None]


@dataclass(eq=False)
class _Hold:
    """A lock that a thread holds, and where it acquired it."""

    lock: OrderedLock
    mode: Mode
    stack: Callers


class _Holds(threading.local):
    """What each thread holds, in the order of acquisition."""

    def __init__(self) -> None:
        self.stack: list[_Hold] = []


@dataclass(frozen=True)
class LockOrder:
    """An order of classes, from the first to be acquired to the last.

    Args:
        classes: their names. Of two locks of one class the one that is less deep comes first, whatever it is in.
        observer: is told of each acquisition and release, by the thread that makes it: it has to see to it itself that
            two threads do not disturb each other.
        deepest: frames that are kept of a stack.
    """

    classes: tuple[str, ...]
    observer: Observer | None = None
    deepest: int = 12
    _holds: _Holds = field(default_factory=_Holds, compare=False, repr=False)

    def holds(self) -> list[OrderedLock]:
        """What this thread holds, in the order of acquisition."""
        return [hold.lock for hold in self._holds.stack]


class OrderedLock:
    """A reader-writer lock that knows its place in an order.

    Args:
        order: shared by all locks that can be held together.
        of: its class, one of the order's.
        name: no two locks have the same.
        inside: the names of the locks of its class that it is in, the outermost first.

    Raises:
        ValueError: the order has no such class.
    """

    def __init__(self, order: LockOrder, of: str, name: str, inside: Sequence[str] = ()) -> None:
        if of not in order.classes:
            raise ValueError(f"unknown class {of!r} of the order; choose from {', '.join(order.classes)}")
        self.order, self.of, self.name, self.inside = order, of, name, tuple(inside)
        self._key = (order.classes.index(of), len(self.inside))
        self._changed = threading.Condition(threading.Lock())
        self._readers = 0
        self._writer = False
        self._announced = False
        self._outside = 0
        self._turn = 0

    def __str__(self) -> str:
        return f"{self.of} {self.name}"

    @contextmanager
    def read(self) -> Iterator[None]:
        """Holds the lock for reading.

        Raises:
            LockOrderError: this thread holds a lock that does not come before it.
        """
        self.acquire(Mode.READ)
        try:
            yield
        finally:
            self.release()

    @contextmanager
    def write(self) -> Iterator[None]:
        """Holds the lock for writing.

        Raises:
            LockOrderError: this thread holds a lock that does not come before it.
        """
        self.acquire(Mode.WRITE)
        try:
            yield
        finally:
            self.release()

    def acquire(self, mode: Mode) -> None:
        """Acquires the lock; it is to be released by the same thread.

        Raises:
            LockOrderError: this thread holds a lock that does not come before it.
        """
        held = self.order._holds.stack
        stack = _callers(self.order.deepest)
        self._keep_to_the_order(held, stack)
        (self._begin_to_read if mode is Mode.READ else self._begin_to_write)()
        held.append(_Hold(self, mode, stack))
        if self.order.observer is not None:
            try:
                self.order.observer(Acquired(threading.current_thread().name, self, mode))
            except BaseException:
                held.pop()
                (self._end_reading if mode is Mode.READ else self._end_writing)()
                raise

    def _keep_to_the_order(self, held: Sequence[_Hold], now: Callers) -> None:
        for hold in held:
            if not hold.lock._key < self._key:
                raise LockOrderError(hold.lock, self, _text(hold.stack), _text(now))

    def require(self, mode: Mode) -> None:
        """Nothing, if this thread holds the lock so; held for writing it may be read.

        Raises:
            NotHeldError: it does not.
        """
        if not any(h.lock is self and (h.mode is mode or h.mode is Mode.WRITE) for h in self.order._holds.stack):
            raise NotHeldError(f"{threading.current_thread().name} needs {self} for {mode}, and does not hold it so")

    def release(self) -> None:
        """Releases the lock.

        Raises:
            NotHeldError: this thread does not hold it.
        """
        held = self.order._holds.stack
        hold = next((hold for hold in reversed(held) if hold.lock is self), None)
        if hold is None:
            raise NotHeldError(f"{threading.current_thread().name} does not hold {self}, and so cannot release it")
        try:
            if self.order.observer is not None:
                self.order.observer(Acquired(threading.current_thread().name, self, None))
        finally:
            held.remove(hold)
            (self._end_reading if hold.mode is Mode.READ else self._end_writing)()

    # --- Go's rules

    def _begin_to_read(self) -> None:
        with self._changed:
            if not (self._writer or self._announced):
                self._readers += 1
                return
            self._outside += 1
            turn = self._turn
            while self._turn == turn:
                self._changed.wait()

    def _end_reading(self) -> None:
        with self._changed:
            self._readers -= 1
            if self._readers == 0:
                self._changed.notify_all()

    def _begin_to_write(self) -> None:
        with self._changed:
            while self._writer or self._announced:
                self._changed.wait()
            self._announced = True
            while self._readers:
                self._changed.wait()
            self._announced, self._writer = False, True

    def _end_writing(self) -> None:
        with self._changed:
            self._writer = False
            # Those who have waited for this writer are in, before the next one.
            self._readers, self._outside = self._outside, 0
            self._turn += 1
            self._changed.notify_all()


Callers = Sequence[tuple[str, int, str]]
"""The file, line and function of frames, the innermost last."""


def _callers(deepest: int) -> Callers:
    """Who wants a lock: the frames above this module and that of context managers."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename in (__file__, contextlib.__file__):
        frame = frame.f_back
    found: list[tuple[str, int, str]] = []
    while frame is not None and len(found) < deepest:
        found.append((frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))
        frame = frame.f_back
    return found[::-1]


def _text(callers: Callers) -> list[str]:
    """As a traceback shows them."""
    return traceback.StackSummary.from_list([(*each, None) for each in callers]).format()
