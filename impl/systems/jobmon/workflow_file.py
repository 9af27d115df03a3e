"""Reads workflows from JSON files."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from .client import WorkflowSpec
from .errors import Malformed
from .requests import TaskSpec
from .resources import Queue, Scale, Scaling, Series
from .wire import T, parsed, read_json


@dataclass(frozen=True)
class Growth:
    """How one resource grows: by a part of itself (``by``), or through ``values``."""

    name: str
    by: float | None = None
    values: tuple[int, ...] = ()

    @property
    def scale(self) -> Scale:
        """The growth in the form that the client needs."""
        return Series(self.values) if self.by is None else self.by


@dataclass(frozen=True)
class TaskEntry(TaskSpec):
    """A task in a file; without ``growth``, memory and runtime grow by half."""

    growth: tuple[Growth, ...] | None = None


@dataclass(frozen=True)
class WorkflowEntry:
    """A workflow in a file.

    Attributes:
        queues: the queues that tasks may fall back to, in this order.
    """

    name: str
    tasks: tuple[TaskEntry, ...]
    queues: tuple[Queue, ...] = ()


def read_workflow(path: Path) -> WorkflowSpec:
    """Reads the workflow in a file.

    Raises:
        Malformed: the file cannot be read, or does not contain a workflow.
    """
    try:
        data = read_json(path.read_bytes())
    except (OSError, Malformed) as error:
        raise Malformed(f"{path} cannot be read: {error}") from error
    try:
        entry = _entry(data)
        _check(entry)
    except Malformed as error:
        raise Malformed(f"{path}: {error}") from error
    return WorkflowSpec(
        entry.name, tuple(_spec(t) for t in entry.tasks), {t.name: _scaling(t, entry) for t in entry.tasks}
    )


def _entry(data: Any) -> WorkflowEntry:
    """Parses tasks and queues first, one by one, so that an error names the task or the queue."""
    if isinstance(data, dict):
        for kind, what in ((TaskEntry, "task"), (Queue, "queue")):
            several = data.get(f"{what}s")
            for number, each in enumerate(several if isinstance(several, list) else (), 1):
                name = each.get("name") if isinstance(each, dict) else None
                _part(kind, each, f"{what} {number} ({name[:60]})" if isinstance(name, str) else f"{what} {number}")
    return _part(WorkflowEntry, data, "the workflow")


def _part(kind: type[T], data: Any, where: str) -> T:
    try:
        return parsed(kind, data)
    except Malformed as error:  # the message begins with the class's name, which the author of the file does not know
        raise Malformed(f"{where}: {str(error).removeprefix(kind.__name__).lstrip('.: ')}") from error


def _check(entry: WorkflowEntry) -> None:
    """Checks growth and limits. The server does not receive them, because the client adjusts resources."""
    _expect_once("queue", [queue.name for queue in entry.queues])
    for queue in entry.queues:
        _expect_once(f"limit in queue {queue.name} of", [name for name, _ in queue.limits])
        for name, limit in queue.limits:
            if limit < 0:
                raise Malformed(f"the limit of {name} in queue {queue.name} is below zero")
    for task in entry.tasks:
        _expect_once(f"growth in task {task.name} of", [growth.name for growth in task.growth or ()])
        for growth in task.growth or ():
            _check_growth(f"{growth.name} of task {task.name}", growth)


def _check_growth(what: str, growth: Growth) -> None:
    if (growth.by is None) == (not growth.values):
        raise Malformed(f"{what} grows either by a part of itself or through values")
    if growth.by is not None and growth.by < 0:
        raise Malformed(f"{what} can only grow, but by {growth.by} it would shrink")
    if any(later <= earlier for earlier, later in pairwise(growth.values)):
        raise Malformed(f"{what} can only grow, but its values do not")


def _expect_once(what: str, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise Malformed(f"the {what} {name} is there twice")


def _spec(task: TaskEntry) -> TaskSpec:
    resources = tuple(sorted(task.resources))
    return TaskSpec(task.name, task.command, task.upstream, resources, task.queue, task.max_attempts)


def _scaling(task: TaskEntry, workflow: WorkflowEntry) -> Scaling:
    if task.growth is None:
        return Scaling(queues=workflow.queues)
    return Scaling({growth.name: growth.scale for growth in task.growth}, workflow.queues)
