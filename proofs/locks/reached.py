"""What a search through the interleavings of threads gives, whichever way it was done."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from .semantics import State

Progress = Callable[[int, int], None]
"""Is told of the states seen, and of those to go."""

Path = Callable[[], list[State]]
"""Gives the states of a shortest way from an initial state to one, both included."""


@dataclass(frozen=True)
class Reached:
    """The states that were reached.

    Args:
        complete: it was not cut short.
        suspects: states to be looked at for problems, with the way there, in the order in which they were reached.
    """

    states: int
    moves: int
    complete: bool
    suspects: Iterable[tuple[State, Path]]
