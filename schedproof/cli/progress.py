"""Progress of long work, on standard error: one line that changes on a terminal; in a pipe, ``verify`` alone has some."""

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

Say = Callable[[str], None]

REFRESHED = 4
"""How often a second a line that counts is written anew; more would slow the work down."""


@contextmanager
def progress(start: str) -> Iterator[Say]:
    """A function that replaces the line by its argument and the time since the start."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda line: None
        return
    began = time.perf_counter()
    with Console(stderr=True, markup=False, highlight=False).status(Text(start)) as status:
        yield lambda line: status.update(Text(f"{line} ({time.perf_counter() - began:.0f} s)"))


@contextmanager
def verifying(run: Run, jobs: int) -> Iterator[tuple[Say, Callable[[str], None]]]:
    """Progress of ``verify`` on standard error.

    On a terminal: a bar of the verdicts, what is done now, and how long the rest will take, from what it took last time.
    Elsewhere: one line for each variant, as it is complete.

    Returns:
        What to call with a line on what is being done, and with a line on a variant that is complete.
    """
    if sys.stderr is None:
        yield lambda line: None, lambda line: None
        return
    if not sys.stderr.isatty():
        yield lambda line: None, _said
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


def _said(line: str) -> None:
    with suppress(OSError):  # it is full, or its reader has gone: that is no result
        print(line, file=sys.stderr, flush=True)


@contextmanager
def counting(shown: Callable[[float], str]) -> Iterator[None]:
    """A line that is written anew several times a second, whatever the work is doing.

    Args:
        shown: the line, given the seconds since the start; another thread calls it.
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


def exploring(say: Say) -> Callable[[int, int, int], None]:
    """Progress of an exploration: states found, states per second, frontier, depth, memory of the process."""
    began, process = time.perf_counter(), psutil.Process()

    def tell(states: int, expanded: int, depth: int) -> None:
        rate = states / max(time.perf_counter() - began, 1e-6)
        used = process.memory_info().rss >> 20
        say(
            f"exploring: {states:,} states, {rate:,.0f} states/s, frontier {states - expanded:,}, depth {depth}, memory {used} MiB"
        )

    return tell
