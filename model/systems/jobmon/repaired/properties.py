"""The stronger properties: control is a lease, and everything ends. Auxiliary invariants that they rest on."""

from collections.abc import Sequence
from dataclasses import replace

from schedproof.model.lang import (
    AlwaysCanReach,
    Invariant,
    LeadsTo,
    LifeCycle,
    StepInvariant,
    Term,
    Var,
    after,
    exists,
    implies,
)
from schedproof.model.lang.terms import both
from schedproof.model.systems.jobmon.shipped.auxiliary_invariants import INCREASED
from schedproof.model.systems.jobmon.shipped.client import CLIENT_ACTIONS
from schedproof.model.systems.jobmon.shipped.distributor import DISTRIBUTOR_ACTIONS, NOT_SUBMITTED
from schedproof.model.systems.jobmon.shipped.machines import (
    INSTANCE_ENDS,
    LIVE,
    ON_ITS_WAY,
    OPEN,
    RUN_ENDS,
    TASK_ENDS,
    c,
    d,
    e,
    i,
    k,
    q,
    r,
    t,
    w,
)
from schedproof.model.systems.jobmon.shipped.properties import (
    DRIVEN,
    FINISHED_WORK_COUNTS,
    FUTURE,
    HALTED,
    LATE_CAN_RUN_AGAIN,
    RESILIENT,
    SIGNALS,
    TERMINAL,
    WORK,
    moves_only,
    names,
)
from schedproof.model.systems.jobmon.shipped.server import SERVER_ACTIONS
from schedproof.model.systems.jobmon.shipped.worker import WORKER_ACTIONS
from schedproof.model.systems.jobmon.sorts import Client, TaskInstance

from .instances import LOST_FOR_GOOD
from .machines import LEASED, WRAPPED
from .runs import left


def acting(before: Sequence[str], without: Sequence[str], *new: str) -> list[str]:
    """Returns the actions of an agent: those of ``before`` except ``without``, and the new ones."""
    return [*[name for name in before if name not in without], *new]


CLIENT = acting(names(CLIENT_ACTIONS), ("miss_running", "miss_launched", "wind_up"), "give_up_run", "clear")
DISTRIBUTOR = acting(
    names(DISTRIBUTOR_ACTIONS),
    ("list_queued", "kill", "triage_fatal"),
    *("distributor_starts", "fence", "take_job", "hand_back", "end_doomed", "drop_doomed"),
)
WORKER = acting(
    names(WORKER_ACTIONS),
    ("start_to_die", "start_too_late", "beat_late", "beat_refused", "hear_that_it_is_to_die"),
    *("stop_command", "report_that_it_was_stopped", "hear_that_it_is_fenced"),
)
SERVER = acting(
    names(SERVER_ACTIONS),
    ("reap_resumed", "reap_linking", "reap_running", "repair_workflow"),
    *("lose_instantiated", "lose_launched", "lose_running", "reap"),
)


def others(action: str) -> list[str]:
    """Returns the names of all actions but one."""
    return [name for name in (*CLIENT, *DISTRIBUTOR, *WORKER, *SERVER) if name != action]


CONTROL = [
    moves_only("client", CLIENT, i.is_("Queued"), "queued, and nobody has taken it up"),
    moves_only(
        "distributor",
        DISTRIBUTOR,
        i.is_("Queued", "Triaging", "NoHeartbeat")
        | (i.is_("Instantiated", "Launched") & ~i.overdue)
        | (i.is_("Launched") & i.doomed),
        "queued, or instantiated or launched and its lease lasts, or triaged, or launched in vain",
    ),
    moves_only("worker", WORKER, i.is_("Launched", "Running") & ~i.overdue, "launched or running, and its lease lasts"),
    moves_only(
        "server",
        SERVER,
        (i.is_(*LEASED) & i.overdue) | i.is_("Queued"),
        "one whose lease has run out, or queued by a run that is dead",
    ),
]

MOVES = dict(zip(("client", "distributor", "worker", "server"), CONTROL, strict=True))

# --- Auxiliary properties

