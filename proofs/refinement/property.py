"""The property that a reference implementation refines its model."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from schedproof.model.lang import Property

from .mismatch import Mismatch

Progress = Callable[[int, int], None]
"""Called with the numbers of states and edges of the implementation explored so far."""


class Report(Protocol):
    """The result of a refinement check."""

    @property
    def ok(self) -> bool:
        """Whether the check found no difference."""

    @property
    def mismatch(self) -> Mismatch | None:
        """The first difference, if any."""

    @property
    def states(self) -> int:
        """The number of explored states of the implementation."""

    @property
    def crash_points(self) -> int:
        """The number of points at which the check killed the implementation."""

    @property
    def seconds(self) -> float:
        """The duration of the check in seconds."""


@dataclass(frozen=True, kw_only=True)
class Refinement(Property):
    """The reference implementation of ``variant`` refines its model at ``scope``, crashes included.

    Both have the same graph. Where the model can do more, each move of the implementation is a sequence of model steps.
    """

    variant: str
    scope: Mapping[str, int]

    kind = "refinement"

    @abstractmethod
    def check(self, progress: Progress | None = None) -> Report:
        """Explores both sides; calls ``progress`` from time to time."""
