"""Work that may take a while, and that is given up when it takes longer."""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType
from typing import TypeVar

T = TypeVar("T")

INTERVAL = 1.0
"""Seconds until the work is interrupted once more, if something has caught the first interruption."""


class _Late(BaseException):
    """Interrupts the work; no handler of ordinary errors catches it."""


def bounded(seconds: float, work: Callable[[], T], otherwise: T) -> T:
    """The result of ``work``, or ``otherwise`` if it takes more than so many seconds of processor time.

    The work may be interrupted at any point. Call this in the main thread; it uses the timer of ``ITIMER_PROF``.
    """
    is_working = True

    def interrupt(number: int, frame: FrameType | None) -> None:
        if is_working:
            raise _Late

    before = signal.signal(signal.SIGPROF, interrupt)
    try:
        try:
            signal.setitimer(signal.ITIMER_PROF, seconds, INTERVAL)
            return work()
        finally:
            is_working = False
    except _Late:
        return otherwise
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
