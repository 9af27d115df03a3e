"""What all handlers share: the records, and the ways to the core, to Kubernetes and to the dispatcher."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from schedproof.impl.scheduler_interface import Request
from schedproof.impl.table_machine import IllegalEvent, TableMachine

from .events import Dropped, Event, Item, Job, Target, Work
from .records import Application, Node, Recovery, Task
from .tables import APPLICATION, NODE, SCHEDULER, TASK, TERMINATED

Send = Callable[[Request], object]


class Queue(Protocol):
    """The dispatcher, as handlers see it."""

    def post(self, item: Item) -> None:
        """Queues an event, to be handled later."""

    def holds(self, item: Item) -> bool:
        """True if the event is queued and has not been handled."""


OnDrop = Callable[[Dropped], object]


class Context:
    """The records, and the one way to change a state by its table: :meth:`move`."""

    def __init__(self, send: Send, queue: Queue, on_drop: OnDrop | None = None) -> None:
        self.send = send
        self._queue = queue
        self._on_drop = on_drop
        self.clear()

    def clear(self) -> None:
        """Deletes all records: at the start, and after a crash."""
        self.scheduler = "New"
        self.recovery = Recovery.APPLICATIONS
        self.why_stopped = ""
        self.applications: dict[str, Application] = {}
        self.tasks: dict[str, Task] = {}
        self.nodes: dict[str, Node] = {}
        self.jobs: list[Job] = []

    # Reading.

    def tasks_of(self, application: str, *, placeholders: bool | None = None) -> list[Task]:
        """Returns the tasks of an application: all, the placeholders, or the real ones."""
        listed = [t for t in self.tasks.values() if t.pod.application == application]
        return [t for t in listed if placeholders is None or t.pod.placeholder == placeholders]

    def going_on(self, application: str) -> list[Task]:
        """Returns its tasks that have begun and have not ended."""
        return [t for t in self.tasks_of(application) if t.state != "New" and t.state not in TERMINATED]

    # Writing.

    def post(self, target: Target, name: str, event: str, *, reason: str = "") -> None:
        """Queues an event of an object."""
        self._queue.post(Event(target, name, event, reason))

    def post_once(self, event: Event) -> None:
        """Queues an event, unless it is queued already."""
        if not self._queue.holds(event):
            self._queue.post(event)

    def work(self, job: Job) -> None:
        """Adds a job on Kubernetes, once. A pod that is to be deleted is not bound any more."""
        if job.work is Work.DELETE:
            self.jobs = [other for other in self.jobs if (other.work, other.task) != (Work.BIND, job.task)]
        if job.work is Work.BIND and Job(Work.DELETE, job.task) in self.jobs:
            return
        if job not in self.jobs:
            self.jobs.append(job)

    def drop(self, event: Event, state: str) -> None:
        """Reports an event without a row to ``on_drop``. v0.12.2 drops it silently (F 4)."""
        if self._on_drop is not None:
            self._on_drop(Dropped(event, state))

    def move(self, event: Event) -> str | None:
        """Moves an object by its table; returns the state before, or None if the event is dropped."""
        match event.target:
            case Target.APPLICATION:
                record: Application | Task | Node | None = self.applications.get(event.name)
            case Target.TASK:
                record = self.tasks.get(event.name)
            case Target.NODE:
                record = self.nodes.get(event.name)
            case Target.SCHEDULER:
                return self._move_scheduler(event)
        if record is None:
            self.drop(event, "")
            return None
        before = record.state
        try:
            after = _MACHINES[event.target].target(before, event.event)
        except IllegalEvent:
            self.drop(event, before)
            return None
        if isinstance(record, Application):
            self.applications[record.name] = replace(record, state=after)
        elif isinstance(record, Task):
            self.tasks[record.name] = replace(record, state=after)
        else:
            self.nodes[record.name] = replace(record, state=after)
        return before

    def _move_scheduler(self, event: Event) -> str | None:
        before = self.scheduler
        try:
            self.scheduler = SCHEDULER.target(before, event.event)
        except IllegalEvent:
            self.drop(event, before)
            return None
        return before


_MACHINES: dict[Target, TableMachine] = {
    Target.APPLICATION: APPLICATION,
    Target.TASK: TASK,
    Target.NODE: NODE,
    Target.SCHEDULER: SCHEDULER,
}
