"""The implementation's graph: every operation from every state, and a crash at every point.

Nodes are states of the implementation, told apart by everything that decides what can happen next:

* *idle*: between two operations;
* *busy*: inside an operation, after a durable write (before the first one nothing has happened, so
  that point is the idle node itself), including the point after the last write and before the
  memory is updated;
* *down*: after a crash;
* *recovering*: inside a recovery, after one of its durable writes.

Each node has its image in the model. An edge has a label if the image changes along it, or if it
is a crash.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

import networkx as nx

from ...impl.hived import Report, What
from ...model.semantics import Choice, State
from .abstraction import Abstraction, Records
from .mismatch import Broken, Mismatch
from .modelside import ModelGraph
from .runner import Operation, Run, Runner, Snapshot

Kind = Literal["idle", "busy", "down", "recovering"]
Progress = Callable[[int, int], None]
"""Called now and then with the numbers of states and edges found so far."""

CRASH = Choice("crash")
Said = tuple[str, str]
SILENT = Choice("silent")
"""No step of the model: the key of edges along which the image stays the same."""


class Stopped(Exception):
    """The exploration met its first mismatch."""

    def __init__(self, mismatch: Mismatch) -> None:
        super().__init__(mismatch.reason)
        self.mismatch = mismatch


@dataclass
class Exploration:
    """The graph found so far; run :meth:`explore` once.

    ``graph`` has numbers as nodes, 0 is the start; the keys of its edges are labels (a model choice, or SILENT),
    their attribute ``said`` is what happens, in words: the operation and what of it is done.
    """

    runner: Runner
    operations: list[Operation]
    abstraction: Abstraction
    model: ModelGraph
    progress: Progress | None = None
    graph: nx.MultiDiGraph = field(default_factory=nx.MultiDiGraph)
    kinds: list[Kind] = field(default_factory=list)
    images: list[State] = field(default_factory=list)
    covered: set[tuple[State, Choice, State]] = field(default_factory=set)
    crash_points: int = 0

    def __post_init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._snapshots: list[Snapshot] = []
        self._todo: deque[int] = deque()
        self._records: dict[Hashable, Records] = {}
        self._downs: dict[Snapshot, Snapshot] = {}
        self._edges = 0
        self._allowed = {state: frozenset(steps) for state, steps in self.model.steps.items()}

    def explore(self) -> None:
        """Breadth first, until nothing new is found.

        Raises:
            Stopped: at the first mismatch.
        """
        initial = self.model.instance.initial()
        try:
            start = self._down_node(self.runner.now())
        except Broken as error:
            raise Stopped(Mismatch(error.reason, [], error.expected, error.found)) from error
        if self.images[start] != initial:
            say = self.model.say_state
            reason = "the scheduler does not begin where the model does"
            raise Stopped(Mismatch(reason, [], say(initial), say(self.images[start])))
        while self._todo:
            node = self._todo.popleft()
            match self.kinds[node]:
                case "idle":
                    self._run_all(node)
                case "down":
                    self._recover(node)
            self._crash(node)
            if self.progress and node % 500 == 0:
                self.progress(len(self.images), self._edges)

    # What can happen from a node.

    def _run_all(self, node: int) -> None:
        for operation in self.operations:
            try:
                runs = self.runner.run(self._snapshots[node], operation)
                at = node
                for run in runs:
                    which = f": pod {run.report.pod}" if run.report and len(runs) > 1 else ""
                    at = self._finished(at, operation.said + which, run)
            except Broken as error:
                self._break(node, operation.said, error)

    def _finished(self, start: int, said: str, run: Run) -> int:
        assert run.report is not None
        before = self._snapshots[start]
        end = self._idle_node(run.end)
        label = self._label(run.report)
        first, last = self._records_of(before), self._records_of(run.end)
        path: list[tuple[Snapshot, State, str]] = []
        for point in run.points:
            if point.at.memory != before.memory:
                raise Broken(f"the memory changes before the durable writes are done ({point.said})")
            records = self._records_of(point.at)
            if records not in (first, last):
                raise Broken(
                    f"between two durable writes the rows say neither what they said before nor what they say after ({point.said})",
                    expected=f"{self._say(first)}, or {self._say(last)}",
                    found=self._say(records),
                )
            image = self.images[start] if records == first else self.images[end]
            if point.at != (path[-1][0] if path else before):
                path.append((point.at, image, point.said))
        images = [self.images[start], *(image for _, image, _ in path), self.images[end]]
        changes = sum(a != b for a, b in pairwise(images))
        if changes != (label is not None):
            raise Broken(
                f"the operation reports '{run.report.what}', which is {'one step' if label else 'no step'} of the model",
                expected=self.model.say_state(images[0])
                if label is None
                else f"one step: {self.model.say_choice(label)}",
                found=f"{changes} steps, to: {self.model.say_state(images[-1])}",
            )
        self.crash_points += len(path) + 2
        self._connect(start, end, path, "busy", said, label)
        return end

    def _recover(self, node: int) -> None:
        said = "the scheduler recovers"
        try:
            run = self.runner.recover(self._snapshots[node])
            end = self._idle_node(run.end)
            if self.images[end] != self.images[node]:
                raise Broken(
                    "recovery ends in another state than a crash leads to",
                    expected=self.model.say_state(self.images[node]),
                    found=self.model.say_state(self.images[end]),
                )
            path: list[tuple[Snapshot, State, str]] = []
            for point in run.points:
                if point.at.memory != self._snapshots[node].memory:
                    raise Broken(f"the memory changes before recovery's durable writes are done ({point.said})")
                if self.abstraction.recovered(self._records_of(point.at)) != self.images[node]:
                    raise Broken(f"a write of recovery changes what the rows say of a group ({point.said})")
                if point.at != (path[-1][0] if path else self._snapshots[node]):
                    path.append((point.at, self.images[node], point.said))
        except Broken as error:
            self._break(node, said, error)
        self.crash_points += len(path) + 2
        self._connect(node, end, path, "recovering", said, None)

    def _crash(self, node: int) -> None:
        try:
            at = self._snapshots[node]
            if at not in self._downs:
                self._downs[at] = self.runner.crash(at)
            self._edge(node, self._down_node(self._downs[at]), CRASH, "the process crashes")
        except Broken as error:
            self._break(node, "the process crashes", error)

    # Nodes and edges.

    def _connect(
        self, start: int, end: int, path: list[tuple[Snapshot, State, str]], kind: Kind, said: str, label: Choice | None
    ) -> None:
        """Adds the nodes of ``path`` from its end, since a node is told apart by what comes after it."""
        nodes, after = [end], end
        for snapshot, image, _ in reversed(path):
            ahead = None if image == self.images[after] else label
            after = self._node((kind, snapshot, after, image, ahead), kind, snapshot, image)
            nodes.append(after)
        nodes.append(start)
        for (a, b), done in zip(pairwise(reversed(nodes)), [*(done for *_, done in path), ""], strict=True):
            changed = label is not None and self.images[a] != self.images[b]
            self._edge(a, b, label if label and changed else SILENT, said, done)

    def _idle_node(self, at: Snapshot) -> int:
        number = self._numbers.get(("idle", at))
        if number is not None:
            return number
        memory, rows = self.runner.memory(at), self.runner.rows(at)
        image = self.abstraction.running(memory, rows, self._records_of(at))
        return self._node(("idle", at), "idle", at, image)

    def _down_node(self, at: Snapshot) -> int:
        return self._node(("down", at), "down", at, self.abstraction.recovered(self._records_of(at)))

    def _node(self, key: Hashable, kind: Kind, at: Snapshot, image: State) -> int:
        number = self._numbers.setdefault(key, len(self.images))
        if number == len(self.images):
            self.kinds.append(kind)
            self.images.append(image)
            self._snapshots.append(at)
            self.graph.add_node(number)
            self._todo.append(number)
        return number

    def _edge(self, a: int, b: int, label: Choice, said: str, done: str = "") -> None:
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

    def _records_of(self, at: Snapshot) -> Records:
        found = self._records.get(at.store)
        if found is None:
            found = self._records[at.store] = self.abstraction.records(self.runner.rows(at))
        return found

    def _label(self, report: Report) -> Choice | None:
        """The model's name of what the scheduler says it did."""
        group = ("p", self.abstraction.group_number(report.group))
        cells = ("K", self.abstraction.cell_mask(report.cells))
        match report.what:
            case What.ALLOCATED:
                return Choice("allocate", (group, cells))
            case What.PREEMPTING:
                return Choice("preempt", (group, cells))
            case What.COMPLETED:
                return Choice("complete", (group,))
            case What.GROUP_DELETED:
                action = {
                    "Allocated": "delete_allocated",
                    "BeingPreempted": "delete_preempted",
                    "Preempting": "delete_preempting",
                    "Pending": "delete_pending",
                }.get(report.before)
                if action is None:
                    raise Broken(f"the operation reports that a {report.before} group is deleted")
                return Choice(action, (group,))
            case _:
                return None

    # Mismatches.

    def _say(self, records: Records) -> str:
        return self.model.say_state(self.abstraction.recovered(records))

    def _refuse_step(self, a: int, b: int, label: Choice, said: Said) -> None:
        targets = [after for choice, after in self._allowed.get(self.images[a], ()) if choice == label]
        name = self.model.say_choice(label)
        reason = f"{name} leads to another state than in the model" if targets else f"the model cannot take {name} here"
        say = self.model.say_state
        expected = say(targets[0]) if targets else f"no such step from: {say(self.images[a])}"
        raise Stopped(Mismatch(reason, story([*self._way(a), said]), expected, say(self.images[b])))

    def _break(self, node: int, said: str, error: Broken) -> None:
        way = story([*self._way(node), (said, "")])
        raise Stopped(Mismatch(error.reason, way, error.expected, error.found)) from error

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
