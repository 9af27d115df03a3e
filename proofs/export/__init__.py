"""Writes models in the languages of other model checkers (TLA+ for TLC, Promela for SPIN)."""

from .promela import Specification, promela
from .properties import ExportedProperties, Unwritable
from .tla import Module, tla

__all__ = ["ExportedProperties", "Module", "Specification", "Unwritable", "promela", "tla"]
