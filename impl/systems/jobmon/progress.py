"""The progress of a run on standard error: one changing line on a terminal, else a line for each change."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from types import TracebackType
from typing import Self, TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text

from .outcome import progress
from .requests import Report, Request

EVERY = 1.0
"""Without a terminal, at most one line is printed in this many seconds; the next line includes the changes in between.
"""

PATIENT = 1.0
"""After this many seconds without an answer, the line says so."""


class ProgressLine:
    """An :data:`.server.Observer` of the reports that a client gets. It prints no line twice in succession."""

    def __init__(self) -> None:
        console = Console(stderr=True, markup=False, highlight=False)
        is_terminal = _is_terminal(sys.stderr) and not console.is_dumb_terminal
        self._live = Live(console=console, auto_refresh=False, transient=True) if is_terminal else None
        self._line = self._written = ""
        self._at = -EVERY
        self._answered = time.monotonic()

    def __call__(self, request: Request, report: Report) -> None:
        """Shows the workflow's progress, if the report has it."""
        self._answered = time.monotonic()
        line = progress(report)
        if line is not None:
            self._show(line)

    def waits(self, url: str) -> None:
        """Shows that the server gives no answer, if that lasts."""
        if time.monotonic() - self._answered >= PATIENT:
            self._show(f"waiting for {url}, which gives no answer")

    def _show(self, line: str) -> None:
        self._line = line
        if self._live is not None:
            self._live.update(Text(line, no_wrap=True, overflow="ellipsis"), refresh=True)
        elif time.monotonic() - self._at >= EVERY:
            self._write()

    def _write(self) -> None:
        """Prints a line that stays. A closed standard error is ignored: the run goes on."""
        if self._line != self._written:
            self._written, self._at = self._line, time.monotonic()
            with suppress(OSError, ValueError):
                print(self._line, file=sys.stderr, flush=True)

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Leaves the last line on the screen."""
        if self._live is not None:
            self._live.stop()
        self._write()


def _is_terminal(stream: TextIO | None) -> bool:
    """Whether it is a terminal. Rich's answer is not used: with forced colours it takes a file for a terminal."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # it is closed
        return False
