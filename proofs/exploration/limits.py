"""Limits of explorations: errors, checkpoints, and reasons to stop early."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from schedproof.model.errors import SchedproofError, require
from schedproof.model.registry.errors import UserError
from schedproof.model.semantics import ScopeError


class TooWide(ScopeError):
    """The instance has more choices, greater numbers or more symmetry than the compiled engine can represent."""


class CheckpointError(SchedproofError):
    """A checkpoint cannot be written, is damaged or belongs to something else."""


class LostWorker(SchedproofError):
    """A worker of a cluster ended or could not be reached, and with it the states that it had."""

    exit_code = 3


class Halted(SchedproofError):
    """A check was ended before it had a verdict; the message is the reason that :data:`.explore.Halt` gives."""

    exit_code = 3


@dataclass(frozen=True)
class Saving:
    """Checkpoints of an exploration: written to ``folder`` every ``every`` seconds, and at the end.

    Raises:
        ArgumentError: an argument has the wrong type.
        UserError: ``every`` is negative.
    """

    folder: Path
    every: float = 60.0

    def __post_init__(self) -> None:
        require("folder", self.folder, (Path, str), "a path: Saving(Path('folder'))")
        require("every", self.every, (int, float), "seconds, for example every=60")
        if self.every < 0:
            raise UserError(f"every is {self.every} seconds; write 0 or more")
        object.__setattr__(self, "folder", Path(self.folder))


RESERVE, LEAST = 96 << 20, 16 << 20
"""Bytes for compiled code and buffers beside the states, and bytes that the states get in any case."""


def room(memory: int, used: int) -> int:
    """Bytes for states in a process that may use ``memory`` bytes, and uses ``used`` without them."""
    return max(LEAST, memory - used - RESERVE)


ALL_REFUTED = "every property is refuted"
"""The reason for a stop once no property is left to refute."""

GREW = "history multiplies the states"
"""The reason for a stop of a search that slices share: separate slices may be smaller."""

GROWTH, SMALL = 1.25, 20_000
"""Slices share a search up to ``GROWTH`` times the states without history, or up to ``SMALL`` states."""


@dataclass(frozen=True)
class Enough:
    """When a search may stop early if the number of states is not needed; asked at the end of each depth.

    Args:
        until_refuted: stop when every property is refuted; compiled code in one thread does so within a depth.
        pace: stop when history multiplies the states; the cumulative states by depth of the graph without history.
    """

    until_refuted: bool = True
    pace: Sequence[int] | None = None

    def reason(self, depth: int, states: int, *, refuted: bool) -> str:
        """Why to stop with ``states`` states up to ``depth``; empty to continue.

        Args:
            refuted: every property is refuted.
        """
        if self.until_refuted and refuted:
            return ALL_REFUTED
        if self.pace is None or states <= SMALL:
            return ""
        known = self.pace[min(depth, len(self.pace) - 1)]
        return GREW if states > GROWTH * known else ""
