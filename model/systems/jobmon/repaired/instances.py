"""Who may move an instance, and when: control is a lease, and an agent that has lost it is refused.

A lease runs out by the server's clock. Until then, only its holder moves the instance. After that, only the server
does, which gives the instance to triage. Silence is never taken as the end of a job: the cluster must have nothing left
of it.
"""

from dataclasses import replace

from schedproof.model.lang import Action, Rule
from schedproof.model.systems.jobmon.shipped import distributor as old
from schedproof.model.systems.jobmon.shipped import server, worker
from schedproof.model.systems.jobmon.shipped.couplings import ATTEMPTS_LEFT, reaction
from schedproof.model.systems.jobmon.shipped.distributor import GOES_ON
from schedproof.model.systems.jobmon.shipped.machines import INSTANCE_ENDS, LIVE, TO_START, d, i

from .machines import LEASED, OVER, WRAPPED

JOB = i.job


# --- Claims: an agent reads the instance in the transaction that claims it

claim = Action(
    "instantiate",
    [d, i],
    when=[GOES_ON, i.is_("Queued"), i.run.is_("Running")],
    fires=[d.fires("hold", instance=i), i.fires("instantiate")],
    says="the distributor {d} claims {i}",
    line=62,
)
distributor_starts = Action(
    "distributor_starts",
    [d],
    when=[d.is_("NotStarted", "Gone")],
    fires=[d.fires("begin")],
    says="the distributor {d} is started",
)

# --- From the distributor to the worker

IN_LEASE = (i.is_("Instantiated"), ~i.overdue)
launch = replace(
    old.launch,
    when=[GOES_ON, d.held.has(i), ~JOB.is_("Absent"), *IN_LEASE, ~i.doomed],
    line=63,
)
get_no_id = replace(old.get_no_id, when=[GOES_ON, d.held.has(i), old.NOT_SUBMITTED, *IN_LEASE])
beat_launched = replace(old.beat_launched, when=[GOES_ON, i.is_("Launched"), JOB.is_("Submitted")])
START = (i.is_("Launched"), ~i.overdue, ~i.doomed)
start = replace(
    worker.start,
    when=[JOB.is_("Submitted"), *START],
    says="the wrapper of {i} comes up, is allowed to start, and starts the command",
    line=64,
)
# While its instance is Instantiated, the wrapper asks again.
start_refused = replace(
    worker.start_refused,
    when=[
        JOB.is_("Submitted"),
        ~i.is_("Instantiated", "Launched") | i.overdue | i.doomed,
    ],
)

# --- The worker renews its lease, then reports

RUNS = (i.is_("Running"), ~i.overdue)
beat = replace(worker.beat, when=[JOB.is_("Running", *WRAPPED), i.is_("Running", "Triaging"), ~i.fenced])


def in_time(report: Action) -> Action:
    """Returns the report, refused once the lease has run out."""
    how_it_ended, *_ = report.when
    return replace(report, when=[how_it_ended, *RUNS])


REPORTS = [in_time(report) for report in worker.REPORTS]

stop_command = Action(
    "stop_command",
    [i],
    when=[JOB.is_("Running"), i.doomed],
    fires=[JOB.fires("stop")],
    says="the wrapper of {i} hears that its instance is to end, and kills its command",
)
report_that_it_was_stopped = Action(
    "report_that_it_was_stopped",
    [i],
    when=[JOB.is_("Stopped"), *RUNS],
    fires=[JOB.fires("report"), i.fires("end")],
    says="the wrapper of {i} reports that it has killed its command",
)

hear_that_it_is_fenced = Action(
    "hear_that_it_is_fenced",
    [i],
    when=[JOB.is_("Running", *WRAPPED), i.is_("Triaging"), i.fenced],
    fires=[JOB.fires("be_killed")],
    says="the wrapper of {i} hears that it has lost control, kills its command, and ends",
)

worker_dies = replace(worker.worker_dies, when=[JOB.mortal, JOB.is_("Submitted", "Running", *WRAPPED)])

