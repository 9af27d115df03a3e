"""The report of a refinement check that compares two graphs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .compare import never_taken, no_longer_possible, silent_for_ever
from .graph import SILENT, SideBySide
from .mismatch import Mismatch, Stopped


@dataclass(frozen=True)
class RefinementReport:
    """Whether implementation and model have the same graph, and how much was explored.

    States and edges of the implementation are those explored until the end or the first mismatch.

    Attributes:
        about: what ``scope`` does not express of the configuration, in words.
        crash_points: the number of points in all explored operations at which the process was killed. Points of
            different operations can be the same state.
    """

    scope: Mapping[str, int]
    about: str
    mismatch: Mismatch | None
    states: int
    states_by_kind: Mapping[str, int]
    edges: int
    silent_edges: int
    crash_points: int
    model_states: int
    model_states_covered: int
    model_edges: int
    model_edges_covered: int
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether the two graphs are the same under the abstraction function."""
        return self.mismatch is None

    @property
    def text(self) -> str:
        """The report as several lines of text."""
        scope = ", ".join(f"{sort}={n}" for sort, n in self.scope.items())
        kinds = ", ".join(f"{n} {kind}" for kind, n in self.states_by_kind.items())
        lines = [
            f"scheduler and model {'are the same graph' if self.ok else 'DIFFER'} at {scope}, {self.about}",
            f"scheduler: {self.states} states ({kinds}), {self.edges} edges ({self.silent_edges} silent), "
            f"{self.crash_points} crash points",
            f"model: {self.model_states_covered} of {self.model_states} states and "
            f"{self.model_edges_covered} of {self.model_edges} edges covered ({self.seconds:.1f} s)",
        ]
        return "\n".join([*lines, *([self.mismatch.text] if self.mismatch else [])])


def compared(begin: Callable[[], SideBySide], about: str) -> RefinementReport:
    """Explores until the end or the first mismatch, then compares the complete graphs.

    The reported time includes ``begin``, which explores the model.
    """
    started = time.perf_counter()
    exploration = begin()
    model = exploration.model
    try:
        exploration.explore()
        mismatch = silent_for_ever(exploration) or no_longer_possible(exploration) or never_taken(exploration)
    except Stopped as stopped:
        mismatch = stopped.mismatch
    kinds = exploration.kinds
    return RefinementReport(
        scope=model.instance.sizes,
        about=about,
        mismatch=mismatch,
        states=len(kinds),
        states_by_kind={kind: kinds.count(kind) for kind in exploration.every_kind},
        edges=exploration.graph.number_of_edges(),
        silent_edges=sum(1 for *_, label in exploration.graph.edges(keys=True) if label == SILENT),
        crash_points=exploration.crash_points,
        model_states=len(model.steps),
        model_states_covered=len(set(exploration.images) & model.steps.keys()),
        model_edges=sum(len(steps) for steps in model.steps.values()),
        model_edges_covered=len(exploration.covered),
        seconds=time.perf_counter() - started,
    )
