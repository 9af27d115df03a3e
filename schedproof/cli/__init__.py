"""The command line: ``schedproof COMMAND ...``.

This module imports little, so that an interrupt while the engines are still loading also ends with one line.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from .errors import Exit, fail


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit code (see :class:`Exit`).

    Args:
        arguments: the command line; by default that of the process.
    """
    if sys.stdout is None:  # closed by the caller
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        return fail("cannot write to standard output: it is closed", Exit.USAGE)
    with _interrupts() as seen, _destructors_interrupted(seen):
        try:
            from .app import run

            return run(sys.argv[1:] if arguments is None else arguments)
        except BaseException as error:
            # Inside a call of a C library, an interrupt arrives as some other error.
            if not seen and not isinstance(error, KeyboardInterrupt):
                raise
            # Dataclasses use exec. If an interrupt ends an exec, Python remembers it until the next exec. The process
            # would then die of the signal at its end, even if the interrupt was caught.
            exec("", {})  # with default namespaces it would keep a copy of the local variables, and so the error
            code = fail("interrupted; nothing was written", Exit.INTERRUPTED)
        gc.collect()  # destroys half-made objects while error output of destructors is still dropped
        return code


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Collects the interrupts that arrive, and raises them as usual."""
    seen: list[int] = []

    def handle(number: int, frame: FrameType | None) -> None:
        seen.append(number)
        raise KeyboardInterrupt

    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield seen  # ignored, or handled by other code
        return
    signal.signal(signal.SIGINT, handle)
    try:
        yield seen
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


REDELIVERY_SECONDS = 0.01
"""The delay before a lost interrupt is sent again."""


@contextmanager
def _destructors_interrupted(seen: Sequence[int]) -> Iterator[None]:
    """Resends an interrupt that a destructor or a callback lost, and then drops error output of destructors.

    Python cannot raise an exception there: it prints "Exception ignored in" with a traceback, and the command
    continues. z3 has such destructors. They also fail on objects whose constructor was interrupted, which have no
    attributes.

    Args:
        seen: the interrupts so far; it grows.
    """
    default_hook = sys.unraisablehook
    timers: list[threading.Timer] = []
    thread = threading.get_ident()

    def hook(unraisable: sys.UnraisableHookArgs) -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            timers.append(threading.Timer(REDELIVERY_SECONDS, signal.pthread_kill, (thread, signal.SIGINT)))
            timers[-1].start()
        elif not seen:
            default_hook(unraisable)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        for timer in timers:
            timer.cancel()
            timer.join()
        sys.unraisablehook = default_hook


if __name__ == "__main__":
    sys.exit(main())
