"""How far a check has come, for whoever waits for it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass
class Tally:
    """What a check is doing, and how much of it is done; another thread may look at it.

    Args:
        doing: what it is doing, in words.
        unit: what ``done`` counts.
        began: when the counting began, as ``time.perf_counter`` has it.
        counting: ``done`` grows; else it is not known how much is done.
    """

    doing: str = "checking"
    done: int = 0
    unit: str = "records"
    began: float = 0.0
    counting: bool = False

    def counted(self, things: Iterable[T], doing: str, unit: str) -> Iterator[T]:
        """The things, each of which is done when the next one is asked for."""
        self.doing, self.done, self.unit, self.began, self.counting = doing, 0, unit, time.perf_counter(), True
        for thing in things:
            yield thing
            self.done += 1

    def does(self, doing: str) -> None:
        """From now on it does this, and does not count."""
        self.doing, self.counting = doing, False

    def rate(self) -> float:
        """So many are done a second, since the counting began."""
        return self.done / max(time.perf_counter() - self.began, 1e-6)
