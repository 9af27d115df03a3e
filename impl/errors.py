"""What the reference schedulers and their stores raise; what only one of them raises stands in its folder."""

from __future__ import annotations


class SchedulerError(Exception):
    """Base of everything that a reference scheduler raises on purpose."""


class Refused(SchedulerError):
    """A request that is wrong or comes at the wrong time: nothing is changed, in memory or in a store."""


class IllegalMove(SchedulerError):
    """A move that no object may make: a fault of the scheduler; nothing is written."""


class StoreError(SchedulerError):
    """The store could not be opened, read or written."""


class Contended(StoreError):
    """Another transaction came in between; nothing is written, and the same request may be tried again."""
