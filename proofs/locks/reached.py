"""The result of a search through the interleavings of threads, the same for both engines."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from .semantics import State

Progress = Callable[[int, int], None]
"""Called with the number of expanded states, and of states still to expand."""

Path = Callable[[], list[State]]
"""Returns the states of a shortest path from an initial state to a given one, both included."""


class Steps(enum.Enum):
    """Which steps a search takes, and when it stops."""

    ALL = enum.auto()
    """All steps."""
    RELEASES_FIRST = enum.auto()
    """If a thread can release a lock, only that step."""
    RENAMED = enum.auto()
    """As RELEASES_FIRST, with one state for all that differ by swapping threads with the same program.

    The search stops at the first suspect."""


@dataclass(frozen=True)
class Reached:
    """The result of a search.

    Args:
        complete: False if the search stopped early.
        suspects: states with a problem and the path to each, in the order of the search. Not every state with the same
            problem is included.
    """

    states: int
    moves: int
    complete: bool
    suspects: Iterable[tuple[State, Path]]
