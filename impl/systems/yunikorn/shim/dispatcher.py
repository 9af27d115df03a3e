"""One queue for all events, first in first out and bounded (F 4).

An event that finds the queue full waits and is tried again; one that has waited too long is lost, and
one that finds too many waiting is not taken. Both are said, never passed over: v0.12.2 loses the one
without a word and panics at the other. What waits keeps its order: nothing overtakes it (in v0.12.2 each event is
tried again by itself, so later ones come first).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import StrEnum
from threading import Lock

from schedproof.impl.clock import SECOND

from .errors import Overflow
from .events import Item


class Outcome(StrEnum):
    """What becomes of an event that is handed over."""

    QUEUED = "queued"
    WAITING = "waiting"


@dataclass(frozen=True)
class Waiting:
    """An event that found the queue full; ``until`` (ns) it is tried again."""

    item: Item
    until: int


@dataclass(frozen=True)
class Queued:
    """All that a :class:`Dispatcher` holds."""

    queue: tuple[Item, ...] = ()
    waiting: tuple[Waiting, ...] = ()


NOTHING = Queued()


class Dispatcher:
    """The queue.

    Args:
        capacity: how many events it holds.
        most_waiting: how many may wait besides.
        patience: how long an event waits, in seconds.

    Raises:
        ValueError: no capacity.
    """

    def __init__(self, *, capacity: int = 1_000_000, most_waiting: int = 100_000, patience: float = 300) -> None:
        if capacity < 1 or most_waiting < 0 or patience < 0:
            raise ValueError("a dispatcher holds at least one event, and lets none wait or some, for a time")
        self._capacity, self._most, self._patience = capacity, most_waiting, patience
        self._queue: deque[Item] = deque()
        self._waiting: deque[Waiting] = deque()
        # Events come from the core, from Kubernetes and from timers, each on its own thread.
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._queue) + len(self._waiting)

    def __contains__(self, item: Item) -> bool:
        with self._lock:
            return item in self._queue or any(item == w.item for w in self._waiting)

    def put(self, item: Item, now: int) -> Outcome:
        """Hands an event over.

        Raises:
            Overflow: too many wait; this one is not taken.
        """
        with self._lock:
            if not self._waiting and len(self._queue) < self._capacity:
                self._queue.append(item)
                return Outcome.QUEUED
            if len(self._waiting) >= self._most:
                raise Overflow(f"{len(self._waiting)} events wait for a queue of {self._capacity}: {item} is not taken")
            self._waiting.append(Waiting(item, now + round(self._patience * SECOND)))
            return Outcome.WAITING

    def lose(self, now: int) -> list[Item]:
        """Takes out the events that have waited too long, and says which."""
        with self._lock:
            lost = [w.item for w in self._waiting if w.until < now]
            self._waiting = deque(w for w in self._waiting if w.until >= now)
            return lost

    def take(self) -> Item | None:
        """The first event, None if there is none; what waits moves up."""
        with self._lock:
            if not self._queue:
                return None
            item = self._queue.popleft()
            while self._waiting and len(self._queue) < self._capacity:
                self._queue.append(self._waiting.popleft().item)
            return item

    def snapshot(self) -> Queued:
        """What it holds, for :meth:`restore`."""
        with self._lock:
            return Queued(tuple(self._queue), tuple(self._waiting))

    def restore(self, held: Queued) -> None:
        """Goes back to a snapshot; ``NOTHING`` empties it."""
        with self._lock:
            self._queue, self._waiting = deque(held.queue), deque(held.waiting)
