"""Descriptions of locks: their language, their reader, and the check that refuses wrong ones."""

from .errors import LocksError
from .language import Locks
from .reading import parse, read

__all__ = ["Locks", "LocksError", "parse", "read"]
