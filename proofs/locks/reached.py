"""The result of a search through the interleavings of threads, the same for both engines."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

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


class Suspect(NamedTuple):
    """A state with a problem, and the path to it.

    Attributes:
        stuck: the threads that can never continue, if this does not show in the state itself.
    """

    state: State
    path: Path
    stuck: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Reached:
    """The result of a search.

    Args:
        complete: False if the search stopped early.
        suspects: the states with a problem, in the order of the search. Not every state with the same problem is
            included. If no state shows a problem and some thread serves: the states from which a thread can never
            continue, see :mod:`.continuing`.
    """

    states: int
    moves: int
    complete: bool
    suspects: Iterable[Suspect]
