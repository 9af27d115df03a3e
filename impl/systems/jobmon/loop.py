"""The loop that runs an agent as a process: steps, heartbeats between them, and interrupts between two requests."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .agent import Agent
from .requests import Report, Request
from .server import Asks, Observer

NAP = 0.1
"""While it waits, the loop checks for interrupts at this interval, in seconds."""


class Leased:
    """A server that keeps the length of the lease from the last report that had one, in seconds."""

    def __init__(self, server: Asks) -> None:
        self._server = server
        self.lease: float | None = None

    def ask(self, request: Request) -> Report:
        """Sends a request, and returns the server's report."""
        report = self._server.ask(request)
        self.lease = report.lease or self.lease
        return report


class Observed:
    """A server that calls ``observer`` with each request and its report."""

    def __init__(self, server: Asks, observer: Observer) -> None:
        self._server = server
        self._observer = observer

    def ask(self, request: Request) -> Report:
        """Sends a request, and returns the server's report."""
        report = self._server.ask(request)
        self._observer(request, report)
        return report


class Heartbeat:
    """When an agent has to renew its lease: every ``given`` seconds, else three times in a lease.

    A period of a whole lease or more would renew a lease that has run out. Such a ``given`` is ignored, with one
    warning.
    """

    def __init__(self, server: Leased, given: float | None) -> None:
        self._server = server
        self.given = given
        self._last = time.monotonic()

    def due_in(self) -> float | None:
        """Returns in how many seconds the next heartbeat is due; None while there is no lease."""
        lease = self._server.lease
        if self.given is not None and lease is not None and self.given >= lease:
            print(
                f"Warning: a heartbeat every {self.given:g} seconds comes too late for the server's lease of {lease:g}"
                f" seconds; it is one every {lease / 3:g} seconds instead. Give --heartbeat less than {lease:g}.",
                file=sys.stderr,
                flush=True,
            )
            self.given = None
        if self.given is None and lease is None:
            return None
        every = self.given if self.given is not None else (lease or 0.0) / 3
        return self._last + every - time.monotonic()

    def done(self) -> None:
        """Notes that a heartbeat was sent just now."""
        self._last = time.monotonic()


class Interrupts:
    """Notes the first of these signals for the loop to handle between two steps; the second ends the process at once."""

    def __init__(self, *numbers: signal.Signals) -> None:
        self.noted = False
        self._is_announced = False
        for number in numbers:
            signal.signal(number, self._note)

    def waits_for(self, url: str) -> None:
        """Prints once to an interrupted user that the process waits for an answer from ``url``."""
        if self.noted and not self._is_announced:
            self._is_announced = True
            print(f"waiting for an answer of {url}; Ctrl-C again to end at once", file=sys.stderr, flush=True)

    def _note(self, *_: object) -> None:
        if self.noted:
            raise KeyboardInterrupt
        self.noted = True


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """Makes the first SIGTERM raise KeyboardInterrupt, so that open resources are closed; later ones are ignored."""

    def interrupt(number: int, frame: object) -> None:
        signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def run(
    agent: Agent,
    poll: float,
    heartbeat: Heartbeat | None = None,
    interrupts: Interrupts | None = None,
    interrupted: Callable[[], None] | None = None,
) -> None:
    """Runs an agent until it is over, or until it is interrupted.

    Args:
        poll: how many seconds to wait when there was nothing to do.
        heartbeat: when to renew the lease, if the agent has one.
        interrupted: called at an interrupt; the agent then goes on. Without it, an interrupt ends the loop.
    """
    heard = False
    while agent.over is None:
        if interrupts is not None and interrupts.noted and not heard:
            heard = True
            if interrupted is None:
                return
            interrupted()
            continue
        left = heartbeat.due_in() if heartbeat is not None else None
        if heartbeat is not None and left is not None and left <= 0:
            agent.heartbeat()
            heartbeat.done()
            left = heartbeat.due_in()
        if agent.over is None and agent.step() is None:
            end = time.monotonic() + (poll if left is None else min(poll, left))
            while (rest := end - time.monotonic()) > 0 and (heard or interrupts is None or not interrupts.noted):
                time.sleep(min(rest, NAP))
