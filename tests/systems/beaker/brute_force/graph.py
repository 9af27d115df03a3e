"""Breadth-first search through all reachable states of a brute-force scheduler, and which of them lead to a step."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Generic, NamedTuple, TypeVar

S = TypeVar("S")

Label = tuple[str | int, ...]
"""The name of a step and its parameters."""

Edge = tuple[Label, int]
"""A step and the number of the state after it."""


class Graph(NamedTuple, Generic[S]):
    """All reachable states in breadth-first order, each with the steps out of it: the scheduler's and the people's."""

    states: list[S]
    scheduler: list[list[Edge]]
    people: list[list[Edge]]
    parent: list[Edge]
    """Per state a step that leads to it along a shortest way, with the number of the state *before*."""

    @property
    def transitions(self) -> int:
        return sum(map(len, self.scheduler)) + sum(map(len, self.people))

    def trace(self, number: int) -> list[Label]:
        """The labels of a shortest way to the state."""
        labels = []
        while number:
            label, number = self.parent[number]
            labels.append(label)
        return labels[::-1]


def explore(
    start: S, scheduler: Callable[[S], Iterable[tuple[Label, S]]], people: Callable[[S], Iterable[tuple[Label, S]]]
) -> Graph[S]:
    """The graph of all states reachable from `start`; self-loops are steps too."""
    graph: Graph[S] = Graph([start], [], [], [((), 0)])
    numbers = {start: 0}
    queue = deque([start])
    while queue:
        state = queue.popleft()
        number = len(graph.scheduler)
        for edges, steps in ((graph.scheduler, scheduler(state)), (graph.people, people(state))):
            out = []
            for label, after in steps:
                if after not in numbers:
                    numbers[after] = len(graph.states)
                    graph.states.append(after)
                    graph.parent.append((label, number))
                    queue.append(after)
                out.append((label, numbers[after]))
            edges.append(out)
    return graph


def can_reach(graph: Graph[S], last: Label) -> list[bool]:
    """Per state: whether some sequence of the scheduler's steps ends with a step named ``last``."""
    before: list[list[int]] = [[] for _ in graph.states]
    reaches = [False] * len(graph.states)
    todo = []
    for number, edges in enumerate(graph.scheduler):
        for label, after in edges:
            before[after].append(number)
            if label == last and not reaches[number]:
                reaches[number] = True
                todo.append(number)
    while todo:
        for earlier in before[todo.pop()]:
            if not reaches[earlier]:
                reaches[earlier] = True
                todo.append(earlier)
    return reaches
