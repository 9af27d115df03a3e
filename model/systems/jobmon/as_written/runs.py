"""The actions on workflows: the same loops, but the client is also scheduler and worker of its runs (lines 161 to 163).

The figure still draws three boxes with an owner each (facts 1.4), and so does the model: here, the scheduler or worker
of a run is the client in that role.
"""

from schedproof.model.lang import Action, Rule, Term, forall, implies

from .machines import q, r, t, w

register = Action(
    "register_workflow",
    [w, r],
    when=[w.is_("Absent"), r.is_("Absent")],
    fires=[r.fires("create", workflow=w), w.fires("register", by="client", instance=r)],
    says="the client registers {w}, to be run by {r}",
    line=59,
)
bind = Action(
    "bind",
    [r],
    when=[r.is_("Registered"), r.at_hand],
    fires=[r.fires("bind")],
    says="the client has added all that {r} needs, and binds it",
    line=60,
)
abort = Action(
    "abort_run",
    [r],
    when=[r.is_("Registered"), r.at_hand],
    fires=[r.fires("abort")],
    says="the client fails to add what {r} needs, and aborts it",
    line=61,
)
withdraw = Action(
    "withdraw",
    [r],
    when=[r.is_("BatchExecutor"), r.stoppable],
    fires=[r.fires("withdraw")],
    says="the client halts {r}, which has not started yet",
    line=68,
    fact="1.4",
)
ask_to_halt = Action(
    "ask_to_halt",
    [r],
    when=[r.is_("Running"), r.stoppable],
    fires=[r.fires("ask_to_halt")],
    says="the client asks {r} to halt, so that the workflow can be resumed",
    line=154,
    fact="1.4",
)
resume = Action(
    "resume_workflow",
    [w, q],
    when=[w.is_("Halted"), q.is_("Absent")],
    fires=[w.fires("resume", by="client", instance=q), q.fires("create", workflow=w)],
    says="the client takes up {w}, which was halted, with {q}",
    fact="1.2",
)

# --- The reconciler

lose = Action(
    "lose_run",
    [r],
    when=[r.is_("BatchExecutor", "Running")],
    fires=[r.fires("lose")],
    says="the reconciler holds {r} for lost",
    fact="1.4",
)
find_killed = Action(
    "find_killed",
    [r],
    when=[r.is_("Running"), r.process == "exceeded"],
    fires=[r.fires("exceed")],
    says="the reconciler finds that {r} had too few resources",
    fact="1.4",
)
force = Action(
    "force",
    [r],
    when=[r.is_("Resume")],
    fires=[r.fires("force")],
    says="the reconciler halts {r}, which has been asked to",
    fact="1.4",
)

# --- Submission, and the process that runs

instantiate = Action(
    "instantiate_run",
    [r],
    when=[r.is_("Bound")],
    fires=[r.fires("instantiate")],
    says="{r}, which is bound, is claimed for submission",
    line=62,
)
launch = Action(
    "launch_run",
    [r],
    when=[r.is_("Instantiated"), r.at_hand],
    fires=[r.fires("launch")],
    says="{r} has been submitted",
    line=63,
)
get_no_id = Action(
    "get_no_id_for_run",
    [r],
    when=[r.is_("Instantiated"), r.at_hand],
    fires=[r.fires("get_no_id")],
    says="{r} gets no id when it is submitted",
    fact="1.4",
)
start = Action(
    "start_run",
    [r],
    when=[r.is_("BatchExecutor")],
    fires=[r.fires("run")],
    says="{r} begins its first scheduling loop",
    line=63,
)
finish = Action(
    "finish_run",
    [r],
    when=[
        r.is_("Running"),
        r.process == "live",
        # "All work has finished successfully."
        forall(t, implies(t.workflow == r.workflow, t.is_("Done"))),
    ],
    fires=[r.fires("finish")],
    says="{r} ends: all its tasks are done",
    line=65,
)
err = Action(
    "fail_run",
    [r],
    when=[r.is_("Running"), r.process == "live"],
    fires=[r.fires("err")],
    says="{r} ends with an error",
    line=66,
)
halt = Action(
    "halt_run",
    [r],
    when=[r.is_("Resume"), r.process == "live"],
    fires=[r.fires("halt")],
    says="{r} stops, and signals that it has halted",
    line=154,
)
end_unheard = Action(
    "end_unheard",
    [r],
    when=[r.process == "live", r.is_("UnknownError", "Halted")],
    fires=[r.fires("exit", how="gone")],
    says="the process of {r} comes to its end, and nobody waits to hear of it",
    line=55,
)
exceed = Action(
    "exceed_run",
    [r],
    when=[r.process == "live", r.workflow.mortal],
    fires=[r.fires("exit", how="exceeded")],
    says="the cluster kills {r} for its resources",
    fact="1.4",
)

