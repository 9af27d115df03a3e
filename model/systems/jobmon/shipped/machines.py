"""The objects in the server's tables, and those outside: clients, distributors, and jobs on the cluster.

:mod:`.tables` has the moves that the server allows. This module adds the moves that it makes without checking its
tables: bulk updates and raw SQL (facts 3.1, 3.4, 3.5).
"""

from collections.abc import Iterable

from schedproof.model.lang import (
    EMPTY,
    NONE,
    Attribute,
    BoolType,
    Event,
    IntRange,
    Machine,
    Ref,
    Row,
    SetOf,
    State,
    exists,
    forall,
    given,
    iff,
    implies,
    me,
    variables,
)
from schedproof.model.systems.jobmon.sorts import Client, Distributor, Job, Task, TaskInstance, Workflow, WorkflowRun

from . import tables

w = variables(Workflow, "w")[0]
r, q = variables(WorkflowRun, "r q")
c, b = variables(Client, "c b")
d, e = variables(Distributor, "d e")
t, u = variables(Task, "t u")
i, k = variables(TaskInstance, "i k")

MOST = 5
"""The greatest number of attempts and of resources; no result depends on it."""

# --- Workflows

BEGUN = Attribute("begun", BoolType(), rigid=True, about="runs from the start")
"""It is already running in the initial state."""

MORTAL = Attribute("mortal", BoolType(), rigid=True, about="may die by itself", assumed=False)
"""It may die by itself: explorations leave some deaths out, proofs leave out none."""

PUNCTUAL = Attribute("punctual", BoolType(), rigid=True, about="its heartbeats come in time", assumed=True)
"""Its heartbeats arrive in time: explorations leave some lateness out, proofs leave out none."""


def states(names: Iterable[str], *first: str) -> list[State]:
    """Returns the states of a machine; an object that is ``begun`` starts in Running."""
    return [State(name, begins="begun" if name == "Running" else "") for name in (*first, *names)]


WORKFLOW = Machine(Workflow, states=states(tables.WORKFLOW_STATES.values()), attributes=[BEGUN])

DIRECT_WORKFLOW_TABLE = [
    # the reaper writes by raw SQL, whatever the workflow's state
    *[
        Row(Workflow, f"write_{event}", now, to, fact="3.4")
        for event, to in (("aborted", "Aborted"), ("failed", "Failed"), ("halted", "Halted"))
        for now in tables.WORKFLOW_STATES.values()
    ],
    Row(Workflow, "write_done", "Failed", "Done", fact="3.4"),
]

# --- Workflow runs

ALIVE = ("Linking", "Bound", "Running", "ColdResume", "HotResume")
"""The states in which the server takes a run for alive (3.5): those between Bound and Running are missing."""
RESUMING = ("ColdResume", "HotResume")
ON_ITS_WAY = ("Registered", "Linking", "Bound", "Instantiated", "Launched", "Running", *RESUMING)
REAPED = ("Linking", "Running", *RESUMING)
"""The states in which the reaper checks whether a run is late (3.4); it does not check the others."""
RUN_ENDS = ("Done", "Stopped", "Error", "Terminated", "Aborted")

WORKFLOW_RUN = Machine(
    WorkflowRun,
    states=states(tables.WORKFLOW_RUN_STATES.values(), "Absent"),
    attributes=[
        Attribute("workflow", Ref(Workflow), rigid=True),
        BEGUN,
        PUNCTUAL,
        Attribute("overdue", BoolType(), durable=True, about="no heartbeat has come in time"),
    ],
)

WORKFLOW_RUN_TABLE = [
    Row(WorkflowRun, "register", "Absent", "Registered", fact="3.5"),
    *tables.WORKFLOW_RUN_TABLE,
    *[Row(WorkflowRun, "be_late", now, now, fact="3.4", overdue=True) for now in REAPED],
    # G, B, I, O, C and H are not extended: their heartbeat is a transition that is refused
    *[Row(WorkflowRun, "beat", now, now, fact="3.4", overdue=False) for now in ("Linking", "Running")],
    # the reaper's moves of runs are in the table; its moves of workflows are not
    *[
        Row(WorkflowRun, "be_reaped", now, to, fact="3.4")
        for now, to in (
            ("Linking", "Aborted"),
            ("Running", "Error"),
            ("ColdResume", "Terminated"),
            ("HotResume", "Terminated"),
        )
    ],
]

# --- Tasks

TASK_ENDS = ("Done", "ErrorFatal")

TASK = Machine(
    Task,
    states=[
        # A transaction passes through ErrorRecoverable (3.2), so the state is unobserved.
        State(name, unreachable=name == "ErrorRecoverable")
        for name in tables.TASK_STATES.values()
    ],
    attributes=[
        Attribute("workflow", Ref(Workflow), rigid=True),
        Attribute("most", IntRange(1, MOST), rigid=True, about="the most attempts"),
        Attribute("ceiling", IntRange(0, MOST), rigid=True, about="the most resources that a queue has for it"),
        Attribute("attempts", IntRange(0, MOST), durable=True),
        Attribute("resources", IntRange(0, MOST), durable=True),
        Attribute("instance", Ref(TaskInstance), durable=True),  # the latest: the one with the highest number
    ],
    events=[
        Event(name, {"instance": Ref(TaskInstance)}) for name in ("queue", "queue_with_more", "queue_with_as_much")
    ],
)

