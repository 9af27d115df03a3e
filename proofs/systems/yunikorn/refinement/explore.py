"""The core's graph: every operation from every state, and a crash in every state."""

from __future__ import annotations

from schedproof.impl.systems.yunikorn.core import Status
from schedproof.model.semantics import State
from schedproof.proofs.refinement.graph import SILENT, SideBySide
from schedproof.proofs.refinement.mismatch import Broken
from schedproof.proofs.refinement.modelside import ModelGraph
from schedproof.proofs.refinement.property import Progress

from .abstraction import Abstraction
from .component import Component, Container, Operation, Snapshot
from .operations import Operations

AT_WORK, RECOVERING = "at work", "recovering"
"""While it recovers, the core does not know all running containers, and can do nothing else."""


class Exploration(SideBySide):
    """Explores YuniKorn's core beside its model; run :meth:`explore` once."""

    every_kind = (AT_WORK, RECOVERING)
    partial_kinds = frozenset({RECOVERING})

    def __init__(
        self,
        component: Component,
        operations: Operations,
        abstraction: Abstraction,
        model: ModelGraph,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(model, progress)
        self._component, self._operations, self._abstraction = component, operations, abstraction
        self._unchanged: tuple[Snapshot, State] | None = None

    def begin(self) -> int:
        """Begins with a core with which a resource manager has registered."""
        self._component.core.handle(self._operations.register())
        core, clock = self._component.core, self._component.clock
        at = Snapshot(core.world, clock.snapshot(), core.process, self.model.initial)
        return self._at(self._stands(Operation("", lambda component: None), at))

    def expand(self, node: int) -> None:
        """Tries every possible operation, including the crash."""
        at: Snapshot = self.snapshots[node]
        try:
            operations = list(self._operations.possible(at))
        except Broken as error:
            self.break_off(node, "the scheduler looks for something to do", error)
        for operation in operations:
            try:
                self._try(node, at, operation)
            except Broken as error:
                self.break_off(node, operation.description, error)

    def _try(self, node: int, at: Snapshot, operation: Operation) -> None:
        done = self._component.run(at, operation)
        if done is None:
            return
        if operation.crash:
            self.crash_points += 1
        after = self._stands(operation, at)
        labels = operation.names(self._component.answers)
        if after.key == at.key and not operation.crash:
            # A request without effect is a step only where the model has the same step without effect.
            for label in set(labels) & {choice for choice, to in self.model.steps[at.image] if to == at.image}:
                self.edge(node, node, label, operation.description)
            return
        target = self._at(after)
        if operation.crash:
            self._jump(node, target, operation, self.model.initial)
        elif operation.path:
            self._jump(node, target, operation, self.model.walk(at.image, operation.path))
        else:
            if not labels and after.image != at.image:
                show = self.model.say_state
                raise Broken("no step of the model is this", expected=show(at.image), actual=show(after.image))
            for label in labels or (SILENT,):
                self.edge(node, target, label, operation.description)

    def _jump(self, a: int, b: int, operation: Operation, expected: State | None) -> None:
        """An edge that is several steps of the model, or a crash."""
        show = self.model.say_state
        if expected is None:
            steps = ", ".join(self.model.say_choice(step) for step in operation.path)
            raise Broken("the model cannot take these steps one after the other", expected=steps)
        if expected != self.images[b]:
            raise Broken(
                "it leads to another state than in the model", expected=show(expected), actual=show(self.images[b])
            )
        self.jump(a, b, operation.description)

    def _stands(self, operation: Operation, before: Snapshot) -> Snapshot:
        """Returns the snapshot after an operation that has run from ``before``.

        Raises:
            Broken: the core's records and its messages to the resource manager disagree.
        """
        core, times = self._component.core, self._component.clock.snapshot()
        if is_unchanged := core.world == before.world and times == before.times and not operation.crash:
            image = self._image_of_unchanged(before)
        else:
            image = self._abstraction.image(core.world, times, self.model.initial if operation.crash else before.image)
        reported = self._component.hears(before.reported_containers, operation)
        running = {
            Container(it.name, it.node, it.termination if it.status is Status.RELEASING else None)
            for it in core.world.allocations
            if it.confirmed
        }
        if running != reported:
            raise Broken(
                "the core has reported other containers than there are",
                expected=f"{sorted(map(str, running))}",
                actual=f"{sorted(map(str, reported))}",
            )
        if is_unchanged and image == before.image and operation.lost == before.lost:
            return before  # most operations change nothing, and a new snapshot would need another key
        return Snapshot(core.world, times, core.process, image, reported, operation.lost)

    def _image_of_unchanged(self, at: Snapshot) -> State:
        """The image after operations from ``at`` that change nothing: it is the same for all of them."""
        if self._unchanged is None or self._unchanged[0] is not at:
            self._unchanged = at, self._abstraction.image(at.world, at.times, at.image)
        return self._unchanged[1]

    def _at(self, at: Snapshot) -> int:
        number = self.find_node(at.key)
        return self.node(at.key, RECOVERING if at.lost else AT_WORK, at, at.image) if number is None else number
