"""Requests about instances, in two steps: the server reads and checks, and later it writes (facts 3.6).

The server keeps in memory what it is about to write: for each instance, one request of its worker and one of its
distributor. It has locked nothing by then. It writes whatever the instance and its task are by that time.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_

from schedproof.model.lang import Action, Invariant, Rule, Term
from schedproof.model.systems.jobmon.shipped import client, distributor, machines, worker
from schedproof.model.systems.jobmon.shipped.couplings import ATTEMPTS_LEFT
from schedproof.model.systems.jobmon.shipped.machines import ENDED, IN_HAND, TO_START, d, i, t

from .requests import NOTHING, Requests, death, written_with_it

JOB, TASK = i.job, i.task


@dataclass(frozen=True)
class Write:
    """What the server writes at the end of a request.

    Args:
        to: the state of the instance.
        task: the state of its task.
        sources: the states of the instance from which the table has the move.
        tasks: the states of the task from which the table has its move.
        attempts_left: whether the task has attempts left; None where it does not matter.
    """

    to: str
    task: str
    sources: Sequence[str]
    tasks: Sequence[str] = IN_HAND
    attempts_left: bool | None = None

    @property
    def allowed(self) -> Term:
        """The condition on which the server's check succeeds."""
        moves = i.is_(*self.sources) & TASK.is_(*self.tasks)
        if self.attempts_left is None:
            return moves
        return moves & (ATTEMPTS_LEFT if self.attempts_left else ~ATTEMPTS_LEFT)


def _failures(name: str, to: str, sources: Sequence[str], task: str = "Registering") -> dict[str, Write]:
    return {
        name: Write(to, task, sources, attempts_left=True),
        f"last_{name}": Write(to, "ErrorFatal", sources, attempts_left=False),
    }


WRITES: Mapping[str, Write] = {
    "running": Write("Running", "Running", ("Instantiated", "Launched", "Triaging"), TO_START),
    "done": Write("Done", "Done", ("Running", "KillSelf"), ("Running",)),
    **_failures("error", "Error", ("Running", "NoHeartbeat")),
    **_failures("resources", "ResourceError", ("Running", "Triaging"), "AdjustingResources"),
    **_failures("unknown", "UnknownError", ("Triaging",)),
    **_failures("no_id", "NoDistributorId", ("Instantiated",)),
    "end": Write("ErrorFatal", "ErrorFatal", ("KillSelf", "Triaging")),
}
OF_EVENT = {
    # For the event of an instance in one step, what the server is about to write.
    "start": ["running"],
    "finish": ["done"],
    "fail": ["error", "last_error"],
    "run_out_of_resources": ["resources", "last_resources"],
    "vanish": ["unknown", "last_unknown"],
    "get_no_id": ["no_id", "last_no_id"],
    "end": ["end"],
}
ASKERS = {
    "worker": ["running", "done", "error", "last_error", "resources", "last_resources", "end"],
    "distributor": [
        *("error", "last_error", "resources", "last_resources", "unknown", "last_unknown", "no_id", "last_no_id"),
        "end",
    ],
}
"""Who asks, and for what."""

PENDING = {"worker": i.worker_request, "distributor": i.distributor_request}

OF_INSTANCES = Requests(
    machines.TASK_INSTANCE,
    {
        asker: {name: (WRITES[name].to, {"overdue": False} if name == "running" else {}) for name in names}
        for asker, names in ASKERS.items()
    },
    {asker: f"what the server is about to write for its {asker}, in memory" for asker in ASKERS},
)
TASK_ROWS = written_with_it(machines.TASK, [write.task for write in WRITES.values()])

# A second report of an error lets a task be queued more often than it may be: an exploration needs a bound.
BOUNDED = [replace(action, when=[*action.when, t.attempts < machines.MOST]) for action in client.QUEUEING]

REQUESTS = [
    Invariant(
        name="requests-are-about-what-is-there",
        says="a request that waits to be written is about an instance in the database",
        sentence="fact 3.6: the server has read the instance before it writes",
        over=[i],
        given=i.is_("Absent"),
        then=(PENDING["worker"] == NOTHING) & (PENDING["distributor"] == NOTHING),
    ),
    Invariant(
        name="nobody-asks-about-what-is-queued",
        says="an instance that is queued, or that a distributor has listed, has no job and is not held, and no request is about it",
        sentence="fact 3.1: the distributor instantiates what it has found queued, and then submits it",
        over=[d, i],
        given=i.is_("Queued") | d.listed.has(i),
        then=(PENDING["worker"] == NOTHING) & (PENDING["distributor"] == NOTHING) & JOB.is_("Absent") & ~d.held.has(i),
    ),
]

# --- The first step: the server reads, and checks its tables


