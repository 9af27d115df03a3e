"""Models in the languages of other model checkers, to be judged by these."""

from .promela import Specification, promela
from .promises import Promises, Unwritable
from .tla import Module, tla

__all__ = ["Module", "Promises", "Specification", "Unwritable", "promela", "tla"]
