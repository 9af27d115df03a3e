"""Descriptions of locks: what is said, how it is read from a file, and what it may not say."""

from .errors import LocksError
from .language import Locks
from .reading import parse, read

__all__ = ["Locks", "LocksError", "parse", "read"]
