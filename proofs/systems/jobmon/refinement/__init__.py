"""Jobmon's reference server and agents, and the repaired model: whatever they do is steps of the model.

The graphs are not the same: agents go about things in an order of their own, so the model can do more.
"""

from schedproof.proofs.refinement.simulation import SimulationReport

from .check import check_simulation
from .situations import May, Situation

__all__ = ["May", "SimulationReport", "Situation", "check_simulation"]
