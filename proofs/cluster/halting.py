"""Calls that end when there is a reason to stop: workers may need long for one, and an interrupt cannot wait."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from schedproof.proofs.exploration.explore import Halt
from schedproof.proofs.exploration.limits import Halted

from .graph import Calls, Ref

SECONDS_BETWEEN = 0.5
"""The time between two questions whether to stop."""


class AwaitedCalls(Calls, Protocol):
    """Calls for whose results one can wait for a limited time."""

    def are_there(self, refs: Sequence[Ref], seconds: float) -> bool:
        """Waits for results or failures, for some seconds at most; returns whether all of them are there."""


@dataclass(frozen=True)
class HaltedCalls:
    """Calls of the parts of one search.

    Args:
        calls: the same without an end.
        halt: asked regularly; a reason ends the waiting for results, and the workers are left with what they do.
    """

    calls: AwaitedCalls
    halt: Halt

    def __len__(self) -> int:
        return len(self.calls)

    def call(self, worker: int, method: str, *arguments: Any, returns: int = 1) -> list[Ref]:
        """See :class:`.graph.Calls`."""
        return self.calls.call(worker, method, *arguments, returns=returns)

    def results(self, refs: Sequence[Ref]) -> list[Any]:
        """See :class:`.graph.Calls`.

        Raises:
            Halted: there is a reason to stop.
        """
        has_all = False
        while not has_all:
            has_all = self.calls.are_there(refs, SECONDS_BETWEEN)
            if why := self.halt():
                raise Halted(why)
        return self.calls.results(refs)
