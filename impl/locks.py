"""Reader-writer locks with an order: an acquisition against the order raises an error before it blocks.

A lock behaves as Go's sync.RWMutex: it is not re-entrant, and a waiting writer blocks new readers. In addition each
lock has a class, and a depth where objects of a class contain each other. A thread may acquire a lock only if it comes
after all locks that the thread holds: of a later class, or of the same class and deeper, whatever contains it.

Threads that follow the order cannot wait for these locks in a cycle. So an acquisition against it is an error at its
place, even if it would not have blocked this time.
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
    """The mode in which a lock is held."""

    READ = "read"
    WRITE = "write"


class LockOrderError(Exception):
    """A thread tried to acquire a lock against the order; nothing has been acquired.

    Args:
        held, requested: the locks.
        since, now: the stack at which the first was acquired, and that of the attempt.
    """

    def __init__(self, held: OrderedLock, requested: OrderedLock, since: Sequence[str], now: Sequence[str]) -> None:
        self.held, self.requested, self.since, self.now = held, requested, tuple(since), tuple(now)
        target_text = "it again, and it is not re-entrant" if held is requested else f"{requested}"
        order = (
            ""
            if held is requested
            else f"; the order is {' < '.join(requested.order.classes)}, and the outer before the inner"
        )
        super().__init__(
            f"{threading.current_thread().name} holds {held} and may not acquire {target_text}{order}\n"
            f"{held} was acquired at:\n{''.join(self.since)}{requested} is requested at:\n{''.join(self.now)}"
        )


class NotHeldError(Exception):
    """The thread does not hold a lock that it releases or needs."""


@dataclass(frozen=True)
class Acquired:
    """A record for observers: written after an acquisition, and before a release (``mode`` None)."""

    thread: str
    lock: OrderedLock
    mode: Mode | None

    def as_json(self) -> dict[str, object]:
        """The record in the validator's format ``locks``."""
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
    """The locks of each thread, in the order of acquisition."""

    def __init__(self) -> None:
        self.stack: list[_Hold] = []


@dataclass(frozen=True)
class LockOrder:
    """An order of lock classes, from the first to be acquired to the last.

    Args:
        classes: their names. Of two locks of one class the less deep one comes first, whatever contains it.
        observer: is called for each acquisition and release, in the thread that makes it. It must be thread-safe.
        deepest: the number of stack frames to keep.
    """

    classes: tuple[str, ...]
    observer: Observer | None = None
    deepest: int = 12
    _holds: _Holds = field(default_factory=_Holds, compare=False, repr=False)

    def holds(self) -> list[OrderedLock]:
        """The locks that this thread holds, in the order of acquisition."""
        return [hold.lock for hold in self._holds.stack]


class OrderedLock:
    """A reader-writer lock with a position in an order.

    Args:
        order: shared by all locks that can be held together.
        of: its class, one of the order's.
        name: unique among locks.
        inside: the names of the locks of its class that contain it, the outermost first.

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
        """Acquires the lock; the same thread must release it.

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
        """Checks that this thread holds the lock in ``mode``; a lock held for writing may be read.

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
            # The readers that waited for this writer go first, before the next writer.
            self._readers, self._outside = self._outside, 0
            self._turn += 1
            self._changed.notify_all()


Callers = Sequence[tuple[str, int, str]]
"""The file, line and function of stack frames, the innermost last."""


def _callers(deepest: int) -> Callers:
    """The stack frames of an acquisition, without those of this module and of context managers."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename in (__file__, contextlib.__file__):
        frame = frame.f_back
    frames: list[tuple[str, int, str]] = []
    while frame is not None and len(frames) < deepest:
        frames.append((frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))
        frame = frame.f_back
    return frames[::-1]


def _text(callers: Callers) -> list[str]:
    """The frames in the format of a traceback."""
    return traceback.StackSummary.from_list([(*each, None) for each in callers]).format()
