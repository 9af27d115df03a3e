"""Replays a run of YuniKorn's repaired core model on the reference core.

The core does in one operation what the model does in several steps. So the runs are those of the model's graph that
take these steps at once.
"""

from __future__ import annotations

from schedproof.model.semantics.run import Run
from schedproof.model.systems.yunikorn.configurations import Configuration
from schedproof.proofs.refinement.mismatch import Mismatch
from schedproof.proofs.refinement.replay import follow

from .check import side_by_side
from .component import REFERENCE, Parts


def replay(run: Run, configuration: Configuration, parts: Parts = REFERENCE) -> Mismatch | None:
    """Returns the first difference between core and model along such a run; None if there is none."""
    return follow(side_by_side(configuration, parts), list(zip(run.choices, run.states[1:], strict=True)))
