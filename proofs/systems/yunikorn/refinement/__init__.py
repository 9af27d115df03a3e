"""YuniKorn's reference core beside its model, with crash and recovery at every state."""

from .check import check_refinement
from .party import Parts

__all__ = ["Parts", "check_refinement"]
