"""The actions of a distributor, in the order of its loop: Q, I, O, R, T, K, X (facts 3.1).

It keeps in memory what it has read from the server, and acts on it later without reading again.
"""

from schedproof.model.lang import Action, Rule

from .machines import ENDED, IN_HAND, LIVE, d, i

GOES_ON = d.is_("Running")
OF_ITS_RUN = i.run == d.run
TASK = i.task

JOB = i.job

list_queued = Action(
    "list_queued",
    [d, i],
    when=[GOES_ON, OF_ITS_RUN, i.is_("Queued"), ~d.listed.has(i)],
    fires=[d.fires("list", instance=i)],
    says="the distributor {d} finds {i} queued",
    fact="3.1",
)
instantiate = Action(
    "instantiate",
    [d, i],
    # "then every listed TI whose Task is I is set to I without checking the TI's own status"
    when=[GOES_ON, d.listed.has(i), TASK.is_("Queued", "Instantiating")],
    fires=[d.fires("hold", instance=i), i.fires("instantiate")],
    says="the distributor {d} has {i} instantiated",
    fact="3.1",
)
submit = Action(
    "submit",
    [d, i],
    when=[GOES_ON, d.held.has(i), JOB.is_("Absent")],
    fires=[JOB.fires("submit")],
    says="the distributor {d} submits the job of {i} to the cluster",
    fact="3.1",
)
launch = Action(
    "launch",
    [d, i],
    when=[
        GOES_ON,
        d.held.has(i),
        ~JOB.is_("Absent"),
        i.is_("Instantiated"),
        TASK.is_("Instantiating"),
    ],
    fires=[d.fires("drop", instance=i), i.fires("launch")],
    says="the distributor {d} reports that the job of {i} is launched",
    fact="3.1",
)
# As far as the distributor knows.
NOT_SUBMITTED = JOB.is_("Absent") | (JOB.is_("Submitted") & JOB.unheard)
get_no_id = Action(
    "get_no_id",
    [d, i],
    when=[
        GOES_ON,
        d.held.has(i),
        NOT_SUBMITTED,
        i.is_("Instantiated"),
        TASK.is_(*IN_HAND),
    ],
    fires=[d.fires("drop", instance=i), i.fires("get_no_id")],
    says="the cluster does not take the job of {i}, and the distributor {d} reports that",
    fact="3.1",
)
beat_launched = Action(
    "beat_launched",
    [d, i],
    when=[GOES_ON, OF_ITS_RUN, i.is_("Launched"), JOB.is_("Submitted")],
    fires=[i.fires("beat")],
    says="the distributor {d} reports that the job of {i} is still there",
    fact="3.1",
)
# "log_unknown_error acts only if report_by_date <= now": it does not check whether the job is over.
triage_lost = Action(
    "triage_lost",
    [d, i],
    when=[GOES_ON, OF_ITS_RUN, i.is_("Triaging"), i.overdue, TASK.is_(*IN_HAND)],
    fires=[i.fires("vanish")],
    says="the distributor {d} learns nothing of the job of {i}, and reports an unknown error",
    fact="3.1",
)
triage_resources = Action(
    "triage_resources",
    [d, i],
    when=[
        GOES_ON,
        OF_ITS_RUN,
        i.is_("Triaging"),
        JOB.is_("OutOfResources"),
        TASK.is_(*IN_HAND),
    ],
    fires=[i.fires("run_out_of_resources")],
    says="the distributor {d} learns that the job of {i} has run out of resources, and reports that",
    fact="3.1",
)
triage_fatal = Action(
    "triage_fatal",
    [d, i],
    when=[GOES_ON, OF_ITS_RUN, i.is_("Triaging"), JOB.is_("Failed"), TASK.is_(*IN_HAND)],
    fires=[i.fires("end")],
    says="the distributor {d} learns that the job of {i} cannot run, and reports that",
    fact="3.1",
)
kill = Action(
    "kill",
    [d, i],
    when=[GOES_ON, OF_ITS_RUN, i.is_("KillSelf")],
    fires=[i.fires("be_killed")],
    says="the distributor {d} takes the job of {i} from the cluster, and reports that it is killed",
    fact="3.1",
)
give_up_lost = Action(
    "give_up_lost",
    [d, i],
    when=[GOES_ON, OF_ITS_RUN, i.is_("NoHeartbeat"), TASK.is_(*IN_HAND)],
    fires=[i.fires("fail")],
    says="the distributor {d} gives {i} up, whose job is silent",
    fact="3.1",
)
distributor_dies = Action(
    "distributor_dies", [d], [d.mortal, GOES_ON], [d.fires("go")], "the distributor {d} dies", crash=True, fact="3.1"
)

DISTRIBUTOR_ACTIONS = [
    *(list_queued, instantiate, submit, launch, get_no_id, beat_launched),
    *(triage_lost, triage_resources, triage_fatal, kill, give_up_lost, distributor_dies),
]


DISTRIBUTOR_RULES = [
    Rule(
        "kill takes the job",
        kill,
        [JOB.is_("Submitted", *LIVE, *ENDED)],
        JOB.fires("be_killed"),
        fact="3.1",
    ),
]
