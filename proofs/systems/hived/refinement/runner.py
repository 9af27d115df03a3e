"""Runs operations of the implementation and records every point at which the process could die.

The store's hooks report each durable write. Rows and memory are recorded there: they are everything that a process
killed at that point leaves to its successor. So each operation runs once, instead of once for each crash point.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from operator import methodcaller
from typing import Any

from schedproof.impl.hashed import hashed_once
from schedproof.impl.systems.hived import (
    CellChoice,
    GroupSpec,
    InMemoryStore,
    Memory,
    PodRow,
    Refused,
    Report,
    Scheduler,
)
from schedproof.proofs.refinement.mismatch import Broken

StoreFactory = Callable[[], InMemoryStore]
SchedulerFactory = Callable[..., Scheduler]
"""Called as Scheduler is: with the store, the names of the cells and ``observer=``."""


@hashed_once
@dataclass(frozen=True)
class Snapshot:
    """The complete implementation at one point: the store's content and the process's memory."""

    store: Any
    memory: Any


@dataclass(frozen=True)
class Point:
    """A point inside an operation, and a description of the last event."""

    at: Snapshot
    description: str


@dataclass(frozen=True)
class Run:
    """One operation from its start to its installation; ``points`` are between the two."""

    points: tuple[Point, ...]
    report: Report | None
    end: Snapshot


@dataclass(frozen=True)
class Operation:
    """A request that clients may send, as a description and as a call."""

    description: str
    call: Callable[[Scheduler], object]


def operations(specs: Sequence[GroupSpec], cells: Sequence[str]) -> list[Operation]:
    """Returns every request to a scheduler: for each pod, each group and each choice of cells."""
    all_operations: list[Operation] = []
    for spec in specs:
        name = spec.name
        for pod in spec.pods:
            all_operations.append(Operation(f"pod {name}/{pod} is submitted", methodcaller("submit", spec, pod)))
        for size in range(1, len(cells) + 1):
            for chosen in combinations(cells, size):
                scheduled = f"group {name} is scheduled on {', '.join(chosen)}"
                all_operations.append(Operation(scheduled, methodcaller("schedule", name, _always(chosen))))
        all_operations.append(Operation(f"group {name} completes its preemption", methodcaller("complete", name)))
        for pod in spec.pods:
            all_operations.append(Operation(f"pod {name}/{pod} is deleted", methodcaller("delete_pod", name, pod)))
        all_operations.append(Operation(f"group {name} is deleted", methodcaller("delete_group", name)))
    return all_operations


def _always(chosen: Sequence[str]) -> CellChoice:
    return lambda memory, group: chosen


class Runner:
    """One scheduler on one store. Before each run both are restored to a snapshot."""

    def __init__(self, scheduler: SchedulerFactory, store: StoreFactory, cells: Sequence[str]) -> None:
        self._store = store()
        self._scheduler = scheduler(self._store, cells, observer=self._installed)
        self._store.before = self._before_write
        self._store.after = self._after_write
        self._points: list[Point] = []
        self._runs: list[Run] = []

    def now(self) -> Snapshot:
        """Returns a snapshot of the current implementation."""
        return Snapshot(self._store.snapshot(), self._scheduler.snapshot())

    def rows(self, at: Snapshot) -> Sequence[PodRow]:
        """Returns the durable rows of a snapshot."""
        self._store.restore(at.store)
        return self._store.rows()

    def memory(self, at: Snapshot) -> Memory:
        """Returns the scheduler's records in a snapshot.

        Raises:
            Broken: the scheduler is down, though no crash happened.
        """
        self._scheduler.restore(at.memory)
        try:
            return self._scheduler.memory
        except Refused as error:
            raise Broken(f"the operation left the scheduler down: {error}") from error

    def crash(self, at: Snapshot) -> Snapshot:
        """Returns the implementation after the process died at ``at``."""
        self._restore(at)
        self._store.crash()
        self._scheduler.crash()
        return self.now()

    def recover(self, at: Snapshot) -> Run:
        """Runs a recovery from ``at``.

        Raises:
            Broken: the recovery fails.
        """
        self._restore(at)
        try:
            self._scheduler.recover()
        except Exception as error:  # any exception is a bug
            raise Broken(f"recovery fails: {type(error).__name__}: {error}") from error
        return Run(tuple(self._points), None, self.now())

    def run(self, at: Snapshot, operation: Operation) -> list[Run]:
        """Executes an operation at ``at``.

        Returns:
            The runs of which it consists; none if it is refused.

        Raises:
            Broken: it fails, or changes something though it was refused.
        """
        self._restore(at)
        try:
            operation.call(self._scheduler)
        except Refused as error:
            if self._points or self._scheduler.snapshot() != at.memory:
                raise Broken(f"the request was refused, but it changed something: {error}") from error
            return []
        except Exception as error:  # any exception is a bug
            raise Broken(f"the operation fails: {type(error).__name__}: {error}") from error
        if self._points:
            raise Broken("the operation writes rows after it was installed", actual=self._points[-1].description)
        if self._scheduler.snapshot() != (self._runs[-1].end if self._runs else at).memory:
            raise Broken("the operation changes the memory without reporting it")
        return self._runs

    def _restore(self, at: Snapshot) -> None:
        self._points, self._runs = [], []
        self._store.restore(at.store)
        self._scheduler.restore(at.memory)

    def _before_write(self, written: Sequence[PodRow]) -> None:
        (row,) = written
        self._points.append(Point(self.now(), f"about to write the row of {row.group}/{row.pod}"))

    def _after_write(self, written: Sequence[PodRow]) -> None:
        (row,) = written
        self._points.append(Point(self.now(), f"the row of {row.group}/{row.pod} is written: {row.status}"))

    def _installed(self, report: Report) -> None:
        self._runs.append(Run(tuple(self._points), report, self.now()))
        self._points = []
