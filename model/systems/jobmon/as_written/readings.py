"""Text that allows two interpretations, and the properties that depend on the interpretation chosen here.

An element of an alternative replaces the row, rule, action or property of the model with the same name.
"""

from collections.abc import Mapping
from dataclasses import replace

from schedproof.model.lang import Action, Invariant, Reading, Row, given, implies, me
from schedproof.model.systems.jobmon.sorts import Task, TaskInstance

from . import tasks
from .machines import IMAGES, UNFINISHED_ERRORS, i, t
from .progress import everything_ends
from .properties import AFTER_AN_ERROR, TASK_PROPERTIES, image

RETRIED: Mapping[str, tuple[str, ...]] = {
    "retry": ("NoExecutorId", "UnknownError", "ApplicationError"),
    "retry_unchanged": ("ResourceError", "AdjustingResources"),
}


def prop(name: str) -> Invariant:
    """Returns the invariant of tasks with that name."""
    return next(p for p in TASK_PROPERTIES if isinstance(p, Invariant) and p.name == name)


SUBMITTED = implies(i.is_("BatchExecutor"), t.is_("Instantiating", "Launched"))
OTHERS = {state: stands_for for state, stands_for in IMAGES.items() if state != "BatchExecutor"}

READINGS = (
    Reading(
        "a-retry-is-a-new-instance",
        135,
        "What is tried again gets a new instance, whatever the error was.",
        "Only what gets more resources does, or is taken up after a halt; else the instance itself is queued again, as the figure draws "
        "it (facts 1.3). If its earlier command still runs, the state knows of the later only; and what is said of new instances says "
        "nothing of it.",
        adds=[
            *[
                Row(TaskInstance, "requeue", state, "Queued", fact="1.3", command="none")
                for states in RETRIED.values()
                for state in states
            ],
            *[
                Action(
                    name,
                    [t, i],
                    when=[t.is_("Triaging"), t.latest == i, i.is_(*states), t.attempts < t.maximum],
                    fires=[t.fires("retry", by="server", instance=i), i.fires("requeue")],
                    says="the server has {t} tried again, by {i} once more",
                    line=50,
                )
                for name, states in RETRIED.items()
            ],
        ],
        rests=["resources-grow-on-resource-errors"],
    ),
    Reading(
        "the-maximum-is-reached",
        107,
        "What has been attempted as often as its maximum is not tried again, as lines 67 and 129 have it.",
        "It may be tried once more: it has not exceeded the maximum.",
        adds=[
            *[
                replace(action, when=[*action.when[:2], t.attempts <= t.maximum, *action.when[3:]])
                for action in (tasks.retry, tasks.retry_unchanged)
            ],
            replace(tasks.reconcile, when=[*tasks.reconcile.when[:2], i.task.attempts <= i.task.maximum]),
        ],
        breaks=["attempts-within-the-maximum", "marked-tasks-have-attempts-left"],
    ),
    Reading(
        "stopped-attempts-go-on",
        67,
        "What was halted and is taken up again goes on with its attempt: the attempts that count are those after an error.",
        "It is one more attempt.",
        adds=[
            Row(
                Task,
                "resume",
                "Halted",
                "Registering",
                fact="1.2",
                latest=given("instance"),
                attempts=me.attempts + 1,
                mover=given("by"),
            )
        ],
        breaks=["attempts-within-the-maximum"],
    ),
    Reading(
        "the-worker-posts-resource-errors",
        122,
        "The worker reports a resource error to the server.",
        "The reconciler does, as in the figure (facts 1.3).",
        adds=[
            tasks.drives("exceed", "err", "client", 122),
            replace(
                next(action for action in tasks.WORKER if action.name == "report_resources"),
                says="the reconciler finds that {i} had too few resources",
            ),
        ],
    ),
    Reading(
        "the-server-decides-on-all-errors",
        49,
        "The server decides on resource errors as on others, and may have the task tried again as it is.",
        "It leaves resource errors to the reconciler while attempts are left.",
        drops=["retry_unchanged"],
        adds=[replace(everything_ends, weak=[name for name in everything_ends.weak if name != "retry_unchanged"])],
        rests=["resources-grow-on-resource-errors"],
    ),
    Reading(
        "submitted-is-launched",
        63,
        "A task is Launched as soon as its instance is submitted (Batch Executor, facts 1.3).",
        "The scheduler posts Launched afterwards; an error before that leads from Instantiating to Triaging. One after that still has no way.",
        drops=["launch is its task's launch"],
        adds=[
            Action(
                "post_launched",
                [t, i],
                when=[t.latest == i, i.is_("BatchExecutor"), t.is_("Instantiating")],
                fires=[t.fires("launch", by="scheduler")],
                says="the scheduler posts that {t} is launched",
                line=63,
            ),
            replace(tasks.start, when=[*tasks.start.when, i.task.is_("Launched")]),
            tasks.drives("lose", "err", "client", 80, i.task.is_("Instantiating", "Running")),
            tasks.drives("kill", "err", "client", 80, i.task.is_("Instantiating", "Running")),
            replace(
                prop("task-is-the-image-of-its-instance"),
                then=image(i, t, OTHERS) & SUBMITTED & implies(i.is_(*UNFINISHED_ERRORS), t.is_(*AFTER_AN_ERROR)),
            ),
            replace(prop("task-keeps-up-with-its-instance"), then=image(i, t, OTHERS) & SUBMITTED),
        ],
    ),
    Reading(
        "workers-wait-for-the-signal",
        54,
        "A worker begins only what it can claim: a job that starts after its instance was given up does nothing.",
        "Its command runs all the same.",
        adds=[
            Action(
                "start_late",
                [i],
                when=[i.is_("UnknownError", "KillSelf"), i.command == "none"],
                fires=[i.fires("exit", how="live")],
                says="the cluster starts the command of {i}, which nobody waits for any more",
                line=54,
            )
        ],
    ),
    Reading(
        "halted-is-what-was-stopped",
        68,
        "The server has halted what the client wanted to be stopped, and nothing else.",
        "It may have halted whatever came to an error.",
        adds=[replace(tasks.halt, when=tasks.halt.when[:1])],
    ),
)
