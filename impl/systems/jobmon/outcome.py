"""The text that reports a run to its user: its progress, which tasks failed and why, and why it was reaped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from .jobs import Job
from .records import ENDED, InstanceState, Task, TaskState
from .requests import Report

WORDS = {
    InstanceState.ERROR: "ended in error",
    InstanceState.RESOURCE_ERROR: "exceeded its resources",
    InstanceState.UNKNOWN_ERROR: "was lost",
    InstanceState.NO_DISTRIBUTOR_ID: "could not be launched",
    InstanceState.FATAL: "was ended",
}
"""How an attempt ended that did not succeed."""

NAMED = 3
"""How many tasks a line names at most."""


def failures(run: Report) -> Iterator[str]:
    """Yields a line for each failed task, from the report on its run.

    The server keeps no output, and does not know the distributor's log file: a line names only the machine.
    """
    last = {instance.task_id: instance for instance in run.instances}
    for task in run.tasks:
        it = last.get(task.id)
        if task.status is not TaskState.FAILED or it is None:
            continue
        job = Job.named(it.distributor_id or "")
        where = f"; its output is in the --log of the distributor on {job.place.host}" if job is not None else ""
        yield f"task {task.name}: attempt {task.num_attempts} of {task.max_attempts} {WORDS[it.status]} (task instance {it.id}){where}"


def reaped(report: Report) -> str:
    """Returns why a run was reaped, from a report with the run, its workflow and its lease."""
    (run,) = report.runs
    assert report.workflow is not None
    silent = run.status_date - (run.heartbeat_date - report.lease)
    return (
        f"run {run.id} of workflow {shown(report.workflow.name)} was reaped: "
        f"no heartbeat for {silent:.0f} s (its client was taken for dead)"
    )


def progress(report: Report) -> str | None:
    """Returns the progress of a workflow in one line; None if the report has no tasks."""
    if report.workflow is None or not report.tasks:
        return None
    begin = f"workflow {shown(report.workflow.name)}: "
    if report.request == "read workflow" and (awaited := _awaited(report)) is not None:
        return begin + awaited
    counts = Counter(_standing(task) for task in report.tasks)
    over = any(run.status in ENDED for run in report.runs)
    parts = [f"{counts['done']} of {len(report.tasks)} tasks done"]
    for standing in ("running", "queued", "waiting"):
        if counts[standing]:
            parts.append(f"{counts[standing]} {'not run' if over and standing == 'waiting' else standing}")
    if failed := [task for task in report.tasks if task.status is TaskState.FAILED]:
        parts.append(f"{len(failed)} failed ({_names(failed)})")
    return begin + ", ".join(parts)


def _awaited(report: Report) -> str | None:
    """What a resuming client without a run waits for: another run, or attempts that an earlier run left."""
    run = report.runs[0] if report.runs else None
    if run is not None and run.status not in ENDED:
        return f"waiting for run {run.id} to make room ({run.status.in_words})"
    if report.instances:
        ids = {instance.task_id for instance in report.instances}
        return f"waiting for what an earlier run left ({_names(task for task in report.tasks if task.id in ids)})"
    return None


def _standing(task: Task) -> str:
    match task.status:
        case TaskState.DONE | TaskState.FAILED | TaskState.RUNNING:
            return task.status.in_words
        case TaskState.QUEUED | TaskState.INSTANTIATING | TaskState.LAUNCHED:
            return "queued"
    return "waiting"


def shown(name: str) -> str:
    """Returns a name in a form that fits in a line: a name with unprintable characters is escaped."""
    return name if name.isprintable() else name.encode("unicode_escape").decode()


def _names(tasks: Iterable[Task]) -> str:
    names = [shown(task.name) for task in tasks]
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")
