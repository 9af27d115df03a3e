"""Whether YuniKorn's core and model are the same graph."""

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
    """Explores the core and the model's ``repaired`` variant and compares the two graphs.

    The edges of the implementation must be exactly the model's reachable steps, less those that are
    in one operation with the step before (:data:`.operations.URGENT`), and from every state of the implementation
    every step of its image must be possible. While a core recovers, only what the resource manager
    tells it to that end is looked at.

    Args:
        configuration: applications with their asks, queues, nodes, and what people may touch.
        parts: what the core is made of.
        progress: called now and then with the numbers of states and edges found.
    """
    return compared(lambda: side_by_side(configuration, parts, progress=progress), configuration.about)


def side_by_side(
    configuration: Configuration, parts: Parts = REFERENCE, *, progress: Progress | None = None
) -> Exploration:
    """The exploration of :func:`check_refinement`, same arguments, before it begins."""
    names, instance = Names(configuration), instance_of(configuration)
    model = ModelGraph.explore(instance, without_bygones(instance, names), URGENT)
    abstraction = Abstraction(instance, names)
    return Exploration(Component(parts), Operations(names, abstraction, parts, model), abstraction, model, progress)


def instance_of(configuration: Configuration) -> Instance:
    """The repaired model of a configuration."""
    return instance_with(REPAIRED, configuration.rigid(shipped=True))
