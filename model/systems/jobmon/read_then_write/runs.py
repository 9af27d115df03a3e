"""Requests about runs, in two steps: the server reads and checks, and later it writes (facts 3.6).

Three ask: the client, who wants to resume, and the reaper, which writes its workflow as well, whatever that is.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_

from schedproof.model.lang import Action, Invariant, Rule, Term, exists
from schedproof.model.lang.terms import both
from schedproof.model.systems.jobmon.shipped import client, machines, server
from schedproof.model.systems.jobmon.shipped.machines import c, d, r, t

from .requests import NOTHING, Requests, death, written_with_it


@dataclass(frozen=True)
class Write:
    """What the server writes at the end of a request about a run.

    Args:
        to: the state of the run.
        workflow: the state of its workflow; "" if it stays.
        sources: the states of the run from which the table has the move.
        workflows: the states of the workflow from which the table has its move; empty if none is checked.
        extends: whether it begins a new deadline.
        leaves: whether the client ends then.
    """

    to: str
    workflow: str
    sources: Sequence[str]
    workflows: Sequence[str] = ()
    extends: bool = False
    leaves: bool = False

    @property
    def allowed(self) -> Term:
        """The condition on which the server's check succeeds."""
        moves = r.is_(*self.sources)
        return moves & r.workflow.is_(*self.workflows) if self.workflows else moves


ON_ITS_WAY = ("Queued", "Instantiating", "Launched", "Running")
WRITES: Mapping[str, Mapping[str, Write]] = {
    "client": {
        "bind": Write("Bound", "Queued", ["Linking"], ["Registering"], extends=True),
        "instantiate": Write("Instantiated", "Instantiating", ["Bound"], ["Queued"], extends=True),
        "launch": Write("Launched", "Launched", ["Instantiated"], ["Instantiating"], extends=True),
        "start": Write("Running", "Running", ["Launched"], ["Launched"], extends=True),
        "finish": Write("Done", "Done", ["Running"], ["Running"], leaves=True),
        "err": Write("Error", "Failed", ["Bound", "Instantiated", "Launched", "Running"], ON_ITS_WAY, leaves=True),
        "stop": Write("Stopped", "Failed", ["Running"], ["Running"], leaves=True),
        "terminate": Write("Terminated", "Halted", machines.RESUMING, ["Queued", "Running"], leaves=True),
    },
    "resume": {
        "cold": Write("ColdResume", "", ["Bound", "Running"]),
        "hot": Write("HotResume", "", ["Bound", "Running"]),
    },
    "reaper": {
        "abort": Write("Aborted", "Aborted", ["Linking"]),
        "err": Write("Error", "Failed", ["Running"]),
        "terminate": Write("Terminated", "Halted", machines.RESUMING),
    },
}
PENDING = {"client": r.client_request, "resume": r.resume_request, "reaper": r.reaper_request}
ABOUT = {
    "client": "what the server is about to write for its client, in memory",
    "resume": "what the server is about to write for who wants to resume it, in memory",
    "reaper": "what the server is about to write for the reaper, in memory",
}

OF_RUNS = Requests(
    machines.WORKFLOW_RUN,
    {
        asker: {name: (write.to, {"overdue": False} if write.extends else {}) for name, write in writes.items()}
        for asker, writes in WRITES.items()
    },
    ABOUT,
)
WORKFLOW_ROWS = written_with_it(
    machines.WORKFLOW,
    [write.workflow for writes in WRITES.values() for write in writes.values() if write.workflow],
)

REQUESTS = [
    Invariant(
        name="requests-are-about-runs-that-are-there",
        says="a request that waits to be written is about a run in the database",
        sentence="fact 3.6: the server has read the run before it writes",
        over=[r],
        given=r.is_("Absent"),
        then=both([pending == NOTHING for pending in PENDING.values()]),
    ),
    Invariant(
        name="what-is-about-to-finish-is-done",
        says="all tasks of a run are done while its client asks to finish it",
        line=65,
        sentence="- DONE (D) = All work has finished successfully.",
        over=[r, t],
        given=(PENDING["client"] == "finish") & (t.workflow == r.workflow),
        then=t.is_("Done"),
    ),
]

# --- The first step: the server reads, and checks its tables


