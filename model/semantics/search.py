"""Finds objects that satisfy conditions: binds variable by variable, and evaluates conditions as early as possible."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Generic, Protocol, TypeVar


class HasBindings(Protocol):
    """An object that holds the values of variables."""

    bound: dict[str, int]


M = TypeVar("M", bound=HasBindings)

Values = Callable[[M], Iterable[int]]
"""The only values that a variable can have, in ascending order, given the values of the variables before it."""


@dataclass(frozen=True)
class Search(Generic[M]):
    """Variables in the order of binding, each with its values and the conditions that become decidable then."""

    first: tuple[Callable[[M], int], ...]
    levels: tuple[tuple[str, Values[M], tuple[Callable[[M], int], ...]], ...]

    def solutions(self, moment: M) -> Iterable[None]:
        """One item for each way to bind the variables in ``moment`` so that all conditions hold."""
        # The hot path of explorations: without solutions no generator is made.
        for condition in self.first:
            if not condition(moment):
                return ()
        return self._deeper(moment, 0) if self.levels else (None,)

    def _deeper(self, moment: M, depth: int) -> Iterator[None]:
        name, values, conditions = self.levels[depth]
        bound, deeper = moment.bound, depth + 1
        last = deeper == len(self.levels)
        for value in values(moment):
            bound[name] = value
            for condition in conditions:
                if not condition(moment):
                    break
            else:
                if last:
                    yield
                else:
                    yield from self._deeper(moment, deeper)

    def succeeds(self, moment: M) -> bool:
        """True if a solution exists; ``moment`` then has its values. If not, the variables' values are meaningless."""
        for condition in self.first:
            if not condition(moment):
                return False
        return not self.levels or self._reaches(moment, 0)

    def _reaches(self, moment: M, depth: int) -> bool:
        name, values, conditions = self.levels[depth]
        bound, deeper = moment.bound, depth + 1
        last = deeper == len(self.levels)
        for value in values(moment):
            bound[name] = value
            for condition in conditions:
                if not condition(moment):
                    break
            else:
                if last or self._reaches(moment, deeper):
                    return True
        return False


def levels(order: Sequence[str], free: Sequence[frozenset[str]], hoisted: Container[int] = ()) -> list[list[int]]:
    """The numbers of the conditions to evaluate when none, one, two, ... of the variables are bound.

    Args:
        order: the variables, in the order of binding.
        free: the free variables of each condition; no condition comes before an earlier one of the list.
        hoisted: the numbers of conditions that are never undefined. Such a condition comes as soon as its variables are bound,
            and only not before an earlier condition that may be undefined: that one is evaluated as often as without it.
    """
    needs = [max((order.index(n) + 1 for n in names if n in order), default=0) for names in free]
    latest = list(accumulate(needs, max))
    walls = accumulate([0 if n in hoisted else level for n, level in enumerate(latest)], max)
    level_of = [max(needs[n], wall) if n in hoisted else latest[n] for n, wall in enumerate(walls)]
    return [[n for n, level in enumerate(level_of) if level == depth] for depth in range(len(order) + 1)]


def plan(
    choose: Sequence[tuple[str, Sequence[int]]],
    conditions: Sequence[tuple[Callable[[M], int], frozenset[str]]],
    among: Sequence[Mapping[str, Values[M]]] = (),
    total: Container[int] = (),
) -> Search[M]:
    """Plans a search: each condition as soon as its variables are bound, but never before an earlier one.

    An earlier condition may guard what a later one reads.

    Args:
        choose: the variables with their values, in the order of binding.
        conditions: each with the names of its free variables.
        among: for each condition, the variables whose values it determines, with these values. The search tries only
            them if the condition is due first, or if it and those before it are total.
        total: the numbers of the conditions that are never undefined.
    """
    at = levels([name for name, _ in choose], [names for _, names in conditions])

    def gives_values(name: str, due: Sequence[int]) -> bool:
        """True if the last condition gives the values of ``name`` and may come first: the others may guard it."""
        return bool(among) and name in among[due[-1]] and (len(due) == 1 or all(n in total for n in due))

    def level(depth: int, name: str, domain: Sequence[int]) -> tuple[str, Values[M], tuple[Callable[[M], int], ...]]:
        due = at[depth]
        source = next((n for i, n in enumerate(due) if gives_values(name, due[: i + 1])), None) if domain else None
        values = among[source].get(name) if source is not None else None
        if values is None:
            return name, lambda moment: domain, tuple(conditions[n][0] for n in due)
        return name, values, tuple(conditions[n][0] for n in due if n != source)

    first = tuple(conditions[n][0] for n in at[0])
    return Search(first, tuple(level(i + 1, name, domain) for i, (name, domain) in enumerate(choose)))
