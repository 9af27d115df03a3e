"""What a search through the interleavings of threads gives, whichever way it was done."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from .semantics import State

Progress = Callable[[int, int], None]
"""Is told of the states seen, and of those to go."""

Path = Callable[[], list[State]]
"""Gives the states of a shortest way from an initial state to one, both included."""


class Steps(enum.Enum):
    """Which steps a search takes, and when it ends."""

    ALL = enum.auto()
    """All."""
    RELEASES_FIRST = enum.auto()
    """Where a thread can release a lock, only that."""
    RENAMED = enum.auto()
    """The same, with one state for all in which threads that do the same have changed places; it ends at the first suspect."""


@dataclass(frozen=True)
class Reached:
    """The states that were reached.

    Args:
        complete: it was not cut short.
        suspects: states with a problem, with the way there, in the order in which they were reached; of states with the
            same problems not all.
    """

    states: int
    moves: int
    complete: bool
    suspects: Iterable[tuple[State, Path]]
