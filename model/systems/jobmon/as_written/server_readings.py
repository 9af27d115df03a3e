"""Interpretations of what the server, the reconciler and the executor do between the states that the figures draw."""

from collections.abc import Iterator
from dataclasses import replace

from schedproof.model.lang import Action, LeadsTo, Reading, Row, Rule, exists
from schedproof.model.systems.jobmon.sorts import TaskInstance, WorkflowRun

from . import runs, tasks
from .machines import RUN_ERRORS, UNFINISHED_ERRORS, i, t, w
from .progress import PROGRESS


def fair(end: str, *names: str) -> LeadsTo:
    """Returns the property of that name, that all ends, if these actions are done eventually as well."""
    (prop,) = (each for each in PROGRESS if isinstance(each, LeadsTo) and each.name == end)
    return replace(prop, weak=[*prop.weak, *names])


def asks_first() -> Iterator[Row | Action | LeadsTo]:
    """Yields the question to the cluster, which comes before each decision of the server, and the decisions that wait for it.

    The answer is in hand as what an agent has claimed is: no error state has anything else in hand.
    """
    for sort, errors in ((TaskInstance, UNFINISHED_ERRORS), (WorkflowRun, RUN_ERRORS)):
        for state in errors:
            yield Row(sort, "hear", state, state, line=66, at_hand=True)
    yield Action(
        "ask_the_cluster",
        [t],
        when=[t.is_("Triaging"), ~t.latest.at_hand],
        fires=[t.latest.fires("hear")],
        says="the cluster answers the server what has become of the latest instance of {t}",
        line=66,
    )
    yield Action(
        "ask_about_a_run",
        [w],
        when=[w.is_("Triaging"), ~w.latest.at_hand],
        fires=[w.latest.fires("hear")],
        says="the cluster answers the server what has become of the latest run of {w}",
        line=66,
    )
    for action in (tasks.retry, tasks.retry_unchanged, tasks.give_up, tasks.halt):
        yield replace(action, when=[*action.when, t.latest.at_hand])
    for action in (runs.retry, runs.give_up, runs.halt_workflow):
        yield replace(action, when=[*action.when, w.latest.at_hand])
    yield fair("everything-ends", "ask_the_cluster")
    yield fair("workflows-end", "ask_about_a_run")


MISSES = Action(
    "client_dies",
    [],
    when=[exists(i, i.is_("Registered", "ResourceError") & i.at_hand & i.task.mortal)],
    fires=[],
    says="the client dies and comes back, and its reconciler with it",
    crash=True,
    line=54,
)
"""The death of the client, which may lose the answer of the server as well."""

WRITES_LATER = Action(
    "write_the_task",
    [t],
    when=[t.is_("Running"), t.latest.is_("Done"), t.latest.at_hand],
    fires=[t.fires("finish", by="worker"), t.latest.fires("forget")],
    says="the server writes that {t} is done, as its instance is",
    line=123,
)

SERVER_READINGS = (
    Reading(
        "the-executor-is-the-worker",
        49,
        "The executor is the cluster with its worker nodes: what it claims or reports, the worker does.",
        "The executor is the cluster's own scheduler, an agent with errors of its own between submission and start.",
        adds=[
            Row(TaskInstance, "reject", "BatchExecutor", "NoExecutorId", line=49),
            Action(
                "reject",
                [i],
                when=[i.is_("BatchExecutor")],
                fires=[i.fires("reject")],
                says="the executor comes to an error before it starts the command of {i}",
                line=49,
            ),
            # The universal machine has no row for an error of a task that is Launched.
            tasks.drives("reject", "err", "scheduler", 49, tasks.NOT_LAUNCHED),
        ],
        question="The text has an executor here and in lines 62 and 63, and worker nodes elsewhere. Are they the same?",
        why="The figures have three deployment units, client, scheduler and worker, and no fourth for the executor (facts 1.1).",
    ),
    Reading(
        "triaging-is-one-step",
        75,
        "Triaging has no sub-machine: the server decides in one transaction.",
        "It first asks the cluster, in a step of its own, and decides when it has the answer.",
        adds=[*asks_first()],
        question="Each state in -ing of a stateful deployment unit has a sub-machine. Is the server such a unit?",
        why="The figures draw none (facts 1.3, 1.4).",
    ),
    Reading(
        "the-reconciler-misses-nothing",
        124,
        "The reconciler comes to each resource error, at some time after it.",
        "It comes to each change of state once. If it dies after the server's answer, it never comes to that change again.",
        adds=[
            Row(TaskInstance, "exceed", "Running", "ResourceError", line=122, fact="1.3", at_hand=True),
            Row(TaskInstance, "forget", "ResourceError", "ResourceError", line=124, at_hand=False),
            MISSES,
            Rule("the client forgets", MISSES, [i.is_("Registered", "ResourceError")], i.fires("forget"), line=54),
            replace(tasks.reconcile, when=[*tasks.reconcile.when, i.at_hand]),
        ],
        question="What does the reconciler remember of when it ran last, and does that survive its death?",
        why="The model has no memory of the reconciler. What it misses the server decides on: a task gets no more resources then.",
    ),
    Reading(
        "the-server-does-not-die",
        123,
        "Each request to the server is one transaction on its database. A death of the server has no effect.",
        "The server writes in several steps, and may die in between. Tried for the end with success.",
        adds=[
            Row(TaskInstance, "finish", "Running", "Done", line=65, fact="1.3", at_hand=True),
            Row(TaskInstance, "forget", "Done", "Done", line=123, at_hand=False),
            WRITES_LATER,
            Action(
                "server_dies",
                [i],
                when=[i.is_("Done"), i.at_hand, i.task.mortal],
                fires=[i.fires("forget")],
                says="the server dies between its writes of {i} and of its task",
                crash=True,
                line=123,
            ),
            fair("everything-ends", "write_the_task"),
        ],
        drops=["finish is its task's finish"],
        breaks=["done-iff-an-instance-is-done", "running-ends", "task-keeps-up-with-its-instance"],
        question="Is an update with all that it entails atomic?",
        why="The server keeps no state of its own in the text: all is in the database.",
    ),
)
