"""What an exploration is refused for, and where it is kept how far it is."""

from __future__ import annotations

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
    """How far an exploration is, is kept in ``folder`` every so many seconds, and in the end."""

    folder: Path
    every: float = 60.0
