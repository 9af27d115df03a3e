"""Infers auxiliary invariants that make a property provable by induction, from the reachable states of small scopes."""

from .infer import Limits
from .run import Inferred, Strengthened, strengthen, without_auxiliary

__all__ = ["Inferred", "Limits", "Strengthened", "strengthen", "without_auxiliary"]
