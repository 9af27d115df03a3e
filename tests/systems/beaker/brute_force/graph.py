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
    found: Graph[S] = Graph([start], [], [], [((), 0)])
    numbers = {start: 0}
    queue = deque([start])
    while queue:
        state = queue.popleft()
        here = len(found.scheduler)
        for edges, steps in ((found.scheduler, scheduler(state)), (found.people, people(state))):
            out = []
            for label, after in steps:
                if after not in numbers:
                    numbers[after] = len(found.states)
                    found.states.append(after)
                    found.parent.append((label, here))
                    queue.append(after)
                out.append((label, numbers[after]))
            edges.append(out)
    return found


def can_reach(found: Graph[S], wanted: Label) -> list[bool]:
    """Per state: whether some sequence of the scheduler's steps ends with the wanted one."""
    before: list[list[int]] = [[] for _ in found.states]
    reaches = [False] * len(found.states)
    todo = []
    for here, edges in enumerate(found.scheduler):
        for label, after in edges:
            before[after].append(here)
            if label == wanted and not reaches[here]:
                reaches[here] = True
                todo.append(here)
    while todo:
        for earlier in before[todo.pop()]:
            if not reaches[earlier]:
                reaches[earlier] = True
                todo.append(earlier)
    return reaches
