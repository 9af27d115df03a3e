"""Progress of long work: one line on a terminal's standard error, nothing in a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psutil
from rich.console import Console
from rich.text import Text

Say = Callable[[str], None]


@contextmanager
def progress(start: str) -> Iterator[Say]:
    """A function that replaces the line by its argument and the time since the start."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda line: None
        return
    began = time.perf_counter()
    with Console(stderr=True, markup=False, highlight=False).status(Text(start)) as status:
        yield lambda line: status.update(Text(f"{line} ({time.perf_counter() - began:.0f} s)"))


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
