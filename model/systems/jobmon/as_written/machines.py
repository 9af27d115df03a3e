"""The four machines of the document.

Tasks and workflows move through the universal machine, their instances and runs through the figures' sub-machines. The
line of a row is where the document describes the state or the move. Only the figures draw which moves there are, so
each row cites its section of the facts. Objects that do not exist yet are Absent. Each move of a task or a workflow
records the agent that made it. That is a history variable: only properties read it.
"""

from collections.abc import Sequence

from schedproof.model.lang import (
    Attribute,
    BoolType,
    EnumType,
    Event,
    IntRange,
    Machine,
    Ref,
    Row,
    Sort,
    State,
    Type,
    given,
    me,
    variable,
    variables,
)
from schedproof.model.lang.terms import Term
from schedproof.model.systems.jobmon import universal
from schedproof.model.systems.jobmon.sorts import Task, TaskInstance, Workflow, WorkflowRun
from schedproof.model.systems.jobmon.universal import Agent

i, j = variables(TaskInstance, "i j")
t = variable(Task, "t")
r, q = variables(WorkflowRun, "r q")
w = variable(Workflow, "w")

AGENT = EnumType(("nobody", *(str(agent) for agent in Agent)))

# A command or a client's process, from its start. It ends with success, with an error, killed by the cluster for its
# resources (line 121), or without anybody left to report it ("gone").
PROCESS = EnumType(("none", "live", "succeeded", "failed", "exceeded", "gone"))

MOST_ATTEMPTS = 3
"""The greatest maximum number of attempts in the model."""


RENEWING = ("register", "retry", "resume", "adjust")
"""The events with which a new instance becomes the latest."""


def universal_machine(
    sort: Sort, instances: Sort, attributes: Sequence[Attribute] = (), events: Sequence[str] = ()
) -> Machine:
    """Returns the machine of a sort of tasks or workflows.

    Args:
        sort: the sort of the machine.
        instances: the sort of its instances, which are tried one after the other.
        attributes: further attributes of this sort only.
        events: further events of this sort only.
    """
    signed: dict[str, Type] = {"by": AGENT}
    with_instance: dict[str, Type] = {**signed, "instance": Ref(instances)}
    named = ["register", *dict.fromkeys(row.event for row in universal.table(sort)), *events]
    return Machine(
        sort,
        line=57,
        states=[State("Absent"), *universal.STATES],
        attributes=[
            Attribute("latest", Ref(instances), line=29, about="its most recent instance or run"),
            # "all retries are used" (line 51), "the maximum number of attempts" (line 67)
            Attribute("attempts", IntRange(0, MOST_ATTEMPTS + 1), line=67),
            Attribute("maximum", IntRange(1, MOST_ATTEMPTS), rigid=True, line=67, about="the most attempts"),
            Attribute("mover", AGENT, history=True, line=46, about="the agent that took the last transition"),
            # Which faults can occur to it: an exploration leaves out faults outside of its subject.
            Attribute("mortal", BoolType(), rigid=True, about="the agent that controls it may die", assumed=False),
            *attributes,
        ],
        events=[Event(name, with_instance if name in RENEWING else signed) for name in named],
    )


def universal_rows(sort: Sort) -> list[Row]:
    """Returns the rows of the universal machine.

    Each records the agent that moves, and a new instance becomes the latest.
    """
    renewed: dict[str, dict[str, Term | int]] = {
        "retry": {"latest": given("instance"), "attempts": me.attempts + 1},
        "resume": {"latest": given("instance")},
    }
    return [
        Row(
            sort,
            "register",
            "Absent",
            "Registering",
            line=59,
            fact="1.2",
            latest=given("instance"),
            attempts=1,
            mover=given("by"),
        ),
        *[
            Row(
                sort,
                row.event,
                row.source,
                row.target,
                line=row.line,
                fact=row.fact,
                mover=given("by"),
                **renewed.get(row.event, {}),
            )
            for row in universal.table(sort)
        ],
    ]


WORKFLOW = universal_machine(Workflow, WorkflowRun)

TASK = universal_machine(
    Task,
    TaskInstance,
    [
        Attribute("workflow", Ref(Workflow), rigid=True, line=28),
        # How often the resources have been increased (lines 113, 114): the active row of the table of parameter sets.
        Attribute("resources", IntRange(0, MOST_ATTEMPTS), line=132),
        Attribute(
            "losable", BoolType(), rigid=True, about="the reconciler may take it for lost when it is not", assumed=False
        ),
        Attribute("hungry", BoolType(), rigid=True, about="its command may exceed its resources", assumed=False),
    ],
    ["adjust"],
)

