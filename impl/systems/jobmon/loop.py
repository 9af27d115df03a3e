"""An agent as a process: one step after the other, heartbeats in between, and interrupts when no answer is awaited."""

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
"""Whoever waits looks so often, in seconds, whether it is interrupted."""


class Leased:
    """A server whose last word on how long the asker's lease is good is kept."""

    def __init__(self, server: Asks) -> None:
        self._server = server
        self.lease: float | None = None

    def ask(self, request: Request) -> Report:
        """Does a request, or refuses it."""
        report = self._server.ask(request)
        self.lease = report.lease or self.lease
        return report


class Observed:
    """A server whose reports ``observer`` is told of."""

    def __init__(self, server: Asks, observer: Observer) -> None:
        self._server = server
        self._observer = observer

    def ask(self, request: Request) -> Report:
        """Does a request, or refuses it."""
        report = self._server.ask(request)
        self._observer(request, report)
        return report


class Heartbeat:
    """How often an agent renews its lease: every ``given`` seconds, else three times in the lease that the server tells.

    It is no use to renew a lease that has run out: who says such a number is told so, once, and it does not count.
    """

    def __init__(self, server: Leased, given: float | None) -> None:
        self._server = server
        self.given = given
        self._last = time.monotonic()

    def due_in(self) -> float | None:
        """After how many seconds from now it is due; None as long as there is nothing to renew."""
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
        """It was just now."""
        self._last = time.monotonic()


class Interrupts:
    """Notes the first of these signals, so that it can be heeded between two steps; the second ends the process at once."""

    def __init__(self, *numbers: signal.Signals) -> None:
        self.noted = False
        self._said = False
        for number in numbers:
            signal.signal(number, self._note)

    def waits_for(self, url: str) -> None:
        """Its process gets no answer from there: whoever has interrupted it is told so, once."""
        if self.noted and not self._said:
            self._said = True
            print(f"waiting for an answer of {url}; Ctrl-C again to end at once", file=sys.stderr, flush=True)

    def _note(self, *_: object) -> None:
        if self.noted:
            raise KeyboardInterrupt
        self.noted = True


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """SIGTERM raises KeyboardInterrupt, once, so that what has to be closed is closed; further ones are ignored."""

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
    """Until there is nothing more to do, or until it is interrupted: then ``interrupted`` is called, if it is given, and it goes on."""
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
