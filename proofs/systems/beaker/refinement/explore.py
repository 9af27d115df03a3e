"""The implementation's graph: every operation from every state, and a crash at every point.

Each operation is one transaction and one step of the model, so no nodes lie between. A state is the content of the
database and the set in hand. A process that dies leaves the database; the next one starts with no set in hand, and
start-up has no other step.
"""

from __future__ import annotations

from collections.abc import Sequence

from schedproof.proofs.refinement.graph import CRASH, SideBySide
from schedproof.proofs.refinement.mismatch import Broken
from schedproof.proofs.refinement.modelside import ModelGraph
from schedproof.proofs.refinement.property import Progress

from .abstraction import Abstraction
from .runner import AFTER, BEFORE, Operation, Runner, Snapshot


class Exploration(SideBySide):
    """Beaker's scheduler beside its model; run :meth:`explore` once."""

    every_kind = ("at rest", "in hand")

    def __init__(
        self,
        runner: Runner,
        operations: Sequence[Operation],
        abstraction: Abstraction,
        model: ModelGraph,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(model, progress)
        self._runner = runner
        self._operations = operations
        self._abstraction = abstraction

    def begin(self) -> int:
        """Returns the node where the systems are added and the jobs submitted, and nothing else has happened."""
        return self._at(self._runner.now())

    def expand(self, node: int) -> None:
        """Adds every operation, killed at every point, and a crash between two operations."""
        at: Snapshot = self.snapshots[node]
        down = self._runner.crash(at)
        try:
            self._crash(at.world == down.world, "the crash changes the database")
            self.edge(node, self._at(down), CRASH, "the process crashes and is started again")
        except Broken as error:
            self.break_off(node, "the process crashes", error)
        possible: list[bool] = []
        for operation in self._operations:
            try:
                done = self._try(node, operation)
                if not done and any(possible[len(possible) - operation.instead_of :]):
                    raise Broken("it is refused, though there is something to choose")
            except Broken as error:
                self.break_off(node, operation.description, error)
            possible.append(done)

    def _try(self, node: int, operation: Operation) -> bool:
        """Adds the edges of an operation; returns whether it is possible."""
        at: Snapshot = self.snapshots[node]
        done = self._runner.run(at, operation)
        if done is None:
            return False
        report, end = done
        left = self._runner.killed(at, operation, BEFORE)
        self._crash(left == Snapshot(at.world, None), f"something of the operation is left: killed {BEFORE}")
        left = self._runner.killed(at, operation, AFTER)
        self._crash(left == Snapshot(end.world, None), f"something of the operation is lost: killed {AFTER}")
        for label in self._abstraction.labels(report):
            self.edge(node, self._at(end), label, operation.description)
        return True

    def _crash(self, right: bool, operation: str) -> None:
        self.crash_points += 1
        if not right:
            raise Broken(operation)

    def _at(self, at: Snapshot) -> int:
        number = self.find_node(at)
        if number is not None:
            return number
        return self.node(at, "at rest" if at.in_hand is None else "in hand", at, self._abstraction.image(at))
