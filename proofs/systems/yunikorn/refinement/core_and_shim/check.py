"""Checks that all moves of YuniKorn's core and shim are steps of their model, and that every wait can end."""

from __future__ import annotations

from schedproof.model.semantics import instance_with
from schedproof.model.systems.yunikorn import COMPONENTS_REPAIRED
from schedproof.model.systems.yunikorn.configurations import Configuration
from schedproof.proofs.refinement.property import Progress
from schedproof.proofs.refinement.simulation import SimulationReport, Words, simulate

from .component import REFERENCE, Component, Parts
from .explore import Exploration
from .meaning import Meanings
from .moves import May, Moves
from .names import PodNames
from .waits import waits_for_ever

WORDS = Words("core and shim", "moves", "crashes of the shim", "moves to a second life of a name")


def check_simulation(
    configuration: Configuration, may: May, parts: Parts = REFERENCE, *, progress: Progress | None = None
) -> SimulationReport:
    """Explores core and shim, and finds for each move the steps of ``parties-repaired`` that simulate it.

    Args:
        configuration: one application with its asks, queues and nodes; its ``shim`` has a scheduler.
        may: what people do, and how often the shim dies.
        parts: the classes of core and shim.
        progress: called now and then with the numbers of states and moves.
    """
    return simulate(
        configuration.about, WORDS, lambda: simulated(configuration, may, parts, progress=progress), also=waits_for_ever
    )


def simulated(
    configuration: Configuration, may: May, parts: Parts = REFERENCE, *, progress: Progress | None = None
) -> Exploration:
    """Returns the exploration of :func:`check_simulation` before it begins; same arguments."""
    names = PodNames(configuration)
    meanings = Meanings(instance_with(COMPONENTS_REPAIRED, configuration.rigid(shipped=True)), names)
    return Exploration(Component(parts, names, may.room), Moves(names, may), meanings, progress)
