"""The implementation's graph, and each of its edges held against the model as soon as it is found.

Nodes are states of the implementation, told apart by everything that decides what can happen next;
each has its image in the model. An edge has a label, the step of the model that it is, or it is
silent: then its ends have the same image.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Hashable, Iterable
from itertools import pairwise
from typing import Any, NoReturn

import networkx as nx

from schedproof.model.semantics import Choice, State

from .mismatch import Broken, Mismatch, Stopped
from .modelside import ModelGraph
from .property import Progress

CRASH = Choice("crash")
Said = tuple[str, str]
SILENT = Choice("silent")
"""No step of the model: the key of edges along which the image stays the same."""
JUMP = Choice("jump")
"""Several steps of the model in one operation, or a crash that takes it back to where it begins."""


class SideBySide(ABC):
    """The graph found so far; run :meth:`explore` once.

    ``graph`` has numbers as nodes, 0 is the start; the keys of its edges are labels (a model choice, or SILENT),
    their attribute ``said`` is what happens, in words: the operation and what of it is done.
    ``kinds``, ``images`` and ``snapshots`` tell of each node what it is, its image, and the
    implementation's state. A subclass says what the implementation begins with and can do.
    """

    every_kind: tuple[str, ...]
    """The kinds of nodes that there are."""
    partial_kinds: frozenset[str] = frozenset()
    """The kinds of nodes from which not all can happen that the model can do."""

    def __init__(self, model: ModelGraph, progress: Progress | None = None) -> None:
        self.model = model
        self.progress = progress
        self.graph = nx.MultiDiGraph()
        self.kinds: list[str] = []
        self.images: list[State] = []
        self.snapshots: list[Any] = []
        self.covered: set[tuple[State, Choice, State]] = set()
        self.crash_points = 0
        self._numbers: dict[Hashable, int] = {}
        self._todo: deque[int] = deque()
        self._edges = 0
        self._allowed = {state: frozenset(steps) for state, steps in model.steps.items()}

    @abstractmethod
    def begin(self) -> int:
        """The node of the implementation as it begins.

        Raises:
            Broken: that state has no counterpart.
        """

    @abstractmethod
    def expand(self, node: int) -> None:
        """Adds all that can happen from a node.

        Raises:
            Stopped: at the first mismatch.
        """

    def explore(self) -> None:
        """Breadth first, until nothing new is found.

        Raises:
            Stopped: at the first mismatch.
        """
        initial = self.model.initial
        try:
            start = self.begin()
        except Broken as error:
            raise Stopped(Mismatch(error.reason, [], error.expected, error.found)) from error
        if self.images[start] != initial:
            say = self.model.say_state
            reason = "the scheduler does not begin where the model does"
            raise Stopped(Mismatch(reason, [], say(initial), say(self.images[start])))
        while self._todo:
            node = self._todo.popleft()
            self.expand(node)
            if self.progress and node % 500 == 0:
                self.progress(len(self.images), self._edges)

    # For subclasses: nodes and edges.

    def find_node(self, key: Hashable) -> int | None:
        """The node of this key, None if it is new."""
        return self._numbers.get(key)

    def node(self, key: Hashable, kind: str, at: Any, image: State) -> int:
        """The node of this key; a new one will be expanded."""
        number = self._numbers.setdefault(key, len(self.images))
        if number == len(self.images):
            self.kinds.append(kind)
            self.images.append(image)
            self.snapshots.append(at)
            self.graph.add_node(number)
            self._todo.append(number)
        return number

    def edge(self, a: int, b: int, label: Choice, said: str, done: str = "") -> None:
        """Adds an edge.

        Raises:
            Stopped: the model has no such step.
        """
        if self.graph.has_edge(a, b, label):
            return
        self._edges += 1
        self.graph.add_edge(a, b, label, said=(said, done))
        if label == SILENT:
            return
        step = (self.images[a], label, self.images[b])
        if step in self.covered:
            return
        if (label, self.images[b]) not in self._allowed.get(self.images[a], frozenset()):
            self._refuse_step(a, b, label, (said, done))
        self.covered.add(step)

    def jump(self, a: int, b: int, said: str) -> None:
        """Adds an edge that is several steps of the model; that they are is for the subclass to check."""
        self._edges += not self.graph.has_edge(a, b, JUMP)
        self.graph.add_edge(a, b, JUMP, said=(said, ""))

    def break_off(self, node: int, said: str, error: Broken) -> NoReturn:
        """Ends the exploration: what happened from ``node`` has no counterpart."""
        way = story([*self._way(node), (said, "")])
        raise Stopped(Mismatch(error.reason, way, error.expected, error.found)) from error

    def _refuse_step(self, a: int, b: int, label: Choice, said: Said) -> NoReturn:
        targets = [after for choice, after in self._allowed.get(self.images[a], ()) if choice == label]
        name = self.model.say_choice(label)
        reason = f"{name} leads to another state than in the model" if targets else f"the model cannot take {name} here"
        say = self.model.say_state
        expected = say(targets[0]) if targets else f"no such step from: {say(self.images[a])}"
        raise Stopped(Mismatch(reason, story([*self._way(a), said]), expected, say(self.images[b])))

    # The ways to nodes, in words.

    def path(self, node: int) -> list[str]:
        """A shortest way from the start to ``node``, in words, operation by operation."""
        return story(self._way(node))

    def _way(self, node: int) -> list[Said]:
        return [self.said(a, b) for a, b in pairwise(nx.shortest_path(self.graph, 0, node))]

    def said(self, a: int, b: int) -> Said:
        """What happens along an edge: the operation, and what of it is done ("" for all of it)."""
        said: Said = next(iter(self.graph[a][b].values()))["said"]
        return said


def story(way: Iterable[Said]) -> list[str]:
    """A way in the graph with a line for each operation, and where it stops inside one."""
    lines: list[str] = []
    inside, so_far = "", ""
    for operation, done in way:
        if inside and inside != operation:
            lines.append(so_far)
        if done:
            inside, so_far = operation, f"{operation}, up to where {done}"
        else:
            lines.append(operation)
            inside = ""
    return [*lines, so_far] if inside else lines
