"""The properties of the machine that runs: those that the document requires, and those that one would expect.

``line`` is a line of the document (jobmon-finite-state-machines.rst). The document describes one universal machine;
here there are four.
"""

from collections.abc import Sequence

from schedproof.model.lang import (
    NONE,
    Action,
    AlwaysCanReach,
    IntRange,
    Invariant,
    LifeCycle,
    StepInvariant,
    Term,
    Var,
    after,
    exists,
    iff,
    implies,
    variable,
)
from schedproof.model.lang.terms import both
from schedproof.model.systems.jobmon.sorts import Task, TaskInstance, WorkflowRun

from .auxiliary_invariants import INCREASED, RECORDS
from .client import CLIENT_ACTIONS, QUEUEING
from .distributor import DISTRIBUTOR_ACTIONS
from .machines import INSTANCE_ENDS, LIVE, MOST, ON_ITS_WAY, OPEN, RUN_ENDS, c, d, i, k, q, r, t, w
from .server import SERVER_ACTIONS
from .worker import WORKER_ACTIONS

n = variable(IntRange(0, MOST), "n")

# --- Sentences of the document

DRIVEN = "The transitions in each are driven by the progression of associated instance finite state machines."
PROGRESSES = "Each deployment unit has a sub-FSM for each type of domain object that it progresses through before entering a terminal state for that deployment unit."
TERMINAL = "The terminal state is 1. a signal for the next deployment unit to begin working, or 2. that an unrecoverable error has been encountered."
SIGNALS = "When the deployment unit wants to pass off control it signals using an **-ed** word to signal to the next deployment unit that it can claim control."
WORK = "The work is executed in a try/except block that either errors and posts an error signal or finishes and posts a proceed signal."
RESILIENT = (
    "This is preferable because it would increase resiliency since the workflow can be retried from the database."
)
ROW_ADDED = "In addition it has a row added each time that a resource error occurs and the resources are be increased."
HALTED = "The key difference between the Workflow Run FSM and the Task Instance FSM is that the Workflow Run FSM mandates that the worker node signals back that the process has successfully halted before a new instance can be created."
FUTURE = "**Future Question:** Should this pattern also be adopted in the Task Instance FSM as well?"


def stays(what: Var, states: Sequence[str]) -> Term:
    """Returns the condition that ``what`` keeps its state in the step, if that is one of ``states``."""
    return both([implies(what.is_(state), after(what.is_(state))) for state in states])


def names(actions: Sequence[Action]) -> list[str]:
    """Returns the names of actions."""
    return [action.name for action in actions]


# --- Control


def moves_only(agent: str, actions: Sequence[str], in_control: Term, which: str) -> StepInvariant:
    """Returns the property that an agent moves an instance only where it has control, or claims it."""
    return StepInvariant(
        name=f"the-{agent}-moves-only-its-own",
        says=f"a {agent} moves an instance on only if it is {which}",
        line=47,
        sentence=SIGNALS,
        over=[i],
        on=actions,
        given=~i.is_("Absent") & ~in_control,
        then=stays(i, [*OPEN, *INSTANCE_ENDS]),
    )


CONTROL = [
    moves_only("client", names(CLIENT_ACTIONS), i.is_("Queued"), "queued, and nobody has taken it up"),
    moves_only(
        "distributor",
        names(DISTRIBUTOR_ACTIONS),
        i.is_("Queued", "Instantiated", "Launched", "Triaging", "NoHeartbeat", "KillSelf"),
        "queued, instantiated or launched, or waits for word of its job",
    ),
    moves_only("worker", names(WORKER_ACTIONS), i.is_("Launched", "Running"), "launched or running"),
    moves_only("server", names(SERVER_ACTIONS), i.is_("Triaging"), "triaging"),
    Invariant(
        name="the-dead-hold-nothing",
        says="a distributor that does not run has nothing in memory: one that is started again reads the database",
        sentence="fact 3.1: the distributor is a process of its own",
        over=[d, i],
        given=~d.is_("Running"),
        then=~d.held.has(i),
    ),
    AlwaysCanReach(
        name="signals-can-be-taken-up",
        says="an instance that is queued or launched can always be taken up",
        line=47,
        sentence=SIGNALS,
        over=[i],
        given=i.is_("Queued", "Launched"),
        goal=~i.is_("Queued", "Launched"),
    ),
]

# --- Tasks and their instances

IMAGE = {
    # For the state of the latest instance, the states that its task may have (3.2). A task that is reset waits in
    # Registering (3.5).
    "Queued": ("Queued",),
    "Instantiated": ("Instantiating",),
    "Launched": ("Launched",),
    "NoHeartbeat": ("Launched",),
    "Running": ("Running",),
    "Triaging": ("Running",),
    "KillSelf": ("Instantiating", "Launched", "Running"),
    "Done": ("Done",),
    "Error": ("Registering", "ErrorFatal"),
    "UnknownError": ("Registering", "ErrorFatal"),
    "NoDistributorId": ("Registering", "ErrorFatal"),
    "ResourceError": ("AdjustingResources", "Registering", "ErrorFatal"),
    "ErrorFatal": ("Registering", "ErrorFatal"),
}