TASK_INSTANCE = Machine(
    TaskInstance,
    line=76,
    states=[
        State("Absent"),
        State("Registered"),
        State("Queued"),
        State("Aborted"),
        State("Instantiated"),
        State("BatchExecutor"),
        State("NoExecutorId"),
        State("Running"),
        State("Done"),
        State("KillSelf"),
        State("UnknownError"),
        State("ResourceError", line=122),
        State("ApplicationError"),
        State("AdjustingResources", line=129),
    ],
    attributes=[
        Attribute("task", Ref(Task), line=29),
        Attribute("resources", IntRange(0, MOST_ATTEMPTS), line=135),
        Attribute("command", PROCESS, line=23, about="what has become of the command that the instance runs"),
        # Whether the agent that has claimed it still knows of it: values outside of the database die with their agent.
        Attribute("at_hand", BoolType(), line=54, about="the agent that has claimed it still has it in memory"),
        Attribute("stoppable", BoolType(), rigid=True, about="may be stopped", assumed=False),
    ],
    events=[
        Event("create", {"task": Ref(Task), "resources": IntRange(0, MOST_ATTEMPTS)}),
        Event("renew", {"task": Ref(Task), "resources": IntRange(0, MOST_ATTEMPTS)}),
        Event("exit", {"how": PROCESS}),
    ],
)

TASK_INSTANCE_TABLE = [
    Row(
        TaskInstance,
        "create",
        "Absent",
        "Registered",
        line=59,
        fact="1.3",
        at_hand=True,
        task=given("task"),
        resources=given("resources"),
    ),
    Row(TaskInstance, "renew", "Absent", "Queued", line=135, task=given("task"), resources=given("resources")),
    # the box of the client
    Row(TaskInstance, "queue", "Registered", "Queued", line=60, fact="1.3", at_hand=False),
    Row(TaskInstance, "abort", "Registered", "Aborted", line=61, fact="1.3", at_hand=False),
    # the box of the scheduler; two of its states are set by other agents
    Row(TaskInstance, "instantiate", "Queued", "Instantiated", line=62, fact="1.3", at_hand=True),
    Row(TaskInstance, "launch", "Instantiated", "BatchExecutor", line=63, fact="1.3", at_hand=False),
    Row(TaskInstance, "get_no_id", "Instantiated", "NoExecutorId", line=80, fact="1.3", at_hand=False),
    Row(TaskInstance, "lose", "BatchExecutor", "UnknownError", line=80, fact="1.3"),
    Row(TaskInstance, "kill", "BatchExecutor", "KillSelf", line=80, fact="1.3"),
    # the box of the worker; three of its states are set by other agents
    Row(TaskInstance, "run", "BatchExecutor", "Running", line=64, fact="1.3", command="live"),
    Row(TaskInstance, "finish", "Running", "Done", line=65, fact="1.3"),
    Row(TaskInstance, "err", "Running", "ApplicationError", line=80, fact="1.3"),
    Row(TaskInstance, "kill", "Running", "KillSelf", line=80, fact="1.3"),
    Row(TaskInstance, "lose", "Running", "UnknownError", line=80, fact="1.3"),
    Row(TaskInstance, "exceed", "Running", "ResourceError", line=122, fact="1.3"),
    # step 6, in no figure
    Row(TaskInstance, "adjust", "ResourceError", "AdjustingResources", line=128),
    # The database does not show how a command ends.
    *[
        Row(TaskInstance, "exit", state, state, line=55, command=given("how"))
        for state in ("Running", "KillSelf", "UnknownError")
    ],
    # Nor does it show that an agent dies that has claimed something.
    *[Row(TaskInstance, "forget", state, state, line=54, at_hand=False) for state in ("Registered", "Instantiated")],
]

WORKFLOW_RUN = Machine(
    WorkflowRun,
    line=149,
    states=[
        State("Absent"),
        State("Registered"),
        State("Bound"),
        State("Aborted"),
        State("Instantiated"),
        State("BatchExecutor"),
        State("NoExecutorId"),
        State("Running"),
        State("Done"),
        State("RuntimeError"),
        State("UnknownError"),
        State("ResourceError"),
        State("Resume"),
        State("Halted", line=154),
    ],
    attributes=[
        Attribute("workflow", Ref(Workflow), line=29),
        Attribute("process", PROCESS, line=154, about="what has become of the process of the run"),
        Attribute("at_hand", BoolType(), line=54, about="the agent that has claimed it still has it in memory"),
        Attribute("stoppable", BoolType(), rigid=True, about="may be stopped", assumed=False),
    ],
    events=[
        Event("create", {"workflow": Ref(Workflow)}),
        Event("renew", {"workflow": Ref(Workflow)}),
        Event("exit", {"how": PROCESS}),
    ],
)

