"""Clocks with timers: one that runs by itself, and one that a test or an exploration controls.

Running out and delivery are two steps. A timer that has run out calls its callback only when the carrying thread gets
its turn, perhaps after things have changed. So a timer that is stopped after it has run out is still delivered.
"""

from __future__ import annotations

import heapq
import itertools
import logging
import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Protocol

SECOND = 1_000_000_000
"""Nanoseconds in a second. Times are in nanoseconds, delays in seconds."""

Callback = Callable[[], object]

_log = logging.getLogger(__name__)


class Clock(Protocol):
    """The part of a clock that code with timers needs."""

    def now(self) -> int:
        """The time of day, in nanoseconds since 1970."""

    def arm(self, timer: Hashable, delay: float, callback: Callback) -> None:
        """Calls ``callback`` once, at the earliest after ``delay`` seconds.

        Raises:
            ValueError: a timer of this name is armed, or the delay is negative.
        """

    def stop(self, timer: Hashable) -> None:
        """Disarms a timer. Has no effect if it is not armed, or has run out already."""


@dataclass(frozen=True)
class Timer:
    """An armed timer; ``deadline`` is in nanoseconds, as :meth:`Clock.now`."""

    name: Hashable
    deadline: int
    callback: Callback


@dataclass(frozen=True)
class Times:
    """The whole state of a :class:`ManualClock`."""

    now: int
    pending: tuple[Timer, ...]
    under_way: tuple[Timer, ...]


class ManualClock:
    """A clock that advances and delivers only when it is called to.

    With ``timed`` False deadlines do not count: every armed timer may run out at any moment. Explorations without time
    use this.
    """

    def __init__(self, now: int = 0, *, timed: bool = True) -> None:
        self._now = now
        self._timed = timed
        self._pending: list[Timer] = []
        self._under_way: list[Timer] = []

    def now(self) -> int:
        """See :class:`Clock`."""
        return self._now

    def arm(self, timer: Hashable, delay: float, callback: Callback) -> None:
        """See :class:`Clock`."""
        deadline = self._now + _nanoseconds(delay)
        if any(t.name == timer for t in self._pending):
            raise ValueError(f"timer {timer} is armed already; stop it first")
        self._pending.append(Timer(timer, deadline, callback))
        self._pending.sort(key=lambda t: t.deadline)

    def stop(self, timer: Hashable) -> None:
        """See :class:`Clock`."""
        self._pending = [t for t in self._pending if t.name != timer]

    def pending(self) -> tuple[Timer, ...]:
        """The armed timers, by deadline."""
        return tuple(self._pending)

    def under_way(self) -> tuple[Timer, ...]:
        """The timers that have run out and are not delivered, in the order in which they ran out."""
        return tuple(self._under_way)

    def advance(self, seconds: float) -> None:
        """Advances the time. Due timers stay armed until :meth:`run_out`.

        Raises:
            ValueError: ``seconds`` is negative.
        """
        self._now += _nanoseconds(seconds)

    def due(self) -> tuple[Timer, ...]:
        """The armed timers that may run out now."""
        return tuple(t for t in self._pending if not self._timed or t.deadline <= self._now)

    def run_out(self, timer: Hashable) -> None:
        """Lets an armed timer run out.

        From then on :meth:`stop` has no effect, and :meth:`deliver` may come at any time.

        Raises:
            ValueError: it is not armed, or its deadline has not come.
        """
        due_timer = next((t for t in self._pending if t.name == timer), None)
        if due_timer is None:
            raise ValueError(f"timer {timer} is not armed; armed: {_names(self._pending)}")
        if self._timed and due_timer.deadline > self._now:
            raise ValueError(
                f"timer {timer} has {(due_timer.deadline - self._now) / SECOND} s to go; advance the clock"
            )
        self._pending.remove(due_timer)
        self._under_way.append(due_timer)

    def deliver(self, timer: Hashable) -> None:
        """Calls the callback of a timer that has run out; of several with one name, the oldest.

        Raises:
            ValueError: none of this name is under way.
        """
        due_timer = next((t for t in self._under_way if t.name == timer), None)
        if due_timer is None:
            raise ValueError(f"timer {timer} has not run out; under way: {_names(self._under_way)}")
        self._under_way.remove(due_timer)
        due_timer.callback()

    def fire(self, timer: Hashable) -> None:
        """Delivers a timer in time: :meth:`run_out`, then :meth:`deliver`.

        Raises:
            ValueError: as these.
        """
        self.run_out(timer)
        self.deliver(timer)

    def run(self, seconds: float) -> None:
        """Advances the time and delivers, in time, every timer that becomes due on the way.

        Raises:
            ValueError: ``seconds`` is negative.
        """
        end = self._now + _nanoseconds(seconds)
        while self._pending and self._pending[0].deadline <= end:
            self._now = max(self._now, self._pending[0].deadline)
            self.fire(self._pending[0].name)
        self._now = end

    def clear(self) -> None:
        """Discards all timers, armed and under way: the process that owns them dies."""
        self._pending, self._under_way = [], []

    def snapshot(self) -> Times:
        """The time and the timers, for :meth:`restore`."""
        return Times(self._now, self.pending(), self.under_way())

    def restore(self, times: Times) -> None:
        """Restores a snapshot."""
        self._now, self._pending, self._under_way = times.now, list(times.pending), list(times.under_way)


class RealClock:
    """The clock of the machine. One thread calls all callbacks, one after the other; :meth:`close` ends it."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Hashable, Callback]] = []
        self._armed: dict[Hashable, int] = {}
        self._count = itertools.count()
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="timers", daemon=True)
        self._thread.start()

    def now(self) -> int:
        """See :class:`Clock`."""
        return time.time_ns()

    def arm(self, timer: Hashable, delay: float, callback: Callback) -> None:
        """See :class:`Clock`.

        Raises:
            ValueError: as there, or the clock is closed.
        """
        seconds = _nanoseconds(delay) / SECOND
        with self._changed:
            if self._closed:
                raise ValueError("the clock is closed; make a new one")
            if timer in self._armed:
                raise ValueError(f"timer {timer} is armed already; stop it first")
            number = next(self._count)
            self._armed[timer] = number
            heapq.heappush(self._heap, (time.monotonic() + seconds, number, timer, callback))
            self._changed.notify()

    def stop(self, timer: Hashable) -> None:
        """See :class:`Clock`."""
        with self._changed:
            self._armed.pop(timer, None)

    def close(self) -> None:
        """Ends the thread after its current callback, and discards armed timers."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        while (callback := self._next()) is not None:
            try:
                callback()
            except Exception:
                # A failing callback must not stop the other timers.
                _log.exception("a timer's callback failed")

    def _next(self) -> Callback | None:
        """Waits for the next timer to run out and returns its callback; None when the clock is closed."""
        with self._changed:
            while not self._closed:
                wait = self._heap[0][0] - time.monotonic() if self._heap else None
                if wait is not None and wait <= 0:
                    _, number, timer, callback = heapq.heappop(self._heap)
                    # A stopped timer stays in the heap, but its number is no longer armed.
                    if self._armed.get(timer) == number:
                        del self._armed[timer]
                        return callback
                else:
                    self._changed.wait(wait)
        return None


def _nanoseconds(seconds: float) -> int:
    if seconds < 0:
        raise ValueError(f"{seconds} s: time does not go back")
    return round(seconds * SECOND)


def _names(timers: list[Timer]) -> str:
    return ", ".join(str(t.name) for t in timers) or "none"
