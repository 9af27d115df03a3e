"""Workflows in JSON files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from .client import WorkflowSpec
from .errors import Malformed
from .records import Resources
from .requests import TaskSpec
from .resources import Queue, Scale, Scaling, Series
from .wire import parsed


@dataclass(frozen=True)
class Growth:
    """How one resource grows: ``by`` a part of itself, or through ``values``."""

    name: str
    by: float | None = None
    values: tuple[int, ...] = ()

    @property
    def scale(self) -> Scale:
        """As the client needs it."""
        return Series(self.values) if self.by is None else self.by


@dataclass(frozen=True)
class TaskEntry:
    """A task in a file; without ``growth``, memory and runtime grow by half."""

    name: str
    command: str
    upstream: tuple[str, ...] = ()
    resources: Resources = ()
    queue: str = "all"
    max_attempts: int = 3
    growth: tuple[Growth, ...] | None = None


@dataclass(frozen=True)
class WorkflowEntry:
    """A workflow in a file; ``queues`` are those that tasks may fall back to, in this order."""

    name: str
    tasks: tuple[TaskEntry, ...]
    queues: tuple[Queue, ...] = ()


def read_workflow(path: Path) -> WorkflowSpec:
    """The workflow in a file.

    Raises:
        Malformed: it cannot be read, or is no workflow.
    """
    try:
        data = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise Malformed(f"{path} cannot be read: {error}") from error
    try:
        entry = parsed(WorkflowEntry, data)
    except Malformed as error:
        raise Malformed(f"{path}: {error}") from error
    return WorkflowSpec(
        entry.name, tuple(_spec(t) for t in entry.tasks), {t.name: _scaling(path, t, entry) for t in entry.tasks}
    )


def _spec(task: TaskEntry) -> TaskSpec:
    resources = tuple(sorted(task.resources))
    return TaskSpec(task.name, task.command, task.upstream, resources, task.queue, task.max_attempts)


def _scaling(path: Path, task: TaskEntry, workflow: WorkflowEntry) -> Scaling:
    if task.growth is None:
        return Scaling(queues=workflow.queues)
    for growth in task.growth:
        if (growth.by is None) == (not growth.values):
            raise Malformed(
                f"{path}: {growth.name} of task {task.name} grows either by a part of itself or through values"
            )
    return Scaling({growth.name: growth.scale for growth in task.growth}, workflow.queues)
