"""The implementation's graph. Each edge is checked against the model when it is found.

Nodes are states of the implementation. Two are the same if they agree in all that decides their next operations.
Each node has an image, a state of the model.
An edge has as its label the model's step that it is, or it is silent; the ends of a silent edge have the same image.
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
StepText = tuple[str, str]
SILENT = Choice("silent")
"""No step of the model: the key of edges along which the image stays the same."""
JUMP = Choice("jump")
"""Several steps of the model in one operation, or a crash that resets the model to its initial state."""


class SideBySide(ABC):
    """The implementation's graph so far; run :meth:`explore` once.

    A subclass defines the initial state of the implementation and its operations.

    Attributes:
        graph: its nodes are numbers, 0 is the start. The keys of its edges are labels: a model choice, or SILENT. The
            edge attribute ``step_text`` describes what happens in words: the operation, and how much of it is done.
        kinds: the kind of each node.
        images: the image of each node.
        snapshots: the implementation's state at each node.
    """

    every_kind: tuple[str, ...]
    """All kinds of nodes."""
    partial_kinds: frozenset[str] = frozenset()
    """The kinds of nodes from which the implementation need not be able to take every step of the model."""

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
        """The node of the implementation's initial state.

        Raises:
            Broken: that state has no counterpart in the model.
        """

    @abstractmethod
    def expand(self, node: int) -> None:
        """Adds all edges from a node.

        Raises:
            Stopped: at the first mismatch.
        """

    def explore(self) -> None:
        """Explores breadth first until no new node is found.

        Raises:
            Stopped: at the first mismatch.
        """
        initial = self.model.initial
        try:
            start = self.begin()
        except Broken as error:
            raise Stopped(Mismatch(error.reason, [], error.expected, error.actual)) from error
        if self.images[start] != initial:
            show = self.model.say_state
            reason = "the scheduler does not begin where the model does"
            raise Stopped(Mismatch(reason, [], show(initial), show(self.images[start])))
        while self._todo:
            node = self._todo.popleft()
            self.expand(node)
            if self.progress and node % 500 == 0:
                self.progress(len(self.images), self._edges)

    # For subclasses: nodes and edges.

    def find_node(self, key: Hashable) -> int | None:
        """The node with this key; None if there is none yet."""
        return self._numbers.get(key)

    def node(self, key: Hashable, kind: str, at: Any, image: State) -> int:
        """The node with this key. A new node will be expanded later."""
        number = self._numbers.setdefault(key, len(self.images))
        if number == len(self.images):
            self.kinds.append(kind)
            self.images.append(image)
            self.snapshots.append(at)
            self.graph.add_node(number)
            self._todo.append(number)
        return number

    def edge(self, a: int, b: int, label: Choice, operation: str, done: str = "") -> None:
        """Adds an edge and checks it against the model.

        Args:
            a: the node before.
            b: the node after.
            label: the step of the model, or SILENT.
            operation: the operation, in words.
            done: how much of the operation is done; "" for all of it.

        Raises:
            Stopped: the model has no such step.
        """
        if self.graph.has_edge(a, b, label):
            return
        self._edges += 1
        self.graph.add_edge(a, b, label, step_text=(operation, done))
        if label == SILENT:
            return
        step = (self.images[a], label, self.images[b])
        if step in self.covered:
            return
        if (label, self.images[b]) not in self._allowed.get(self.images[a], frozenset()):
            self._refuse_step(a, b, label, (operation, done))
        self.covered.add(step)

    def jump(self, a: int, b: int, operation: str) -> None:
        """Adds an edge that is several steps of the model. The subclass must check that they are steps of the model."""
        self._edges += not self.graph.has_edge(a, b, JUMP)
        self.graph.add_edge(a, b, JUMP, step_text=(operation, ""))

    def break_off(self, node: int, operation: str, error: Broken) -> NoReturn:
        """Ends the exploration: what happened from ``node`` has no counterpart in the model."""
        way = path_lines([*self._way(node), (operation, "")])
        raise Stopped(Mismatch(error.reason, way, error.expected, error.actual)) from error

    def _refuse_step(self, a: int, b: int, label: Choice, step: StepText) -> NoReturn:
        targets = [after for choice, after in self._allowed.get(self.images[a], ()) if choice == label]
        name = self.model.say_choice(label)
        reason = f"{name} leads to another state than in the model" if targets else f"the model cannot take {name} here"
        show = self.model.say_state
        expected = show(targets[0]) if targets else f"no such step from: {show(self.images[a])}"
        raise Stopped(Mismatch(reason, path_lines([*self._way(a), step]), expected, show(self.images[b])))

    # Paths to nodes, in words.

    def path(self, node: int) -> list[str]:
        """A shortest path from the start to ``node``, in words, operation by operation."""
        return path_lines(self._way(node))

    def _way(self, node: int) -> list[StepText]:
        return [self.step_text(a, b) for a, b in pairwise(nx.shortest_path(self.graph, 0, node))]

    def step_text(self, a: int, b: int) -> StepText:
        """The words of an edge: the operation, and how much of it is done ("" for all of it)."""
        step_text: StepText = next(iter(self.graph[a][b].values()))["step_text"]
        return step_text


def path_lines(way: Iterable[StepText]) -> list[str]:
    """The lines of a path: one for each operation, and where the path stops inside an operation."""
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
