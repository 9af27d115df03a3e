"""Progress of long work: one line on a terminal's standard error, nothing in a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psutil
from rich.console import Console
from rich.text import Text

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
            f"exploring: {states} states, {rate:.0f} states/s, frontier {states - expanded}, depth {depth}, memory {used} MiB"
        )

    return tell
