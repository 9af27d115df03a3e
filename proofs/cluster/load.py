"""What each worker of a cluster has done: states, bytes, seconds. One that is slow, or has more than its share, delays all others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from schedproof.proofs.compiled.crew import Standing
from schedproof.proofs.compiled.part import Part

SLOW, SECONDS = 1.5, 20.0
"""A worker is slow if its turns take ``SLOW`` times as long as those of the others, and ``SECONDS`` seconds at least."""


@dataclass(frozen=True)
class WorkerStanding(Standing):
    """How far a worker is, and what it has done.

    Attributes:
        sent: the bytes that it has sent to others.
        memory: the bytes of its data that grow with the number of states.
        seconds: the time that its turns have taken.
    """

    sent: int = 0
    memory: int = 0
    seconds: float = 0.0

    @staticmethod
    def by(part: Part, at: int, sent: int, seconds: float) -> WorkerStanding:
        """The standing of a worker with a part."""
        plain = Standing.of(part, at)
        return WorkerStanding(plain.count, plain.base, plain.size, plain.at, plain.depth, sent, part.memory, seconds)


@dataclass(frozen=True)
class Load:
    """What the workers have done in a search.

    Args:
        standings: of each worker.
        places: for each worker, its process and machine.
    """

    standings: Sequence[WorkerStanding]
    places: Sequence[str]

    @property
    def sent(self) -> int:
        """The bytes that workers have sent to each other."""
        return sum(each.sent for each in self.standings)

    @property
    def skew(self) -> float:
        """The states of the worker that has most, in times of the mean."""
        states = [each.count for each in self.standings]
        return max(states) * len(states) / max(1, sum(states))

    @property
    def text(self) -> str:
        """One line: what was exchanged, how even the shares are, and the memory of the fullest worker."""
        memory = max(each.memory for each in self.standings)
        return (
            f"{self.sent >> 20:,} MiB exchanged, largest share {self.skew:.2f} times the mean, "
            f"{memory >> 20:,} MiB of states on a worker"
        )

    @property
    def slow(self) -> list[str]:
        """A line for each worker that is slower than the others."""
        usual = median(each.seconds for each in self.standings)
        return [
            f"worker {n + 1} of {len(self.standings)} ({self.places[n]}) took {each.seconds / usual:.1f} times as long as "
            "the others for its share; leave out its machine, or end what else runs there"
            for n, each in enumerate(self.standings)
            if each.seconds > max(SECONDS, SLOW * usual) and len(self.standings) > 1
        ]
