"""The scheduler as a process: its loops as threads on one database."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from threading import Event, Thread
from types import TracebackType

from schedproof.impl.errors import Refused, StoreError

from .operations import Observer, Report
from .scheduler import Consistency, NewJobs, PendingSystems, Provisioning
from .store import BeakerStore

LOG = logging.getLogger(__name__)

Pass = Callable[[], bool]
"""Handles once everything that a loop finds; returns whether it did anything."""


class Daemon:
    """Runs the four loops until it is stopped. A database has one daemon at a time.

    The process may be killed at any moment. The next one needs no special processing (line 68), because the database
    has the complete state. Use the daemon as a context manager, or call :meth:`start` and :meth:`stop`.

    Args:
        interval: seconds that a loop waits after a pass that found nothing to do.
        observer: is called with each transaction's report, in the threads of the loops.

    Raises:
        ValueError: the interval is not positive.
    """

    def __init__(self, store: BeakerStore, *, interval: float = 1.0, observer: Observer | None = None) -> None:
        if interval <= 0:
            raise ValueError(f"the interval must be more than 0 seconds, not {interval}")
        self._interval = interval
        self._stopped = Event()
        self._failures: list[BaseException] = []
        self._new_jobs = NewJobs(store, observer=observer)
        self._pending = PendingSystems(store, observer=observer)
        self._provisioning = Provisioning(store, observer=observer)
        self._consistency = Consistency(store, observer=observer)
        passes: dict[str, Pass] = {
            "new jobs": self.process_new_jobs,
            "pending systems": self.process_pending_systems,
            "provisioning": self.provision,
            "consistency": self.check_consistency,
        }
        self._threads = [Thread(target=self._loop, args=pair, name=pair[0], daemon=True) for pair in passes.items()]

    def start(self) -> None:
        """Starts the loops."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Stops the loops: each ends its transaction first. Returns when all have ended.

        Raises:
            BaseException: the exception that ended a loop early, if there is one.
        """
        self._stopped.set()
        for thread in self._threads:
            if thread.ident is not None:  # it was started
                thread.join()
        if self._failures:
            raise self._failures[0]

    def __enter__(self) -> Daemon:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    # One pass of each loop. These methods are public, so that a process may run them in its own thread.

    def process_new_jobs(self) -> bool:
        """Takes up each new set, searches for systems for all its recipes, and queues the recipes without one."""
        busy = self._put_away()  # a set may still be in hand if the database failed in the last pass
        for recipe_set in self._new_jobs.new_sets():
            if _tried(self._new_jobs.take_up, recipe_set):
                busy = self._put_away()
        return busy

    def _put_away(self) -> bool:
        """Finishes the work on the set in hand; returns whether there was one."""
        busy = False
        while (pending_search := self._new_jobs.in_hand) is not None:
            if pending_search.searched:
                self._new_jobs.settle()
            elif not _tried(lambda name: self._new_jobs.search(), pending_search.recipe_set):
                # The search was refused because the set is not seated yet.
                _tried(self._new_jobs.seat, pending_search.recipe_set)
            busy = True
        return busy

    def process_pending_systems(self) -> bool:
        """Gives each pending system to a recipe, or makes it idle."""
        return _each(self._pending.process, self._pending.pending())

    def provision(self) -> bool:
        """Begins each set that is ready."""
        return _each(self._provisioning.begin, self._provisioning.ready())

    def check_consistency(self) -> bool:
        """Seats sets whose seats do not serve them, wakes idle systems and aborts dead recipes."""
        seated = _each(self._consistency.seat, self._consistency.unseated())
        woken = _each(self._consistency.wake, self._consistency.sleeping())
        return _each(self._consistency.abort_dead, self._consistency.dead()) or woken or seated

    def _loop(self, name: str, once: Pass) -> None:
        while not self._stopped.is_set():
            try:
                busy = once()
            except StoreError as error:
                # The database may come back. The process has no state that would then need repair.
                LOG.warning("%s: %s", name, error)
                busy = False
            except BaseException as error:
                LOG.exception("the loop for %s ends", name)
                self._failures.append(error)
                return
            if not busy:
                self._stopped.wait(self._interval)


def _each(operation: Callable[[str], Report], names: Sequence[str]) -> bool:
    """Tries the operation on all names; returns whether it succeeded for any."""
    done = [_tried(operation, name) for name in names]
    return any(done)


def _tried(operation: Callable[[str], Report], name: str) -> Report | None:
    """Returns the report, or None if another process was faster and there is nothing left to do."""
    try:
        return operation(name)
    except Refused as error:
        LOG.debug("%s", error)
        return None
