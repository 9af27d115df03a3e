"""What the scheduler and its stores raise."""


class SchedulerError(Exception):
    """Base of everything that this package raises on purpose."""


class Refused(SchedulerError):
    """A request that is wrong or untimely: nothing has been changed, in memory or in the store."""


class Unrecoverable(SchedulerError):
    """The durable rows contradict each other, so that no state can be recovered from them."""


class StoreError(SchedulerError):
    """The store could not be opened, read or written."""
