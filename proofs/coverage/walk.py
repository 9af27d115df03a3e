"""Walks from the initial state of a graph that cover goals.

A walk continues on a shortest path to the nearest goal that is not covered yet. If a restart reaches a goal in
fewer steps, with one added for the restart, a new walk begins. This is greedy: each path is shortest, but the suite need not be. At the end, :func:`trimmed` cuts off
steps whose goals other walks cover.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass
from itertools import pairwise

from schedproof.model.semantics import Choice, Instance, State
from schedproof.model.semantics.run import Run

from .graph import Graph
from .search import At, Memory, Placed, Search


@dataclass(frozen=True)
class Walk:
    """A run from the initial state; ``first`` has the number of steps after which each goal is first covered."""

    instance: Instance
    choices: tuple[Choice, ...]
    states: tuple[State, ...]
    first: dict[int, int]

    @property
    def run(self) -> Run:
        """The run without its goals."""
        return Run(self.instance, self.choices, self.states)

    def cut(self, steps: int) -> Walk:
        """The first ``steps`` steps of the walk."""
        first = {goal: after for goal, after in self.first.items() if after <= steps}
        return Walk(self.instance, self.choices[:steps], self.states[: steps + 1], first)


def walk_along(graph: Graph, edges: Sequence[At], first: dict[int, int]) -> Walk:
    """The walk along these edges."""
    passed = [graph.edges[node][n] for node, n in edges]
    assert all(before.target == node for before, (node, _) in zip(passed, edges[1:], strict=False)), "edges do not meet"
    states = [graph.states[0], *(graph.states[edge.target] for edge in passed)]
    return Walk(graph.instance, tuple(edge.choice for edge in passed), tuple(states), first)


class _Walker:
    """A walk under construction."""

    def __init__(self, search: Search[int] | Search[Placed]) -> None:
        self.search, self.edges, self.node = search, list[At](), 0
        self.memory: Memory = {}
        self.first: dict[int, int] = dict.fromkeys(search.at_start, 0)

    def follow(self, way: Sequence[At]) -> None:
        for at in way:
            edge = self.search.graph.edges[at[0]][at[1]]
            self.memory, goals = self.search.covered(self.memory, edge, at)
            self.edges.append(at)
            self.node = edge.target
            for goal in goals:
                self.first.setdefault(goal, len(self.edges))


def walks(search: Search[int] | Search[Placed], targets: Set[int], longest: int | None = None) -> list[Walk]:
    """Walks of at most ``longest`` steps that cover all goals of ``targets`` within that distance."""
    far = search.distances()
    left = {goal for goal in targets if goal in far and (longest is None or far[goal] <= longest)}
    done: list[_Walker] = []
    if not left:
        return []
    walker = _Walker(search)
    left -= walker.first.keys()
    by_distance = sorted(left, key=lambda goal: far[goal], reverse=True)
    while left:
        while by_distance[-1] not in left:
            by_distance.pop()
        budget = None if longest is None else longest - len(walker.edges)
        way = search.nearest(walker.node, walker.memory, left, budget)
        if walker.edges and (way is None or len(way) > 1 + far[by_distance[-1]]):
            done.append(walker)
            walker = _Walker(search)
            way = search.nearest(0, {}, left, longest)
        assert way is not None, "a goal that can be reached is not found"
        walker.follow(way)
        left -= walker.first.keys()
    done.append(walker)
    return [walk_along(search.graph, one.edges, one.first) for one in done]


def trimmed(made: Sequence[Walk], targets: Set[int]) -> list[Walk]:
    """The walks, shortened where other walks cover the same goals; shorter walks are shortened first, or dropped."""
    kept = dict(enumerate(made))
    times = Counter(goal for walk in made for goal in walk.first)
    for number, walk in sorted(kept.items(), key=lambda numbered: len(numbered[1].choices)):
        needed = [after for goal, after in walk.first.items() if goal in targets and times[goal] == 1]
        if needed:
            kept[number] = walk.cut(max(needed))
        else:
            del kept[number]
        left = kept[number].first if needed else {}
        times.subtract(goal for goal in walk.first if goal not in left)
    return list(kept.values())


def steps_of(made: Sequence[Walk]) -> int:
    """The number of steps of all walks together."""
    return sum(len(walk.choices) for walk in made)


def is_run(walk: Walk, graph: Graph) -> bool:
    """Whether each step of the walk is an edge of the graph; for tests and assertions."""
    numbers = {state: n for n, state in enumerate(graph.states)}
    return all(
        any(e.choice == choice and graph.states[e.target] == after for e in graph.edges[numbers[before]])
        for choice, (before, after) in zip(walk.choices, pairwise(walk.states), strict=True)
    )
