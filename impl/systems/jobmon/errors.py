"""What this package raises."""

from __future__ import annotations

from schedproof.impl.errors import Contended, IllegalMove, SchedulerError, StoreError

__all__ = [
    "Contended", "CutOff", "IllegalMove", "Malformed", "Refused", "SchedulerError", "StoreError", "SubmitFailed", "Unreachable",
]  # fmt: skip


class Refused(SchedulerError):
    """A request that is wrong, late, or from someone who has lost control: nothing is written.

    ``state`` is the present state of what it is about. Unless ``for_good``, the same may be asked later.
    """

    def __init__(self, said: str, *, state: str | None = None, for_good: bool = True) -> None:
        super().__init__(said)
        self.said, self.state, self.for_good = said, state, for_good


class Unreachable(SchedulerError):
    """The server gave no answer: nobody knows whether the request was done."""


class CutOff(SchedulerError):
    """A client could not run its workflow to the end, for a reason outside of the workflow."""


class Malformed(SchedulerError):
    """What was sent or written is not of the form that it must have."""


class SubmitFailed(SchedulerError):
    """The cluster did not take a job: there is none, for certain."""
