"""Where the facts about the running system are silent, and what the shipped variant takes in their place.

The lines are those of the document about the same subject. An element of an alternative replaces that of the same name.
"""

from collections.abc import Iterator
from dataclasses import replace

from schedproof.model.lang import NONE, Action, Reading, Row, Rule, Term, exists
from schedproof.model.systems.jobmon.sorts import Task, TaskInstance

from . import client, couplings, distributor, server, worker
from .machines import IN_HAND, INSTANCE_ENDS, LIVE, OPEN, RESUMING, TASK, TO_START, c, d, i, r, t, w

VARIANT = "shipped"

ACTIONS = {
    each.name: each
    for each in (
        *client.CLIENT_ACTIONS,
        *distributor.DISTRIBUTOR_ACTIONS,
        *worker.WORKER_ACTIONS,
        *server.SERVER_ACTIONS,
    )
}
RULES = {each.name: each for each in (*client.CLIENT_RULES, *couplings.COUPLINGS)}


def instead(name: str, now: Term, then: Term | None) -> Action:
    """Returns the action of that name with another condition, or none, in the place of one of its conditions."""
    action = ACTIONS[name]
    at = [str(each) for each in action.when].index(str(now))
    return replace(action, when=[*action.when[:at], *([] if then is None else [then]), *action.when[at + 1 :]])


def as_well(name: str, *when: Term) -> Action:
    """Returns the action of that name with further conditions."""
    return replace(ACTIONS[name], when=[*ACTIONS[name].when, *when])


COUPLED_WORKFLOWS: dict[str, tuple[str, ...]] = {
    # for each move of a run, the states of its workflow for which the table has the move
    "bind": ("Registering",),
    "instantiate_run": ("Queued",),
    "launch_run": ("Instantiating",),
    "start_run": ("Launched",),
    "finish_run": ("Running",),
    "err_run": ("Queued", "Instantiating", "Launched", "Running"),
    "stop_run": ("Running",),
    "terminate_run": ("Queued", "Running"),
}
COUPLED_TASKS: dict[str, tuple[str, ...]] = {
    # for the event of an instance, the states of its task for which the table has the move
    "launch": ("Instantiating",),
    "start": TO_START,
    "finish": ("Running",),
    **dict.fromkeys(("get_no_id", "fail", "vanish", "run_out_of_resources", "end"), IN_HAND),
}


def apart() -> Iterator[Action | Rule]:
    """Yields the moves that do not need the table of the coupled object, and the couplings that do."""
    for name, states in COUPLED_WORKFLOWS.items():
        yield instead(name, c.run.workflow.is_(*states), None)
        yield replace(RULES[f"{name.removesuffix('_run')} moves the workflow"], when=[r.workflow.is_(*states)])
    # The coupling of a link has its condition anyway.
    yield instead("link", c.run.workflow.is_("Registering", "Aborted", "Failed", "Halted"), None)
    for action in ACTIONS.values():
        for event, tasks in COUPLED_TASKS.items():
            if str(i.fires(event)) in map(str, action.fires):
                yield instead(action.name, i.task.is_(*tasks), None)
    for name, refused in (("start_refused", worker.START_REFUSED), ("beat_refused", worker.BEAT_REFUSED)):
        yield instead(name, refused, i.is_(*INSTANCE_ENDS))
    for rule in couplings.REACTIONS:
        for event, tasks in COUPLED_TASKS.items():
            if rule.name.startswith(f"{event} makes"):
                yield replace(rule, when=[*rule.when, i.task.is_(*tasks)])


def queueing(thinks: Term) -> Iterator[Action]:
    """Yields the actions that queue tasks, for a client that thinks that it runs on this condition."""
    for each in client.QUEUEING:
        can = thinks & (t.workflow == c.run.workflow) & i.is_("Absent")
        yield replace(each, when=[can, *each.when[1:]])


def of_the_workflow(name: str) -> Action:
    """Returns the distributor's action of that name, for instances of all runs of its workflow."""
    return instead(name, distributor.OF_ITS_RUN, (i.run != NONE) & (i.run.workflow == d.run.workflow))


