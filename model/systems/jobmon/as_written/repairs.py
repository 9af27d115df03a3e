"""The changes with which the document satisfies its properties, and the property that it cannot satisfy in full.

The changes are minimal: without one of them, the properties that it repairs are violated again. An element of a change
replaces the row, rule or action with the same name.
"""

from dataclasses import replace

from schedproof.model.lang import (
    Action,
    Change,
    Invariant,
    LifeCycle,
    Property,
    Row,
    StepInvariant,
    Var,
    after,
    given,
    implies,
    me,
)
from schedproof.model.lang.terms import both
from schedproof.model.systems.jobmon.sorts import Task, TaskInstance, Workflow, WorkflowRun
from schedproof.model.systems.jobmon.universal import OWNER

from . import runs, tasks
from .machines import i, j, r, t, w
from .progress import everything_ends
from .properties import IN_CONTROL, ONE_OWNER, leaves, leaves_any

LAUNCHED_CAN_ERR = Change(
    name="no-arrow-from-launched-to-triaging",
    wrong="Errors are found while an object is Launched, and the universal machine has no arrow from Launched to Triaging.",
    shown="errors-are-triaged",
    why=(
        "A Launched task or workflow can go to Triaging. Reconciler and client set two of the error states when it "
        "is Launched (lines 80, 81; facts 1.3 and 1.4), but the universal machine has no transition from Launched to "
        "Triaging."
    ),
    repairs=[
        "task-is-the-image-of-its-instance",
        "errors-are-triaged",
        "workflow-is-the-image-of-its-run",
        "run-errors-are-triaged",
        "signals-can-be-taken-up",
        "workflow-signals-can-be-taken-up",
        "somebody-can-go-on",
        "everything-can-end",
        "workflows-can-end",
        "everything-ends",
        "workflows-end",
    ],
    adds=[
        Row(Task, "err", "Launched", "Triaging", line=81, mover=given("by")),
        Row(Workflow, "err", "Launched", "Triaging", line=66, mover=given("by")),
        tasks.drives("lose", "err", "client", 81),
        tasks.drives("kill", "err", "client", 81),
        runs.drives("lose", "err", "client", 66),
        runs.drives("withdraw", "err", "client", 66),
    ],
)

CLIENT_ABORTS_WHAT_IT_FINDS = Change(
    name="a-dead-client-aborts-nothing",
    wrong="An error during a registration is fatal only if the client posts it, and a client that died cannot.",
    shown="registering-ends",
    why=(
        "When a client that died during a registration is back, it aborts this registration. A dead client "
        "cannot post an error signal, which lines 55 and 56 require, and no other agent can continue the "
        "registration (lines 52, 53)."
    ),
    repairs=[
        *("registering-ends", "somebody-can-go-on", "everything-can-end", "workflows-can-end"),
        *("everything-ends", "workflows-end"),
    ],
    adds=[replace(tasks.abort, when=tasks.abort.when[:1]), replace(runs.abort, when=runs.abort.when[:1])],
)

INSTANTIATED_CAN_BE_LOST = Change(
    name="a-dead-scheduler-leaves-instantiating",
    wrong="A scheduler that dies while it instantiates posts no error, and looks only for Queued objects when it is back.",
    shown="instantiating-ends",
    why=(
        "The reconciler also declares Instantiated objects lost. A scheduler that died before it submitted one "
        "posted no error signal, and when it is back it looks only for Queued objects (lines 54 to 56)."
    ),
    repairs=[
        *("instantiating-ends", "somebody-can-go-on", "everything-can-end", "workflows-can-end"),
        *("everything-ends", "workflows-end"),
    ],
    adds=[
        Row(TaskInstance, "lose", "Instantiated", "UnknownError", line=56, at_hand=False),
        Row(WorkflowRun, "lose", "Instantiated", "UnknownError", line=56, at_hand=False),
        replace(
            tasks.lose,
            when=[
                i.is_("Instantiated", "BatchExecutor", "Running"),
                i.task.losable | (i.command == "gone") | (i.is_("Instantiated") & ~i.at_hand),
            ],
        ),
        replace(runs.lose, when=[r.is_("Instantiated", "BatchExecutor", "Running")]),
    ],
)

RUNS_HALT_FIRST = Change(
    name="a-new-run-does-not-wait-for-a-halt",
    wrong="After an error a new workflow run is made though nobody has reported that the old process has halted (line 153).",
    shown="halted-before-a-new-run",
    why=(
        "After an error, the server decides only when the worker or the cluster has reported that the process of the run "
        "has ended. The reconciler may confirm in place of a worker that it has halted only if that is true (fact 1.4)."
    ),
    repairs=["one-live-run", "halted-runs-have-halted", "halted-before-a-new-run"],
    adds=[
        replace(runs.retry, when=[*runs.retry.when, w.latest.process != "live"]),
        replace(runs.force, when=[*runs.force.when, r.process != "live"]),
        Invariant(
            name="earlier-processes-are-over",
            says="the process of every run of a workflow but the latest has ended",
            line=154,
            over=[w, r],
            given=(r.workflow == w) & (w.latest != r),
            then=r.process != "live",
        ),
    ],
)

