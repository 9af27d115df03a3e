"""The states are those in which votes are a relation."""

from .toy_consensus_epr import initial, steps

__all__ = ["initial", "steps"]
