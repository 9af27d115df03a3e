"""How runs begin and end: one at a time, each with a lease, and with the instances that they leave."""

from dataclasses import replace

from schedproof.model.lang import Action, Rule, Term, exists, forall, implies
from schedproof.model.systems.jobmon.shipped import client as old
from schedproof.model.systems.jobmon.shipped import server
from schedproof.model.systems.jobmon.shipped.client import GOES_ON, OF_ITS_WORKFLOW, RUN
from schedproof.model.systems.jobmon.shipped.machines import ON_ITS_WAY, RESUMING, c, i, q, r, t

from .machines import LEASED

# --- A run's heartbeat counts in every state

beat_run = replace(old.beat_run, when=[GOES_ON, RUN.is_(*ON_ITS_WAY)])
run_is_late = replace(server.run_is_late, when=[~r.punctual, r.is_(*ON_ITS_WAY), ~r.overdue])

# --- A client is refused unless its run is running

QUEUEING = [
    replace(action, when=[GOES_ON, RUN.is_("Running"), OF_ITS_WORKFLOW, i.is_("Absent"), *which])
    for action in old.QUEUEING
    for _, *which in [action.when]
]
give_up_run = Action(
    "give_up_run",
    [c],
    when=[
        GOES_ON,
        RUN.is_("Running"),
        forall(t, implies(OF_ITS_WORKFLOW, t.is_("Done", "ErrorFatal"))),
        exists(t, OF_ITS_WORKFLOW & t.is_("ErrorFatal")),
    ],
    fires=[RUN.fires("err"), c.fires("go")],
    says="a task has failed, and all others are done: the client {c} gives its run up",
)

# --- A run that makes room or ends takes along instances that have not started; running ones have their own lease

ENDING = [
    rule
    for event in ("resume_cold", "resume_hot", "err", "stop", "be_reaped")
    for rule in (
        Rule(f"{event} ends what is queued", r.fires(event), [i.run == r, i.is_("Queued")], i.fires("end_at_once")),
        Rule(
            f"{event} dooms what has not begun",
            r.fires(event),
            [i.run == r, i.is_("Instantiated", "Launched")],
            i.fires("doom"),
        ),
    )
] + [
    Rule(
        "resume_cold dooms what runs",
        r.fires("resume_cold"),
        [i.run == r, i.is_("Running", "Triaging")],
        i.fires("doom"),
    ),
]


def left(run: Term) -> Term:
    """Returns the condition that a run that makes room still has instances to end before another run may begin."""
    open_ = i.is_("Queued", "Instantiated", "Launched", "NoHeartbeat")
    return exists(i, (i.run == run) & (open_ | (i.is_("Running", "Triaging") & run.is_("ColdResume"))))


terminate_run = replace(old.terminate_run, when=[GOES_ON, RUN.is_(*RESUMING), ~left(RUN)])

# --- The reaper ends every overdue run, and follows the workflow's table

reap = Action(
    "reap",
    [r],
    when=[r.overdue, r.is_(*[state for state in ON_ITS_WAY if state not in RESUMING])],
    fires=[r.fires("be_reaped")],
    says="the reaper finds that {r} has died, and ends it",
    fact="3.4",
)
reap_terminated = Action(
    "reap_terminated",
    [r],
    when=[r.overdue, r.is_(*RESUMING), ~left(r)],
    fires=[r.fires("be_reaped")],
    says="the reaper terminates {r}, which is to be resumed",
    fact="3.4",
)
REAPED = [
    Rule("be_reaped aborts the workflow", r.fires("be_reaped"), [r.is_("Linking")], r.workflow.fires("abort")),
    Rule(
        "be_reaped fails the workflow",
        r.fires("be_reaped"),
        [r.is_("Bound", "Instantiated", "Launched", "Running")],
        r.workflow.fires("fail"),
    ),
    Rule("be_reaped halts the workflow", r.fires("be_reaped"), [r.is_(*RESUMING)], r.workflow.fires("halt")),
]

# --- A new run begins when no other run is active, and the rest of the last one is over


def on_its_way(workflow: Term) -> Term:
    """Returns the condition that some run of ``workflow`` has not ended."""
    return exists(q, (q.workflow == workflow) & q.is_(*ON_ITS_WAY))


def plan(action: Action) -> Action:
    """Returns the action by which a client finds that it can resume: all runs have ended."""
    return replace(
        action, when=[c.is_("NotStarted"), RUN.is_("Absent"), ~RUN.workflow.is_("Done"), ~on_its_way(RUN.workflow)]
    )


PLANS = [plan(old.plan_cold), plan(old.plan_hot)]
IN_ITS_WORKFLOW = ~i.is_("Absent") & (i.run.workflow == RUN.workflow)
clear = Action(
    "clear",
    [c],
    when=[
        c.is_("ResumesCold"),
        ~on_its_way(RUN.workflow),
        exists(i, IN_ITS_WORKFLOW & i.is_("Running", "Triaging") & ~i.doomed),
    ],
    fires=[],
    says="the client {c} has ended what an earlier run has left running",
)
CLEAR = Rule("clear dooms what runs", clear, [IN_ITS_WORKFLOW, i.is_("Running", "Triaging")], i.fires("doom"))

register = replace(
    old.register,
    when=[
        c.is_("ResumesCold", "ResumesHot"),
        ~RUN.workflow.is_("Done"),
        ~on_its_way(RUN.workflow),
        ~exists(i, IN_ITS_WORKFLOW & i.is_("Queued", *LEASED[:2], "NoHeartbeat")),
        c.is_("ResumesHot") | ~exists(i, IN_ITS_WORKFLOW & i.is_("Running", "Triaging")),
    ],
)
link = replace(old.link, when=[GOES_ON, RUN.is_("Registered"), ~RUN.workflow.is_("Done")])
RESETS = [
    Rule(
        "a resume resets tasks",
        register,
        [OF_ITS_WORKFLOW, t.is_("Registering", "AdjustingResources", "ErrorFatal")],
        t.fires("reset"),
        fact="3.5",
    )
]