# --- The server decides

retry = Action(
    "retry_workflow",
    [w, q],
    when=[w.is_("Triaging"), ~w.latest.is_("Halted"), w.attempts < w.maximum, q.is_("Absent")],
    fires=[w.fires("retry", by="server", instance=q), q.fires("renew", workflow=w)],
    says="the server has {w} tried again, as {q}",
    line=50,
)
give_up = Action(
    "give_up_workflow",
    [w],
    when=[w.is_("Triaging"), ~w.latest.is_("Halted"), w.attempts >= w.maximum],
    fires=[w.fires("fail", by="server")],
    says="the server lets {w} fail: all attempts are used",
    line=51,
)
halt_workflow = Action(
    "halt_workflow",
    [w],
    when=[w.is_("Triaging"), w.latest.is_("Halted")],
    fires=[w.fires("halt", by="server")],
    says="the server has {w} halted: its run has halted",
    line=68,
)

# --- Deaths

run_forgotten = Action(
    "run_forgotten",
    [r],
    when=[r.is_("Registered", "Instantiated"), r.at_hand, r.workflow.mortal],
    fires=[r.fires("forget")],
    says="the client of {r} dies and comes back",
    crash=True,
    line=54,
)
die = Action(
    "run_dies",
    [r],
    when=[r.process == "live", r.workflow.mortal],
    fires=[r.fires("exit", how="gone")],
    says="the process of {r} dies",
    crash=True,
    line=54,
)

RUN_DEATHS = [run_forgotten, die]

RUN_ACTIONS = [
    *(register, bind, abort, withdraw, ask_to_halt, resume),
    *(lose, find_killed, force),
    *(instantiate, launch, get_no_id),
    *(start, finish, err, halt, end_unheard, exceed),
    *(retry, give_up, halt_workflow),
    *RUN_DEATHS,
]


def drives(event: str, workflow_event: str, by: str, line: int, *when: Term) -> Rule:
    """Returns the rule by which an event of a run moves its workflow (line 29)."""
    return Rule(
        f"{event} is its workflow's {workflow_event}",
        r.fires(event),
        when,
        r.workflow.fires(workflow_event, by=by),
        line=line,
    )


# As for tasks: there is no row for an error of a workflow that is Launched.
NOT_LAUNCHED = ~r.is_("BatchExecutor")

RUN_RULES = [
    drives("bind", "queue", "client", 60),
    drives("abort", "abort", "client", 61),
    drives("instantiate", "instantiate", "scheduler", 62),
    drives("launch", "launch", "scheduler", 63),
    drives("get_no_id", "err", "scheduler", 66),
    drives("run", "run", "worker", 64),
    drives("finish", "finish", "worker", 65),
    drives("err", "err", "worker", 66),
    drives("exceed", "err", "client", 66),
    drives("halt", "err", "worker", 154),
    drives("force", "err", "client", 154),
    drives("lose", "err", "client", 66, NOT_LAUNCHED),
    # A run that is withdrawn is in BatchExecutor, and its workflow Launched: there is no row for that either.
]