HELD = [
    Invariant(
        name="distributors-have-what-was-queued",
        says="every instance that a distributor has in memory was queued",
        sentence="fact 3.1: the distributor's loop on Q",
        over=[d, i],
        given=d.held.has(i),
        then=~i.is_("Absent", "Queued"),
    ),
    StepInvariant(
        name="claims-are-kept",
        says="a distributor that goes on keeps in memory what it has claimed, until it launches or ends it",
        sentence="fact 3.1: the distributor's loop on I",
        over=[e, k],
        given=e.held.has(k) & k.is_("Instantiated") & after(k.is_("Instantiated") & e.is_("Running")),
        then=after(e.held.has(k)),
    ),
    Invariant(
        name="claimed-by-one",
        says="no two distributors have claimed the same instance",
        line=47,
        sentence=SIGNALS,
        over=[d, e, i],
        given=(d != e) & d.held.has(i),
        then=~e.held.has(i),
    ),
]
DOOMED = [
    StepInvariant(
        name="what-is-to-end-goes-no-further",
        says="an instance that must end is not launched, and its command is not started",
        line=153,
        sentence=HALTED,
        over=[i],
        given=i.doomed,
        then=implies(i.is_("Instantiated"), after(~i.is_("Launched")))
        & implies(i.is_("Launched"), after(~i.is_("Running")))
        & implies(i.job.is_("Submitted"), after(~i.job.is_("Running"))),
    ),
]
LIVE_JOBS = [
    Invariant(
        name="live-jobs-are-running-or-triaged",
        says="an instance whose command may act is Running or Triaging",
        line=64,
        sentence="- RUNNING (R) = Actively executing.",
        over=[i],
        given=i.job.is_(*LIVE),
        then=i.is_("Running", "Triaging"),
    ),
    Invariant(
        name="open-instances-are-the-latest",
        says="an instance that has not ended is the latest of its task",
        line=155,
        sentence=FUTURE,
        over=[i],
        given=i.is_(*OPEN),
        then=i.task.instance == i,
    ),
]
FENCED = [
    Invariant(
        name="what-is-fenced-is-triaged",
        says="an instance is fenced only while it is triaged and late, until it has ended",
        line=47,
        sentence=SIGNALS,
        over=[i],
        given=i.fenced,
        then=(i.is_("Triaging") & i.overdue) | i.is_(*INSTANCE_ENDS),
    ),
    StepInvariant(
        name="what-is-lost-stays-lost",
        says="an instance that no agent can control again stays so until it ends: its job may be removed later",
        line=47,
        sentence=SIGNALS,
        over=[i],
        given=LOST_FOR_GOOD,
        then=after(LOST_FOR_GOOD | i.is_(*INSTANCE_ENDS)),
    ),
    StepInvariant(
        name="jobs-are-left-to-their-workers",
        says=(
            "a distributor removes no job from the cluster if an agent controls its instance, or may control it again"
        ),
        line=47,
        sentence=SIGNALS,
        over=[i],
        on=DISTRIBUTOR,
        given=i.is_(*OPEN) & ~LOST_FOR_GOOD & ~i.job.is_("Killed"),
        then=after(~i.job.is_("Killed")),
    ),
    replace(
        FINISHED_WORK_COUNTS,
        says="the result of a command can always be reported, as long as its wrapper lives and is not fenced",
        given=i.job.is_("Succeeded") & i.is_(*OPEN) & ~i.fenced,
    ),
]
LATE = [
    replace(
        LATE_CAN_RUN_AGAIN,
        says="an instance that is triaged while its command runs can be Running again, with its command, until it is fenced",
        given=i.is_("Triaging") & i.job.is_("Running") & ~i.fenced,
    ),
    LifeCycle(
        name="life-of-a-late-instance",
        says="an instance that is late can be heard of again, and be done",
        sentence="fact 2.1: R->T, T->R",
        sort=TaskInstance,
        states=["Absent", "Queued", "Instantiated", "Launched", "Running", "Triaging", "Running", "Done"],
    ),
]
SILENT = LifeCycle(
    name="life-of-a-silent-instance",
    says="an instance that is launched and never heard of ends in an error",
    sentence="fact 2.1: O->X, X->E",
    sort=TaskInstance,
    states=["Absent", "Queued", "Instantiated", "Launched", "NoHeartbeat", "Error"],
)
ONE_RUN = [
    Invariant(
        name="one-run-on-its-way",
        says="a workflow has at most one run under way",
        line=153,
        sentence=HALTED,
        over=[r, q],
        given=(r != q) & (r.workflow == q.workflow) & r.is_(*ON_ITS_WAY),
        then=~q.is_(*ON_ITS_WAY),
    ),
    Invariant(
        name="workflows-rest-without-a-run",
        says="a workflow without a run under way can be linked again, or is done",
        line=29,
        sentence=DRIVEN,
        over=[w],
        given=~exists(r, (r.workflow == w) & r.is_(*ON_ITS_WAY[1:])),
        then=w.is_("Registering", "Aborted", "Failed", "Halted", "Done"),
    ),
    Invariant(
        name="registered-runs-can-be-linked",
        says="a run is registered only for a workflow that is not done",
        sentence="fact 3.5: a client polls whether it can resume",
        over=[r],
        given=r.is_("Registered"),
        then=~r.workflow.is_("Done"),
    ),
]
NOT_BEGUN, BEGUN = ("Queued", "Instantiated", "Launched", "NoHeartbeat"), ("Running", "Triaging")
RESUMES = [
    StepInvariant(
        name="resumes-wait-for-the-last-run",
        says="a client finds that it can resume, clears and registers only when no run of its workflow is under way",
        sentence="fact 3.5: a client polls whether it can resume",
        over=[q],
        on=["plan_cold", "plan_hot", "clear", "register"],
        given=q.workflow == c.run.workflow,
        then=~q.is_(*ON_ITS_WAY),
    ),
    AlwaysCanReach(
        name="cold-resumes-can-end-what-runs",
        says="a client that is to resume cold can have ended what an earlier run has left running",
        sentence="fact 3.5: a cold resume ends running instances as well",
        over=[c, i],
        given=c.is_("ResumesCold")
        & i.is_("Running", "Triaging")
        & (i.run.workflow == c.run.workflow)
        & ~exists(q, (q.workflow == c.run.workflow) & q.is_(*ON_ITS_WAY)),
        goal=i.doomed,
        without=others("clear"),
    ),
    *(
        AlwaysCanReach(
            name=f"{how.lower()}-resumes-can-begin",
            says=f"a client that is to resume {how.lower()} can register its run as soon as the rest of the last one is over",
            sentence="fact 3.5: a resume is cold or hot",
            over=[c],
            given=c.is_(f"Resumes{how}")
            & ~c.run.workflow.is_("Done")
            & ~exists(q, (q.workflow == c.run.workflow) & q.is_(*ON_ITS_WAY))
            & ~exists(i, ~i.is_("Absent") & (i.run.workflow == c.run.workflow) & i.is_(*rest)),
            goal=c.is_("Running"),
            without=others("register"),
        )
        for how, rest in (("Cold", (*NOT_BEGUN, *BEGUN)), ("Hot", NOT_BEGUN))
    ),
    StepInvariant(
        name="resumes-begin-when-the-rest-is-over",
        says="a client registers a run only when no instance of the last one waits to begin, and if it is cold none is open",
        line=153,
        sentence=HALTED,
        over=[i],
        on=["register"],
        given=~i.is_("Absent") & (i.run.workflow == c.run.workflow),
        then=~i.is_(*NOT_BEGUN) & implies(c.is_("ResumesCold"), ~i.is_(*BEGUN)),
    ),
    StepInvariant(
        name="clears-doom-what-runs",
        says="a client that is to resume cold has all ended that an earlier run has left running",
        sentence="fact 3.5: a cold resume ends running instances as well",
        over=[i],
        on=["clear"],
        given=i.is_("Running", "Triaging") & (i.run.workflow == c.run.workflow),
        then=after(i.doomed),
    ),
    *(
        AlwaysCanReach(
            name=f"resumes-can-be-planned-{how.lower()}",
            says=f"a client that has not begun can find that it can resume {how.lower()} once no run is under way, unless all is done",
            sentence="fact 3.5: a client polls whether it can resume",
            over=[c],
            given=c.is_("NotStarted")
            & ~c.run.workflow.is_("Done")
            & ~exists(q, (q.workflow == c.run.workflow) & q.is_(*ON_ITS_WAY)),
            goal=c.is_(f"Resumes{how}"),
            without=others(f"plan_{how.lower()}"),
        )
        for how in ("Cold", "Hot")
    ),
    *(
        LifeCycle(
            name=f"life-of-a-{how.lower()}-resume",
            says=f"a client can find that it can resume {how.lower()}, and begin a run",
            sentence="fact 3.5: a resume is cold or hot",
            sort=Client,
            states=["NotStarted", f"Resumes{how}", "Running"],
        )
        for how in ("Cold", "Hot")
    ),
]
LIVE_CLIENTS = [
    AlwaysCanReach(
        name="live-clients-keep-their-run",
        says="a client that lives can always renew the lease of its run, in every state of the run",
        sentence="fact 3.4: heartbeats of a run",
        over=[c],
        given=c.is_("Running") & c.run.is_(*ON_ITS_WAY) & c.run.overdue,
        goal=c.is_("Running") & ~c.run.overdue,
        without=["link", "bind", "instantiate_run", "launch_run", "start_run", "ask_cold", "ask_hot"],
    ),
    AlwaysCanReach(
        name="clients-can-post-errors",
        says="a client that lives can end its run with an error in each state from Bound to Running",
        line=55,
        sentence=WORK,
        over=[c],
        given=c.is_("Running") & c.run.is_("Bound", "Instantiated", "Launched", "Running"),
        goal=c.run.is_("Error"),
        without=["reap", "give_up_run", "instantiate_run", "launch_run", "start_run", "ask_cold", "ask_hot"],
    ),
    AlwaysCanReach(
        name="clients-can-leave",
        says="a client whose run has been ended can hear that, and end",
        sentence="fact 3.5: a client stops when its run has ended",
        over=[c],
        given=c.is_("Running") & c.run.is_(*RUN_ENDS),
        goal=c.is_("Gone"),
        without=["client_dies"],
    ),
    AlwaysCanReach(
        name="users-can-stop-a-run",
        says="a run that runs can always be stopped, while its client lives",
        sentence="fact 3.5: a run ends, or is to be resumed",
        over=[c],
        given=c.is_("Running") & c.run.is_("Running"),
        goal=c.run.is_("Stopped"),
    ),
]
LIVE_WORKERS = AlwaysCanReach(
    name="live-workers-keep-control",
    says="a worker that lives and is not fenced can always renew its lease, also after its command has ended",
    sentence="fact 3.1: a worker's heartbeat extends its deadline",
    over=[i],
    given=i.is_("Running", "Triaging") & i.job.is_("Running", *WRAPPED) & i.overdue & ~i.fenced,
    goal=i.is_("Running", "Triaging") & ~i.overdue,
    without=["lose_running"],
)
LAUNCHED = AlwaysCanReach(
    name="launched-jobs-keep-their-lease",
    says="a distributor can renew the lease of what it has launched, as long as the job waits on the cluster",
    sentence="fact 3.1: a distributor extends the deadlines of what is launched",
    over=[i],
    given=i.is_("Launched") & i.overdue & i.job.is_("Submitted"),
    goal=i.is_("Launched") & ~i.overdue,
    without=["lose_launched"],
)
DROPPED = AlwaysCanReach(
    name="what-is-to-end-can-be-dropped",
    says="a distributor can end what it has claimed and is not to launch, as long as its lease lasts",
    line=153,
    sentence=HALTED,
    over=[d, i],
    given=d.held.has(i) & i.is_("Instantiated") & ~i.overdue & i.doomed,
    goal=i.is_("ErrorFatal"),
    without=["instance_is_late", "submit"],
)
FENCED_CAN_HEAR = AlwaysCanReach(
    name="fenced-workers-can-hear",
    says="a worker that is fenced can hear that it has lost control, and end with its command",
    line=47,
    sentence=SIGNALS,
    over=[i],
    given=i.is_("Triaging") & i.fenced & i.job.is_("Running", *WRAPPED),
    goal=i.job.is_("Killed"),
    without=others("hear_that_it_is_fenced"),
)
REFUSED_CAN_HEAR = AlwaysCanReach(
    name="refused-workers-can-hear",
    says="a wrapper that comes up after its instance was lost, or is to end, can hear that, and does not start the command",
    line=153,
    sentence=HALTED,
    over=[i],
    given=i.job.is_("Submitted") & (~i.is_("Instantiated", "Launched") | i.overdue | i.doomed),
    goal=i.job.is_("Refused"),
    without=others("start_refused"),
)
WORKERS_MAY_DIE = AlwaysCanReach(
    name="workers-may-die",
    says="a worker may die in each state of its job, where jobs may",
    line=94,
    sentence=RESILIENT,
    over=[i],
    given=i.job.mortal & i.job.is_("Submitted", "Running", *WRAPPED),
    goal=i.job.is_("Killed"),
    without=others("worker_dies"),
)
MAY_BE_LATE = [
    AlwaysCanReach(
        name=f"{name}-may-be-late",
        says=f"the heartbeat of {article} may be late in each state that has one, unless {article} is punctual",
        sentence="fact 3.4: heartbeats and time-outs",
        over=[what],
        given=~what.punctual & what.is_(*states),
        goal=what.overdue,
        without=others(action),
    )
    for name, article, what, states, action in (
        ("instances", "an instance", i, (*LEASED, "Triaging"), "instance_is_late"),
        ("runs", "a run", r, ON_ITS_WAY, "run_is_late"),
    )
]
TRIAGED_RESOURCES = AlwaysCanReach(
    name="triage-can-report-too-few-resources",
    says="triage can report a resource error that the worker can report no more, unless the instance is to end",
    line=105,
    sentence=INCREASED,
    over=[i],
    given=i.is_("Triaging") & i.fenced & ~i.doomed & i.job.is_("OutOfResources"),
    goal=i.is_("ResourceError"),
)
REFUSED_SUBMISSIONS = AlwaysCanReach(
    name="refused-submissions-can-be-reported",
    says="a distributor can report that the cluster does not take a job, or gives no answer, as long as its lease lasts",
    line=55,
    sentence=WORK,
    over=[d, i],
    given=d.held.has(i) & i.is_("Instantiated") & ~i.overdue & NOT_SUBMITTED,
    goal=i.is_("NoDistributorId"),
    without=others("get_no_id"),
)
LEFTOVERS = AlwaysCanReach(
    name="leftovers-can-be-taken-away",
    says="a distributor can take away what the cluster still has of an instance that has ended, or that is lost for good",
    sentence="fact 3.1: a distributor takes a job from the cluster",
    over=[i],
    given=(i.is_(*INSTANCE_ENDS) | LOST_FOR_GOOD) & i.job.is_("Submitted", *LIVE, *WRAPPED),
    goal=i.job.is_("Killed"),
    without=[name for name in others("take_job") if name != "distributor_starts"],
)
ENDED = {
    # for the state in which a run has ended, that of its workflow (2.5); a run that is aborted before it is linked leaves it
    "Done": "Done",
    "Stopped": "Failed",
    "Error": "Failed",
    "Terminated": "Halted",
}
ENDS_ALIKE = StepInvariant(
    name="workflows-end-as-their-runs",
    says="a workflow ends with its run, in the state that goes with that of the run",
    sentence="fact 2.5: a run moves its workflow",
    over=[r],
    given=r.is_(*ON_ITS_WAY),
    then=both([implies(after(r.is_(run)), after(r.workflow.is_(workflow))) for run, workflow in ENDED.items()])
    & implies(r.is_("Linking") & after(r.is_("Aborted")), after(r.workflow.is_("Aborted"))),
)
JOBS_END = [
    StepInvariant(
        name="removed-jobs-are-gone",
        says="nothing is left of a job that is killed, or taken from the cluster",
        sentence="fact 3.1: a distributor takes a job from the cluster",
        over=[],
        on=["take_job", "worker_dies", "orphan_ends", "hear_that_it_is_fenced"],
        then=after(i.job.is_("Killed")),
    ),
    StepInvariant(
        name="wrappers-end-with-their-report",
        says="nothing is left of a job whose wrapper has reported how its command ended",
        sentence="fact 3.1: a worker reports its start, heartbeats and end",
        over=[],
        on=["report_success", "report_an_error", "report_too_few_resources", "report_that_it_was_stopped"],
        then=after(i.job.is_("Reported")),
    ),
]
LIVES = exists(c, (c.run == r) & c.is_("Running"))
TERMINATED = StepInvariant(
    name="terminated-runs-leave-nothing",
    says="a run that makes room is terminated only when its instances that have not begun, and if cold all, have ended",
    line=153,
    sentence=HALTED,
    over=[r, i],
    given=r.is_("ColdResume", "HotResume") & after(r.is_("Terminated")) & (i.run == r),
    then=~i.is_("Queued", "Instantiated", "Launched", "NoHeartbeat")
    & implies(r.is_("ColdResume"), ~i.is_("Running", "Triaging")),
)
MAKING_ROOM = [
    AlwaysCanReach(
        name=name,
        says=f"{who} can terminate a run that makes room as soon as nothing of it is left",
        sentence="fact 3.5: a run that is to be resumed is terminated by its client or by the reaper",
        over=[r],
        given=r.is_("ColdResume", "HotResume") & ~left(r) & ready,
        goal=r.is_("Terminated"),
        without=others(action),
    )
    for name, who, ready, action in (
        ("the-reaper-can-terminate-runs", "the reaper", r.overdue, "reap_terminated"),
        ("clients-can-terminate-their-run", "a client that lives", LIVES, "terminate_run"),
    )
]
QUEUED = [
    Invariant(
        name="queued-by-a-run-that-runs",
        says="every queued instance was queued by a running run",
        sentence="fact 3.5: a run that ends, ends its instances",
        over=[i],
        given=i.is_("Queued"),
        then=i.run.is_("Running"),
    ),
]