def checks(asker: str, action: Action) -> Iterator[Action | Rule]:
    """Yields the first step of a request that was one step, and what the server then is about to write."""
    (event,) = [each.event for each in action.fires if each.of is i]
    says = f"{action.says}: the server checks that, and has yet to write it"
    reads = replace(action, when=[*action.when, PENDING[asker] == NOTHING], fires=[], says=says)
    yield reads
    for name in OF_EVENT[event]:
        left = WRITES[name].attempts_left
        when = [] if left is None else [ATTEMPTS_LEFT if left else ~ATTEMPTS_LEFT]
        checked = i.fires(f"check_for_{asker}", write=name)
        yield Rule(f"{action.name} is allowed to write {name}", reads, when, checked, fact="3.6")


def waits(asker: str, *actions: Action) -> list[Action]:
    """Returns actions of a process that does nothing about an instance while it waits for an answer about it."""
    return [replace(each, when=[*each.when, PENDING[asker] == NOTHING]) for each in actions]


WAITING = [
    *waits("worker", worker.start_refused, worker.beat, worker.beat_refused),
    *waits("distributor", distributor.submit, distributor.launch),
]

ASKS = {
    "worker": [
        *(worker.start, worker.start_to_die, worker.start_too_late, worker.beat_late, worker.hear_that_it_is_to_die),
        *worker.REPORTS,
    ],
    "distributor": [
        *(distributor.get_no_id, distributor.triage_lost, distributor.triage_resources, distributor.triage_fatal),
        distributor.give_up_lost,
    ],
}
CHECKS = [each for asker, actions in ASKS.items() for action in actions for each in checks(asker, action)]

# --- The second step: it locks, and writes


def write_for(asker: str) -> Action:
    """Returns the second step of the requests of workers or distributors."""
    return Action(
        f"write_for_{asker}",
        [i],
        when=[PENDING[asker] != NOTHING],
        fires=[],
        says=f"the server writes what it has checked for the {asker} of {{i}}",
        fact="3.6",
    )


WRITE = {asker: write_for(asker) for asker in ASKERS}


def written(asker: str, name: str, *when: Term) -> list[Rule]:
    """Returns the rules by which the second step writes the state of the instance, and of its task."""
    asked, write = [PENDING[asker] == name, *when], WRITES[name]
    return [
        Rule(
            f"{name} is written for the {asker}",
            WRITE[asker],
            asked,
            i.fires(f"write_{name}_for_{asker}"),
            fact="3.6",
        ),
        Rule(
            f"{name} of the {asker} is written of the task",
            WRITE[asker],
            asked,
            TASK.fires(f"write_{write.task.lower()}"),
            fact="3.6",
        ),
    ]


WRITES_RULES = [rule for asker, names in ASKERS.items() for name in names for rule in written(asker, name)]

# --- The answer

RUNS = PENDING["worker"] == "running"


def answers(allowed: Mapping[str, Term] | None = None) -> list[Rule]:
    """Returns what a worker or distributor does on the answer to its request, if it is there to hear it.

    Args:
        allowed: for each asker, the condition on which the server writes; by default it always does.
    """
    answered = WRITE["worker"]
    when = [] if allowed is None else [allowed["worker"]]
    return [
        Rule("the answer lets a command start", answered, [RUNS, *when, JOB.is_("Submitted")], JOB.fires("start")),
        Rule("the answer lets no command start", answered, [~RUNS, *when, JOB.is_("Submitted")], JOB.fires("refuse")),
        Rule("the answer ends a wrapper", answered, [~RUNS, *when, JOB.is_(*ENDED)], JOB.fires("report")),
        Rule(
            "the answer kills a command",
            answered,
            [PENDING["worker"] == "end", *when, JOB.is_("Running")],
            JOB.fires("be_killed"),
        ),
        Rule(
            "the answer ends a submission",
            WRITE["distributor"],
            [
                (PENDING["distributor"] == "no_id") | (PENDING["distributor"] == "last_no_id"),
                *([] if allowed is None else [allowed["distributor"]]),
                d.is_("Running"),
                d.held.has(i),
            ],
            d.fires("drop", instance=i),
        ),
    ]


# --- The server checks again, in the transaction that writes

ALLOWED = {
    asker: reduce(or_, [(PENDING[asker] == name) & WRITES[name].allowed for name in names])
    for asker, names in ASKERS.items()
}
CHECKED_AGAIN = [
    *(rule for asker, names in ASKERS.items() for name in names for rule in written(asker, name, WRITES[name].allowed)),
    *answers(ALLOWED),
    *(
        Rule(f"the {asker} is refused", WRITE[asker], [~ALLOWED[asker]], i.fires(f"refuse_{asker}"), line=56)
        for asker in ASKERS
    ),
]
PENDING_ANY = (PENDING["worker"] != NOTHING) | (PENDING["distributor"] != NOTHING)
server_dies, FORGETS = death(i, PENDING_ANY)
