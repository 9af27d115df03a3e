"""The progress of a check, for another thread to show."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass
class Tally:
    """What a check is doing, and how much of it is done. Another thread may read it.

    Args:
        doing: what it is doing, in words.
        done: how many units are done.
        unit: what ``done`` counts.
        began: when the counting began, by ``time.perf_counter`` (seconds).
        counting: whether ``done`` grows; if False, the progress is unknown.
    """

    doing: str = "checking"
    done: int = 0
    unit: str = "records"
    began: float = 0.0
    counting: bool = False

    def counted(self, things: Iterable[T], doing: str, unit: str) -> Iterator[T]:
        """Yields the things and counts them. A thing counts as done when the next one is asked for."""
        self.doing, self.done, self.unit, self.began, self.counting = doing, 0, unit, time.perf_counter(), True
        for thing in things:
            yield thing
            self.done += 1

    def does(self, doing: str) -> None:
        """Starts an activity that is not counted."""
        self.doing, self.counting = doing, False

    def rate(self) -> float:
        """Units a second since the counting began."""
        return self.done / max(time.perf_counter() - self.began, 1e-6)
