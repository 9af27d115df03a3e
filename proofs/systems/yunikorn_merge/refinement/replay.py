"""A run of YuniKorn's merged model on the reference scheduler."""

from __future__ import annotations

from schedproof.impl.systems.yunikorn_merge import MergedScheduler
from schedproof.model.systems.yunikorn_merge import MERGED
from schedproof.model.systems.yunikorn_merge.merged_situations import MERGED_SITUATIONS
from schedproof.proofs.refinement.mismatch import Mismatch
from schedproof.proofs.refinement.replay import along, follow
from schedproof.proofs.traces.formats.writing import Run

from .explore import Exploration
from .meaning import Meaning
from .party import Scheduler


def replay(run: Run, kind: Scheduler = MergedScheduler) -> Mismatch | None:
    """The first difference between the scheduler and the model along a run; None if there is none.

    Raises:
        ValueError: not a run of the merged model in one of the situations that are explored.
    """
    if (run.instance.model.system, run.instance.model.variant) != (MERGED.system, MERGED.variant):
        raise ValueError(f"the scheduler is one for yunikorn-merge merged, not {run.instance.model.variant}")
    situation = next((each for each in MERGED_SITUATIONS if each.rigid == run.instance.rigid), None)
    if situation is None:
        raise ValueError("the run is of no situation that the scheduler can be put into")
    exploration = Exploration(Meaning(situation, run.instance), kind, along(run))
    return follow(exploration, list(zip(run.choices, run.states[1:], strict=True)))


REPLAYS = {"merged": replay}
"""The variant whose runs the reference scheduler takes: its steps are the model's."""
