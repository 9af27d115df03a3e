"""Progress of long work on standard error: one changing line on a terminal.

In a pipe, only ``verify`` shows progress.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import psutil
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TimeElapsedColumn
from rich.text import Text

if TYPE_CHECKING:
    from schedproof.proofs.verification.verify import Run

ReportProgress = Callable[[str], None]

REFRESHED = 4
"""How many times a second a counting line is redrawn; a higher rate would slow the work down."""


@contextmanager
def progress(start: str) -> Iterator[ReportProgress]:
    """Yields a function that replaces the line by its argument and the time since the start."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda line: None
        return
    began = time.perf_counter()
    with Console(stderr=True, markup=False, highlight=False).status(Text(start)) as status:
        yield lambda line: status.update(Text(f"{line} ({time.perf_counter() - began:.0f} s)"))


@contextmanager
def verifying(run: Run, jobs: int) -> Iterator[tuple[ReportProgress, Callable[[str], None]]]:
    """Progress of ``verify`` on standard error.

    On a terminal: a bar of the verdicts, the current activity, and the remaining time, estimated from the last run.
    Elsewhere: one line for each variant, when it is complete.

    Args:
        run: the run of ``verify``.
        jobs: how many processes share the work.

    Yields:
        A function to call with a line on the current activity, and one to call with a line on a complete variant.
    """
    if sys.stderr is None:
        yield lambda line: None, lambda line: None
        return
    if not sys.stderr.isatty():
        yield lambda line: None, _print_line
        return
    columns = ("{task.fields[done]}", BarColumn(), "{task.fields[left]}", "{task.description}")
    console = Console(stderr=True, markup=False, highlight=False)
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as bar:
        task = bar.add_task("", total=run.total, done="", left="")

        def show(line: str) -> None:
            left = timedelta(seconds=round(run.seconds_left / jobs))
            bar.update(
                task,
                completed=run.verdicts,
                description=escape(line),
                done=f"{run.verdicts:,}/{run.total:,} verdicts",
                left=f"about {left} left",
            )

        show("")
        yield show, show


def _print_line(line: str) -> None:
    with suppress(OSError):  # the disk is full, or the reader has closed the pipe: progress is not a result
        print(line, file=sys.stderr, flush=True)


@contextmanager
def counting(shown: Callable[[float], str]) -> Iterator[None]:
    """Shows a line that is redrawn several times a second, independent of the work.

    Args:
        shown: returns the line, given the seconds since the start; another thread calls it.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    line = _Line(shown, time.perf_counter())
    with Console(stderr=True, markup=False, highlight=False).status(line, refresh_per_second=REFRESHED):
        yield


@dataclass(frozen=True)
class _Line:
    shown: Callable[[float], str]
    began: float

    def __rich__(self) -> Text:
        return Text(self.shown(time.perf_counter() - self.began))


def exploring(report_progress: ReportProgress, load: Callable[[], str] = lambda: "") -> Callable[[int, int, int], None]:
    """A function that shows the progress of an exploration.

    It shows states, states per second, frontier, depth, and the memory of the process; or what ``load`` returns of workers.
    """
    began, process = time.perf_counter(), psutil.Process()

    def report_counts(states: int, expanded: int, depth: int) -> None:
        rate = states / max(time.perf_counter() - began, 1e-6)
        used = load() or f"memory {process.memory_info().rss >> 20} MiB"
        report_progress(
            f"exploring: {states:,} states, {rate:,.0f} states/s, frontier {states - expanded:,}, depth {depth}, {used}"
        )

    return report_counts
