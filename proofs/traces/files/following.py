"""Files that are still being written."""

from __future__ import annotations

import os
import select
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO

from schedproof.model.errors import require
from schedproof.proofs.traces.errors import TraceError

STDIN = "-"
"""The file name that stands for standard input."""

READ = 1 << 16
"""Bytes read from a pipe at a time."""

SHARE = 4
"""The pause after a check, as a multiple of the check's duration: long traces are checked rarely."""


class Arriving:
    """The data of a pipe, read without blocking, so that an interrupt is noticed at once.

    Args:
        file: the reading end of the pipe. This object keeps it; nothing else may read it.
        ends: whether the data end when no process writes any more. A named pipe may find another writer.
    """

    def __init__(self, file: BinaryIO, *, ends: bool) -> None:
        self._file, self._ends = file, ends
        self._lines: deque[bytes] = deque()
        self._held = b""
        self.ended = False
        """Whether there is no more data."""

    def readline(self, most: int) -> bytes:
        """The rest of a line, or the part that is available, at most ``most`` bytes; empty if nothing is available."""
        while not self._lines and len(self._held) < most and not self.ended:
            if not select.select([self._file], [], [], 0)[0]:
                break
            part = os.read(self._file.fileno(), READ)
            if not part:
                self.ended = self._ends
                break
            *whole, self._held = (self._held + part).split(b"\n")
            self._lines += [line + b"\n" for line in whole]
        if self._lines:
            line = self._lines.popleft()
            if len(line) > most:
                self._lines.appendleft(line[most:])
            return line[:most]
        line, self._held = self._held[:most], self._held[most:]
        return line


class Following:
    """Waits at the end of a file that is still being written.

    Args:
        idle: seconds without new data after which the file counts as complete; None: never.
        every: seconds between two looks at the file.

    Raises:
        ArgumentError: ``idle`` or ``every`` is not a number.
        TraceError: one of them is not above 0.
    """

    def __init__(self, idle: float | None = None, every: float = 0.2) -> None:
        for name, seconds in (("idle", idle), ("every", every)):
            if seconds is None and name == "idle":
                continue
            require(name, seconds, (int, float), f"seconds, for example {name}=0.5")
            if not (seconds is not None and 0 < seconds < float("inf")):
                raise TraceError(f"{name} is {seconds}; write seconds above 0, for example {name}=0.5")
        self._idle, self._every, self._waited = idle, every, 0.0
        self._stopped = threading.Event()
        self.half = False
        """Whether the last line was incomplete, and was not read."""
        self.at_end: Callable[[], None] = lambda: None
        """Called when all available data have been read, before each wait."""

    def stop(self) -> None:
        """Ends the following, since no more data are needed."""
        self._stopped.set()

    @property
    def interrupted(self) -> bool:
        """Whether :meth:`stop` was called; the file may have more data."""
        return self._stopped.is_set()

    @property
    def stopped(self) -> bool:
        """Whether no more data are needed or expected."""
        return self.interrupted or (self._idle is not None and self._waited >= self._idle)

    def wait(self, file: BinaryIO | Arriving, name: str, got: bool) -> bool:
        """Waits a moment at the end of ``file``.

        Args:
            file: the file.
            name: its name, for messages.
            got: whether there were new data, if not a whole line.

        Returns:
            Whether to look again.

        Raises:
            TraceError: the file became shorter, or another file has its name now.
        """
        self._waited = 0.0 if got else self._waited + self._every
        if not isinstance(file, Arriving):
            with suppress(OSError):  # a file of another kind may have no size
                if os.fstat(file.fileno()).st_size < file.tell():
                    raise TraceError(f"{name}: has become shorter while it was followed; check the new file by itself")
            if not got and name != STDIN and _replaced(file, name):
                raise TraceError(
                    f"{name}: another file has taken its name while it was followed; check that file by itself"
                )
        if not self.stopped:
            self.at_end()
        if not self.stopped:
            self._stopped.wait(self._every)
        return not self.stopped


def _replaced(file: BinaryIO, name: str) -> bool:
    """Whether another file has the name under which ``file`` was opened, as after log rotation."""
    try:
        return not os.path.samestat(os.fstat(file.fileno()), os.stat(name))
    except OSError:  # no file has the name, perhaps not yet; or it is not a file
        return False


class RepeatedCheck:
    """Checks, now and then, a trace that can only be checked as a whole.

    Args:
        size: returns how much has been read.
        decided: returns whether that is enough for a verdict.
        stop: ends the reading.
    """

    def __init__(self, size: Callable[[], int], decided: Callable[[], bool], stop: Callable[[], None]) -> None:
        self._size, self._decided, self._stop = size, decided, stop
        self._seen, self._next = 0, 0.0

    def check_if_due(self) -> None:
        """Checks, if there is more than last time and the pause is over."""
        begun = time.monotonic()
        if self._size() == self._seen or begun < self._next:
            return
        self._seen = self._size()
        if self._decided():
            self._stop()
        ended = time.monotonic()
        self._next = ended + SHARE * (ended - begun)
