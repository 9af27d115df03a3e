"""Finding objects that satisfy conditions: one variable after the other, each condition as soon as it can be decided."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Generic, Protocol, TypeVar


class HasBindings(Protocol):
    """Where the variables' values are."""

    bound: dict[str, int]


M = TypeVar("M", bound=HasBindings)


@dataclass(frozen=True)
class Search(Generic[M]):
    """Variables to choose one after the other, each with the conditions that then become decidable."""

    first: tuple[Callable[[M], int], ...]
    levels: tuple[tuple[str, Sequence[int], tuple[Callable[[M], int], ...]], ...]

    def solutions(self, moment: M) -> Iterator[None]:
        """Each way to bind the variables in ``moment`` so that all conditions hold."""
        for condition in self.first:
            if not condition(moment):
                return
        yield from self._deeper(moment, 0)

    def _deeper(self, moment: M, depth: int) -> Iterator[None]:
        if depth == len(self.levels):
            yield
            return
        name, domain, conditions = self.levels[depth]
        for value in domain:
            moment.bound[name] = value
            for condition in conditions:
                if not condition(moment):
                    break
            else:
                yield from self._deeper(moment, depth + 1)

    def succeeds(self, moment: M) -> bool:
        """Whether there is a way; it is bound in ``moment`` then, and the variables mean nothing if not."""
        for condition in self.first:
            if not condition(moment):
                return False
        return self._reaches(moment, 0)

    def _reaches(self, moment: M, depth: int) -> bool:
        if depth == len(self.levels):
            return True
        name, domain, conditions = self.levels[depth]
        for value in domain:
            moment.bound[name] = value
            for condition in conditions:
                if not condition(moment):
                    break
            else:
                if self._reaches(moment, depth + 1):
                    return True
        return False


def plan(
    choose: Sequence[tuple[str, Sequence[int]]], conditions: Sequence[tuple[Callable[[M], int], frozenset[str]]]
) -> Search[M]:
    """Plans a search: each condition as soon as its variables are bound, but never before an earlier one.

    An earlier condition may guard what a later one reads.

    Args:
        choose: the variables with their values, in the order in which they are bound.
        conditions: each with the names of its free variables.
    """
    order = [name for name, _ in choose]
    needs = [max((order.index(n) + 1 for n in names if n in order), default=0) for _, names in conditions]
    level_of = list(accumulate(needs, max))

    def at(depth: int) -> tuple[Callable[[M], int], ...]:
        return tuple(c for (c, _), d in zip(conditions, level_of, strict=True) if d == depth)

    return Search(at(0), tuple((name, domain, at(i + 1)) for i, (name, domain) in enumerate(choose)))
