"""The reference scheduler and the model side by side, with a crash at every point.

:func:`check_refinement` explores the running scheduler, maps each of its states to a state of the
model, and compares the two graphs, edge by edge and in both directions.
"""

from .check import RefinementReport, check_refinement
from .mismatch import Mismatch

__all__ = ["Mismatch", "RefinementReport", "check_refinement"]
