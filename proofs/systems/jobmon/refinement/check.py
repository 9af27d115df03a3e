"""Checks that each act of Jobmon's reference server and agents is a sequence of steps of the repaired model."""

from __future__ import annotations

from schedproof.impl.systems.jobmon.world import Sides
from schedproof.proofs.refinement.property import Progress
from schedproof.proofs.refinement.simulation import SimulationReport, Words, simulate

from .configurations import Configuration
from .explore import Exploration

REFERENCE = Sides()

WORDS = Words("server and agents", "acts", "deaths", "acts beyond what was looked at")


def check_simulation(
    configuration: Configuration, sides: Sides = REFERENCE, *, progress: Progress | None = None
) -> SimulationReport:
    """Explores server and agents, and searches the steps of ``repaired`` that match each act.

    Args:
        configuration: the components, and which faults may occur.
        sides: the classes of the components.
        progress: called now and then with the numbers of states and acts so far.
    """
    return simulate(configuration.about, WORDS, lambda: Exploration(configuration, sides, progress))