# "whatever dies": clients, distributors and workers die, and may come back or not; the reaper and one distributor go
# on.
GO_ON = [
    # time passes, and the server acts when an agent asks it to check
    *(
        "run_is_late",
        "instance_is_late",
        "lose_instantiated",
        "lose_launched",
        "lose_running",
        "reap",
        "reap_terminated",
    ),
    # the distributors, which are started again
    *("distributor_starts", "instantiate", "submit", "take_job", "triage_lost", "triage_resources", "end_doomed"),
    *("drop_doomed", "give_up_lost"),
    # a worker that lives, and its command
    *("start_refused", "command_succeeds", "stop_command", "hear_that_it_is_fenced"),
    # a client that lives
    *("link", "bind", "instantiate_run", "launch_run", "start_run", "queue", "queue_with_more", "queue_with_as_much"),
    *("finish_run", "give_up_run", "terminate_run"),
]
# Actions that are possible again and again, between one lateness and the next.
IN_TIME = [
    *("launch", "start", "report_success", "report_an_error", "report_too_few_resources", "report_that_it_was_stopped"),
    *("fence", "hand_back"),
]
# Explorations have few instances: a task that waits for one more than they have is not a counterexample.
NO_MORE = exists(t, t.is_("Registering", "AdjustingResources")) & ~exists(i, i.is_("Absent"))
HAS_A_RUN = exists(r, (r.workflow == t.workflow) & r.is_(*ON_ITS_WAY))


