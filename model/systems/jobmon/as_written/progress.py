"""Liveness properties and life cycles.

They are: what must stay reachable, what happens if all agents do their work, and which life cycles are possible.
"""

from schedproof.model.lang import AlwaysCanReach, DeadlockFree, LeadsTo, LifeCycle, Property, Term, Var, forall
from schedproof.model.systems.jobmon.sorts import Task, TaskInstance, Workflow, WorkflowRun

from .machines import t, w
from .properties import ENDS, HALTED, SIGNALS
from .runs import RUN_ACTIONS, RUN_DEATHS
from .tasks import TASK_ACTIONS, TASK_DEATHS

TRY_EXCEPT = "The work is executed in a try/except block that either errors and posts an error signal or finishes and posts a proceed signal."
LOOP = "It is appropriate to think of each deployment unit as a while loop waiting for a signal state to begin work."
TERMINAL = (
    "The terminal state is 1. a signal for the next deployment unit to begin working, or 2. that an unrecoverable error has been "
    "encountered."
)

STOPPING = ["kill", "withdraw", "ask_to_halt"]
"""The actions that users may repeat without end."""

DEATHS = [action.name for action in (*TASK_DEATHS, *RUN_DEATHS)]


def leaves(name: str, state: str, says: str, it: Var, line: int = 55, sentence: str = TRY_EXCEPT) -> Property:
    """Returns the property that an object in ``state`` can always still leave it."""
    return AlwaysCanReach(
        name=name, says=says, line=line, sentence=sentence, over=[it], given=it.is_(state), goal=~it.is_(state)
    )


def signalled(it: Var) -> Term:
    """Returns the condition that ``it`` waits for an agent to claim control."""
    return it.is_("Queued", "Launched", "Halted")


def fair_to(actions: list[str]) -> list[str]:
    """Returns the actions that are done eventually if they stay enabled: all but stops and deaths."""
    return [name for name in actions if name not in [*STOPPING, *DEATHS]]


everything_ends = LeadsTo(
    name="everything-ends",
    says="a task ends if every agent continues its work, and none dies, or stops the task, again and again",
    line=54,
    sentence=LOOP,
    over=[t],
    given=~t.is_("Absent"),
    goal=t.is_(*ENDS),
    weak=fair_to([action.name for action in TASK_ACTIONS if action.name != "register_task"]),
    without=[*STOPPING, *DEATHS],
)

PROGRESS: list[Property] = [
    DeadlockFree(
        name="somebody-can-go-on",
        says="as long as a task or workflow has not ended, some action other than a death is enabled",
        line=31,
        sentence=TERMINAL,
        ended=forall(t, t.is_("Absent", *ENDS)) & forall(w, w.is_("Absent", *ENDS)),
        without=DEATHS,
    ),
    AlwaysCanReach(
        name="signals-can-be-taken-up",
        says="a task that is Queued, Launched or Halted can always still be taken up",
        line=47,
        sentence=SIGNALS,
        over=[t],
        given=signalled(t),
        goal=~signalled(t),
    ),
    AlwaysCanReach(
        name="workflow-signals-can-be-taken-up",
        says="a workflow that is Queued, Launched or Halted can always still be taken up",
        line=47,
        sentence=SIGNALS,
        over=[w],
        given=signalled(w),
        goal=~signalled(w),
    ),
    leaves("registering-ends", "Registering", "the client can always still queue or abort a task that it registers", t),
    leaves(
        "instantiating-ends",
        "Instantiating",
        "a task that is being instantiated can always still be launched, or come to an error",
        t,
    ),
    leaves("running-ends", "Running", "a task that runs can always still be done, or come to an error", t),
    leaves(
        "triaging-ends",
        "Triaging",
        "the server can always still decide what follows the error of a task",
        t,
        49,
        "When an error is encountered in the scheduler or executor the web server decides which deployment unit will get control next.",
    ),
    AlwaysCanReach(
        name="everything-can-end",
        says="a task can always still become Done, Failed or Aborted",
        line=31,
        sentence=TERMINAL,
        over=[t],
        given=~t.is_("Absent"),
        goal=t.is_(*ENDS),
    ),
    AlwaysCanReach(
        name="workflows-can-end",
        says="a workflow can always still become Done, Failed or Aborted",
        line=31,
        sentence=TERMINAL,
        over=[w],
        given=~w.is_("Absent"),
        goal=w.is_(*ENDS),
    ),
    everything_ends,
    LeadsTo(
        name="workflows-end",
        says=(
            "a workflow ends if every agent continues its work, and none dies, or halts the workflow, again and again"
        ),
        line=54,
        sentence=LOOP,
        over=[w],
        given=~w.is_("Absent"),
        goal=w.is_(*ENDS),
        weak=fair_to([action.name for action in RUN_ACTIONS if action.name != "register_workflow"]),
        without=[*STOPPING, *DEATHS],
    ),
]

FIRST = ["Absent", "Registering", "Queued", "Instantiating", "Launched", "Running"]

LIFE_CYCLES: list[Property] = [
    LifeCycle(
        name="life-of-a-task",
        says="a task can be registered, queued, instantiated, launched, run and done",
        line=56,
        sentence="The states below describe the universal finite state machine.",
        sort=Task,
        states=[*FIRST, "Done"],
    ),
    LifeCycle(
        name="life-with-a-retry",
        says="a task can come to an error when it runs, be queued again, and be done",
        line=49,
        sentence="When an error is encountered in the scheduler or executor the web server decides which deployment unit will get control next.",
        sort=Task,
        states=[*FIRST, "Triaging", "Queued", "Instantiating", "Launched", "Running", "Done"],
    ),
    LifeCycle(
        name="life-that-fails",
        says="a task can use up its attempts, and fail",
        line=67,
        sentence="- FAILED (F) = Encountered a fatal error or have reached the maximum number of attempts.",
        sort=Task,
        states=[*FIRST, "Triaging", "Queued", "Instantiating", "Triaging", "Failed"],
    ),
    LifeCycle(
        name="life-with-a-halt",
        says="a task can be stopped when it runs, be registered again, and be done",
        line=68,
        sentence="- HALTED (H) = Execution was stopped mid-run.",
        sort=Task,
        states=[*FIRST, "Triaging", "Halted", *FIRST[1:], "Done"],
    ),
    LifeCycle(
        name="life-of-an-adjusted-instance",
        says="an instance can run out of resources, and be marked for adjusting",
        line=128,
        sentence="The reconciler in the Python client moves the Task Instance into state A (Adjusting Resources) if the Task Instance has not reached its retry limit.",
        sort=TaskInstance,
        states=[
            *("Absent", "Registered", "Queued", "Instantiated", "BatchExecutor", "Running"),
            *("ResourceError", "AdjustingResources"),
        ],
    ),
    LifeCycle(
        name="life-of-a-workflow",
        says="a workflow can be registered, queued, instantiated, launched, run, halted, taken up again and done",
        line=153,
        sentence=HALTED,
        sort=Workflow,
        states=[*FIRST, "Triaging", "Halted", *FIRST[1:], "Done"],
    ),
    LifeCycle(
        name="life-of-a-halted-run",
        says="a run can be asked to halt, and halt",
        line=153,
        sentence=HALTED,
        sort=WorkflowRun,
        states=[
            *("Absent", "Registered", "Bound", "Instantiated", "BatchExecutor", "Running"),
            *("Resume", "Halted"),
        ],
    ),
]