FINISHED_WORK_COUNTS = AlwaysCanReach(
    name="finished-work-counts",
    says="the result of a command can always be reported, as long as its wrapper lives",
    line=55,
    sentence=WORK,
    over=[i],
    given=i.job.is_("Succeeded") & i.is_(*OPEN),
    goal=i.is_("Done"),
)

LATE_CAN_RUN_AGAIN = AlwaysCanReach(
    name="late-instances-can-run-again",
    says="an instance that is triaged while its command runs can always be Running again, with its command",
    sentence="fact 3.6: the heartbeat of a Triaging instance extends its deadline, and does not make it Running while its task is",
    over=[i],
    given=i.is_("Triaging") & i.job.is_("Running"),
    goal=i.is_("Running") & i.job.is_("Running"),
)

TASKS = [
    Invariant(
        name="one-live-instance",
        says="no two commands of one task run at once",
        # the document leaves it open (line 155)
        sentence="fact 3.4: an overdue instance becomes Triaging, and an unknown error is accepted once the deadline has passed",
        over=[i, k],
        given=(i != k) & (i.task == k.task) & i.job.is_(*LIVE),
        then=~k.job.is_(*LIVE),
    ),
    Invariant(
        name="done-iff-an-instance-is-done",
        says="a task is done exactly when an instance of it is",
        line=29,
        sentence=DRIVEN,
        over=[t],
        then=iff(t.is_("Done"), exists(i, (i.task == t) & i.is_("Done"))),
    ),
    Invariant(
        name="task-is-the-image-of-its-instance",
        says="the state of a task is the one that its latest instance determines",
        line=29,
        sentence=DRIVEN,
        over=[t, i],
        given=t.instance == i,
        then=both([implies(i.is_(state), t.is_(*image)) for state, image in IMAGE.items()]),
    ),
    Invariant(
        name="attempts-within-the-maximum",
        says="no task is attempted more often than it may be",
        line=105,
        sentence=INCREASED,
        over=[t],
        then=t.attempts <= t.most,
    ),
    StepInvariant(
        name="attempts-are-counted",
        says="each time that a task is queued is an attempt",
        line=105,
        sentence=INCREASED,
        over=[t, n],
        given=~t.is_("Queued") & after(t.is_("Queued")) & (t.attempts == n),
        then=after(t.attempts > n),
    ),
    StepInvariant(
        name="resources-stay-otherwise",
        says="the resources of a task change only when it is queued after a resource error",
        line=113,
        sentence=ROW_ADDED,
        over=[t, n],
        given=~(t.is_("AdjustingResources") & after(t.is_("Queued"))) & (t.resources == n),
        then=after(t.resources == n),
    ),
    StepInvariant(
        name="resources-grow-on-resource-errors",
        says="a task that has run out of resources is queued with more, as far as there is more",
        line=105,
        sentence=INCREASED,
        over=[t, n],
        given=t.is_("AdjustingResources") & after(~t.is_("AdjustingResources")) & (t.resources == n) & (n < t.ceiling),
        then=after(t.is_("Queued") & (t.resources > n)),
    ),
    LATE_CAN_RUN_AGAIN,
    FINISHED_WORK_COUNTS,
]

# --- Runs and their workflow

