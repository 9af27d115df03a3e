"""Beaker's reference scheduler beside its model, with a crash at every point."""

from .check import check_refinement
from .runner import Sides

__all__ = ["Sides", "check_refinement"]
