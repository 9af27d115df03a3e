"""The actions on tasks: agents' loops (lines 54 to 56), the cluster, and instances that drive their tasks (line 29).

Each request of an agent to the server is one transaction. The server keeps no state outside of its database, so its
death between two transactions has no effect. A late or repeated request finds no row in the table, and changes nothing.
"""

from schedproof.model.lang import Action, Rule, Term, exists

from .machines import i, j, t

SPENT = t.attempts >= t.maximum
"""All retries are used (line 51)."""

# --- The client: it defines tasks, and controls when they run (line 87)

register = Action(
    "register_task",
    [t, i],
    when=[t.is_("Absent"), i.is_("Absent")],
    fires=[i.fires("create", task=t, resources=0), t.fires("register", by="client", instance=i)],
    says="the client registers {t}, to be done by {i}",
    line=59,
)
queue = Action(
    "queue",
    [i],
    when=[i.is_("Registered"), i.at_hand],
    fires=[i.fires("queue")],
    says="the client has added all that {i} needs, and queues it",
    line=60,
)
abort = Action(
    "abort",
    [i],
    when=[i.is_("Registered"), i.at_hand],
    fires=[i.fires("abort")],
    says="the client fails to add what {i} needs, and aborts it",
    line=61,
)
kill = Action(
    "kill",
    [i],
    when=[i.is_("BatchExecutor", "Running"), i.stoppable],
    fires=[i.fires("kill")],
    says="the client wants {i} to be stopped",
    line=68,
    fact="1.3",
)
resume = Action(
    "resume",
    [t, j],
    when=[t.is_("Halted"), j.is_("Absent")],
    fires=[
        t.fires("resume", by="client", instance=j),
        j.fires("create", task=t, resources=t.resources),
    ],
    says="the client takes up {t}, which was halted, with {j}",
    fact="1.2",
)

# --- The reconciler, a thread of the client (line 124)

lose = Action(
    "lose",
    [i],
    # It checks only heartbeats, and these may be late: an instance that it takes for lost may still run.
    when=[i.is_("BatchExecutor", "Running"), i.task.losable | (i.command == "gone")],
    fires=[i.fires("lose")],
    says="the reconciler holds {i} for lost",
    line=80,
    fact="1.3",
)
reconcile = Action(
    "reconcile",
    [i],
    when=[
        i.is_("ResourceError"),
        i.task.latest == i,
        # "if the Task Instance has not reached its retry limit"
        i.task.attempts < i.task.maximum,
    ],
    fires=[i.fires("adjust")],
    says="the reconciler hears that {i} had too few resources, and marks it for adjusting",
    line=128,
)
adjust = Action(
    "adjust",
    [i, t, j],
    # The line asks for help on who does this: it is the client's swarm (facts 5.3).
    when=[i.is_("AdjustingResources"), t.latest == i, t.is_("Triaging"), j.is_("Absent")],
    fires=[
        t.fires("adjust", by="client", instance=j),
        j.fires("renew", task=t, resources=t.resources + 1),
    ],
    says="the client increases the resources of {t}, and queues it as {j}",
    line=130,
    fact="5.3",
)

# --- The scheduler

instantiate = Action(
    "instantiate",
    [i],
    when=[i.is_("Queued")],
    fires=[i.fires("instantiate")],
    says="the scheduler claims {i}, which is queued",
    line=62,
)
launch = Action(
    "launch",
    [i],
    when=[i.is_("Instantiated"), i.at_hand],
    fires=[i.fires("launch")],
    says="the scheduler has submitted {i} to the executor",
    line=63,
)
get_no_id = Action(
    "get_no_id",
    [i],
    when=[i.is_("Instantiated"), i.at_hand],
    fires=[i.fires("get_no_id")],
    says="the scheduler gets no id for {i} from the executor",
    line=80,
    fact="1.3",
)

# --- The worker node: it waits for the signal before it begins (lines 54, 55)

start = Action(
    "start",
    [i],
    when=[i.is_("BatchExecutor")],
    fires=[i.fires("run")],
    says="the worker claims {i}, and starts its command",
    line=64,
)


def ends(name: str, how: str, says: str, line: int, *when: Term) -> Action:
    """Returns an action by which the command of an instance ends; its end is not reported yet."""
    return Action(name, [i], [i.command == "live", *when], [i.fires("exit", how=how)], says, line)


def reports(name: str, how: str, event: str, says: str, line: int) -> Action:
    """Returns an action by which the worker reports how the command ended.

    It may do so at any later time, and again, if the table still allows it.
    """
    return Action(name, [i], [i.is_("Running"), i.command == how], [i.fires(event)], says, line)


