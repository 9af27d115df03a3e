"""Interrupts that end long work and keep its results so far."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from schedproof.proofs.exploration.explore import Halt

WHY = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}


@contextmanager
def stoppable() -> Iterator[Halt]:
    """Yields a function that returns why to stop, after the first interrupt or SIGTERM; "" before.

    A second signal has its usual effect. Ignored signals stay ignored.
    """
    why: list[str] = []

    def handle(number: int, frame: FrameType | None) -> None:
        if not why:
            why.append(WHY[signal.Signals(number)])
            return
        known = before[signal.Signals(number)]
        signal.signal(number, known)
        if callable(known):
            known(number, frame)
        else:
            os.kill(os.getpid(), number)

    before = {number: signal.getsignal(number) for number in WHY if signal.getsignal(number) is not signal.SIG_IGN}
    for number in before:
        signal.signal(number, handle)
    try:
        yield lambda: why[0] if why else ""
    finally:
        for number, known in before.items():
            signal.signal(number, known)
