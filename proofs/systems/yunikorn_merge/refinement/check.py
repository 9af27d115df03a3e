"""Checks that YuniKorn's merged scheduler and its model have the same graph."""

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
    """Explores the scheduler and the model's variant ``merged``, and compares the two graphs.

    The model's steps are exactly the resource manager's requests, the scheduler's decisions and the arrivals of
    notifications. The check leaves open which possible allocation the scheduler chooses, and the order of one
    operation's notifications.

    Args:
        configuration: a partition and its contents.
        kind: makes the scheduler; a test gives one with a seeded fault.
        progress: called now and then with the numbers of states and edges.
    """
    instance = instance_of(configuration)
    return compared(
        lambda: Exploration(Meaning(configuration, instance), kind, ModelGraph.explore(instance), progress),
        configuration.about,
    )


def instance_of(configuration: MergedConfiguration) -> Instance:
    """Returns the merged model of a configuration."""
    return instance_with(MERGED, configuration.rigid)
