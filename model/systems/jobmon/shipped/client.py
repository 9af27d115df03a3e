"""The actions of a client: to register a run, run it, queue tasks, resume another client's run (facts 3.1 to 3.5).

Its transactions name its run. It learns only from its next heartbeat that it has lost this run.
"""

from schedproof.model.lang import Action, Rule, Term, exists, forall, implies

from .couplings import end_instances, to_be_ended
from .machines import ALIVE, RESUMING, c, d, i, q, r, t

GOES_ON = c.is_("Running")
RUN = c.run


def alive(workflow: Term) -> Term:
    """Returns the condition that the server takes some run of ``workflow`` for alive."""
    return exists(q, (q.workflow == workflow) & q.is_(*ALIVE))


# --- The beginning: it checks whether it can resume, resets the tasks, and links a new run


def plan(how: str) -> Action:
    """Returns the action by which a client that polls finds that it can resume."""
    return Action(
        f"plan_{how}",
        [c],
        when=[c.is_("NotStarted"), RUN.is_("Absent"), ~RUN.workflow.is_("Done"), ~alive(RUN.workflow)],
        fires=[c.fires(f"plan_{how}")],
        says=f"the client {{c}} finds that no run is alive: it will begin one, {how}",
        fact="3.5",
    )


plan_cold, plan_hot = plan("cold"), plan("hot")

register = Action(
    "register",
    [c],
    when=[c.is_("ResumesCold", "ResumesHot")],
    fires=[c.fires("begin"), RUN.fires("register")],
    says="the client {c} resets the tasks, and registers its run",
    fact="3.5",
)
OF_ITS_WORKFLOW = t.workflow == RUN.workflow
RESET_COLD = ("Queued", "Instantiating", "Launched", "Running", "AdjustingResources", "ErrorFatal")
RESET_HOT = ("Queued", "Instantiating", "Launched", "AdjustingResources", "ErrorFatal")

link = Action(
    "link",
    [c],
    when=[
        GOES_ON,
        RUN.is_("Registered"),
        ~alive(RUN.workflow),
        RUN.workflow.is_("Registering", "Aborted", "Failed", "Halted"),
    ],
    fires=[RUN.fires("link")],
    says="the client {c} links its run to the workflow",
    fact="3.5",
)


def coupled(name: str, now: str, workflow: tuple[str, ...], says: str) -> Action:
    """Returns a move of the client's run that the workflow's table has to allow as well (2.5)."""
    return Action(
        name,
        [c],
        when=[GOES_ON, RUN.is_(now), RUN.workflow.is_(*workflow)],
        fires=[RUN.fires(name.removesuffix("_run"))],
        says=says,
        fact="2.5",
    )


bind = coupled("bind", "Linking", ("Registering",), "the client {c} binds the workflow's tasks")
instantiate_run = coupled("instantiate_run", "Bound", ("Queued",), "the client {c} starts its distributor")
launch_run = coupled("launch_run", "Instantiated", ("Instantiating",), "the distributor of the client {c} has come up")
start_run = coupled("start_run", "Launched", ("Launched",), "the client {c} begins to run")

BEGINNING = [plan_cold, plan_hot, register, link, bind, instantiate_run, launch_run, start_run]

# --- Queueing tasks

# Only its next heartbeat reports that its run was reaped or makes room (3.5); until then it goes on queueing. A run
# that was not yet Running when it was asked to make room (its workflow is still Queued) has queued nothing.
THINKS_IT_RUNS = GOES_ON & (RUN.is_("Running", "Error") | (RUN.is_(*RESUMING) & RUN.workflow.is_("Running")))
CAN_QUEUE = THINKS_IT_RUNS & (t.workflow == RUN.workflow) & i.is_("Absent")


def queue(name: str, says: str, *when: Term) -> Action:
    """Returns an action that queues a ready task with a new instance, in one transaction (3.1)."""
    return Action(
        name,
        [c, t, i],
        when=[CAN_QUEUE, *when],
        fires=[t.fires(name, instance=i), i.fires("queue", task=t, run=RUN)],
        says=says,
        fact="3.1",
    )


QUEUEING = [
    queue("queue", "the client {c} queues {t}, with a new instance {i}", t.is_("Registering")),
    queue(
        "queue_with_more",
        "the client {c} scales the resources of {t}, and queues it with a new instance {i}",
        t.is_("AdjustingResources"),
        t.resources < t.ceiling,
    ),
    queue(
        "queue_with_as_much",
        "no queue has more than {t} had: the client {c} queues it again with a new instance {i}",
        t.is_("AdjustingResources"),
        t.resources >= t.ceiling,
    ),
]

# --- Heartbeats, and the check for instances without one

