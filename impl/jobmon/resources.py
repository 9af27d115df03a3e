"""How the resources of a task grow when an attempt exceeded them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from .records import Resources


class Series:
    """Values to be taken one after the other; the last one again when there are no more."""

    def __init__(self, values: Iterable[int]) -> None:
        self._rest: Iterator[int] = iter(values)
        self._taken: list[int] = []

    def at(self, position: int) -> int:
        """The value at a position from 0 on.

        Raises:
            ValueError: there is no value at all.
        """
        while len(self._taken) <= position:
            following = next(self._rest, None)
            if following is None:
                break
            self._taken.append(following)
        if not self._taken:
            raise ValueError("a series of resources needs at least one value")
        return self._taken[min(position, len(self._taken) - 1)]


Scale = float | Callable[[int], int] | Series
"""A part by which a resource grows, a function from each value to the next, or the values themselves."""

BY_HALF: Mapping[str, Scale] = {"memory": 0.5, "runtime": 0.5}


@dataclass(frozen=True)
class Queue:
    """A queue of the cluster, and the most that a job may ask for there; what is not named has no limit."""

    name: str
    limits: Resources = ()

    def admits(self, resources: Resources) -> bool:
        """Whether none of them is above its limit."""
        return self.coerced(resources) == resources

    def coerced(self, resources: Resources) -> Resources:
        """The resources, lowered to the limits."""
        limits = dict(self.limits)
        return tuple((name, min(value, limits.get(name, value))) for name, value in resources)


@dataclass(frozen=True)
class Scaling:
    """What grows, and the queues to fall back to when a task's own does not admit so much."""

    scales: Mapping[str, Scale] = field(default_factory=lambda: BY_HALF)
    queues: tuple[Queue, ...] = ()

    def adjusted(self, resources: Resources, queue: str, times: int) -> tuple[Resources, str]:
        """The next resources and queue of a task that was adjusted ``times`` times before.

        Only what it asked for grows. The first queue of its own and the ones after it that admits that gets it; if
        none does, the last one, lowered to its limits.
        """
        wanted = tuple((name, self._scaled(name, value, times)) for name, value in resources)
        names = [each.name for each in self.queues]
        candidates = self.queues[names.index(queue) :] if queue in names else (Queue(queue), *self.queues)
        for candidate in candidates:
            if candidate.admits(wanted):
                return wanted, candidate.name
        return candidates[-1].coerced(wanted), candidates[-1].name

    def _scaled(self, name: str, value: int, times: int) -> int:
        scale = self.scales.get(name)
        if scale is None:
            return value
        if isinstance(scale, Series):
            return scale.at(times)
        if callable(scale):
            return scale(value)
        # Exactly: as a binary fraction, 10 * (1 + 0.1) would be a little more than 11.
        return math.ceil(value * (1 + Fraction(str(scale))))