RUNS = [
    Invariant(
        name="one-live-run",
        says="a workflow has at most one run under way, once it is linked",
        line=153,
        sentence=HALTED,
        over=[r, q],
        given=(r != q) & (r.workflow == q.workflow) & r.is_(*ON_ITS_WAY[1:]),
        then=~q.is_(*ON_ITS_WAY[1:]),
    ),
    StepInvariant(
        name="only-the-live-run-queues",
        says="a client queues tasks only as long as its run runs",
        sentence="fact 3.1: the client queues ready tasks; fact 3.4: a reaper ends a run that is overdue",
        over=[],
        on=names(QUEUEING),
        then=c.run.is_("Running"),
    ),
    Invariant(
        name="workflow-is-the-image-of-its-run",
        says="the state of a workflow is the one that its run determines, while the run is under way",
        line=29,
        sentence=DRIVEN,
        over=[r],
        given=r.is_(*ON_ITS_WAY[1:]),
        then=both(
            [
                implies(r.is_(state), r.workflow.is_(*image))
                for state, image in {
                    "Linking": ("Registering",),
                    "Bound": ("Queued",),
                    "Instantiated": ("Instantiating",),
                    "Launched": ("Launched",),
                    "Running": ("Running",),
                    "ColdResume": ("Queued", "Running"),
                    "HotResume": ("Queued", "Running"),
                }.items()
            ]
        ),
    ),
    StepInvariant(
        name="halted-before-a-new-run",
        says="no command of a workflow is running when a cold run of it begins",
        line=153,
        sentence=HALTED,
        over=[c, i],
        on=["register"],
        given=c.is_("ResumesCold") & c.fires("begin") & (i.run != NONE) & (i.run.workflow == c.run.workflow),
        then=~i.job.is_(*LIVE),
    ),
    AlwaysCanReach(
        name="runs-can-end",
        says="a run can always come to an end, without a new client",
        line=30,
        sentence=PROGRESSES,
        over=[r],
        given=r.is_(*ON_ITS_WAY),
        goal=r.is_(*RUN_ENDS),
        without=["plan_cold", "plan_hot"],
    ),
    AlwaysCanReach(
        name="instances-can-end",
        says="an instance can always come to an end",
        line=30,
        sentence=PROGRESSES,
        over=[i],
        given=i.is_(*OPEN),
        goal=i.is_(*INSTANCE_ENDS),
    ),
    AlwaysCanReach(
        name="workflows-can-be-done",
        says="a workflow that a client has begun can always be done, if another client may begin",
        sentence="fact 3.5: a resume waits until no run is alive, and resets the tasks",
        over=[w, c, i],
        given=c.is_("NotStarted") & (c.run.workflow == w) & i.is_("Absent"),
        goal=w.is_("Done"),
    ),
    AlwaysCanReach(
        name="workflows-can-be-run",
        says="a workflow that is not done can always be run by another client",
        sentence="fact 3.5: a resume waits until no run is alive, and resets the tasks",
        over=[w, c],
        given=c.is_("NotStarted") & (c.run.workflow == w) & ~w.is_("Done"),
        goal=w.is_("Running"),
    ),
]

# --- Ends

ENDS = [
    StepInvariant(
        name="instances-end-for-good",
        says="an instance that has ended stays as it is",
        line=67,
        sentence="- FAILED (F) = Encountered a fatal error or have reached the maximum number of attempts.",
        over=[i],
        given=i.is_(*INSTANCE_ENDS),
        then=stays(i, INSTANCE_ENDS),
    ),
    StepInvariant(
        name="runs-end-for-good",
        says="a run that has ended stays as it is",
        line=67,
        sentence="- FAILED (F) = Encountered a fatal error or have reached the maximum number of attempts.",
        over=[r],
        given=r.is_(*RUN_ENDS),
        then=stays(r, RUN_ENDS),
    ),
    StepInvariant(
        name="done-is-final",
        says="a task or a workflow that is done stays done",
        line=65,
        sentence="- DONE (D) = All work has finished successfully.",
        over=[t, w],
        given=t.is_("Done") | w.is_("Done"),
        then=stays(t, ["Done"]) & stays(w, ["Done"]),
    ),
    Invariant(
        name="done-workflows-have-done-tasks",
        says="a workflow is done only when its tasks are",
        line=65,
        sentence="- DONE (D) = All work has finished successfully.",
        over=[w, t],
        given=w.is_("Done") & (t.workflow == w),
        then=t.is_("Done"),
    ),
    StepInvariant(
        name="failed-tasks-wait-for-a-resume",
        says="only a resume takes up a failed task again",
        line=67,
        sentence="- FAILED (F) = Encountered a fatal error or have reached the maximum number of attempts.",
        over=[t],
        given=t.is_("ErrorFatal") & ~t.fires("reset"),
        then=after(t.is_("ErrorFatal")),
    ),
    LifeCycle(
        name="life-of-an-instance",
        says="an instance can be queued, instantiated, launched, run and be done",
        sentence="section 1.5 of the facts: the edges of the figure of today",
        sort=TaskInstance,
        states=["Absent", "Queued", "Instantiated", "Launched", "Running", "Done"],
    ),
    LifeCycle(
        name="life-of-a-task",
        says="a task can be attempted again with more resources, and be done",
        line=105,
        sentence=INCREASED,
        sort=Task,
        states=[
            *("Registering", "Queued", "Instantiating", "Launched", "Running", "AdjustingResources"),
            *("Queued", "Instantiating", "Launched", "Running", "Done"),
        ],
    ),
    LifeCycle(
        name="life-of-a-run",
        says="a run can be registered, linked, bound, instantiated, launched, run and be resumed by another",
        sentence="section 1.6 of the facts: the edges of the figure of today",
        sort=WorkflowRun,
        states=[
            *("Absent", "Registered", "Linking", "Bound", "Instantiated", "Launched", "Running", "HotResume"),
            "Terminated",
        ],
    ),
]

PROPERTIES = [*CONTROL, *TASKS, *RUNS, *ENDS, *RECORDS]
