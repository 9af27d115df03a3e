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

from schedproof.proofs.traces.errors import TraceError

STDIN = "-"
"""The file name that stands for standard input."""

READ = 1 << 16
"""Bytes that are read of a pipe at once."""

SHARE = 4
"""After a look, so many times as long as it took is the next one left: with a long trace, looks are rare."""


class Arriving:
    """What comes through a pipe, without waiting for it: reading it must not keep an interrupt from being noticed.

    Args:
        file: one end of the pipe; it is kept, and nothing else reads it.
        ends: when nobody writes to it any more, there is no more. A named pipe may find another writer.
    """

    def __init__(self, file: BinaryIO, *, ends: bool) -> None:
        self._file, self._ends = file, ends
        self._lines: deque[bytes] = deque()
        self._held = b""
        self.ended = False
        """There is no more."""

    def readline(self, most: int) -> bytes:
        """The rest of a line, or what there is of it, at most so many bytes; nothing if there is nothing now."""
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
        idle: seconds without anything new after which the file is held to be complete; None: never.
        every: seconds between two looks at it.
    """

    def __init__(self, idle: float | None = None, every: float = 0.2) -> None:
        self._idle, self._every, self._waited = idle, every, 0.0
        self._stopped = threading.Event()
        self.half = False
        """The last line was not complete, and was not read."""
        self.at_end: Callable[[], None] = lambda: None
        """Called whenever all that is there has been read, before it waits for more."""

    def stop(self) -> None:
        """Nothing more is wanted."""
        self._stopped.set()

    @property
    def interrupted(self) -> bool:
        """Nothing more is wanted; there may be more."""
        return self._stopped.is_set()

    @property
    def stopped(self) -> bool:
        """Nothing more is wanted, or will come."""
        return self.interrupted or (self._idle is not None and self._waited >= self._idle)

    def wait(self, file: BinaryIO | Arriving, name: str, got: bool) -> bool:
        """Waits a moment at the end of ``file``; whether to look again.

        Args:
            got: something new was there, if not a whole line.

        Raises:
            TraceError: the file has become shorter, or another one has its name now.
        """
        self._waited = 0.0 if got else self._waited + self._every
        if not isinstance(file, Arriving):
            with suppress(OSError):  # what is neither a file nor a pipe may have no size
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
    """Another file has the name under which ``file`` was opened, as when logs are rotated."""
    try:
        return not os.path.samestat(os.fstat(file.fileno()), os.stat(name))
    except OSError:  # none has it, perhaps not yet; or it is no file at all
        return False


class Again:
    """Looks at what has been read of a trace that is checked as a whole, now and then.

    Args:
        size: how much has been read.
        decided: what has been read is enough for a verdict.
        stop: no more need be read.
    """

    def __init__(self, size: Callable[[], int], decided: Callable[[], bool], stop: Callable[[], None]) -> None:
        self._size, self._decided, self._stop = size, decided, stop
        self._seen, self._next = 0, 0.0

    def look(self) -> None:
        """Looks, if there is more than before and it is time."""
        begun = time.monotonic()
        if self._size() == self._seen or begun < self._next:
            return
        self._seen = self._size()
        if self._decided():
            self._stop()
        ended = time.monotonic()
        self._next = ended + SHARE * (ended - begun)
