"""Checks that YuniKorn's core and its model have the same graph."""

from __future__ import annotations

from schedproof.model.semantics import Instance, instance_with
from schedproof.model.systems.yunikorn import REPAIRED
from schedproof.model.systems.yunikorn.configurations import Configuration
from schedproof.proofs.refinement.modelside import ModelGraph
from schedproof.proofs.refinement.property import Progress
from schedproof.proofs.refinement.report import RefinementReport, compared

from .abstraction import Abstraction, without_bygones
from .component import REFERENCE, Component, Parts
from .explore import Exploration
from .names import Names
from .operations import URGENT, Operations


def check_refinement(
    configuration: Configuration, parts: Parts = REFERENCE, *, progress: Progress | None = None
) -> RefinementReport:
    """Explores the core and the model's ``repaired`` variant, and compares the two graphs.

    The core's edges must be exactly the model's reachable steps, except steps that belong to one operation with the
    step before (:data:`.operations.URGENT`). From every state of the core every step of its image must be possible.
    While a core recovers, the resource manager only sends it what it needs for that.

    Args:
        configuration: applications with their asks, queues and nodes, and what people may change.
        parts: the classes of the core.
        progress: called now and then with the numbers of states and edges.
    """
    return compared(lambda: side_by_side(configuration, parts, progress=progress), configuration.about)


def side_by_side(
    configuration: Configuration, parts: Parts = REFERENCE, *, progress: Progress | None = None
) -> Exploration:
    """Returns the exploration of :func:`check_refinement` before it begins; same arguments."""
    names, instance = Names(configuration), instance_of(configuration)
    model = ModelGraph.explore(instance, without_bygones(instance, names), URGENT)
    abstraction = Abstraction(instance, names)
    return Exploration(Component(parts), Operations(names, abstraction, parts, model), abstraction, model, progress)


def instance_of(configuration: Configuration) -> Instance:
    """Returns the repaired model of a configuration."""
    return instance_with(REPAIRED, configuration.rigid(shipped=True))
