"""The reference schedulers and their models side by side, with a crash at every point.

Each subpackage explores one running scheduler, maps each of its states to a state of the model, and
compares the two graphs, edge by edge and in both directions.
"""

from .mismatch import Mismatch
from .promised import REFINED, Refinement
from .report import RefinementReport

__all__ = ["REFINED", "Mismatch", "Refinement", "RefinementReport"]
