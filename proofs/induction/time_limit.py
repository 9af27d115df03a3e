"""A time limit for proofs. What is not answered by then stays unproved."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class TimeLimit:
    """Why and when work ends early.

    Attributes:
        seconds: the time from the start.
        halt: returns why to stop before, or "".
        part: how much of the time this work has, as a part of the whole.
        began: the start, as ``time.monotonic`` has it.
    """

    seconds: float = math.inf
    halt: Callable[[], str] = field(default=lambda: "", repr=False)
    part: float = 1.0
    began: float = field(default_factory=time.monotonic, compare=False)

    @property
    def left(self) -> float:
        """The seconds that are left."""
        return self.began + self.seconds * self.part - time.monotonic()

    def reached(self) -> str:
        """Why to stop, or ""."""
        return self.halt() or (f"the time limit of {self.seconds:g} s" if self.left <= 0 else "")

    def share(self, part: float) -> TimeLimit:
        """The limit of work that begins at the same time and has ``part`` of the time."""
        return replace(self, part=part)

    def milliseconds(self) -> int:
        """The time that is left for one question to a solver; 0 if none is, and at most a day."""
        return 0 if self.halt() else max(0, math.ceil(min(self.left, 86_400.0) * 1000))


NO_LIMIT = TimeLimit()
"""Work ends when it is done."""
