"""Exceptions of the reference schedulers and their stores. An exception of only one scheduler is in its folder."""

from __future__ import annotations


class SchedulerError(Exception):
    """Base of everything that a reference scheduler raises on purpose."""


class Refused(SchedulerError):
    """A request is wrong or comes at the wrong time; nothing is changed, in memory or in a store."""


class IllegalMove(SchedulerError):
    """The scheduler tried a move that no object may make. This is a bug in it; nothing is written."""


class StoreError(SchedulerError):
    """The store could not be opened, read or written."""


class Contended(StoreError):
    """Another transaction came in between; nothing is written, and the request may be tried again."""