WORKER = [
    start,
    ends("succeed", "succeeded", "the command of {i} ends with success", 65),
    ends("fail", "failed", "the command of {i} ends with an error", 66),
    ends("exceed", "exceeded", "the cluster kills the command of {i} for its resources", 121, i.task.hungry),
    ends("obey", "gone", "the command of {i} sees that it is to be stopped, and ends", 68, i.is_("KillSelf")),
    reports("report_success", "succeeded", "finish", "the worker reports that {i} is done", 65),
    reports("report_error", "failed", "err", "the worker reports the error of {i}", 80),
    reports("report_resources", "exceeded", "exceed", "the worker reports that {i} had too few resources", 122),
]

# --- The server decides after an error (lines 49, 50)


def tries_again(name: str, says: str, which: Term) -> Action:
    """Returns an action by which the server queues a task again, with unchanged resources."""
    return Action(
        name,
        [t, j],
        when=[t.is_("Triaging"), which, t.attempts < t.maximum, j.is_("Absent")],
        fires=[
            t.fires("retry", by="server", instance=j),
            j.fires("renew", task=t, resources=t.resources),
        ],
        says=says,
        line=50,
    )


retry = tries_again(
    "retry",
    "the server has {t} tried again, as {j}",
    t.latest.is_("NoExecutorId", "UnknownError", "ApplicationError"),
)
retry_unchanged = tries_again(
    # The document does not say that the server leaves a resource error to the reconciler, or knows of its mark.
    "retry_unchanged",
    "the server has {t} tried again, as {j}, with the resources that were too few",
    t.latest.is_("ResourceError", "AdjustingResources"),
)
give_up = Action(
    "give_up",
    [t],
    when=[t.is_("Triaging"), ~t.latest.is_("KillSelf"), SPENT],
    fires=[t.fires("fail", by="server")],
    says="the server lets {t} fail: all attempts are used",
    line=51,
)
halt = Action(
    "halt",
    [t],
    when=[t.is_("Triaging"), t.latest.is_("KillSelf")],
    fires=[t.fires("halt", by="server")],
    says="the server has {t} halted: it was stopped",
    line=68,
)

# --- Deaths, at any point: an agent comes back with only the state in the database

client_dies = Action(
    "client_dies",
    [],
    when=[exists(i, i.is_("Registered") & i.at_hand & i.task.mortal)],
    fires=[],
    says="the client dies and comes back",
    crash=True,
    line=54,
)
scheduler_dies = Action(
    "scheduler_dies",
    [],
    when=[exists(i, i.is_("Instantiated") & i.at_hand & i.task.mortal)],
    fires=[],
    says="the scheduler dies and comes back",
    crash=True,
    line=54,
)
worker_dies = Action(
    "worker_dies",
    [i],
    when=[i.command == "live", i.task.mortal],
    fires=[i.fires("exit", how="gone")],
    says="the worker node of {i} dies, and its command with it",
    crash=True,
    line=54,
)

TASK_DEATHS = [client_dies, scheduler_dies, worker_dies]

TASK_ACTIONS = [
    *(register, queue, abort, kill, resume),
    *(lose, reconcile, adjust),
    *(instantiate, launch, get_no_id),
    *WORKER,
    *(retry, retry_unchanged, give_up, halt),
    *TASK_DEATHS,
]


def drives(event: str, task_event: str, by: str, line: int, *when: Term) -> Rule:
    """Returns the rule by which an event of an instance moves its task (line 29)."""
    return Rule(f"{event} is its task's {task_event}", i.fires(event), when, i.task.fires(task_event, by=by), line=line)


# The universal machine has no row for an error of a task that is Launched, so the task cannot move.
NOT_LAUNCHED = ~i.is_("BatchExecutor")

TASK_RULES = [
    drives("queue", "queue", "client", 60),
    drives("abort", "abort", "client", 61),
    drives("instantiate", "instantiate", "scheduler", 62),
    drives("launch", "launch", "scheduler", 63),
    drives("get_no_id", "err", "scheduler", 80),
    drives("run", "run", "worker", 64),
    drives("finish", "finish", "worker", 65),
    drives("err", "err", "worker", 80),
    drives("exceed", "err", "worker", 122),
    drives("lose", "err", "client", 80, NOT_LAUNCHED),
    drives("kill", "err", "client", 80, NOT_LAUNCHED),
    Rule(
        "the client forgets",
        client_dies,
        [i.is_("Registered")],
        i.fires("forget"),
        line=54,
    ),
    Rule(
        "the scheduler forgets",
        scheduler_dies,
        [i.is_("Instantiated")],
        i.fires("forget"),
        line=54,
    ),
]
