"""The command line: ``schedproof COMMAND ...``.

This module imports little, so that an interrupt while the engines are still loading also ends with one line.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import time
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
    with _interrupts() as seen:
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


REDELIVERY_SECONDS = 0.01
"""The delay before a lost interrupt is sent again."""


@contextmanager
def _interrupts() -> Iterator[Sequence[int]]:
    """Collects the interrupts that arrive, and raises them as usual.

    Python cannot raise an exception in a destructor or a callback: it prints "Exception ignored in" with a traceback, and
    the command continues. z3 has such destructors. An interrupt that is lost there is sent again until it can be raised,
    also if ctypes has made it an error of its own. After an interrupt, error output of destructors is dropped: they also
    fail on objects whose constructor was interrupted, which have no attributes.
    """
    seen: list[int] = []
    lost = False
    senders: list[threading.Thread] = []
    main_thread, default_hook = threading.get_ident(), sys.unraisablehook

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal lost
        seen.append(number)
        while frame is not None:
            if frame.f_code is hook.__code__:
                lost = True  # it would be lost here, too
                return
            frame = frame.f_back
        lost = False
        raise KeyboardInterrupt

    def send_again() -> None:
        while True:
            time.sleep(REDELIVERY_SECONDS)
            if not lost:
                return
            signal.pthread_kill(main_thread, signal.SIGINT)

    def hook(unraisable: sys.UnraisableHookArgs) -> None:
        nonlocal lost
        interrupt = issubclass(unraisable.exc_type, KeyboardInterrupt)
        if interrupt or "KeyboardInterrupt" in str(unraisable.exc_value):  # "argument 1: KeyboardInterrupt: "
            lost = True
        elif not seen:
            default_hook(unraisable)
        if lost:
            senders.append(threading.Thread(target=send_again, daemon=True))
            senders[-1].start()

    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield seen  # ignored, or handled by other code
        return
    signal.signal(signal.SIGINT, handle)
    sys.unraisablehook = hook
    try:
        yield seen
    finally:
        lost = False
        for sender in senders:
            sender.join()
        sys.unraisablehook = default_hook
        signal.signal(signal.SIGINT, signal.default_int_handler)


if __name__ == "__main__":
    sys.exit(main())
