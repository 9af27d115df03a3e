"""Models in the languages of other model checkers, to be judged by these."""

from .promela import promela

__all__ = ["promela"]
