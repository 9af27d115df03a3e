"""The memory that a graph takes on a machine, and what is left there."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from schedproof.proofs.compiled.part import Part

CONTAINER = Path("/sys/fs/cgroup")
"""Where a container finds its limits."""

PER_STATE, PER_EDGE = 100, 12
"""Bytes per state and per edge of a part of a graph and its searches, beside the table; measured, and rounded up."""

LIFE, PER_LIFE = 76, 9
"""Bytes per state while a life cycle is searched for: with all that other searches have left, and for each state of the life."""


@dataclass(frozen=True)
class Room:
    """The memory for a part of a graph.

    Attributes:
        host: the machine; where less is left in the process than on the machine, also the process.
        needed: the bytes that the part takes.
        left: the bytes that are left on the machine.
    """

    host: str
    needed: int
    left: int

    @staticmethod
    def of(part: Part, memory: int | None, life: int) -> Room:
        """What the graph of a part needs, and what is left on this machine; or of ``memory`` in this process, if that is less.

        Args:
            life: the number of states of the longest life cycle.
        """
        needed = max(PER_STATE, LIFE + PER_LIFE * life) * part.count + PER_EDGE * edges_of(part)
        left = memory_left()
        place = socket.gethostname()
        if memory is not None and (in_process := memory - psutil.Process().memory_info().rss) < left:
            place, left = f"{place}, process {os.getpid()}", max(0, in_process)
        return Room(place, needed, left)


def edges_of(part: Part) -> int:
    """The number of edges of a part's states."""
    return int(part.seen[part.shape.seen.taken_actions].sum())


def memory_left() -> int:
    """The bytes of memory that are left on this machine, or in its container."""
    left = int(psutil.virtual_memory().available)
    with suppress(OSError, ValueError):
        most, used = (int((CONTAINER / name).read_text()) for name in ("memory.max", "memory.current"))
        left = min(left, most - used)
    return left