# --- When a lease has run out

instance_is_late = replace(server.instance_is_late, when=[~i.punctual, i.is_(*LEASED, "Triaging"), ~i.overdue])


def lost(now: str, event: str, says: str) -> Action:
    """Returns the action by which the server takes control; any agent may ask it to check."""
    return Action(f"lose_{now.lower()}", [i], [i.is_(now), i.overdue], [i.fires(event)], says, fact="3.1")


LOST = [
    lost("Instantiated", "get_no_id", "the server gives {i} up: its distributor has not launched it in time"),
    lost("Launched", "miss_heartbeat", "the server marks {i}: its job is silent"),
    lost("Running", "miss_heartbeat", "the server has {i} triaged: its worker has not been heard of"),
]

# --- Triage: any distributor makes sure that the job is over, and reports how it ended

fence = Action(
    "fence",
    [d, i],
    when=[GOES_ON, i.is_("Triaging"), i.overdue, ~i.fenced],
    fires=[i.fires("fence")],
    says="the distributor {d} sees to it that the worker of {i} gets control back no more",
)
# Once true, this stays true until the instance has ended. So a distributor may act on an old read of it.
LOST_FOR_GOOD = (
    (i.is_("Instantiated", "Launched") & i.doomed)
    | (i.is_("Instantiated") & i.overdue)
    | i.is_("NoHeartbeat")
    | (i.is_("Triaging") & i.fenced)
)
LEFT_OF_IT = JOB.is_("Submitted", *LIVE, *WRAPPED)
take_job = Action(
    "take_job",
    [d, i],
    when=[GOES_ON, LOST_FOR_GOOD | i.is_(*INSTANCE_ENDS), LEFT_OF_IT],
    fires=[JOB.fires("be_killed")],
    says="the distributor {d} takes the job of {i} from the cluster, and waits until nothing is left of it",
)
hand_back = Action(
    "hand_back",
    [d, i],
    when=[GOES_ON, i.is_("Triaging"), ~i.overdue],
    fires=[i.fires("start")],
    says="the distributor {d} finds that the worker of {i} has been heard of again: it goes on",
    line=66,
)
# An instance that runs again leaves its task, which is Running, as it is.
HANDED_BACK = reaction("start", "Running", "start", i.task.is_(*TO_START))
triage_lost = replace(
    old.triage_lost,
    when=[GOES_ON, i.is_("Triaging"), ~i.doomed, JOB.is_(*OVER)],
    says="the distributor {d} reports that the job of {i} is over, nobody knows how",
)
triage_resources = replace(
    old.triage_resources, when=[GOES_ON, i.is_("Triaging"), ~i.doomed, JOB.is_("OutOfResources")]
)
end_doomed = Action(
    "end_doomed",
    [d, i],
    when=[GOES_ON, i.is_("Triaging", "Launched"), i.doomed, JOB.is_(*OVER)],
    fires=[i.fires("end")],
    says="the distributor {d} reports that the job of {i}, which was to end, is over",
)
drop_doomed = Action(
    "drop_doomed",
    [d, i],
    when=[GOES_ON, d.held.has(i), i.is_("Instantiated"), ~i.overdue, i.doomed, JOB.is_(*OVER)],
    fires=[d.fires("drop", instance=i), i.fires("end")],
    says="the distributor {d} ends {i}, which it was to launch",
)
give_up_lost = replace(old.give_up_lost, when=[GOES_ON, i.is_("NoHeartbeat"), JOB.is_(*OVER)])

# --- An instance that was ended moves its task back, so that the next run queues it


def goes_back(event: str) -> list[Rule]:
    """Returns the rules by which a task waits again, or fails, after ``event`` of its instance."""
    return [
        reaction(event, "Registering", "retry", ATTEMPTS_LEFT),
        reaction(event, "ErrorFatal", "give_up", ~ATTEMPTS_LEFT),
    ]


ENDED_REACTIONS = goes_back("end")
ENDED_AT_ONCE = goes_back("end_at_once")