def checks(asker: str, action: Action, run: Term, pending: Term, write: str) -> Iterator[Action]:
    """Yields the first step of a request that was one step."""
    says = f"{action.says}: the server checks that, and has yet to write it"
    fires = [run.fires(f"check_for_{asker}", write=write)]
    yield replace(action, when=[*action.when, pending == NOTHING], fires=fires, says=says)


RUN = c.run
OF_CLIENT = {
    "bind": client.bind,
    "instantiate": client.instantiate_run,
    "launch": client.launch_run,
    "start": client.start_run,
    "finish": client.finish_run,
    "err": client.err_run,
    "stop": client.stop_run,
    "terminate": client.terminate_run,
}
OF_REAPER = {"abort": "reap_linking", "err": "reap_running", "terminate": "reap_terminated"}
SERVER = {action.name: action for action in server.SERVER_ACTIONS}
CHECKS = [
    *(each for name, action in OF_CLIENT.items() for each in checks("client", action, RUN, RUN.client_request, name)),
    *(each for how in ("cold", "hot") for each in checks("resume", client.ask(how), r, PENDING["resume"], how)),
    *(
        each
        for name, action in OF_REAPER.items()
        for each in checks("reaper", SERVER[action], r, PENDING["reaper"], name)
    ),
]
WAITING = [
    replace(action, when=[*action.when, RUN.client_request == NOTHING])
    for action in (*client.QUEUEING, *client.SYNC, client.wind_up, client.leave)
]
"""A client does nothing else while it waits for an answer."""

# --- The second step: it writes


def write_for(asker: str, whom: str) -> Action:
    """Returns the second step of the requests of clients, resumes or the reaper."""
    return Action(
        f"write_run_for_{asker}",
        [r],
        when=[PENDING[asker] != NOTHING],
        fires=[],
        says=f"the server writes what it has checked for {whom} of {{r}}",
        fact="3.6",
    )


WRITE = {
    "client": write_for("client", "the client"),
    "resume": write_for("resume", "a resume"),
    "reaper": write_for("reaper", "the reaper"),
}


def written(asker: str, name: str, *when: Term) -> list[Rule]:
    """Returns the rules by which the second step writes the state of the run, and of its workflow."""
    asked, write = [PENDING[asker] == name, *when], WRITES[asker][name]
    rules = [
        Rule(
            f"{name} is written for the {asker}", WRITE[asker], asked, r.fires(f"write_{name}_for_{asker}"), fact="3.6"
        )
    ]
    if write.workflow:
        fires = r.workflow.fires(f"write_{write.workflow.lower()}")
        rules.append(Rule(f"{name} of the {asker} is written of the workflow", WRITE[asker], asked, fires, fact="3.6"))
    return rules


WRITES_RULES = [rule for asker, writes in WRITES.items() for name in writes for rule in written(asker, name)]


def answers(*allowed: Term) -> list[Rule]:
    """Returns what a client does on the answer to its request, if it is there to hear it."""
    leaves = reduce(or_, [PENDING["client"] == name for name, write in WRITES["client"].items() if write.leaves])
    starts = PENDING["client"] == "instantiate"
    return [
        Rule(
            "the answer ends a client",
            WRITE["client"],
            [leaves, *allowed, c.run == r, c.is_("Running")],
            c.fires("go"),
            fact="3.1",
        ),
        Rule(
            "the answer starts a distributor",
            WRITE["client"],
            [starts, *allowed, exists(c, (c.run == r) & c.is_("Running")), d.run == r, d.is_("NotStarted")],
            d.fires("begin"),
            fact="3.1",
        ),
    ]


# --- The server checks again, in the transaction that writes

ALLOWED = {
    asker: reduce(or_, [(PENDING[asker] == name) & write.allowed for name, write in writes.items()])
    for asker, writes in WRITES.items()
}
CHECKED_AGAIN = [
    *(
        rule
        for asker, writes in WRITES.items()
        for name, write in writes.items()
        for rule in written(asker, name, write.allowed)
    ),
    *answers(ALLOWED["client"]),
    *(
        Rule(
            f"a write for the {asker} is refused", WRITE[asker], [~ALLOWED[asker]], r.fires(f"refuse_{asker}"), line=56
        )
        for asker in WRITES
    ),
]
PENDING_ANY = reduce(or_, [pending != NOTHING for pending in PENDING.values()])
server_dies, FORGETS = death(r, PENDING_ANY)