def in_the_end(name: str, says: str, what: Var, given: Term, goal: Term) -> LeadsTo:
    """Returns the property that ``goal`` is reached whatever dies, as long as the reaper and a distributor go on."""
    return LeadsTo(
        name=name,
        says=f"{says}, whatever dies, if the reaper and a distributor go on",
        line=31,
        sentence=TERMINAL,
        over=[what],
        given=given,
        goal=goal,
        weak=GO_ON,
        strong=IN_TIME,
        without=["distributor_dies"],
    )


PROGRESS = [
    in_the_end("instances-end", "every instance comes to an end", i, i.is_(*OPEN), i.is_(*INSTANCE_ENDS)),
    in_the_end(
        "tasks-end",
        "every task is done, or has failed, or is left without a run, or waits for an attempt beyond the scope",
        t,
        ~t.is_(*TASK_ENDS) & HAS_A_RUN,
        t.is_(*TASK_ENDS) | ~HAS_A_RUN | NO_MORE,
    ),
    in_the_end(
        "runs-end",
        "every run ends, or waits for an attempt beyond the scope",
        r,
        r.is_(*ON_ITS_WAY),
        r.is_(*RUN_ENDS) | NO_MORE,
    ),
    in_the_end(
        "workflows-end",
        "every workflow that is run is done, or has failed, or has been ended, or waits for an attempt beyond "
        "the scope",
        w,
        w.is_("Queued", "Instantiating", "Launched", "Running"),
        w.is_("Done", "Failed", "Halted", "Aborted") | NO_MORE,
    ),
]
