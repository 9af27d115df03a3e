"""The states are those of the sharded key-value store."""

from .sharded_kv import initial, steps

__all__ = ["initial", "steps"]
