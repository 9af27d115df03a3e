"""Properties of single steps: what an action does to its run or its instance, and nothing else."""

from schedproof.model.lang import Invariant, StepInvariant, after, exists, iff, implies
from schedproof.model.lang.terms import both
from schedproof.model.systems.jobmon.shipped.auxiliary_invariants import INCREASED
from schedproof.model.systems.jobmon.shipped.machines import (
    INSTANCE_ENDS,
    LIVE,
    ON_ITS_WAY,
    OPEN,
    RESUMING,
    RUN_ENDS,
    c,
    d,
    e,
    i,
    k,
    q,
    r,
    t,
)
from schedproof.model.systems.jobmon.shipped.properties import HALTED, RESILIENT, TERMINAL, WORK, stays

from .machines import LEASED, WRAPPED

ENDS = [
    StepInvariant(
        name=name,
        says=f"{who} ends the run as {end}",
        line=31,
        sentence=TERMINAL,
        over=[],
        on=on,
        then=after(c.run.is_(end)),
    )
    for name, who, on, end in (
        ("finished-runs-are-done", "a client whose tasks are all done", ["finish_run"], "Done"),
        ("failed-runs-are-errors", "a client that gives up or fails", ["err_run", "give_up_run"], "Error"),
        ("stopped-runs-are-stopped", "a user who stops a run", ["stop_run"], "Stopped"),
        ("left-runs-are-terminated", "a client that makes room", ["terminate_run"], "Terminated"),
    )
]
REAPED = [
    StepInvariant(
        name=name,
        says=f"the reaper ends a run {when} as {end}",
        sentence="fact 2.3: L->A, B->E, I->E, O->E, R->E",
        over=[],
        on=["reap"],
        given=r.is_(*states),
        then=after(r.is_(end)),
    )
    for name, when, states, end in (
        ("unlinked-runs-are-aborted", "that is not linked yet", ("Registered", "Linking"), "Aborted"),
        ("dead-runs-are-errors", "that has been linked", ("Bound", "Instantiated", "Launched", "Running"), "Error"),
    )
]
MOVES_ARE_HEARTBEATS = StepInvariant(
    name="moves-are-heartbeats",
    says="a run that its client moves on is not late",
    sentence="fact 3.4: an accepted move of a run extends its deadline",
    over=[],
    on=["link", "bind", "instantiate_run", "launch_run", "start_run"],
    then=after(~c.run.overdue),
)
ROOM = [
    StepInvariant(
        name=f"runs-make-room-{how}",
        says=f"who asks to resume {how} what a run does, gets that",
        sentence="fact 3.5: a resume sets a run to ColdResume or HotResume",
        over=[],
        on=[f"ask_{how}"],
        then=after(r.is_(state)),
    )
    for how, state in (("cold", "ColdResume"), ("hot", "HotResume"))
]
REPORTED = [
    StepInvariant(
        name=f"reported-as-{words}",
        says=f"an instance is {state} when that is reported of it",
        sentence="fact 3.1: the reports of a worker and of a distributor",
        over=[],
        on=on,
        then=after(i.is_(state)),
    )
    for words, state, on in (
        ("done", "Done", ["report_success"]),
        ("an-error", "Error", ["report_an_error", "give_up_lost"]),
        ("too-few-resources", "ResourceError", ["report_too_few_resources", "triage_resources"]),
        ("unknown", "UnknownError", ["triage_lost"]),
        ("not-submitted", "NoDistributorId", ["get_no_id", "lose_instantiated"]),
        ("running", "Running", ["start", "hand_back"]),
    )
]
LOST = [
    StepInvariant(
        name=f"{words}-when-overdue",
        says=f"the server makes an overdue instance that is {now} {state}",
        sentence="fact 3.1: overdue instances become Triaging from Running, and NoHeartbeat from Launched",
        over=[],
        on=[action],
        then=after(i.is_(state)),
    )
    for words, now, state, action in (
        ("silent", "Launched", "NoHeartbeat", "lose_launched"),
        ("triaged", "Running", "Triaging", "lose_running"),
    )
]
DROPPED = StepInvariant(
    name="reported-claims-are-dropped",
    says="what a distributor has reported as launched, not submitted or ended is in its memory no more: it is not submitted again",
    sentence="fact 3.1: the distributor's loop on I",
    over=[],
    on=["launch", "get_no_id", "drop_doomed"],
    then=after(~d.held.has(i)),
)
DEATHS = StepInvariant(
    name="the-dead-report-nothing",
    says="a job or a wrapper that dies takes its command along or leaves it running, and nothing says how it ends",
    line=94,
    sentence=RESILIENT,
    over=[],
    on=["worker_dies", "wrapper_dies"],
    then=after(i.job.is_("Killed", "Orphaned")),
)
RESOURCE_ERRORS = StepInvariant(
    name="resource-errors-are-adjusted",
    says="a task whose instance has run out of resources waits for more, or has no attempt left",
    line=105,
    sentence=INCREASED,
    over=[k],
    given=~k.is_("ResourceError") & after(k.is_("ResourceError")),
    then=after(k.task.is_("AdjustingResources", "ErrorFatal")),
)
STOPPED = StepInvariant(
    name="stopped-commands-are-stopped",
    says="a command that its wrapper kills because its instance is to end has neither succeeded nor failed",
    sentence="fact 3.1: a worker kills its command",
    over=[],
    on=["stop_command"],
    then=after(i.job.is_("Stopped")),
)
MARKS = StepInvariant(
    name="marks-stay",
    says="an instance that is to end, or whose worker is fenced, stays so marked",
    line=94,
    sentence=RESILIENT,
    over=[k],
    given=k.doomed | k.fenced,
    then=implies(k.doomed, after(k.doomed)) & implies(k.fenced, after(k.fenced)),
)
STARTED_BY_ITS_CLIENT = StepInvariant(
    name="clients-start-their-distributor",
    says="a client that starts its distributor starts that one, and no other",
    sentence="fact 3.1: a client starts a distributor",
    over=[e],
    on=["instantiate_run"],
    given=e.is_("NotStarted"),
    then=iff(e.run == c.run, after(e.is_("Running"))),
)
STARTED = StepInvariant(
    name="started-distributors-run",
    says="a distributor that is started runs",
    sentence="fact 3.1: a client starts a distributor",
    over=[],
    on=["distributor_starts"],
    then=after(d.is_("Running")),
)
LAST_ATTEMPT = StepInvariant(
    name="tasks-fail-after-their-last-attempt",
    says="a task fails only when it has no attempt left: what others end is attempted again",
    line=105,
    sentence=INCREASED,
    over=[t],
    given=~t.is_("ErrorFatal") & after(t.is_("ErrorFatal")),
    then=~(t.attempts < t.most),
)
TAKEN_ALONG = StepInvariant(
    name="runs-take-along-what-has-not-begun",
    says=(
        "when a run makes room, fails, is stopped or is reaped, its queued instances end and the others that have not "
        "begun are to end, and if it is cold also those that run"
    ),
    line=153,
    sentence=HALTED,
    over=[q, k],
    given=(k.run == q)
    & q.is_(*ON_ITS_WAY)
    & ~q.is_(*RESUMING)
    & after(q.is_(*RESUMING, "Error", "Stopped", "Aborted", "Terminated")),
    then=implies(k.is_("Queued"), after(k.is_("ErrorFatal")))
    & implies(k.is_("Instantiated", "Launched"), after(k.doomed))
    & implies(k.is_("Running", "Triaging") & after(q.is_("ColdResume")), after(k.doomed)),
)
FATAL = StepInvariant(
    name="what-was-to-end-is-fatal",
    says="an instance that was to end, and is reported as ended, is in ErrorFatal",
    sentence="fact 2.1: K->F, T->F, O->F",
    over=[],
    on=["end_doomed", "drop_doomed", "report_that_it_was_stopped"],
    then=after(i.is_("ErrorFatal")),
)
LOST_MEANS_OVER = StepInvariant(
    name="lost-means-over",
    says="an instance is reported as lost, or ended by a distributor, only when the cluster has nothing left of its job",
    line=153,
    sentence=HALTED,
    over=[],
    on=["triage_lost", "give_up_lost", "end_doomed", "drop_doomed"],
    then=~i.job.is_("Submitted", *LIVE, *WRAPPED),
)
LEASES = [
    StepInvariant(
        name="leases-begin-anew",
        says="an instance that is claimed, launched or started has a whole lease before it",
        sentence="fact 3.1: a report extends the deadline",
        over=[k],
        given=after(k.is_(*LEASED)),
        then=both([k.is_(state) | ~after(k.is_(state)) | after(~k.overdue) for state in LEASED]),
    ),
    StepInvariant(
        name="heartbeats-move-nothing",
        says="a heartbeat, or its lack, moves neither a run nor an instance, and marks none as to be ended",
        sentence="fact 3.4: heartbeats of a run",
        over=[q, k],
        on=["beat_run", "run_is_late", "beat", "beat_launched", "instance_is_late"],
        then=stays(q, [*ON_ITS_WAY, *RUN_ENDS])
        & stays(k, [*OPEN, *INSTANCE_ENDS])
        & implies(~k.doomed, after(~k.doomed)),
    ),
]
IN_TIME = Invariant(
    name="what-is-punctual-is-never-late",
    says="a run or an instance whose heartbeats always come in time is not overdue",
    sentence="fact 3.4: heartbeats and time-outs",
    over=[q, k],
    then=implies(q.punctual, ~q.overdue) & implies(k.punctual, ~k.overdue),
)
GIVEN_UP = StepInvariant(
    name="given-up-for-a-failed-task",
    says="a client gives its run up only if a task of it has failed",
    line=55,
    sentence=WORK,
    over=[],
    on=["give_up_run"],
    then=exists(t, (t.workflow == c.run.workflow) & t.is_("ErrorFatal")),
)
WITHIN_THE_CEILING = Invariant(
    name="resources-within-the-ceiling",
    says="no task has more resources than any queue has for it",
    sentence="fact 3.3: resources are scaled as far as a queue has that much",
    over=[t],
    then=t.resources <= t.ceiling,
)
NOT_DONE = StepInvariant(
    name="done-workflows-are-not-resumed",
    says="a client finds that it can resume, and registers a run, only for a workflow that is not done",
    line=94,
    sentence=RESILIENT,
    over=[],
    on=["plan_cold", "plan_hot", "register"],
    then=~c.run.workflow.is_("Done"),
)
RESET = [
    StepInvariant(
        name="reset-tasks-wait",
        says="a task of a resumed workflow that waits or has failed waits to be queued, or still for more resources, with all its attempts",
        sentence="fact 3.5: tasks are reset",
        over=[t],
        on=["register"],
        given=(t.workflow == c.run.workflow) & t.is_("Registering", "AdjustingResources", "ErrorFatal"),
        then=after(t.attempts == 0)
        & implies(t.is_("AdjustingResources"), after(t.is_("AdjustingResources")))
        & implies(~t.is_("AdjustingResources"), after(t.is_("Registering"))),
    ),
    StepInvariant(
        name="resumes-reset-their-own-tasks",
        says="a resume resets only tasks of its own workflow",
        sentence="fact 3.5: tasks are reset",
        over=[t],
        on=["register"],
        given=t.fires("reset"),
        then=t.workflow == c.run.workflow,
    ),
]
