"""What a client's user is told of tasks that failed."""

from __future__ import annotations

from collections.abc import Iterator

from .jobs import Job
from .records import InstanceState, TaskState
from .requests import Report

WORDS = {
    InstanceState.ERROR: "ended in error",
    InstanceState.RESOURCE_ERROR: "exceeded its resources",
    InstanceState.UNKNOWN_ERROR: "was lost",
    InstanceState.NO_DISTRIBUTOR_ID: "could not be launched",
    InstanceState.FATAL: "was ended",
}
"""How an attempt ended that did not succeed."""


def failures(run: Report) -> Iterator[str]:
    """A line for each failed task, from what was read of its run.

    The server keeps no output, and does not know where a distributor writes to: only the machine is known.
    """
    last = {instance.task_id: instance for instance in run.instances}
    for task in run.tasks:
        it = last.get(task.id)
        if task.status is not TaskState.FAILED or it is None:
            continue
        job = Job.named(it.distributor_id or "")
        where = f"; its output is in the --log of the distributor on {job.place.host}" if job is not None else ""
        yield f"task {task.name}: attempt {task.num_attempts} of {task.max_attempts} {WORDS[it.status]} (task instance {it.id}){where}"
