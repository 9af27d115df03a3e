"""Whether all that Jobmon's reference server and agents do are steps of the repaired model."""

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
    """Explores server and agents, and looks for each act for the steps of ``repaired`` that it is.

    Args:
        configuration: who takes part, and what may go wrong.
        sides: what they are made of.
        progress: called now and then with the numbers of states and acts found.
    """
    return simulate(configuration.about, WORDS, lambda: Exploration(configuration, sides, progress))