UNREQUESTED = [
    Action(
        "report_vanished",
        [d, i],
        when=[
            distributor.GOES_ON,
            distributor.OF_ITS_RUN,
            i.is_("Launched"),
            i.job.is_("Killed"),
            i.task.is_(*IN_HAND),
        ],
        fires=[i.fires("vanish")],
        says="the distributor {d} does not find the job of {i} on the cluster, and reports an unknown error",
        fact="2.1",
    ),
    Action(
        "report_mismatch",
        [i],
        when=[i.job.is_("Submitted"), i.is_("Launched"), i.task.is_(*IN_HAND)],
        fires=[i.job.fires("refuse"), i.fires("end")],
        says="the wrapper of {i} comes up in another environment, reports that, and ends",
        fact="2.1",
    ),
    Action(
        "report_unknown",
        [i],
        when=[i.job.is_("Failed"), i.is_("Running"), i.task.is_(*IN_HAND)],
        fires=[i.job.fires("report"), i.fires("vanish")],
        says="the wrapper of {i} cannot say how its command ended, and reports an unknown error",
        fact="2.1",
    ),
]
"""Requests for moves that the table has, and for which the facts name no process."""


LAUNCH_APART = replace(
    ACTIONS["launch"],
    when=[*ACTIONS["launch"].when[:3], i.is_("Instantiated") | i.task.is_("Instantiating")],
    fires=[d.fires("drop", instance=i)],
)
LAUNCH_APART_RULES = [
    Rule("a launch moves an instance", LAUNCH_APART, [i.is_("Instantiated")], i.fires("launch"), fact="3.1"),
    Rule("a launch moves a task", LAUNCH_APART, [i.task.is_("Instantiating")], i.task.fires("launch"), fact="3.1"),
]
"""The report of a launch as two bulk updates."""

ENDS_LEFTOVERS: list[Row | Action] = [
    *(
        Row(TaskInstance, "end_at_once", now, "ErrorFatal", fact="3.6")
        for now in ("Triaging", "NoHeartbeat", "KillSelf")
    ),
    Action(
        "end_leftover",
        [i],
        when=[i.is_("Triaging", "NoHeartbeat", "KillSelf"), i.task.is_("Done", "ErrorFatal")],
        fires=[i.fires("end_at_once")],
        says="an error of {i}, whose task has ended by another instance, is reported",
        fact="3.6",
    ),
]

KILLED = (*(state for state in OPEN if state != "KillSelf"), *INSTANCE_ENDS)


def to_be_killed(run: Term) -> Term:
    """Returns the condition that the release kills ``i`` when ``run`` makes room: its task is Launched, or Running if that is cold."""
    return (i.task.workflow == run.workflow) & (
        i.task.is_("Launched") | (i.task.is_("Running") & run.is_("ColdResume"))
    )


# "without checking their own status"
INSTANTIATES_WHAT_IS_KILLED = Row(TaskInstance, "instantiate", "KillSelf", "Instantiated", fact="3.1")
LEFT_AT_THE_LATEST = ("Queued", "Instantiated", "Launched", "Running", "Triaging")
UPDATE = Action(
    "update_task",
    [t],
    when=[~t.is_("Registering")],
    fires=[t.fires("write_registering")],
    says="a user has {t} done again",
    fact="3.5",
)
UPDATES: list[Row | Action | Rule] = [
    *(Row(Task, "write_registering", state.name, "Registering", fact="3.5") for state in TASK.states),
    *(Row(TaskInstance, "be_told_to_die", now, "KillSelf", fact="3.5") for now in LEFT_AT_THE_LATEST),
    INSTANTIATES_WHAT_IS_KILLED,
    UPDATE,
    Rule(
        "an update kills what runs",
        UPDATE,
        [i.is_(*LEFT_AT_THE_LATEST), i.task == t],
        i.fires("be_told_to_die"),
        fact="3.5",
    ),
]
"""The command that updates a task, so that it is done again; what is under way is killed."""

KILLS = replace(
    ACTIONS["wind_up"],
    when=[client.GOES_ON, client.RUN.is_(*RESUMING), exists(i, i.is_(*KILLED) & to_be_killed(c.run))],
)
OF_THE_RELEASE: list[Row | Action | Rule] = [
    *(Row(TaskInstance, "be_told_to_die", state, "KillSelf", fact="3.5") for state in KILLED),
    INSTANTIATES_WHAT_IS_KILLED,
    KILLS,
    Rule("wind_up kills", KILLS, [i.is_(*KILLED), to_be_killed(c.run)], i.fires("be_told_to_die"), fact="3.5"),
    as_well("reap_resumed", ~r.overdue),  # a property names it, so it stays, and never happens
    replace(ACTIONS["reap_terminated"], when=ACTIONS["reap_terminated"].when[:2]),
]
"""How a resume ends instances in the release 3.6: by their tasks, whatever their own states and runs are."""

