"""What a worker does: the wrapper that the cluster starts, and the command that it runs (facts 3.1)."""

from ...lang import Action
from .machines import ENDED, IN_HAND, j

INSTANCE = j.instance
TASK = INSTANCE.task

start = Action(
    "start",
    [j],
    when=[j.is_("Submitted"), INSTANCE.is_("Instantiated", "Launched"), TASK.is_("Instantiating", "Launched")],
    fires=[j.fires("start"), INSTANCE.fires("start")],
    says="the wrapper of {j} comes up, reports, and starts the command",
    fact="3.1",
)
start_to_die = Action(
    "start_to_die",
    [j],
    when=[j.is_("Submitted"), INSTANCE.is_("KillSelf"), TASK.is_(*IN_HAND)],
    fires=[j.fires("refuse"), INSTANCE.fires("end")],
    says="the wrapper of {j} comes up, hears that it is to die, and reports that it does",
    fact="3.1",
)
start_too_late = Action(
    "start_too_late",
    [j],
    when=[j.is_("Submitted"), INSTANCE.is_("NoHeartbeat"), TASK.is_(*IN_HAND)],
    fires=[j.fires("refuse"), INSTANCE.fires("fail")],
    says="the wrapper of {j} comes up when it has been given up, and ends",
    fact="3.1",
)
start_refused = Action(
    "start_refused",
    [j],
    when=[
        j.is_("Submitted"),
        INSTANCE.is_("Done", "Error", "ResourceError", "UnknownError", "NoDistributorId", "ErrorFatal"),
    ],
    fires=[j.fires("refuse")],
    says="the wrapper of {j} comes up, and is refused",
    fact="2.1",
)
beat = Action(
    "beat",
    [j],
    when=[j.is_("Running"), INSTANCE.is_("Running")],
    fires=[INSTANCE.fires("beat")],
    says="the heartbeat of {j} arrives",
    fact="3.1",
)
beat_late = Action(
    "beat_late",
    [j],
    when=[j.is_("Running"), INSTANCE.is_("Triaging")],
    fires=[INSTANCE.fires("start")],
    says="the heartbeat of {j} arrives late: it runs again",
    fact="3.1",
)
hear_that_it_is_to_die = Action(
    "hear_that_it_is_to_die",
    [j],
    when=[j.is_("Running"), INSTANCE.is_("KillSelf"), TASK.is_(*IN_HAND)],
    fires=[j.fires("be_killed"), INSTANCE.fires("end")],
    says="the wrapper of {j} hears that it is to die, kills its command, and reports that",
    fact="3.1",
)

COMMAND = [
    Action("command_succeeds", [j], [j.is_("Running")], [j.fires("succeed")], "the command of {j} succeeds", fact="3.1"),
    Action(
        "command_fails",
        [j],
        [j.fallible, j.is_("Running")],
        [j.fires("fail")],
        "the command of {j} fails",
        fact="3.1",
    ),
    Action(
        "command_runs_out",
        [j],
        [j.fallible, j.is_("Running")],
        [j.fires("run_out_of_resources")],
        "the cluster kills the command of {j}: it has asked for too few resources",
        fact="3.1",
    ),
]


def report(what: str, ended: str, states: tuple[str, ...], event: str) -> Action:
    """The wrapper reports how its command has ended; where the table has no such move, nothing happens."""
    return Action(
        f"report_{what}",
        [j],
        when=[j.is_(ended), INSTANCE.is_(*states), TASK.is_("Running")],
        fires=[j.fires("report"), INSTANCE.fires(event)],
        says=f"the wrapper of {{j}} reports {what}",
        fact="3.1",
    )


REPORTS = [
    report("success", "Succeeded", ("Running", "KillSelf"), "finish"),
    report("an_error", "Failed", ("Running",), "fail"),
    report("too_few_resources", "OutOfResources", ("Running",), "run_out_of_resources"),
]

worker_dies = Action(
    "worker_dies",
    [j],
    when=[j.mortal, j.is_("Submitted", "Running", *ENDED)],
    fires=[j.fires("be_killed")],
    says="the job {j} is killed, and nobody reports that",
    crash=True,
    fact="3.1",
)

WORKER_ACTIONS = [
    *(start, start_to_die, start_too_late, start_refused, beat, beat_late, hear_that_it_is_to_die),
    *(*COMMAND, *REPORTS, worker_dies),
]