TASKS_HALT_FIRST = Change(
    name="a-halted-task-still-runs",
    wrong=(
        "A task is Halted (line 68), or tried again, while its command runs. Line 155 leaves open whether a task waits for the "
        "halt."
    ),
    shown="halted-tasks-have-halted",
    why=(
        "The server decides on a task only when the worker or the cluster has reported that the command has ended. So the "
        "answer to the question of line 155 is yes."
    ),
    repairs=["one-live-instance", "halted-tasks-have-halted"],
    adds=[
        replace(tasks.retry, when=[*tasks.retry.when, t.latest.command != "live"]),
        replace(tasks.halt, when=[*tasks.halt.when, t.latest.command != "live"]),
        Invariant(
            name="earlier-commands-are-over",
            says="the command of every instance of a task but the latest has ended",
            line=155,
            over=[t, i],
            given=(i.task == t) & (t.latest != i),
            then=i.command != "live",
        ),
    ],
)

TOO_FEW = "ResourceError"

ADJUSTED_BY_THE_CLIENT_IN_ITS_TURN = Change(
    name="two-agents-answer-a-resource-error",
    wrong="The server and the client both decide what follows a resource error, and the server may repeat the attempt with the same resources.",
    why=(
        "Only the server decides what follows a resource error, and it never repeats the attempt with the same "
        "resources. While attempts are left, it sets the task to Halted. The client that takes up the task increases "
        "its resources, as the entry Resume / Adjust Resources of the figure says (fact 1.2). Steps 6 and 7 bypass "
        "the server, which may decide first; this change removes them, and the instance's state Adjusting Resources."
    ),
    repairs=["resources-grow-on-resource-errors"],
    weakens={"life-of-an-adjusted-instance": ["life-with-too-few-resources"]},
    drops=[
        "reconcile",
        "retry_unchanged",
        "Task.adjust from Triaging",
        "TaskInstance.adjust from ResourceError",
        "marked-tasks-have-attempts-left",
    ],
    adds=[
        Row(
            Task,
            "adjust",
            "Halted",
            "Registering",
            fact="1.2",
            latest=given("instance"),
            attempts=me.attempts + 1,
            resources=me.resources + 1,
            mover=given("by"),
        ),
        Action(
            "halt_for_resources",
            [t],
            when=[t.is_("Triaging"), t.latest.is_(TOO_FEW), t.attempts < t.maximum],
            fires=[t.fires("halt", by="server")],
            says="the server has {t} halted, so that its resources can be increased",
            line=50,
        ),
        Action(
            "adjust",
            [t, j],
            when=[t.is_("Halted"), t.latest.is_(TOO_FEW), j.is_("Absent")],
            fires=[
                t.fires("adjust", by="client", instance=j),
                j.fires("create", task=t, resources=t.resources + 1),
            ],
            says="the client increases the resources of {t}, and takes it up with {j}",
            line=132,
            fact="1.2",
        ),
        replace(tasks.resume, when=[t.is_("Halted"), t.latest.is_("KillSelf"), j.is_("Absent")]),
        replace(
            everything_ends,
            weak=[
                *(name for name in everything_ends.weak if name not in ("reconcile", "retry_unchanged")),
                "halt_for_resources",
            ],
        ),
        LifeCycle(
            name="life-with-too-few-resources",
            says="an instance can run out of resources, and stays so",
            line=122,
            sentence="The Jobmon wrapper around the Cluster Task identifies the error and contacts the server with a state update to Z",
            sort=TaskInstance,
            states=["Absent", "Registered", "Queued", "Instantiated", "BatchExecutor", "Running", "ResourceError"],
        ),
        Invariant(
            name="halted-tasks-can-go-on",
            says="a Halted task was stopped, or had too few resources and has attempts left",
            line=107,
            over=[t, i],
            given=t.is_("Halted") & (t.latest == i),
            then=i.is_("KillSelf") | (i.is_(TOO_FEW) & (t.attempts < t.maximum)),
        ),
    ],
)


def others_bring_it_to_triage(name: str, it: Var, one: str) -> Property:
    """Returns the part of the one-owner property that remains."""
    return StepInvariant(
        name=name,
        says=f"an agent without control over {one} can only bring it to Triaging, where the server has control",
        line=46,
        sentence=ONE_OWNER,
        over=[it],
        given=leaves_any(it, IN_CONTROL),
        then=both(
            [
                implies(leaves(it, state), after((it.mover == str(OWNER[state])) | it.is_("Triaging")))
                for state in IN_CONTROL
            ]
        ),
    )


OTHERS_BRING_TO_TRIAGE = Change(
    name="owners-are-not-alone",
    wrong="The text gives each state one agent that moves it, and the figures let reconciler and client move the states of others.",
    why=(
        "A dead agent cannot post an error, and an owner does not stop by itself what a user wants to stop. So "
        "reconciler and client must set states in the boxes of others (facts 1.3 and 1.4). This change weakens "
        "the sentence, which claims too much, and changes no behaviour."
    ),
    repairs=[],
    weakens={
        "only-the-owner-moves": ["others-bring-tasks-to-triage"],
        "only-the-owner-moves-workflows": ["others-bring-workflows-to-triage"],
    },
    adds=[
        others_bring_it_to_triage("others-bring-tasks-to-triage", t, "a task"),
        others_bring_it_to_triage("others-bring-workflows-to-triage", w, "a workflow"),
    ],
)

REPAIRS = [
    LAUNCHED_CAN_ERR,
    CLIENT_ABORTS_WHAT_IT_FINDS,
    INSTANTIATED_CAN_BE_LOST,
    ADJUSTED_BY_THE_CLIENT_IN_ITS_TURN,
    RUNS_HALT_FIRST,
    TASKS_HALT_FIRST,
    OTHERS_BRING_TO_TRIAGE,
]