TO_START = ("Instantiating", "Launched")
"""The states from which the table moves a task to Running."""
IN_HAND = (*TO_START, "Running")
NEXT_ATTEMPT = {"attempts": me.attempts + 1, "instance": given("instance")}

TASK_TABLE = [
    Row(Task, "queue", "Registering", "Queued", line=None, fact="2.2", **NEXT_ATTEMPT),
    # the resources are scaled, as far as a queue has that much
    Row(
        Task,
        "queue_with_more",
        "AdjustingResources",
        "Queued",
        line=None,
        fact="3.3",
        resources=me.resources + 1,
        **NEXT_ATTEMPT,
    ),
    Row(Task, "queue_with_as_much", "AdjustingResources", "Queued", line=None, fact="3.3", **NEXT_ATTEMPT),
    Row(Task, "instantiate", "Queued", "Instantiating", fact="2.2"),
    Row(Task, "launch", "Instantiating", "Launched", fact="2.2"),
    Row(Task, "start", "Instantiating", "Running", fact="2.2"),
    Row(Task, "start", "Launched", "Running", fact="2.2"),
    Row(Task, "finish", "Running", "Done", fact="2.2"),
    # through ErrorRecoverable, in one transaction
    *[
        Row(Task, event, now, to, fact="3.2")
        for event, to in (("adjust", "AdjustingResources"), ("retry", "Registering"), ("give_up", "ErrorFatal"))
        for now in IN_HAND
    ],
    # a resume writes past the table
    *[
        Row(Task, "reset", now, "Registering", fact="3.5", attempts=0)
        for now in ("Queued", *IN_HAND, "AdjustingResources", "ErrorFatal")
    ],
]

# --- Task instances

OPEN = ("Queued", "Instantiated", "Launched", "Running", "Triaging", "NoHeartbeat", "KillSelf")
TIMED = ("Launched", "Running", "Triaging")
"""The states in which it matters whether an instance is late."""
INSTANCE_ENDS = ("Done", "Error", "ResourceError", "UnknownError", "NoDistributorId", "ErrorFatal")

TASK_INSTANCE = Machine(
    TaskInstance,
    states=[State("Absent"), *[State(name) for name in tables.TASK_INSTANCE_STATES.values()]],
    attributes=[
        Attribute("task", Ref(Task), durable=True),
        Attribute("run", Ref(WorkflowRun), durable=True),
        Attribute("job", Ref(Job), rigid=True, about="what the cluster will have of the instance"),
        PUNCTUAL,
        Attribute("overdue", BoolType(), durable=True, about="no heartbeat has come in time"),
    ],
    events=[Event("queue", {"task": Ref(Task), "run": Ref(WorkflowRun)})],
)

TASK_INSTANCE_TABLE = [
    Row(TaskInstance, "queue", "Absent", "Queued", fact="3.1", task=given("task"), run=given("run")),
    *tables.TASK_INSTANCE_TABLE,
    *[Row(TaskInstance, "be_late", now, now, fact="3.4", overdue=True) for now in TIMED],
    *[Row(TaskInstance, "beat", now, now, fact="3.4", overdue=False) for now in TIMED],
    # The bulk update after a kill has its own condition, and so an event of its own.
    Row(TaskInstance, "be_killed", "KillSelf", "ErrorFatal", fact="3.1"),
    # Past the table: a resume ends instances that are Queued or Instantiated. Instances that a distributor has listed
    # become Instantiated "without checking their own status".
    *[Row(TaskInstance, "end_at_once", now, "ErrorFatal", fact="3.5") for now in ("Queued", "Instantiated")],
    Row(TaskInstance, "instantiate", "ErrorFatal", "Instantiated", fact="3.1"),
]

# --- Agents

CLIENT = Machine(
    Client,
    states=[
        State("NotStarted"),
        # It has found that it can resume, and how (3.5).
        State("ResumesCold"),
        State("ResumesHot"),
        *states(["Running", "Gone"]),
    ],
    attributes=[Attribute("run", Ref(WorkflowRun), rigid=True), BEGUN, MORTAL],
    introduced=False,
)
CLIENT_TABLE = [
    Row(Client, "plan_cold", "NotStarted", "ResumesCold", fact="3.5"),
    Row(Client, "plan_hot", "NotStarted", "ResumesHot", fact="3.5"),
    Row(Client, "begin", "ResumesCold", "Running", fact="3.5"),
    Row(Client, "begin", "ResumesHot", "Running", fact="3.5"),
    Row(Client, "go", "Running", "Gone", fact="3.1"),
]

