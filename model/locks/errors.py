"""The error that refuses a wrong description of locks."""

from __future__ import annotations

from schedproof.model.errors import SchedproofError
from schedproof.model.lang.errors import Place


class LocksError(SchedproofError):
    """A description cannot be read or contradicts itself: what, where, and what to write instead."""

    def __init__(self, place: Place, problem: str, remedy: str, *, unreadable: bool = False) -> None:
        super().__init__(f"{place}: {problem}; {remedy}")
        self.place, self.problem, self.remedy, self.unreadable = place, problem, remedy, unreadable
        if not unreadable:
            self.with_excerpt(place.excerpt)

    def __reduce__(self) -> tuple[type[LocksError], tuple[Place, str, str], dict[str, object]]:
        """Pickles the parts: a worker process sends the error to the process that reports it."""
        return type(self), (self.place, self.problem, self.remedy), vars(self)
