"""HiveD's reference scheduler beside its model, with a crash at every point."""

from .check import check_refinement

__all__ = ["check_refinement"]
