"""The work of one transaction: moves of instances, tasks, runs and workflows, and their effects on other objects.

The guards of the requests decide whether a request is allowed (:mod:`.run_requests`, :mod:`.instance_requests`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeVar

from schedproof.impl.store import Condition, Transaction

from .errors import Refused
from .legal import INSTANCE_MOVES, OF_RUN, RUN_MOVES, TASK_MOVES, WORKFLOW_MOVES, check, task_after
from .records import (
    ENDED,
    HOLDING,
    NOT_YET_RUNNING,
    RESUMING,
    UNFINISHED,
    InstanceState,
    Leases,
    RunState,
    Task,
    TaskAudit,
    TaskInstance,
    TaskState,
    Workflow,
    WorkflowRun,
)

R = TypeVar("R", Workflow, WorkflowRun, Task, TaskInstance, TaskAudit)

DOOMED_WITH_THEIR_RUN = frozenset({InstanceState.QUEUED, InstanceState.INSTANTIATED, InstanceState.LAUNCHED})
"""Instances whose command has not started."""


class Draft:
    """The records as one transaction reads and changes them.

    Every method may raise Refused or IllegalMove; the transaction is then rolled back.

    Args:
        transaction: reads and writes the records.
        now: the time of the transaction, in seconds.
        leases: how long leases last.
        started: when the server started, in seconds.
    """

    def __init__(self, transaction: Transaction, now: float, leases: Leases, started: float = -math.inf) -> None:
        self._transaction = transaction
        self._started = started
        self.now = now
        self.leases = leases

    # Reads.

    def workflow(self, number: int) -> Workflow:
        """Returns the workflow with that number."""
        return self._known(Workflow, number, "workflow")

    def run(self, number: int) -> WorkflowRun:
        """Returns the workflow run with that number."""
        return self._known(WorkflowRun, number, "workflow run")

    def task(self, number: int) -> Task:
        """Returns the task with that number."""
        return self._known(Task, number, "task")

    def instance(self, number: int) -> TaskInstance:
        """Returns the task instance with that number."""
        return self._known(TaskInstance, number, "task instance")

    def _known(self, kind: type[R], number: int, what: str) -> R:
        record = self._transaction.get(kind, number)
        if record is None:
            raise Refused(f"there is no {what} {number}")
        return record

    def find(self, kind: type[R], **conditions: Condition) -> tuple[R, ...]:
        """Returns the records whose columns meet the conditions."""
        return self._transaction.find(kind, **conditions)

    def unfinished(self, workflow: int) -> tuple[TaskInstance, ...]:
        """Returns the unfinished instances of a workflow."""
        return self.find(TaskInstance, workflow_id=workflow, status=UNFINISHED)

    def holder(self, workflow: int) -> WorkflowRun | None:
        """Returns the run of a workflow that has not ended; None if all have."""
        runs = self.find(WorkflowRun, workflow_id=workflow, status=HOLDING)
        return runs[0] if runs else None

    def is_overdue(self, instance: TaskInstance) -> bool:
        """Whether the instance's lease has run out."""
        return instance.report_by_date is not None and instance.report_by_date <= self.now

    def may_reap(self, late: WorkflowRun | TaskInstance) -> bool:
        """Whether a lease has run out, where a lease counts from the server's start at the earliest.

        Agents cannot renew a lease while no server answers. A server that starts again therefore waits for one lease
        before it takes any agent for dead. Guards that refuse a late request do not wait: see :meth:`is_overdue`.
        """
        if isinstance(late, WorkflowRun):
            return max(late.heartbeat_date, self._started + self.leases.run) <= self.now
        return self.is_overdue(late) and self._started + self.leases.instance <= self.now

    def is_wound_up(self, run: WorkflowRun) -> bool:
        """Whether a run that makes room has no instance left that the next run has to wait for."""
        waits_for = UNFINISHED if run.status is RunState.COLD_RESUME else NOT_YET_RUNNING
        return not self.find(TaskInstance, workflow_run_id=run.id, status=waits_for)

    # New records.

    def add(self, record: R) -> R:
        """Adds a record of any kind; a new task gets its first audit."""
        new = self._transaction.add(record)
        if isinstance(new, Task):
            self._transaction.add(TaskAudit(0, new.id, new.workflow_id, None, new.status, self.now))
        return new

    def queue(self, task: Task, run: WorkflowRun) -> TaskInstance:
        """Queues the next attempt of a task: returns its new instance, and moves the task to queued."""
        self.move_task(replace(task, num_attempts=task.num_attempts + 1), TaskState.QUEUED)
        return self.add(
            TaskInstance(
                0, task.id, task.workflow_id, run.id, InstanceState.QUEUED, self.now, task.resources, task.queue
            )
        )

    # Moves.

    def change(self, old: R, **columns: Any) -> R:
        """Changes columns other than the state."""
        new = replace(old, **columns)
        if new != old:
            self._transaction.update(old, new)
        return new

    def lease(self) -> float:
        """Returns the deadline of an instance's lease that begins now."""
        return self.now + self.leases.instance

    def move(self, instance: TaskInstance, status: InstanceState, **columns: Any) -> TaskInstance:
        """Moves an instance, and its task with it. An instance in a final state has no lease."""
        check(f"task instance {instance.id}", INSTANCE_MOVES, instance.status, status)
        if status not in UNFINISHED:
            columns["report_by_date"] = None
        moved = self.change(instance, status=status, status_date=self.now, **columns)
        task = self.task(instance.task_id)
        self.move_task(task, task_after(task.status, task.num_attempts < task.max_attempts, status))
        return moved

    def move_task(self, task: Task, status: TaskState) -> Task:
        """Moves a task and records the move in its audit; other columns of ``task`` are written as well."""
        at_present = self.task(task.id)
        check(f"task {task.id}", TASK_MOVES, at_present.status, status)
        if status is at_present.status:
            return self.change(at_present, **{**vars(task), "status": status})
        moved = self.change(at_present, **{**vars(task), "status": status, "status_date": self.now})
        for audit in self.find(TaskAudit, task_id=task.id, exited_at=None):
            self.change(audit, exited_at=self.now)
        self.add(TaskAudit(0, task.id, task.workflow_id, at_present.status, status, self.now))
        return moved

    def move_run(self, run: WorkflowRun, status: RunState) -> WorkflowRun:
        """Moves a run, and its workflow with it.

        A run that is aborted before it was linked leaves its workflow unchanged. A run that ends without being done
        dooms its instances that have not started. So does a run that makes room; a cold resume dooms the running ones
        as well.
        """
        check(f"workflow run {run.id}", RUN_MOVES, run.status, status)
        moved = self.change(run, status=status, status_date=self.now)
        after = OF_RUN.get(status)
        if after is not None and (run.status, status) != (RunState.REGISTERED, RunState.ABORTED):
            workflow = self.workflow(run.workflow_id)
            check(f"workflow {workflow.id}", WORKFLOW_MOVES, workflow.status, after)
            if after is not workflow.status:
                self.change(workflow, status=after, status_date=self.now)
        if status in RESUMING or (status in ENDED and status is not RunState.DONE):
            kinds = UNFINISHED if status is RunState.COLD_RESUME else DOOMED_WITH_THEIR_RUN
            self.doom(self.find(TaskInstance, workflow_run_id=run.id, status=kinds))
        return moved

    def doom(self, instances: Iterable[TaskInstance]) -> int:
        """Ends queued instances at once, and marks the others as doomed.

        Returns:
            How many instances changed.
        """
        changed = 0
        for each in instances:
            if each.status is InstanceState.QUEUED:
                self.move(each, InstanceState.FATAL, doomed=True)
            elif not each.doomed and each.status is not InstanceState.NO_HEARTBEAT:
                self.change(each, doomed=True)
            else:
                continue
            changed += 1
        return changed
