"""Workers that also keep the full graph of a search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from schedproof.model.lang import Property
from schedproof.proofs.exploration.explore import Halt, Progress
from schedproof.proofs.exploration.liveness import Answer

from .crew import Workers
from .search import Reached


class SharedGraph(Protocol):
    """The graph of a complete exploration, of which each worker keeps a part."""

    def answer(self, prop: Property) -> Answer:
        """The verdict of the graph on a liveness property.

        Raises:
            LostWorker: a worker was lost.
            Halted: the check was ended.
            Undefined: the property reads an attribute of NONE.
        """


class Cluster(Workers, Protocol):
    """Workers that search, and keep graphs."""

    def graph(
        self, reached: Reached, anew: Callable[[], Reached] | None, progress: Progress | None, halt: Halt
    ) -> SharedGraph | str:
        """The graph of a complete exploration by these workers, or why there is none.

        Args:
            anew: explores again after a worker was lost, from the checkpoint; None if there is no checkpoint.
            halt: asked every second, also while a property is checked; a reason ends that.

        Raises:
            LostWorker: a worker was lost, and no checkpoint has its states.
        """
