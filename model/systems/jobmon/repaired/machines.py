"""The records and processes of the repaired machine, where they differ from the shipped one."""

from dataclasses import replace

from schedproof.model.lang import EMPTY, Attribute, BoolType, Event, Ref, Row, SetOf, State, given, me
from schedproof.model.systems.jobmon.shipped import machines as shipped
from schedproof.model.systems.jobmon.shipped.machines import ENDED, ON_ITS_WAY
from schedproof.model.systems.jobmon.sorts import Distributor, Job, Task, TaskInstance, WorkflowRun

LEASED = ("Instantiated", "Launched", "Running")
"""The states in which the agent in control has a lease, and loses control when it runs out."""

# --- Task instances

TASK_INSTANCE = replace(
    shipped.TASK_INSTANCE,
    states=[replace(state, unreachable=state.name == "KillSelf") for state in shipped.TASK_INSTANCE.states],
    attributes=[
        *shipped.TASK_INSTANCE.attributes,
        # The instance is to end: the agent in control finds this mark in the database. It replaces the state KillSelf.
        Attribute("doomed", BoolType(), durable=True, about="a mark in the database: the instance is to end"),
        # Its worker gets no control back: a second mark, set before its job is removed.
        Attribute(
            "fenced",
            BoolType(),
            durable=True,
            about="a mark in the database: the worker of the instance gets control no more",
        ),
    ],
)
DOOMABLE = (*LEASED, "Triaging")
DOOM_TABLE = [
    *[Row(TaskInstance, "doom", now, now, doomed=True) for now in DOOMABLE],
    # the agent in control of a doomed instance ends it
    *[Row(TaskInstance, "end", now, "ErrorFatal") for now in ("Instantiated", "Running")],
]
KILL_SELF_ROWS = [row.name for row in shipped.TASK_INSTANCE_TABLE if "KillSelf" in (row.source, row.target)]

NOBODY_ASKS = [
    # Only triage reports the end of an attempt that its worker did not report. An attempt that has not started had no
    # resources.
    *("TaskInstance.vanish from Launched", "TaskInstance.vanish from Running"),
    "TaskInstance.run_out_of_resources from Launched",
    *("Task.adjust from Instantiating", "Task.adjust from Launched"),
]

LEASE_TABLE = [
    Row(TaskInstance, "be_late", "Instantiated", "Instantiated", overdue=True),
]

FENCE = Row(TaskInstance, "fence", "Triaging", "Triaging", fenced=True)

# --- Tasks: a task that was still queued goes back as well

QUEUED_TASK_TABLE = [
    Row(Task, "retry", "Queued", "Registering"),
    Row(Task, "give_up", "Queued", "ErrorFatal"),
]
RESET_TABLE = [
    Row(Task, "reset", "ErrorFatal", "Registering", fact="3.5", attempts=0),
    *[Row(Task, "reset", now, now, fact="3.5", attempts=0) for now in ("Registering", "AdjustingResources")],
]
RESETS_OF_WHAT_IS_ON_ITS_WAY = [f"Task.reset from {now}" for now in ("Queued", *shipped.IN_HAND)]

# --- Workflow runs: each run that is not over has a lease, and is reaped when that runs out

RUN_LEASE_TABLE = [
    *[Row(WorkflowRun, "be_late", now, now, overdue=True) for now in ON_ITS_WAY],
    *[Row(WorkflowRun, "beat", now, now, overdue=False) for now in ON_ITS_WAY],
    Row(WorkflowRun, "be_reaped", "Registered", "Aborted"),
    *[Row(WorkflowRun, "be_reaped", now, "Error") for now in ("Bound", "Instantiated", "Launched")],
]

# --- Distributors: they serve every run, and come back after a crash

DISTRIBUTOR = replace(
    shipped.DISTRIBUTOR,
    attributes=[
        *[a for a in shipped.DISTRIBUTOR.attributes if a.name not in ("listed", "held")],
        Attribute(
            "held",
            SetOf(TaskInstance),
            about="the instances that the distributor has claimed, and is to submit and to report, in memory",
        ),
    ],
    events=[Event(name, {"instance": Ref(TaskInstance)}) for name in ("hold", "drop")],
)
CLAIM_TABLE = [
    Row(TaskInstance, "instantiate", "Queued", "Instantiated", fact="2.1", overdue=False),
    Row(Distributor, "hold", "Running", "Running", held=me.held.with_(given("instance"))),
    Row(Distributor, "go", "Running", "Gone", held=EMPTY),
]
DISTRIBUTOR_BEGINS_AGAIN = Row(Distributor, "begin", "Gone", "Running")

# --- Jobs: a wrapper that stops its command lives on to report that

JOB = replace(shipped.JOB, states=[*shipped.JOB.states, State("Stopped")])
WRAPPED = (*ENDED, "Stopped")
"""The command is over, and its wrapper still has to report that."""
STOP_TABLE = [
    Row(Job, "stop", "Running", "Stopped"),
    Row(Job, "report", "Stopped", "Reported"),
    Row(Job, "be_killed", "Stopped", "Killed"),
]
OVER = ("Absent", "Reported", "Killed", "Refused")
"""The cluster has nothing left of it: no command, and no wrapper."""
