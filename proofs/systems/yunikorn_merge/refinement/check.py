"""Whether YuniKorn's merged scheduler and its model are the same graph."""

from __future__ import annotations

from schedproof.impl.systems.yunikorn_merge import MergedScheduler
from schedproof.model.semantics import Instance, instance_with
from schedproof.model.systems.yunikorn_merge import MERGED
from schedproof.model.systems.yunikorn_merge.merged_configurations import MergedConfiguration
from schedproof.proofs.refinement.modelside import ModelGraph
from schedproof.proofs.refinement.property import Progress
from schedproof.proofs.refinement.report import RefinementReport, compared

from .component import Scheduler
from .explore import Exploration
from .meaning import Meaning


def check_refinement(
    configuration: MergedConfiguration, kind: Scheduler = MergedScheduler, *, progress: Progress | None = None
) -> RefinementReport:
    """Explores the scheduler and the model's variant ``merged`` and compares the two graphs.

    Every request of the resource manager, every decision of the scheduler and every arrival of what is told is a step of
    the model, and every step of the model is one of these. Which of the possible allocations the scheduler would choose is
    left open, and so is the order of what one operation tells.

    Args:
        configuration: a partition, with what comes to it.
        kind: what makes the scheduler; a test gives one with a bug.
        progress: called now and then with the numbers of states and edges found.
    """
    instance = instance_of(configuration)
    return compared(
        lambda: Exploration(Meaning(configuration, instance), kind, ModelGraph.explore(instance), progress),
        configuration.about,
    )


def instance_of(configuration: MergedConfiguration) -> Instance:
    """The merged model of a configuration."""
    return instance_with(MERGED, configuration.rigid)
