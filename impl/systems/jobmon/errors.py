"""What this package raises."""

from __future__ import annotations


class JobmonError(Exception):
    """Base of everything that this package raises on purpose."""


class Refused(JobmonError):
    """A request that is wrong, late, or from someone who has lost control: nothing is written.

    ``state`` is the present state of what it is about. Unless ``for_good``, the same may be asked later.
    """

    def __init__(self, said: str, *, state: str | None = None, for_good: bool = True) -> None:
        super().__init__(said)
        self.said, self.state, self.for_good = said, state, for_good


class IllegalMove(JobmonError):
    """A move that no object may make: a fault of the server; nothing is written."""


class StoreError(JobmonError):
    """The database could not be opened, read or written."""


class Contended(StoreError):
    """Another transaction came in between; nothing is written, and the same request may be tried again."""


class Unreachable(JobmonError):
    """The server gave no answer: nobody knows whether the request was done."""


class Malformed(JobmonError):
    """What was sent or written is not of the form that it must have."""


class SubmitFailed(JobmonError):
    """The cluster did not take a job: there is none, for certain."""
