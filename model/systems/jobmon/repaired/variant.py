"""The repaired variant: the changes, each with its reason."""

from schedproof.model.lang import Change
from schedproof.model.systems.jobmon.shipped import SHIPPED
from schedproof.model.systems.jobmon.shipped.machines import TO_START, c, i

from . import conditions, effects, possible_steps, properties, runs
from . import instances as of
from . import machines as m


def shipped(*beginnings: str) -> list[str]:
    """Returns the names of the shipped rules that begin with one of ``beginnings``."""
    return [rule.name for rule in SHIPPED.rules if rule.name.startswith(beginnings)]


CLAIMS_ARE_ATOMIC = Change(
    name="a-distributor-reads-and-then-writes",
    wrong="A distributor reads which instances are queued and moves them in a later transaction, when they may be others'.",
    shown="the-distributor-moves-only-its-own",
    why="A distributor claims an instance in the transaction in which it finds it queued.",
    repairs=["instances-end-for-good", "the-distributor-moves-only-its-own", "task-is-the-image-of-its-instance"],
    adds=[*m.CLAIM_TABLE, of.claim, properties.MOVES["distributor"], *properties.HELD, effects.DROPPED],
    drops=["TaskInstance.instantiate from ErrorFatal", "Distributor.list from Running", "list_queued"],
)
CONTROL_IS_A_LEASE = Change(
    name="control-has-no-end",
    wrong="Control has no end in time: an agent that is late goes on as if it had control, and one that is gone keeps it.",
    shown="the-worker-moves-only-its-own",
    # another instance of its task is on its way
    asks=i.is_("Triaging") & i.task.is_(*TO_START),
    why=(
        "An agent controls an instance for a limited time (a lease). After that the server refuses the agent's "
        "requests and takes control, in every state of the run."
    ),
    repairs=[
        *("the-client-moves-only-its-own", "the-worker-moves-only-its-own"),
        *("instances-can-end", "runs-can-end"),
    ],
    adds=[
        *m.LEASE_TABLE,
        *(of.launch, of.get_no_id, of.start, of.start_refused, *of.REPORTS),
        *(*of.LOST, of.instance_is_late),
        *(properties.MOVES[agent] for agent in ("client", "worker", "server")),
        properties.REFUSED_SUBMISSIONS,
        properties.LAUNCHED,
        *properties.MAY_BE_LATE,
        effects.IN_TIME,
        *effects.REPORTED,
        *effects.LOST,
        effects.RESOURCE_ERRORS,
        *conditions.TRUE_REPORTS,
        conditions.NOT_SUBMITTED_IS_TRUE,
        *possible_steps.COMMANDS,
        *effects.LEASES,
    ],
    drops=[
        "TaskInstance.start from Instantiated",
        "Task.start from Instantiating",
        *("miss_running", "miss_launched", "start_too_late"),
    ],
)
LOST_MEANS_OVER = Change(
    name="lost-instances-still-run",
    wrong="An instance is declared lost by its late heartbeat, while its job may still run.",
    shown="one-live-instance",
    why="An instance is lost only when nothing is left of its job. Triage removes the job first.",
    repairs=["one-live-instance", "halted-before-a-new-run"],
    adds=[
        *(
            m.FENCE,
            of.fence,
            of.take_job,
            of.hear_that_it_is_fenced,
            of.triage_lost,
            of.triage_resources,
            of.give_up_lost,
        ),
        *properties.LIVE_JOBS,
        *properties.FENCED,
        properties.TRIAGED_RESOURCES,
        properties.LEFTOVERS,
        properties.FENCED_CAN_HEAR,
        properties.REFUSED_CAN_HEAR,
        properties.WORKERS_MAY_DIE,
        *properties.JOBS_END,
        effects.DEATHS,
        conditions.FENCED_BEFORE,
    ],
    drops=["triage_fatal", *m.NOBODY_ASKS],
)
LATE_WORKERS_GO_ON = Change(
    name="a-late-worker-is-refused",
    wrong=(
        "The server refuses the heartbeat of a triaged instance while its task is Running, so a worker that is late "
        "once kills its command."
    ),
    shown="late-instances-can-run-again",
    why="A worker that is heard of again while its instance is triaged gets control back, and its task stays Running.",
    repairs=["late-instances-can-run-again", "finished-work-counts"],
    adds=[
        of.beat,
        of.hand_back,
        of.HANDED_BACK,
        *properties.LATE,
        properties.SILENT,
        properties.LIVE_WORKERS,
        conditions.HEARD_OF_AGAIN,
    ],
    drops=["beat_late", "beat_refused", "a refused heartbeat is one"],
)
WHAT_IS_TO_END_IS_MARKED = Change(
    name="a-resume-ends-what-others-have",
    wrong="A resume ends queued and instantiated instances at once (fact 3.5), while the distributor still has them in hand.",
    shown="the-client-moves-only-its-own",
    # no figure and no table has this move; one from Running is in both (facts 1.3 and 2.1)
    asks=i.is_("Instantiated"),
    why="An instance that must end is marked, and the agent in control ends it. Its task waits for the next run.",
    repairs=[
        "the-client-moves-only-its-own",
        "the-server-moves-only-its-own",
        "the-worker-moves-only-its-own",
    ],
    adds=[
        *(*m.DOOM_TABLE, *m.STOP_TABLE),
        *(of.stop_command, of.report_that_it_was_stopped, of.worker_dies, of.end_doomed, of.drop_doomed),
        *of.ENDED_REACTIONS,
        *properties.DOOMED,
        properties.DROPPED,
        effects.FATAL,
        effects.STOPPED,
        effects.MARKS,
        effects.LOST_MEANS_OVER,
        conditions.ENDED_WHEN_TRIAGED,
        conditions.STOPPED_FOR_A_REASON,
        possible_steps.STOPPED,
    ],
    drops=[
        *m.KILL_SELF_ROWS,
        "TaskInstance.end_at_once from Instantiated",
        *("kill", "kill takes the job", "start_to_die", "hear_that_it_is_to_die", "wind_up", "reap_resumed"),
        *shipped("wind_up ends", "reap_resumed ends"),
        *("end makes a task ErrorFatal", "be_killed makes a task ErrorFatal"),
    ],
)
TASKS_FOLLOW_WHAT_IS_ENDED = Change(
    name="a-resume-leaves-the-tasks-of-what-it-ends",
    wrong=(
        "A resume ends queued and instantiated instances and leaves their tasks as they are, so the old client waits "
        "for tasks that nobody moves."
    ),
    shown="workflows-can-be-done",
    why="A task whose instance is ended before it has begun is moved in the same transaction, and waits for the next run.",
    repairs=["task-is-the-image-of-its-instance", "workflows-can-be-done"],
    adds=[*m.QUEUED_TASK_TABLE, *of.ENDED_AT_ONCE, effects.LAST_ATTEMPT, effects.WITHIN_THE_CEILING],
)
RUNS_TAKE_ALONG_WHAT_HAS_NOT_BEGUN = Change(
    name="instances-of-an-ended-run-stay",
    wrong="The instances of a run that has ended, or is to be resumed, stay as they are, and nobody takes them up.",
    shown="instances-can-end",
    why=(
        "When a run ends, or is to be resumed, its instances that have not begun end with it. A cold resume also "
        "ends the running ones."
    ),
    repairs=[
        *("signals-can-be-taken-up", "instances-can-end", "runs-can-end"),
        *("workflows-can-be-done", "workflows-can-be-run"),
    ],
    adds=[
        *runs.ENDING,
        runs.terminate_run,
        *properties.QUEUED,
        properties.TERMINATED,
        *properties.MAKING_ROOM,
        effects.TAKEN_ALONG,
        *effects.ROOM,
    ],
)
DISTRIBUTORS_SERVE_ALL = Change(
    name="a-distributor-ends-with-its-client",
    wrong="A distributor ends with its client, and no other agent launches or ends what it holds.",
    why="Distributors do not end with a client. They serve every run, and are started again if they die.",
    repairs=[
        *("signals-can-be-taken-up", "finished-work-counts", "instances-can-end", "runs-can-end"),
        *("workflows-can-be-done", "workflows-can-be-run"),
    ],
    adds=[
        m.DISTRIBUTOR_BEGINS_AGAIN,
        of.distributor_starts,
        of.beat_launched,
        effects.STARTED,
        effects.STARTED_BY_ITS_CLIENT,
        *conditions.LIVE_AGENTS,
    ],
    drops=["a distributor ends with its client"],
)
EVERY_RUN_IS_REAPED = Change(
    name="runs-without-a-heartbeat",
    wrong="A run has a heartbeat only in some states, so a client that dies in another is never noticed.",
    shown="workflows-can-be-run",
    why=(
        "Every run under way has a heartbeat, and the reaper ends it when the heartbeat is late, if the table of "
        "its workflow allows that."
    ),
    repairs=["runs-can-end", "workflows-can-be-run", "workflows-can-be-done"],
    adds=[
        *m.RUN_LEASE_TABLE,
        *(runs.beat_run, runs.run_is_late, runs.give_up_run, runs.reap, runs.reap_terminated),
        *runs.REAPED,
        *properties.PROGRESS,
        *properties.LIVE_CLIENTS,
        properties.ENDS_ALIKE,
        *effects.ENDS,
        effects.GIVEN_UP,
        *effects.REAPED,
        effects.MOVES_ARE_HEARTBEATS,
    ],
    drops=[
        *("reap_linking", "reap_running", "repair_workflow", "WorkflowRun.abort from Linking"),
        *[row.name for row in SHIPPED.rows if row.event.startswith("write_")],
    ],
)
A_LATE_CLIENT_IS_REFUSED = Change(
    name="an-old-run-queues-tasks",
    shown="only-the-live-run-queues",
    wrong="The server lets a client queue tasks after the reaper has ended its run.",
    asks=c.run.is_("Error"),
    why="The server queues tasks only for the running run.",
    repairs=[
        *("only-the-live-run-queues", "signals-can-be-taken-up", "instances-can-end", "runs-can-end"),
        *("workflows-can-be-done", "workflows-can-be-run"),
    ],
    adds=runs.QUEUEING,
)
A_RUN_BEGINS_WHEN_THE_LAST_IS_OVER = Change(
    name="a-new-run-beside-the-old-one",
    wrong="A run is registered while instances of the run before may still run.",
    shown="halted-before-a-new-run",
    why=(
        "A run is registered only when no other run is under way, and nothing is left of the previous run that it "
        "would repeat. Waiting tasks keep what they wait for."
    ),
    repairs=[
        "halted-before-a-new-run",
        "one-live-instance",
        "task-is-the-image-of-its-instance",
        "resources-grow-on-resource-errors",
    ],
    adds=[
        *m.RESET_TABLE,
        *(*runs.PLANS, runs.clear, runs.register, runs.link),
        *(runs.CLEAR, *runs.RESETS),
        *properties.ONE_RUN,
        *properties.RESUMES,
        effects.NOT_DONE,
        *effects.RESET,
        conditions.COLD_ONLY,
        possible_steps.LINKED,
    ],
    drops=[
        *m.RESETS_OF_WHAT_IS_ON_ITS_WAY,
        *("a cold resume resets tasks", "a hot resume resets tasks"),
    ],
)

REPAIRED = SHIPPED.amend(
    "repaired",
    "what runs, with the changes that its properties need: control is a lease, what is lost is over, and one run at a time",
    [
        CLAIMS_ARE_ATOMIC,
        CONTROL_IS_A_LEASE,
        LOST_MEANS_OVER,
        LATE_WORKERS_GO_ON,
        WHAT_IS_TO_END_IS_MARKED,
        TASKS_FOLLOW_WHAT_IS_ENDED,
        RUNS_TAKE_ALONG_WHAT_HAS_NOT_BEGUN,
        DISTRIBUTORS_SERVE_ALL,
        EVERY_RUN_IS_REAPED,
        A_LATE_CLIENT_IS_REFUSED,
        A_RUN_BEGINS_WHEN_THE_LAST_IS_OVER,
    ],
    refuted=frozenset(),
    machines=[m.TASK_INSTANCE, m.DISTRIBUTOR, m.JOB],
)
