"""One bounded queue for all events, first in first out (F 4).

An event that finds the queue full waits and is tried again. One that has waited too long is lost; one that finds too
many waiting is refused. The dispatcher reports both: v0.12.2 loses the first silently and panics at the second.

Waiting events keep their order. In v0.12.2 each event is tried again by itself, so later ones can overtake it.
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
    """What happened to an event that was put into the queue."""

    QUEUED = "queued"
    WAITING = "waiting"


@dataclass(frozen=True)
class Waiting:
    """An event that found the queue full; it is tried again until ``until`` (ns)."""

    item: Item
    until: int


@dataclass(frozen=True)
class Queued:
    """The contents of a :class:`Dispatcher`."""

    queue: tuple[Item, ...] = ()
    waiting: tuple[Waiting, ...] = ()


NOTHING = Queued()


class Dispatcher:
    """The queue of events.

    Args:
        capacity: how many events it holds.
        most_waiting: how many more may wait.
        patience: how long an event waits, in seconds.

    Raises:
        ValueError: the capacity is less than one, or another argument is negative.
    """

    def __init__(self, *, capacity: int = 1_000_000, most_waiting: int = 100_000, patience: float = 300) -> None:
        if capacity < 1 or most_waiting < 0 or patience < 0:
            raise ValueError("a dispatcher holds at least one event, and lets none wait or some, for a time")
        self._capacity, self._most, self._patience = capacity, most_waiting, patience
        self._queue: deque[Item] = deque()
        self._waiting: deque[Waiting] = deque()
        # Core, Kubernetes and timers put events, each on its own thread.
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._queue) + len(self._waiting)

    def __contains__(self, item: Item) -> bool:
        with self._lock:
            return item in self._queue or any(item == w.item for w in self._waiting)

    def put(self, item: Item, now: int) -> Outcome:
        """Queues an event, or lets it wait.

        Raises:
            Overflow: too many events wait; this one is refused.
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
        """Removes and returns the events that have waited too long."""
        with self._lock:
            lost = [w.item for w in self._waiting if w.until < now]
            self._waiting = deque(w for w in self._waiting if w.until >= now)
            return lost

    def take(self) -> Item | None:
        """Removes and returns the first event, None if there is none; waiting events move up."""
        with self._lock:
            if not self._queue:
                return None
            item = self._queue.popleft()
            while self._waiting and len(self._queue) < self._capacity:
                self._queue.append(self._waiting.popleft().item)
            return item

    def snapshot(self) -> Queued:
        """Returns the contents, for :meth:`restore`."""
        with self._lock:
            return Queued(tuple(self._queue), tuple(self._waiting))

    def restore(self, held: Queued) -> None:
        """Goes back to a snapshot; ``NOTHING`` empties the queue."""
        with self._lock:
            self._queue, self._waiting = deque(held.queue), deque(held.waiting)
