"""Shortest paths from a walk's end to a goal that is not covered yet.

The goals that a step covers may depend on the step alone, or also on the last row of its object. In the second case the search
runs over states together with the last row of one object, for each object. Reachability of a goal and its distance are exact
in both cases.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Generic, TypeVar

from .goals import Cover, Goal, Key, key
from .graph import Edge, Graph

At = tuple[int, int]
"""An edge: the number of its source, and its index among the source's edges."""

Memory = Mapping[int, Key]
"""By slot, the last row that each object has taken, where it matters."""

P = TypeVar("P")
"""A node of a search: a state, or a state with an object's last row."""


class Search(ABC, Generic[P]):
    """A search for goals, by number, in a graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    at_start: frozenset[int] = frozenset()
    """The goals that the initial state covers."""

    @abstractmethod
    def places(self, node: int, memory: Memory) -> Iterable[P]:
        """The nodes where a search from this state begins."""

    @abstractmethod
    def moves(self, place: P) -> Iterator[tuple[At, P, Sequence[int]]]:
        """The edges of a node, each with its target node and the goals that it covers."""

    @abstractmethod
    def covered(self, memory: Memory, edge: Edge, at: At) -> tuple[Memory, Sequence[int]]:
        """The memory after a step, and the goals that the step covers."""

    def nearest(self, node: int, memory: Memory, targets: Set[int], budget: int | None) -> list[At] | None:
        """A shortest path to a goal of ``targets``; of equally long ones, one whose last step covers most of these goals.

        Args:
            budget: the greatest length of the path; None for no limit.

        Returns:
            The path's edges; None if there is no such path.
        """
        parents: dict[P, tuple[P, At] | None] = dict.fromkeys(self.places(node, memory))
        layer, depth = list(parents), 0
        while layer and (budget is None or depth < budget):
            depth += 1
            best: tuple[int, P, At] | None = None
            after: list[P] = []
            for place in layer:
                for at, to, goals in self.moves(place):
                    if goals and not targets.isdisjoint(goals):
                        worth = sum(goal in targets for goal in goals)
                        if best is None or worth > best[0]:
                            best = worth, place, at
                    if to not in parents:
                        parents[to] = place, at
                        after.append(to)
            if best is not None:
                return [*_way(parents, best[1]), best[2]]
            layer = after
        return None

    def distances(self) -> dict[int, int]:
        """For each reachable goal, the least number of steps from the initial state that covers it."""
        depths = dict.fromkeys(self.at_start, 0)
        layer = list(self.places(0, {}))
        seen, depth = set(layer), 0
        while layer:
            depth += 1
            after: list[P] = []
            for place in layer:
                for _, to, goals in self.moves(place):
                    for goal in goals:
                        depths.setdefault(goal, depth)
                    if to not in seen:
                        seen.add(to)
                        after.append(to)
            layer = after
        return depths


def _way(parents: Mapping[P, tuple[P, At] | None], place: P) -> list[At]:
    way: list[At] = []
    while (parent := parents[place]) is not None:
        place, at = parent
        way.append(at)
    return way[::-1]


class ByStep(Search[int]):
    """A search in which the goals of a step depend on the step alone."""

    def __init__(self, graph: Graph, at_start: frozenset[int], labels: Callable[[Edge, At], Sequence[int]]) -> None:
        super().__init__(graph)
        self.at_start = at_start
        self._moves = [
            [((node, n), edge.target, labels(edge, (node, n))) for n, edge in enumerate(edges)]
            for node, edges in enumerate(graph.edges)
        ]

    def places(self, node: int, memory: Memory) -> Iterable[int]:
        """The state itself."""
        return (node,)

    def moves(self, place: int) -> Iterator[tuple[At, int, Sequence[int]]]:
        """The steps of the state."""
        return iter(self._moves[place])

    def covered(self, memory: Memory, edge: Edge, at: At) -> tuple[Memory, Sequence[int]]:
        """The goals of the step, and the memory unchanged."""
        return memory, self._moves[at[0]][at[1]][2]


Placed = tuple[int, int, Key | None]
"""An object's slot, a state, and the object's last row."""


class ByPair(Search[Placed]):
    """A search for pairs of rows that an object takes in succession."""

    def __init__(self, graph: Graph, pairs: Mapping[tuple[Key, Key], int]) -> None:
        super().__init__(graph)
        self._pairs = pairs
        self._slots = sorted({slot for edges in graph.edges for edge in edges for slot in edge.rows})

    def places(self, node: int, memory: Memory) -> Iterable[Placed]:
        """The state with the last row of each object."""
        return [(slot, node, memory.get(slot)) for slot in self._slots]

    def moves(self, place: Placed) -> Iterator[tuple[At, Placed, Sequence[int]]]:
        """The steps of the state, each with the pair that the object completes."""
        slot, node, last = place
        for n, edge in enumerate(self.graph.edges[node]):
            row = edge.rows.get(slot)
            if row is None:
                yield (node, n), (slot, edge.target, last), ()
            else:
                yield (node, n), (slot, edge.target, row), self._goal(last, row)

    def covered(self, memory: Memory, edge: Edge, at: At) -> tuple[Memory, Sequence[int]]:
        """The pairs that all objects complete by the step."""
        goals = [goal for slot, row in edge.rows.items() for goal in self._goal(memory.get(slot), row)]
        return {**memory, **edge.rows}, goals

    def _goal(self, last: Key | None, row: Key) -> Sequence[int]:
        number = self._pairs.get((last, row)) if last is not None else None
        return () if number is None else (number,)


def search_for(graph: Graph, cover: Cover, goals: Sequence[Goal]) -> Search[int] | Search[Placed]:
    """The search for goals of the machines; a goal's number is its index in ``goals``."""
    match cover:
        case Cover.STATES:
            numbers = {(goal.sort, goal.state): n for n, goal in enumerate(goals)}
            inside = _in_states(graph, numbers)
            return ByStep(graph, frozenset(inside[0]), lambda edge, at: inside[edge.target])
        case Cover.TRANSITIONS:
            rows = {key(goal.rows[0]): n for n, goal in enumerate(goals)}
            return ByStep(graph, frozenset(), lambda edge, at: tuple({rows[row] for row in edge.rows.values()}))
        case Cover.ACTIONS:
            actions = {goal.action: n for n, goal in enumerate(goals)}
            return ByStep(graph, frozenset(), lambda edge, at: (actions[edge.choice.action],))
        case Cover.PAIRS:
            return ByPair(graph, {(key(goal.rows[0]), key(goal.rows[1])): n for n, goal in enumerate(goals)})


def _in_states(graph: Graph, numbers: Mapping[tuple[str, str], int]) -> list[tuple[int, ...]]:
    """For each state of the graph, the goals of the machine states that its objects are in."""
    instance = graph.instance
    goal_of = [
        (instance.slot(m.sort.name) + i, [numbers[m.sort.name, state.name] for state in m.states])
        for m in instance.model.machines
        if m.states
        for i in range(instance.sizes[m.sort.name])
    ]
    return [tuple({goals[state[slot]] for slot, goals in goal_of}) for state in graph.states]
