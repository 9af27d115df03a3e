"""The difference between scheduler and model that a refinement check reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class Broken(Exception):
    """The implementation reached a state, or did something, that has no counterpart in the model."""

    def __init__(self, reason: str, *, expected: str = "", actual: str = "") -> None:
        super().__init__(reason)
        self.reason, self.expected, self.actual = reason, expected, actual


@dataclass(frozen=True)
class Mismatch:
    """The first difference found, with a shortest path to it."""

    reason: str
    path: Sequence[str]
    expected: str = ""
    actual: str = ""

    @property
    def text(self) -> str:
        """The mismatch as several lines of text."""
        lines = [self.reason, "reached by:"]
        lines += [f"  {i}. {step}" for i, step in enumerate(self.path, 1)] or [
            "  no step: it is so in the initial state"
        ]
        lines += [f"expected: {self.expected}"] if self.expected else []
        lines += [f"found:    {self.actual}"] if self.actual else []
        return "\n".join(lines)


class Stopped(Exception):
    """The exploration found its first mismatch."""

    def __init__(self, mismatch: Mismatch) -> None:
        super().__init__(mismatch.reason)
        self.mismatch = mismatch