READINGS = (
    Reading(
        "linking-checks-for-live-runs",
        153,
        "A run is linked only if no run of its workflow is alive at that time.",
        "Only the client has checked that, before it registered the run.",
        adds=[replace(ACTIONS["link"], when=[*ACTIONS["link"].when[:2], *ACTIONS["link"].when[3:]])],
        breaks=["one-live-run", "workflow-is-the-image-of-its-run"],
        variant=VARIANT,
        question="The client checks that no run is alive (facts 3.5). Does the server check it again when it links the run?",
        why="The model takes the server to check it, as it does each move against its tables.",
    ),
    Reading(
        "a-refused-move-refuses-all",
        29,
        "A request is refused as a whole if the table of the coupled object does not have its move.",
        "The object itself moves, and the coupled one stays.",
        adds=[*apart()],
        rests=["late-instances-can-run-again", "workflows-can-be-run"],
        breaks=["done-iff-an-instance-is-done", "done-is-final", "one-live-run", "workflow-is-the-image-of-its-run"],
        variant=VARIANT,
        question="What becomes of the first of two coupled moves if the second one is not in its table?",
        why="Both are one transaction (facts 2.5, 3.2).",
    ),
    Reading(
        "a-client-speaks-for-its-distributor",
        63,
        "A run is Launched although its distributor has died meanwhile.",
        "It is Launched only while its distributor runs.",
        adds=[as_well("launch_run", exists(d, (d.run == c.run) & d.is_("Running")))],
        variant=VARIANT,
        question="Who reports that the distributor has come up? By the facts the distributor does (3.5).",
        why="It may die right after it has reported.",
    ),
    Reading(
        "a-client-notices-late",
        54,
        "A client whose run was reaped, or is to make room, goes on queueing until it hears of that.",
        "It queues only while its run is Running.",
        adds=[*queueing(client.GOES_ON & c.run.is_("Running"))],
        rests=["only-the-live-run-queues"],
        variant=VARIANT,
        question="Does a client queue tasks while its run is in another state?",
        why="The request to queue is not checked against the run, and a client hears of its run with its next heartbeat (facts 3.1, 3.5).",
    ),
    Reading(
        "a-client-hears-of-termination-at-once",
        54,
        "A client whose run was terminated by the reaper queues nothing any more.",
        "It goes on queueing until it hears of it, as after an error.",
        adds=[*queueing(client.THINKS_IT_RUNS | (client.GOES_ON & c.run.is_("Terminated")))],
        variant=VARIANT,
        question="What does a client do whose run was to make room, and was terminated before its next heartbeat?",
        why="The model has it hear of the request to make room before that.",
    ),
    Reading(
        "who-makes-room-still-checks",
        124,
        "A client still looks for overdue instances while it makes room.",
        "It looks for them only while its run is Running.",
        adds=[
            instead(name, c.run.is_("Running", *RESUMING), c.run.is_("Running"))
            for name in ("miss_running", "miss_launched")
        ],
        variant=VARIANT,
        question="Does a run that makes room triage its instances?",
        why="It is part of each heartbeat (facts 3.1).",
    ),
    Reading(
        "a-distributor-dies-with-its-client",
        88,
        "The distributor ends when its client ends or dies.",
        "It goes on alone.",
        drops=["a distributor ends with its client"],
        variant=VARIANT,
        question="The distributor is a process of its own, which the client starts. Does it survive its client?",
        why="It is a subprocess of the client (facts 3.1).",
    ),
    Reading(
        "a-distributor-looks-at-its-run",
        88,
        "A distributor takes up instances of its own run only.",
        "It also triages, kills and gives up those of earlier runs of its workflow.",
        adds=[
            of_the_workflow(name)
            for name in ("triage_lost", "triage_resources", "triage_fatal", "kill", "give_up_lost")
        ],
        variant=VARIANT,
        question="Of which runs does a distributor take up instances?",
        why="The facts say it of the check for overdue instances only (3.1). If it also took up what is queued, two distributors would submit it.",
    ),
    Reading(
        "a-submission-may-go-unheard",
        63,
        "A job may be on the cluster although its submission has failed for the distributor.",
        "What has failed is not on the cluster.",
        adds=[instead("get_no_id", distributor.NOT_SUBMITTED, i.job.is_("Absent"))],
        variant=VARIANT,
        question="Is a job certainly not there if the cluster's command to submit it has failed?",
        why="The answer of the cluster can be lost.",
    ),
    Reading(
        "exit-information-may-be-missing",
        66,
        "The distributor may find nothing about a job that still runs, and reports an unknown error.",
        "It reports an unknown error only for a job that is over.",
        adds=[as_well("triage_lost", ~i.job.is_("Submitted", *LIVE))],
        variant=VARIANT,
        question="What does the cluster say of a job that has not ended?",
        why="The request acts on the deadline only (facts 3.4).",
    ),
    Reading(
        "triage-may-be-fatal",
        67,
        "A failed command may turn out to be fatal when it is triaged.",
        "It is an unknown error, and the task may be tried again.",
        adds=[replace(ACTIONS["triage_fatal"], fires=[i.fires("vanish")])],
        variant=VARIANT,
        question="For what does the distributor report a fatal error of what is Triaging?",
        why="The table has the move, and the facts name no cause (2.1, 3.1).",
    ),
    Reading(
        "commands-may-outlive-their-wrappers",
        122,
        "A wrapper may die while its command runs on.",
        "They die together.",
        adds=[replace(ACTIONS["wrapper_dies"], fires=[i.job.fires("be_killed")])],
        variant=VARIANT,
        question="What becomes of a command whose wrapper dies?",
        why="They are two processes, and the facts do not say that one ends the other.",
    ),
    Reading(
        "heartbeats-may-be-late",
        80,
        "A heartbeat may be late while the wrapper is alive.",
        "Only what is dead is late.",
        adds=[
            as_well("instance_is_late", ~i.job.is_("Submitted", "Running")),
            as_well("run_is_late", ~exists(c, (c.run == r) & c.is_("Running"))),
        ],
        variant=VARIANT,
        question="May a deadline pass although its process is alive?",
        why="Processes and networks may be slow, and in some states heartbeats extend nothing (facts 3.4).",
    ),
    Reading(
        "a-resume-keeps-the-attempts-of-what-waits",
        94,
        "A resume leaves a task as it is that is Registering, with its number of attempts.",
        "It sets its attempts to none as well.",
        adds=[
            Row(Task, "reset", "Registering", "Registering", fact="3.5", attempts=0),
            *(
                replace(
                    RULES[f"a {how} resume resets tasks"],
                    when=[*RULES[f"a {how} resume resets tasks"].when[:2], t.is_("Registering", *states)],
                )
                for how, states in (("cold", client.RESET_COLD), ("hot", client.RESET_HOT))
            ),
        ],
        variant=VARIANT,
        question="Does a resume reset the attempts of a task that is Registering? Two ways to resume differ in this (facts 3.5): by the number of the workflow, or by building it again.",
        why="The model resumes a workflow by its number, which keeps the attempts (facts 3.5).",
    ),
    Reading(
        "a-start-is-a-heartbeat",
        64,
        "An instance that starts has a new deadline.",
        "It keeps the one that it had when it was launched.",
        adds=[
            Row(TaskInstance, "start", now, "Running", line=None, fact="2.1") for now in ("Instantiated", "Launched")
        ],
        variant=VARIANT,
        question="Does the report that a worker starts extend the deadline?",
        why="A heartbeat of a running worker does (facts 3.1), and the report is its first.",
    ),
    Reading(
        "the-cluster-lists-what-it-has",
        63,
        "The distributor extends deadlines only of launched jobs that are still on the cluster.",
        "It extends them for all that are Launched.",
        adds=[instead("beat_launched", i.job.is_("Submitted"), None)],
        variant=VARIANT,
        question="For which launched instances does the distributor report a heartbeat?",
        why="It asks the cluster for what is there.",
    ),
    Reading(
        "nothing-is-done-all-the-same",
        65,
        "The reaper takes a failed workflow without tasks for done.",
        "It looks only at workflows that have tasks.",
        adds=[as_well("repair_workflow", exists(t, t.workflow == w))],
        variant=VARIANT,
        question="Are all tasks of a workflow done that has none?",
        why="The condition is that all its tasks are done (facts 3.4).",
    ),
    Reading(
        "what-is-killed-is-gone",
        66,
        "The job of a killed instance is off the cluster when the distributor reports it.",
        "It may run on: the cluster has not yet taken it away.",
        drops=["kill takes the job"],
        variant=VARIANT,
        question="Does the distributor wait until the cluster has ended a job?",
        why="It asks the cluster first, and reports afterwards (facts 3.1).",
    ),
    Reading(
        "a-distributor-submits-from-memory",
        63,
        "A distributor submits what it remembers to have instantiated, although the instance may have been ended since.",
        "It submits only what is still Instantiated in the database.",
        adds=[as_well("submit", i.is_("Instantiated"))],
        variant=VARIANT,
        question="Does a distributor read an instance again before it submits it?",
        why="The facts say that it sets the state without a look at the old one (3.1), and name no later look.",
    ),
    Reading(
        "a-refused-wrapper-ends",
        64,
        "A wrapper that may not start its command ends.",
        "It starts the command all the same.",
        adds=[replace(ACTIONS["start_refused"], fires=[i.job.fires("start")])],
        variant=VARIANT,
        question="What does a wrapper do whose report that it starts is refused?",
        why="The table refuses the report (facts 2.1). The model takes the wrapper to heed the answer.",
    ),
    Reading(
        "a-late-heartbeat-needs-a-move-of-its-task",
        29,
        "The heartbeat of a Triaging instance is refused while its task is Running, and the wrapper kills its command.",
        "It makes the instance Running again, whatever its task is by now.",
        adds=[
            instead("beat_late", i.task.is_(*TO_START), None),
            replace(RULES["start makes a task Running"], when=[i.task.is_(*TO_START)]),
            instead("beat_refused", worker.BEAT_REFUSED, worker.BEAT_REFUSED & ~i.is_("Triaging")),
        ],
        rests=["late-instances-can-run-again"],
        variant=VARIANT,
        question="The table of instances has Triaging to Running (facts 2.1), that of tasks has no Running to Running (2.2). Which counts?",
        why="Both do in releases from 3.4.21 on, and in the main branch (facts 3.6).",
    ),
    Reading(
        "a-done-workflow-is-not-resumed",
        94,
        "A client does not begin a run of a workflow that is Done.",
        "It registers a run, which cannot be linked.",
        adds=[instead(f"plan_{how}", ~c.run.workflow.is_("Done"), None) for how in ("cold", "hot")],
        variant=VARIANT,
        question="Does a client look at the state of the workflow before it registers a run?",
        why="The table has no move from Done (facts 2.4), so the run would be of no use.",
    ),
    Reading(
        "processes-may-die",
        54,
        "A client, a distributor, a job or its wrapper may die at any time, and then reports nothing.",
        "They end only by their own moves, or are killed for a reason.",
        # The properties name these actions, so they stay, and never happen.
        adds=[
            as_well("client_dies", ~c.mortal),
            as_well("distributor_dies", ~d.mortal),
            as_well("worker_dies", ~i.job.mortal),
            as_well("wrapper_dies", ~i.job.mortal),
        ],
        rests=["workflows-can-be-run"],
        variant=VARIANT,
        question="Which processes may die? The facts have heartbeats and a reaper, and name no death (3.4).",
        why="Heartbeats and a reaper are of use only if processes die.",
    ),
    Reading(
        "clients-end-with-an-error-at-any-time",
        66,
        "A client may end its run with an error in each state that the table allows, whatever its tasks are.",
        "It does so only if a task of its workflow has failed for good.",
        adds=[as_well("err_run", exists(t, (t.workflow == c.run.workflow) & t.is_("ErrorFatal")))],
        variant=VARIANT,
        question="When does a client report an error of its run? The table has the moves (facts 2.3), without a cause.",
        why="A client may fail for reasons that are not in the models, such as a lost connection.",
    ),
    Reading(
        "moves-without-a-request-do-not-happen",
        80,
        "Nobody moves an instance from Launched to Unknown Error, Resource Error or Error Fatal, or from Running to Unknown Error.",
        "The distributor reports a launched job that it does not find, and the wrapper another environment or an end that it cannot explain.",
        adds=[*UNREQUESTED],
        variant=VARIANT,
        question="The table has moves for which the facts name no request (2.1, 3.1). Do they happen?",
        why="The model has the requests of the facts, and no others.",
    ),
    Reading(
        "registering-and-linking-are-two-requests",
        59,
        "A client registers its run and links it by two requests, and may die in between.",
        "One request does both, so no client dies while its run is Registered.",
        adds=[as_well("client_dies", ~c.run.is_("Registered"))],
        variant=VARIANT,
        question="Is a run ever Registered for longer than a request takes?",
        why="Runs that die in Registered are never reaped (facts 3.4), so there are some.",
    ),
    Reading(
        "a-launch-moves-both-or-none",
        63,
        "The report of a launch moves an instance and its task together, or neither of them.",
        "Each of them moves by a condition of its own.",
        adds=[LAUNCH_APART, *LAUNCH_APART_RULES],
        drops=["launch makes a task Launched"],
        variant=VARIANT,
        question="The report of a launch is a bulk update of tasks, and one of instances. Does one of them depend on the other?",
        why="The facts give no condition of either (3.1). Those of a kill, which they give, are in the model.",
    ),
    Reading(
        "a-report-is-no-heartbeat",
        66,
        "The report that the command of a Triaging instance has failed is refused.",
        "If its task has yet to start, the instance becomes Running first, as by a heartbeat.",
        adds=[
            Row(TaskInstance, "fail", "Triaging", "Error", fact="2.1"),
            instead(
                "report_an_error", i.is_("Running"), i.is_("Running") | (i.is_("Triaging") & i.task.is_(*TO_START))
            ),
        ],
        variant=VARIANT,
        question="What becomes of a report of an error that comes while its instance is Triaging?",
        why="The table has no move from Triaging to Error (facts 2.1).",
    ),
    Reading(
        "what-is-left-of-an-ended-task-stays",
        67,
        "An instance of a task that is Done or ErrorFatal stays as it is when its error is reported.",
        "It becomes ErrorFatal, and its task stays as it is.",
        adds=[*ENDS_LEFTOVERS],
        variant=VARIANT,
        question="May an instance end in an error after its task has ended by another one?",
        why="No release lets it. The main branch does, where a process still asks (facts 3.6).",
    ),
    Reading(
        "requests-are-one-step",
        55,
        "The server reads, checks and writes in one step.",
        "Another request may write between its read and its write, as in the variant read-then-write.",
        variant=VARIANT,
        untried="a request in two steps needs objects that wait; the variants read-then-write and runs-read-then-write have them",
        question="May an instance move after the server has checked a request, and before it writes?",
        why="What is violated in one step is violated in two as well. The variant says what is violated only in two.",
    ),
    Reading(
        "users-do-not-write-past-the-machine",
        94,
        "Nobody resets a workflow, updates a task, increases resources, or forces a cleanup by a command.",
        "Users do, and these commands write states whatever the tables say. Tried for a task that is to be done again.",
        adds=[*UPDATES],
        breaks=[
            *("attempts-within-the-maximum", "distributors-have-what-was-queued", "done-iff-an-instance-is-done"),
            *("done-is-final", "done-workflows-have-done-tasks", "failed-tasks-wait-for-a-resume"),
            "waiting-tasks-have-attempts-left",
        ],
        variant=VARIANT,
        question="Do users write to the database past clients and reaper? The facts have four commands (3.3, 3.5).",
        why="What a user has written is no defect of the machine.",
    ),
    Reading(
        "loops-take-up-anything-at-any-time",
        54,
        "A loop takes up any of the objects that wait for it, after any time.",
        "It goes through the states in a fixed order, each within a time-out.",
        variant=VARIANT,
        untried="a fixed order needs the loop's place in it as an attribute of each process, and time-outs need a clock",
        question="In which order does a loop take up what waits for it, and how soon? The facts have orders and times (3.1, 3.4).",
        why="The model has no clock. Any order includes the fixed one.",
    ),
    Reading(
        "shipped-is-the-main-branch",
        91,
        "What is shipped is the main branch of 2026.",
        "It is the last release, 3.6: a resume kills instances in any state, and the reaper terminates runs without a look at instances.",
        adds=[*OF_THE_RELEASE],
        drops=[
            *("wind_up ends what is queued or instantiated", "wind_up ends what is launched"),
            "wind_up ends what runs, if it is cold",
        ],
        rests=["the-distributor-moves-only-its-own", "the-server-moves-only-its-own", "workflows-can-be-done"],
        breaks=["distributors-have-what-was-queued"],
        variant=VARIANT,
        question="Which version is the current implementation?",
        why="The facts of the main branch are complete, and its tables are those of the release (facts 2.1 to 2.5).",
    ),
    Reading(
        "anybody-may-ask-for-a-resume",
        94,
        "A run may be asked to make room at any time, and a client may begin a run without having asked.",
        "Only a client that is about to resume asks.",
        adds=[
            as_well(name, exists(c, c.is_("NotStarted") & (c.run.workflow == r.workflow)))
            for name in ("ask_cold", "ask_hot")
        ],
        variant=VARIANT,
        question="Who asks a run to make room, and does that client then resume?",
        why="The request and the check are separate (facts 3.5).",
    ),
)
