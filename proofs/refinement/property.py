"""The property that a reference implementation does what its model does."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from schedproof.model.lang import Property

from .mismatch import Mismatch

Progress = Callable[[int, int], None]
"""Told how many states and edges of the implementation have been explored."""


class Report(Protocol):
    """What came of an exploration side by side."""

    @property
    def ok(self) -> bool:
        """There is no difference."""

    @property
    def mismatch(self) -> Mismatch | None:
        """The first difference."""

    @property
    def states(self) -> int:
        """States of the implementation."""

    @property
    def crash_points(self) -> int:
        """Moments at which it was killed."""

    @property
    def seconds(self) -> float:
        """How long it took."""


@dataclass(frozen=True, kw_only=True)
class Refinement(Property):
    """What the reference implementation of ``variant`` does at ``scope``, crashes included, is what its model does.

    The two are the same graph, or, where the model can do more, each move of the implementation is steps of the model.
    """

    variant: str
    scope: Mapping[str, int]

    kind = "refinement"

    @abstractmethod
    def check(self, progress: Progress | None = None) -> Report:
        """Explores both; ``progress`` is told of it now and then."""
