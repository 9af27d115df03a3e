"""The actions of a worker: the wrapper that the cluster starts, and the command that it runs (facts 3.1)."""

from schedproof.model.lang import Action, Rule

from .machines import ENDED, IN_HAND, INSTANCE_ENDS, TO_START, i

JOB = i.job
TASK = i.task

start = Action(
    "start",
    [i],
    when=[JOB.is_("Submitted"), i.is_("Instantiated", "Launched"), TASK.is_(*TO_START)],
    fires=[JOB.fires("start"), i.fires("start")],
    says="the wrapper of {i} comes up, reports, and starts the command",
    fact="3.1",
)
start_to_die = Action(
    "start_to_die",
    [i],
    when=[JOB.is_("Submitted"), i.is_("KillSelf"), TASK.is_(*IN_HAND)],
    fires=[JOB.fires("refuse"), i.fires("end")],
    says="the wrapper of {i} comes up, hears that it is to die, and reports that it does",
    fact="3.1",
)
start_too_late = Action(
    "start_too_late",
    [i],
    when=[JOB.is_("Submitted"), i.is_("NoHeartbeat"), TASK.is_(*IN_HAND)],
    fires=[JOB.fires("refuse"), i.fires("fail")],
    says="the wrapper of {i} comes up when it has been given up, and ends",
    fact="3.1",
)
START_REFUSED = (
    i.is_(*INSTANCE_ENDS)
    | (i.is_("Instantiated", "Launched") & ~TASK.is_(*TO_START))
    | (i.is_("NoHeartbeat", "KillSelf") & ~TASK.is_(*IN_HAND))
)
start_refused = Action(
    "start_refused",
    [i],
    when=[JOB.is_("Submitted"), START_REFUSED],
    fires=[JOB.fires("refuse")],
    says="the wrapper of {i} comes up, and is refused",
    fact="3.6",
)
beat = Action(
    "beat",
    [i],
    when=[JOB.is_("Running"), i.is_("Running")],
    fires=[i.fires("beat")],
    says="the heartbeat of {i} arrives",
    fact="3.1",
)
# "if T tries T->R": the table of tasks has no move from Running to Running. So it succeeds only if another instance has
# brought the task to one of these states.
beat_late = Action(
    "beat_late",
    [i],
    when=[JOB.is_("Running"), i.is_("Triaging"), TASK.is_(*TO_START)],
    fires=[i.fires("start")],
    says="the heartbeat of {i} arrives late, and its task has yet to start: it runs again",
    fact="3.6",
)
BEAT_REFUSED = (
    i.is_(*INSTANCE_ENDS) | (i.is_("Triaging") & ~TASK.is_(*TO_START)) | (i.is_("KillSelf") & ~TASK.is_(*IN_HAND))
)
beat_refused = Action(
    "beat_refused",
    [i],
    when=[JOB.is_("Running"), BEAT_REFUSED],
    fires=[JOB.fires("be_killed")],
    says="the wrapper of {i} hears that {i} does not run, kills its command, and ends",
    fact="3.6",
)
hear_that_it_is_to_die = Action(
    "hear_that_it_is_to_die",
    [i],
    when=[JOB.is_("Running"), i.is_("KillSelf"), TASK.is_(*IN_HAND)],
    fires=[JOB.fires("be_killed"), i.fires("end")],
    says="the wrapper of {i} hears that it is to die, kills its command, and reports that",
    fact="3.1",
)

COMMAND = [
    Action(
        "command_succeeds", [i], [JOB.is_("Running")], [JOB.fires("succeed")], "the command of {i} succeeds", fact="3.1"
    ),
    Action(
        "command_fails",
        [i],
        [JOB.fallible, JOB.is_("Running")],
        [JOB.fires("fail")],
        "the command of {i} fails",
        fact="3.1",
    ),
    Action(
        "command_runs_out",
        [i],
        [JOB.fallible, JOB.is_("Running")],
        [JOB.fires("run_out_of_resources")],
        "the cluster kills the command of {i}: it has asked for too few resources",
        fact="3.1",
    ),
]


def report(what: str, ended: str, states: tuple[str, ...], event: str, tasks: tuple[str, ...] = IN_HAND) -> Action:
    """Returns the action by which the wrapper reports how its command ended.

    If the table has no such move, nothing happens. An error is a move of each task in Instantiating, Launched or
    Running (2.2), although another instance may have moved the task there by now.
    """
    return Action(
        f"report_{what}",
        [i],
        when=[JOB.is_(ended), i.is_(*states), TASK.is_(*tasks)],
        fires=[JOB.fires("report"), i.fires(event)],
        says=f"the wrapper of {{i}} reports {what.replace('_', ' ')}",
        fact="3.1",
    )


REPORTS = [
    report("success", "Succeeded", ("Running", "KillSelf"), "finish", tasks=("Running",)),
    report("an_error", "Failed", ("Running",), "fail"),
    report("too_few_resources", "OutOfResources", ("Running", "Triaging"), "run_out_of_resources"),
]

worker_dies = Action(
    "worker_dies",
    [i],
    when=[JOB.mortal, JOB.is_("Submitted", "Running", *ENDED)],
    fires=[JOB.fires("be_killed")],
    says="the job of {i} is killed, and nobody reports that",
    crash=True,
    fact="3.1",
)

wrapper_dies = Action(
    "wrapper_dies",
    [i],
    when=[JOB.mortal, JOB.is_("Running")],
    fires=[JOB.fires("lose_wrapper")],
    says="the wrapper of {i} dies, and its command goes on",
    crash=True,
    fact="3.1",
)
orphan_ends = Action(
    "orphan_ends",
    [i],
    when=[JOB.is_("Orphaned")],
    fires=[JOB.fires("be_killed")],
    says="the command of {i}, whose wrapper has died, ends as well",
    fact="3.1",
)

WORKER_RULES = [
    # it extends the deadline, and only then tries to move the instance
    Rule("a refused heartbeat is one", beat_refused, [i.is_("Triaging")], i.fires("beat"), fact="3.1"),
]

WORKER_ACTIONS = [
    *(start, start_to_die, start_too_late, start_refused, beat, beat_late, beat_refused, hear_that_it_is_to_die),
    *(*COMMAND, *REPORTS, worker_dies, wrapper_dies, orphan_ends),
]