DISTRIBUTOR = Machine(
    Distributor,
    states=states(["NotStarted", "Running", "Gone"]),
    attributes=[
        Attribute("run", Ref(WorkflowRun), rigid=True),  # the run whose client has started it
        BEGUN,
        MORTAL,
        # Its memory: the instances that it has found Queued, and those that it has instantiated and still has to
        # submit.
        Attribute(
            "listed", SetOf(TaskInstance), about="the instances that the distributor has found Queued, in memory"
        ),
        Attribute(
            "held",
            SetOf(TaskInstance),
            about="the instances that the distributor has instantiated and is to submit, in memory",
        ),
    ],
    events=[Event(name, {"instance": Ref(TaskInstance)}) for name in ("list", "hold", "drop")],
    introduced=False,
)
DISTRIBUTOR_TABLE = [
    Row(Distributor, "begin", "NotStarted", "Running", fact="3.1"),
    Row(Distributor, "list", "Running", "Running", fact="3.1", listed=me.listed.with_(given("instance"))),
    Row(
        Distributor,
        "hold",
        "Running",
        "Running",
        fact="3.1",
        listed=me.listed.without(given("instance")),
        held=me.held.with_(given("instance")),
    ),
    Row(Distributor, "drop", "Running", "Running", fact="3.1", held=me.held.without(given("instance"))),
    Row(Distributor, "go", "Running", "Gone", fact="3.1", listed=EMPTY, held=EMPTY),
]

LIVE = ("Running", "Orphaned")
"""The states in which its command may act."""
ENDED = ("Succeeded", "Failed", "OutOfResources")

JOB = Machine(
    Job,
    states=[
        State("Absent"),
        State("Submitted"),  # it waits for a node, or its wrapper has not yet asked to start
        State("Running"),  # its command may act
        State("Orphaned"),  # its wrapper has died, its command may still act
        # Its command has ended so; its wrapper still has to report that.
        *[State(name) for name in ENDED],
        State("Reported"),
        State("Killed"),  # with its wrapper: nothing reports it
        State("Refused"),  # its wrapper was not allowed to start the command
    ],
    attributes=[
        MORTAL,
        Attribute("fallible", BoolType(), rigid=True, about="its command may fail", assumed=False),
        Attribute(
            "unheard", BoolType(), rigid=True, about="may be submitted without an answer of the cluster", assumed=False
        ),
    ],
    introduced=False,
)
JOB_TABLE = [
    Row(Job, "submit", "Absent", "Submitted", fact="3.1"),
    Row(Job, "start", "Submitted", "Running", fact="3.1"),
    Row(Job, "refuse", "Submitted", "Refused", fact="3.1"),
    Row(Job, "succeed", "Running", "Succeeded", fact="3.1"),
    Row(Job, "fail", "Running", "Failed", fact="3.1"),
    Row(Job, "run_out_of_resources", "Running", "OutOfResources", fact="3.1"),
    Row(Job, "lose_wrapper", "Running", "Orphaned", fact="3.1"),
    *[Row(Job, "report", now, "Reported", fact="3.1") for now in ENDED],
    *[Row(Job, "be_killed", now, "Killed", fact="3.1") for now in ("Submitted", *LIVE, *ENDED)],
]

MACHINES = [WORKFLOW, WORKFLOW_RUN, TASK, TASK_INSTANCE, CLIENT, DISTRIBUTOR, JOB]
TABLE = [
    *(*tables.WORKFLOW_TABLE, *DIRECT_WORKFLOW_TABLE),
    *(*WORKFLOW_RUN_TABLE, *TASK_TABLE, *TASK_INSTANCE_TABLE),
    *(*CLIENT_TABLE, *DISTRIBUTOR_TABLE, *JOB_TABLE),
]

AXIOMS = [
    forall(r, r.workflow != NONE),
    # a workflow that begins in the middle has one run that does, too
    forall(r, implies(r.begun & (r.workflow != NONE), r.workflow.begun)),
    forall([r, q], implies(r.begun & q.begun & (r.workflow == q.workflow), r == q)),
    forall(w, implies(w.begun, exists(r, r.begun & (r.workflow == w)))),
    forall(c, implies(c.run != NONE, iff(c.begun, c.run.begun))),
    forall(d, implies(d.run != NONE, iff(d.begun, d.run.begun))),
    forall(t, t.workflow != NONE),
    forall(c, c.run != NONE),
    forall([c, b], implies(c.run == b.run, c == b)),
    forall(d, d.run != NONE),
    forall([d, e], implies(d.run == e.run, d == e)),
    forall(i, i.job != NONE),
    forall([i, k], implies(i.job == k.job, i == k)),
    # What may die does not always send its heartbeats in time: a client those of its run, a distributor and a job those of instances.
    forall(c, implies(c.mortal & (c.run != NONE), ~c.run.punctual)),
    forall([d, i], implies(d.mortal, ~i.punctual)),
    forall(i, implies((i.job != NONE) & i.job.mortal, ~i.punctual)),
]
