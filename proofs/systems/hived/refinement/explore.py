"""The implementation's graph: every operation from every state, and a crash at every point.

Nodes are states of the implementation. Two nodes differ if something differs that decides the next steps. The kinds
are:

* *idle*: between two operations;
* *busy*: inside an operation, after a durable write. The point before the first write is the idle node itself, because
  nothing has happened yet. The point after the last write, before the memory is updated, is a busy node;
* *down*: after a crash;
* *recovering*: inside a recovery, after one of its durable writes.

An edge has a label if the image changes along it, or if it is a crash.
"""

from __future__ import annotations

from collections.abc import Hashable
from itertools import pairwise

from schedproof.impl.systems.hived import Report, What
from schedproof.model.semantics import Choice, State
from schedproof.proofs.refinement.graph import CRASH, SILENT, SideBySide
from schedproof.proofs.refinement.mismatch import Broken
from schedproof.proofs.refinement.modelside import ModelGraph
from schedproof.proofs.refinement.property import Progress

from .abstraction import Abstraction, Records
from .runner import Operation, Run, Runner, Snapshot


class Exploration(SideBySide):
    """HiveD's scheduler beside its model; run :meth:`explore` once."""

    every_kind = ("idle", "busy", "down", "recovering")

    def __init__(
        self,
        runner: Runner,
        operations: list[Operation],
        abstraction: Abstraction,
        model: ModelGraph,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(model, progress)
        self.runner = runner
        self.operations = operations
        self.abstraction = abstraction
        self._records: dict[Hashable, Records] = {}
        self._downs: dict[Snapshot, Snapshot] = {}

    def begin(self) -> int:
        """Returns the down node of a new scheduler, which has not recovered yet."""
        return self._down_node(self.runner.now())

    def expand(self, node: int) -> None:
        """Adds every operation of an idle scheduler, the recovery of one that is down, and a crash."""
        match self.kinds[node]:
            case "idle":
                self._run_all(node)
            case "down":
                self._recover(node)
        self._crash(node)

    # Steps from a node.

    def _run_all(self, node: int) -> None:
        for operation in self.operations:
            try:
                runs = self.runner.run(self.snapshots[node], operation)
                at = node
                for run in runs:
                    which = f": pod {run.report.pod}" if run.report and len(runs) > 1 else ""
                    at = self._finished(at, operation.description + which, run)
            except Broken as error:
                self.break_off(node, operation.description, error)

    def _finished(self, start: int, operation: str, run: Run) -> int:
        assert run.report is not None
        before = self.snapshots[start]
        end = self._idle_node(run.end)
        label = self._label(run.report)
        first, last = self._records_of(before), self._records_of(run.end)
        path: list[tuple[Snapshot, State, str]] = []
        for point in run.points:
            if point.at.memory != before.memory:
                raise Broken(f"the memory changes before the durable writes are done ({point.description})")
            records = self._records_of(point.at)
            if records not in (first, last):
                raise Broken(
                    f"between two durable writes the rows say neither what they said before nor what they say after ({point.description})",
                    expected=f"{self._describe(first)}, or {self._describe(last)}",
                    actual=self._describe(records),
                )
            image = self.images[start] if records == first else self.images[end]
            if point.at != (path[-1][0] if path else before):
                path.append((point.at, image, point.description))
        images = [self.images[start], *(image for _, image, _ in path), self.images[end]]
        changes = sum(a != b for a, b in pairwise(images))
        if changes != (label is not None):
            raise Broken(
                f"the operation reports '{run.report.what}', which is {'one step' if label else 'no step'} of the model",
                expected=self.model.say_state(images[0])
                if label is None
                else f"one step: {self.model.say_choice(label)}",
                actual=f"{changes} steps, to: {self.model.say_state(images[-1])}",
            )
        self.crash_points += len(path) + 2
        self._connect(start, end, path, "busy", operation, label)
        return end

    def _recover(self, node: int) -> None:
        operation = "the scheduler recovers"
        try:
            run = self.runner.recover(self.snapshots[node])
            end = self._idle_node(run.end)
            if self.images[end] != self.images[node]:
                raise Broken(
                    "recovery ends in another state than a crash leads to",
                    expected=self.model.say_state(self.images[node]),
                    actual=self.model.say_state(self.images[end]),
                )
            path: list[tuple[Snapshot, State, str]] = []
            for point in run.points:
                if point.at.memory != self.snapshots[node].memory:
                    raise Broken(f"the memory changes before recovery's durable writes are done ({point.description})")
                if self.abstraction.recovered(self._records_of(point.at)) != self.images[node]:
                    raise Broken(f"a write of recovery changes what the rows say of a group ({point.description})")
                if point.at != (path[-1][0] if path else self.snapshots[node]):
                    path.append((point.at, self.images[node], point.description))
        except Broken as error:
            self.break_off(node, operation, error)
        self.crash_points += len(path) + 2
        self._connect(node, end, path, "recovering", operation, None)

    def _crash(self, node: int) -> None:
        try:
            at = self.snapshots[node]
            if at not in self._downs:
                self._downs[at] = self.runner.crash(at)
            self.edge(node, self._down_node(self._downs[at]), CRASH, "the process crashes")
        except Broken as error:
            self.break_off(node, "the process crashes", error)

    # Nodes and edges.

    def _connect(
        self,
        start: int,
        end: int,
        path: list[tuple[Snapshot, State, str]],
        kind: str,
        operation: str,
        label: Choice | None,
    ) -> None:
        """Adds the nodes of ``path`` from its end, because the nodes that follow are part of a node's identity."""
        nodes, after = [end], end
        for snapshot, image, _ in reversed(path):
            ahead = None if image == self.images[after] else label
            after = self.node((kind, snapshot, after, image, ahead), kind, snapshot, image)
            nodes.append(after)
        nodes.append(start)
        for (a, b), done in zip(pairwise(reversed(nodes)), [*(done for *_, done in path), ""], strict=True):
            changed = label is not None and self.images[a] != self.images[b]
            self.edge(a, b, label if label and changed else SILENT, operation, done)

    def _idle_node(self, at: Snapshot) -> int:
        number = self.find_node(("idle", at))
        if number is not None:
            return number
        memory, rows = self.runner.memory(at), self.runner.rows(at)
        image = self.abstraction.running(memory, rows, self._records_of(at))
        return self.node(("idle", at), "idle", at, image)

    def _down_node(self, at: Snapshot) -> int:
        return self.node(("down", at), "down", at, self.abstraction.recovered(self._records_of(at)))

    def _records_of(self, at: Snapshot) -> Records:
        records = self._records.get(at.store)
        if records is None:
            records = self._records[at.store] = self.abstraction.records(self.runner.rows(at))
        return records

    def _label(self, report: Report) -> Choice | None:
        """The model's choice for the operation that the scheduler reports."""
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

    def _describe(self, records: Records) -> str:
        return self.model.say_state(self.abstraction.recovered(records))
