"""Replays a run of YuniKorn's merged model on the reference scheduler."""

from __future__ import annotations

from schedproof.impl.systems.yunikorn_merge import MergedScheduler
from schedproof.model.semantics.run import Run
from schedproof.model.systems.yunikorn_merge import MERGED
from schedproof.model.systems.yunikorn_merge.merged_configurations import MERGED_CONFIGURATIONS
from schedproof.proofs.refinement.mismatch import Mismatch
from schedproof.proofs.refinement.replay import CONFIGURATION_UNKNOWN, along, check_variant, follow

from .component import Scheduler
from .explore import Exploration
from .meaning import Meaning


def replay(run: Run, kind: Scheduler = MergedScheduler) -> Mismatch | None:
    """Returns the first difference between scheduler and model along a run; None if there is none.

    Raises:
        ValueError: it is no run of the merged model in one of the explored configurations.
    """
    check_variant(run, MERGED)
    configuration = next((each for each in MERGED_CONFIGURATIONS if each.rigid == run.instance.rigid), None)
    if configuration is None:
        raise ValueError(CONFIGURATION_UNKNOWN)
    exploration = Exploration(Meaning(configuration, run.instance), kind, along(run))
    return follow(exploration, list(zip(run.choices, run.states[1:], strict=True)))


REPLAYS = {"merged": replay}
"""The variant whose runs the reference scheduler replays: its steps are the model's."""
