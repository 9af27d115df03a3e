"""The passing of time, and the reaper (facts 3.4, 3.5).

The server itself only answers. It keeps no state outside of its database, so its death between two transactions has no
effect. A lost answer is asked for again. A repeated or late request finds that its move is not allowed any more.
"""

from schedproof.model.lang import Action, Rule, Term, exists, forall, implies

from .couplings import COUPLINGS, end_instances, to_be_ended
from .machines import REAPED, TIMED, i, r, t, w

run_is_late = Action(
    "run_is_late",
    [r],
    when=[~r.punctual, r.is_(*REAPED), ~r.overdue],
    fires=[r.fires("be_late")],
    says="no heartbeat of {r} has come in time",
    fact="3.4",
)
instance_is_late = Action(
    "instance_is_late",
    [i],
    when=[~i.punctual, i.is_(*TIMED), ~i.overdue],
    fires=[i.fires("be_late")],
    says="no heartbeat of {i} has come in time",
    fact="3.4",
)


def reap(name: str, now: tuple[str, ...], workflow: str, says: str, *when: Term) -> Action:
    """Returns an action by which the reaper ends a run without a heartbeat, and writes its workflow's state."""
    return Action(
        f"reap_{name}",
        [r],
        when=[r.overdue, r.is_(*now), *when],
        fires=[r.fires("be_reaped"), r.workflow.fires(f"write_{workflow}")],
        says=says,
        fact="3.4",
    )


reap_resumed = Action(
    "reap_resumed",
    [r],
    when=[r.overdue, r.is_("ColdResume", "HotResume"), exists(i, (i.run == r) & to_be_ended(r))],
    fires=[],
    says="the reaper finds {r}, which is to be resumed, and has its instances ended",
    fact="3.5",
)

REAPER = [
    reap("linking", ("Linking",), "aborted", "the reaper finds that {r} has died while linking, and aborts it"),
    reap("running", ("Running",), "failed", "the reaper finds that {r} has died, and makes it an error"),
    reap_resumed,
    reap(
        "terminated",
        ("ColdResume", "HotResume"),
        "halted",
        "the reaper terminates {r}, which is to be resumed",
        ~exists(i, (i.run == r) & (to_be_ended(r) | i.is_("KillSelf"))),
    ),
    Action(
        "repair_workflow",
        [w],
        when=[w.is_("Failed"), forall(t, implies(t.workflow == w, t.is_("Done")))],
        fires=[w.fires("write_done")],
        says="the reaper finds that all tasks of {w} are done, and so is it",
        fact="3.4",
    ),
]

SERVER_ACTIONS = [run_is_late, instance_is_late, *REAPER]

SERVER_RULES: list[Rule] = [*COUPLINGS, *end_instances(reap_resumed, r)]