WORKFLOW_RUN_TABLE = [
    Row(WorkflowRun, "create", "Absent", "Registered", line=59, fact="1.4", at_hand=True, workflow=given("workflow")),
    Row(WorkflowRun, "renew", "Absent", "Bound", line=153, fact="1.4", workflow=given("workflow")),
    # the box of the client
    Row(WorkflowRun, "bind", "Registered", "Bound", line=60, fact="1.4", at_hand=False),
    Row(WorkflowRun, "abort", "Registered", "Aborted", line=61, fact="1.4", at_hand=False),
    # the box of the scheduler
    Row(WorkflowRun, "instantiate", "Bound", "Instantiated", line=62, fact="1.4", at_hand=True),
    Row(WorkflowRun, "launch", "Instantiated", "BatchExecutor", line=63, fact="1.4", at_hand=False),
    Row(WorkflowRun, "get_no_id", "Instantiated", "NoExecutorId", line=149, fact="1.4", at_hand=False),
    Row(WorkflowRun, "lose", "BatchExecutor", "UnknownError", line=149, fact="1.4"),
    Row(WorkflowRun, "withdraw", "BatchExecutor", "Halted", line=149, fact="1.4"),
    # the box of the worker
    Row(WorkflowRun, "run", "BatchExecutor", "Running", line=64, fact="1.4", process="live"),
    Row(WorkflowRun, "finish", "Running", "Done", line=65, fact="1.4", process="succeeded"),
    Row(WorkflowRun, "err", "Running", "RuntimeError", line=149, fact="1.4", process="failed"),
    Row(WorkflowRun, "lose", "Running", "UnknownError", line=149, fact="1.4"),
    Row(WorkflowRun, "exceed", "Running", "ResourceError", line=149, fact="1.4"),
    Row(WorkflowRun, "ask_to_halt", "Running", "Resume", line=154, fact="1.4"),
    Row(WorkflowRun, "halt", "Resume", "Halted", line=154, fact="1.4", process="gone"),
    Row(WorkflowRun, "force", "Resume", "Halted", line=154, fact="1.4"),
    *[
        Row(WorkflowRun, "exit", state, state, line=55, process=given("how"))
        for state in ("Running", "Resume", "UnknownError", "Halted")
    ],
    *[Row(WorkflowRun, "forget", state, state, line=54, at_hand=False) for state in ("Registered", "Instantiated")],
]

# Steps 6 and 7 as written: the client moves the task from Triaging to Queued, with more resources.
ADJUST = Row(
    Task,
    "adjust",
    "Triaging",
    "Queued",
    line=133,
    fact="5.3",
    latest=given("instance"),
    attempts=me.attempts + 1,
    resources=me.resources + 1,
    mover=given("by"),
)

MACHINES = [WORKFLOW, WORKFLOW_RUN, TASK, TASK_INSTANCE]
TABLE = [
    *universal_rows(Workflow),
    *WORKFLOW_RUN_TABLE,
    *universal_rows(Task),
    ADJUST,
    *TASK_INSTANCE_TABLE,
]

TASK_ERRORS = ("NoExecutorId", "KillSelf", "UnknownError", "ResourceError", "ApplicationError")
"""The error states of a task instance (line 80), yellow in the figure (facts 1.3)."""

UNFINISHED_ERRORS = (*TASK_ERRORS, "AdjustingResources")
"""The states after which another attempt may follow."""

RUN_ERRORS = ("NoExecutorId", "RuntimeError", "UnknownError", "ResourceError", "Halted")
"""The states in which a run ends that is neither done nor aborted (facts 1.4)."""

IMAGES = {
    "Registered": "Registering",
    "Queued": "Queued",
    "Aborted": "Aborted",
    "Instantiated": "Instantiating",
    "BatchExecutor": "Launched",  # the figures draw signals in blue
    "Running": "Running",
    "Done": "Done",
}
"""For each state of the latest instance, the state of its task. All other states are errors: the server decides."""

RUN_IMAGES = {
    "Registered": "Registering",
    "Bound": "Queued",
    "Aborted": "Aborted",
    "Instantiated": "Instantiating",
    "BatchExecutor": "Launched",
    "Running": "Running",
    "Resume": "Running",  # it has been asked to halt, and has not yet reported that it has
    "Done": "Done",
}
