"""Properties of single steps: what has to be true before an agent takes an action of the repaired machine."""

from collections.abc import Sequence

from schedproof.model.lang import StepInvariant, Term
from schedproof.model.systems.jobmon.shipped.distributor import NOT_SUBMITTED
from schedproof.model.systems.jobmon.shipped.machines import c, d, i
from schedproof.model.systems.jobmon.shipped.properties import SIGNALS

REPORTS = "fact 3.1: a worker reports its start, heartbeats and end"


def only_if(
    name: str, says: str, on: Sequence[str], condition: Term, *, sentence: str, line: int | None = None
) -> StepInvariant:
    """Returns the property that the actions ``on`` are taken only where ``condition`` is true."""
    return StepInvariant(name=name, says=says, line=line, sentence=sentence, over=[], on=on, then=condition)


LIVE_AGENTS = [
    only_if(
        "distributors-act-while-they-run",
        "a distributor that has not been started, or is gone, does nothing",
        [
            *("instantiate", "submit", "launch", "get_no_id", "beat_launched", "give_up_lost", "distributor_dies"),
            *("triage_lost", "triage_resources", "fence", "take_job", "hand_back", "end_doomed", "drop_doomed"),
        ],
        d.is_("Running"),
        sentence="fact 3.1: the distributor is a process of its own",
    ),
    only_if(
        "clients-act-while-they-run",
        "a client that is gone does nothing for its run",
        [
            *("link", "bind", "instantiate_run", "launch_run", "start_run", "beat_run", "leave", "client_dies"),
            *("queue", "queue_with_more", "queue_with_as_much"),
            *("finish_run", "err_run", "give_up_run", "stop_run", "terminate_run"),
        ],
        c.is_("Running"),
        sentence="fact 3.1: the client is a process of its own",
    ),
]
TRUE_REPORTS = [
    only_if(f"{words}-is-reported-of-what-has-{how}", says, on, i.job.is_(state), sentence=REPORTS)
    for words, how, says, on, state in (
        (
            "success",
            "succeeded",
            "a worker reports success only of a command that has succeeded",
            ["report_success"],
            "Succeeded",
        ),
        (
            "an-error",
            "failed",
            "a worker reports an error only of a command that has failed",
            ["report_an_error"],
            "Failed",
        ),
        (
            "a-resource-error",
            "run-out",
            "a resource error is reported only of a command that has run out of resources",
            ["report_too_few_resources", "triage_resources"],
            "OutOfResources",
        ),
    )
]
NOT_SUBMITTED_IS_TRUE = only_if(
    "not-submitted-is-what-was-not-heard-of",
    "a distributor reports that a job was not submitted only if the cluster does not have it, or has not answered",
    ["get_no_id"],
    NOT_SUBMITTED,
    sentence="fact 3.1: a submission that fails is reported",
)
ENDED_WHEN_TRIAGED = only_if(
    "what-is-to-end-is-not-reported-as-lost",
    "triage ends what was to end, and reports neither that nothing is known of it nor that it had too few resources",
    ["triage_lost", "triage_resources"],
    ~i.doomed,
    sentence="fact 2.1: K->F, T->F, O->F",
)
STOPPED_FOR_A_REASON = only_if(
    "only-what-is-to-end-is-stopped",
    "a wrapper stops its command only if its instance is to end",
    ["stop_command"],
    i.doomed,
    sentence="fact 3.1: a worker kills its command",
)
FENCED_BEFORE = only_if(
    "only-the-fenced-lose-their-command",
    "a wrapper hears that it has lost control, and ends, only if it is fenced: until then it may be heard of again",
    ["hear_that_it_is_fenced"],
    i.fenced,
    line=47,
    sentence=SIGNALS,
)
HEARD_OF_AGAIN = only_if(
    "handed-back-when-heard-of",
    "a triaged instance runs again only if its worker has been heard of again",
    ["hand_back"],
    ~i.overdue,
    sentence="fact 3.1: a worker's heartbeat extends its deadline",
)
COLD_ONLY = only_if(
    "only-cold-resumes-end-what-runs",
    "a client ends what an earlier run has left running only if it is to resume cold",
    ["clear"],
    c.is_("ResumesCold"),
    sentence="fact 3.5: a cold resume ends running instances as well",
)
