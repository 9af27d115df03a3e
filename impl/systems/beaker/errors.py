"""What the scheduler and its stores raise."""


class SchedulerError(Exception):
    """Base of everything that this package raises on purpose."""


class Refused(SchedulerError):
    """A request that is wrong or untimely: its transaction was rolled back, nothing is written."""


class IllegalMove(SchedulerError):
    """A move that no object may make: a fault of the scheduler; nothing is written."""


class StoreError(SchedulerError):
    """The database could not be opened, read or written."""


class Contended(StoreError):
    """Another transaction came in between; nothing is written, and the same request may be tried again."""
