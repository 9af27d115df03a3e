"""What an exploration is refused for, and where it is kept how far it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from schedproof.model.semantics import ScopeError


class TooWide(ScopeError):
    """More choices, greater numbers or more symmetry than compiled code can tell apart."""


class CheckpointError(Exception):
    """A checkpoint cannot be written, or is damaged, or of something else."""

    exit_code = 2


@dataclass(frozen=True)
class Saving:
    """How far an exploration is, is kept in ``folder`` every so many seconds, and at the end."""

    folder: Path
    every: float = 60.0


ALL_REFUTED = "every property is refuted"
"""Why a search stops that has nothing left to find."""

GREW = "history multiplies the states"
"""Why a search of several slices together stops: each of them alone may be smaller."""

GROWTH, SMALL = 1.25, 20_000
"""Slices share a search as long as it has at most so many times the states that there are without history, or so few."""


@dataclass(frozen=True)
class Enough:
    """When a search stops whose states nobody counts: asked at the end of each depth.

    Args:
        until_refuted: when every property is refuted.
        pace: when history multiplies the states: by depth, how many the graph without history has up to there.
    """

    until_refuted: bool = True
    pace: Sequence[int] | None = None

    def reason(self, depth: int, states: int, *, refuted: bool) -> str:
        """Why to stop where ``states`` were found up to ``depth``; empty to go on.

        Args:
            refuted: every property is.
        """
        if self.until_refuted and refuted:
            return ALL_REFUTED
        if self.pace is None or states <= SMALL:
            return ""
        known = self.pace[min(depth, len(self.pace) - 1)]
        return GREW if states > GROWTH * known else ""