beat_run = Action(
    "beat_run",
    [c],
    when=[GOES_ON, RUN.is_("Linking", "Running")],
    fires=[RUN.fires("beat")],
    says="the heartbeat of the client {c} arrives",
    fact="3.4",
)
# "of this run only", and with each heartbeat, even while it winds its run up
OVERDUE = (i.run == RUN) & i.overdue


def miss(now: str, says: str) -> Action:
    """Returns what a client's sync does to an overdue instance of its run in state ``now``."""
    return Action(
        f"miss_{now.lower()}",
        [c, i],
        when=[GOES_ON, RUN.is_("Running", *RESUMING), OVERDUE, i.is_(now)],
        fires=[i.fires("miss_heartbeat")],
        says=says,
        fact="3.1",
    )


SYNC = [
    beat_run,
    miss("Running", "the client {c} has the overdue instance {i} triaged"),
    miss("Launched", "the client {c} has the overdue instance {i} marked: its job is silent"),
]

# --- The end, or a request of another client to resume

finish_run = Action(
    "finish_run",
    [c],
    when=[
        GOES_ON,
        RUN.is_("Running"),
        RUN.workflow.is_("Running"),
        forall(t, implies(OF_ITS_WORKFLOW, t.is_("Done"))),
    ],
    fires=[RUN.fires("finish"), c.fires("go")],
    says="all tasks are done, and so is the run of the client {c}",
    fact="2.3",
)
err_run = Action(
    "err_run",
    [c],
    when=[
        GOES_ON,
        RUN.is_("Bound", "Instantiated", "Launched", "Running"),
        RUN.workflow.is_("Queued", "Instantiating", "Launched", "Running"),
    ],
    fires=[RUN.fires("err"), c.fires("go")],
    says="the client {c} ends with an error",
    fact="2.3",
)
stop_run = Action(
    "stop_run",
    [c],
    when=[GOES_ON, RUN.is_("Running"), RUN.workflow.is_("Running")],
    fires=[RUN.fires("stop"), c.fires("go")],
    says="the user of the client {c} stops it",
    fact="3.5",
)


def ask(how: str) -> Action:
    """Returns the action by which another client wants to resume: the present run is to end (``set_resume``)."""
    return Action(
        f"ask_{how}",
        [r],
        when=[r.is_("Bound", "Running")],
        fires=[r.fires(f"resume_{how}")],
        says=f"somebody wants to resume {how} what {{r}} runs",
        fact="3.5",
    )


# The old client, after it has noticed that: "each sync until no Task in {I,O,R}".
wind_up = Action(
    "wind_up",
    [c],
    when=[GOES_ON, RUN.is_(*RESUMING), exists(i, (i.run == RUN) & to_be_ended(RUN))],
    fires=[],
    says="the client {c} has the instances of its run ended",
    fact="3.5",
)
terminate_run = Action(
    "terminate_run",
    [c],
    when=[
        GOES_ON,
        RUN.is_(*RESUMING),
        RUN.workflow.is_("Queued", "Running"),
        ~exists(t, OF_ITS_WORKFLOW & t.is_("Instantiating", "Launched", "Running")),
    ],
    fires=[RUN.fires("terminate"), c.fires("go")],
    says="the client {c} sees no task on its way, and gives its run up",
    fact="3.5",
)
leave = Action(
    "leave",
    [c],
    when=[GOES_ON, RUN.is_("Error", "Terminated", "Aborted")],
    fires=[c.fires("go")],
    says="the client {c} hears that its run has been ended, and ends",
    fact="3.5",
)
client_dies = Action(
    "client_dies", [c], [c.mortal, GOES_ON], [c.fires("go")], "the client {c} dies", crash=True, fact="3.1"
)

ENDING = [finish_run, err_run, stop_run, ask("cold"), ask("hot"), wind_up, terminate_run, leave, client_dies]

CLIENT_ACTIONS = [*BEGINNING, *QUEUEING, *SYNC, *ENDING]

# --- What follows from these actions

CLIENT_RULES = [
    Rule(
        "a cold resume resets tasks",
        register,
        [OF_ITS_WORKFLOW, c.is_("ResumesCold"), t.is_(*RESET_COLD)],
        t.fires("reset"),
        fact="3.5",
    ),
    Rule(
        "a hot resume resets tasks",
        register,
        [OF_ITS_WORKFLOW, c.is_("ResumesHot"), t.is_(*RESET_HOT)],
        t.fires("reset"),
        fact="3.5",
    ),
    Rule(
        "a distributor is started",
        r.fires("instantiate"),
        [d.run == r, d.is_("NotStarted")],
        d.fires("begin"),
        fact="3.1",
    ),
    Rule(
        "a distributor ends with its client", c.fires("go"), [d.run == RUN, d.is_("Running")], d.fires("go"), fact="3.1"
    ),
    *end_instances(wind_up, RUN),
]
