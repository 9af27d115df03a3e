"""The exceptions of this package."""

from __future__ import annotations

from schedproof.impl.errors import Contended, IllegalMove, SchedulerError, StoreError

__all__ = [
    "Contended", "CutOff", "IllegalMove", "Malformed", "Refused", "SchedulerError", "StoreError", "SubmitFailed", "Unreachable",
]  # fmt: skip


class Refused(SchedulerError):
    """The server refused a request: it is wrong, late, or its sender has lost control. Nothing is written.

    Attributes:
        reason: why, in words.
        state: the present state of the object that the request is about.
        for_good: whether the same request will be refused later as well.
    """

    def __init__(self, reason: str, *, state: str | None = None, for_good: bool = True) -> None:
        super().__init__(reason)
        self.reason, self.state, self.for_good = reason, state, for_good


class Unreachable(SchedulerError):
    """The server gave no answer: it is unknown whether the request was carried out."""


class CutOff(SchedulerError):
    """A client could not run its workflow to the end, for a reason outside of the workflow."""


class Malformed(SchedulerError):
    """A message or a file does not have the required form."""


class SubmitFailed(SchedulerError):
    """The cluster did not accept a job: it is certain that there is none."""
