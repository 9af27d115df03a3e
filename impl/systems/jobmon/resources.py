"""How the resources of a task grow when an attempt exceeded them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from .records import LARGEST, Resources


class Series:
    """Growing values to be taken one after the other; the last one again when there are no more."""

    def __init__(self, values: Iterable[int]) -> None:
        self._rest: Iterator[int] = iter(values)
        self._taken: list[int] = []

    def after(self, value: int) -> int:
        """The first value above ``value``, or that itself when there is none left.

        Whoever asks needs to remember nothing, so another client goes on where the last one was.

        Raises:
            ValueError: the values do not grow, or there is none at all.
        """
        while not self._taken or self._taken[-1] <= value:
            following = next(self._rest, None)
            if following is None:
                break
            if self._taken and following <= self._taken[-1]:
                raise ValueError(f"a series of resources has to grow, but {following} follows {self._taken[-1]}")
            self._taken.append(following)
        if not self._taken:
            raise ValueError("a series of resources needs at least one value")
        return next((each for each in self._taken if each > value), value)


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

    def adjusted(self, resources: Resources, queue: str) -> tuple[Resources, str]:
        """The next resources and queue of a task that asks for ``resources`` now, none of which gets less.

        Only what it asked for grows. The first queue of its own and the ones after it that admits that gets it; if
        none does, the last one, and it grows to the limits of that only.

        Raises:
            ValueError: what is said of a resource is wrong: it would shrink, for example.
        """
        wanted = tuple((name, self._scaled(name, value)) for name, value in resources)
        names = [each.name for each in self.queues]
        candidates = self.queues[names.index(queue) :] if queue in names else (Queue(queue), *self.queues)
        for candidate in candidates:
            if candidate.admits(wanted):
                return wanted, candidate.name
        last = candidates[-1]
        grown = zip(resources, last.coerced(wanted), strict=True)
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
    # Exactly: as a binary fraction, 10 * (1 + 0.1) would be a little more than 11.
    return math.ceil(value * (1 + Fraction(str(scale))))
