"""How the resources of a task grow after an attempt exceeded them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from .records import LARGEST, Resources


class Series:
    """Growing values that are used one after the other. When none is left, the last one is used again."""

    def __init__(self, values: Iterable[int]) -> None:
        self._rest: Iterator[int] = iter(values)
        self._used: list[int] = []

    def after(self, value: int) -> int:
        """Returns the first value above ``value``, or ``value`` itself if none is left.

        The caller needs to remember nothing, so another client can continue the series.

        Raises:
            ValueError: the values do not grow, or there is none at all.
        """
        while not self._used or self._used[-1] <= value:
            following = next(self._rest, None)
            if following is None:
                break
            if self._used and following <= self._used[-1]:
                raise ValueError(f"a series of resources has to grow, but {following} follows {self._used[-1]}")
            self._used.append(following)
        if not self._used:
            raise ValueError("a series of resources needs at least one value")
        return next((each for each in self._used if each > value), value)


Scale = float | Callable[[int], int] | Series
"""How a resource grows: by a part of itself, by a function from each value to the next, or through given values."""

BY_HALF: Mapping[str, Scale] = {"memory": 0.5, "runtime": 0.5}


@dataclass(frozen=True)
class Queue:
    """A queue of the cluster, and the most that a job may ask for in it. A resource without a limit is unlimited."""

    name: str
    limits: Resources = ()

    def admits(self, resources: Resources) -> bool:
        """Whether all resources are within the limits."""
        return self.coerced(resources) == resources

    def coerced(self, resources: Resources) -> Resources:
        """Returns the resources, lowered to the limits."""
        limits = dict(self.limits)
        return tuple((name, min(value, limits.get(name, value))) for name, value in resources)


@dataclass(frozen=True)
class Scaling:
    """Which resources grow, and the queues to fall back to when a task's own queue does not admit them."""

    scales: Mapping[str, Scale] = field(default_factory=lambda: BY_HALF)
    queues: tuple[Queue, ...] = ()

    def adjusted(self, resources: Resources, queue: str) -> tuple[Resources, str]:
        """Returns the next resources and queue of a task.

        Only resources that the task asked for grow, and none of them shrinks. The task gets its own queue or the first
        one after it that admits the new resources. If none does, it gets the last queue, and resources grow to the
        limits of that queue only.

        Args:
            resources: what the task asks for now.
            queue: the task's present queue.

        Raises:
            ValueError: a scale is wrong: it would shrink a resource, for example.
        """
        scaled = tuple((name, self._scaled(name, value)) for name, value in resources)
        names = [each.name for each in self.queues]
        candidates = self.queues[names.index(queue) :] if queue in names else (Queue(queue), *self.queues)
        for candidate in candidates:
            if candidate.admits(scaled):
                return scaled, candidate.name
        last = candidates[-1]
        grown = zip(resources, last.coerced(scaled), strict=True)
        return tuple((name, max(value, after)) for (name, value), (_, after) in grown), last.name

    def _scaled(self, name: str, value: int) -> int:
        after = _next_value(self.scales.get(name), value)
        if type(after) is not int or not value <= after <= LARGEST:
            raise ValueError(f"{name} cannot go from {value} to {after!r}; it grows by whole numbers up to {LARGEST}")
        return after


def _next_value(scale: Scale | None, value: int) -> int:
    if scale is None:
        return value
    if isinstance(scale, Series):
        return scale.after(value)
    if callable(scale):
        return scale(value)
    # Exact arithmetic: with a binary fraction, 10 * (1 + 0.1) would be a little more than 11.
    return math.ceil(value * (1 + Fraction(str(scale))))
