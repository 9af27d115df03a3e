"""A run of YuniKorn's repaired core model on the reference core.

The core does in one operation what the model does in several steps, so runs are those of the model's graph with these
steps done at once: :func:`graph_of` has them.
"""

from __future__ import annotations

from schedproof.model.systems.yunikorn.situations import Situation
from schedproof.proofs.coverage.graph import Graph
from schedproof.proofs.refinement.mismatch import Mismatch
from schedproof.proofs.refinement.replay import as_graph, follow
from schedproof.proofs.traces.formats.writing import Run

from .check import side_by_side
from .party import REFERENCE, Parts


def graph_of(situation: Situation) -> Graph:
    """The steps of the model that the core can be asked for one by one."""
    return as_graph(side_by_side(situation).model)


def replay(run: Run, situation: Situation, parts: Parts = REFERENCE) -> Mismatch | None:
    """The first difference between the core and the model along a run of :func:`graph_of`; None if there is none."""
    return follow(side_by_side(situation, parts), list(zip(run.choices, run.states[1:], strict=True)))
