"""The changes that the server makes along with a move, in the same transaction (facts 2.5, 3.2, 3.5)."""

from schedproof.model.lang import Action, Rule, Term

from .machines import i, r

# --- A run moves its workflow

COUPLED = {
    # maps the event of a run to the event of its workflow (2.5)
    "bind": "queue",
    "instantiate": "instantiate",
    "launch": "launch",
    "start": "start",
    "finish": "finish",
    "stop": "fail",
    "err": "fail",
    "terminate": "halt",
}

RUN_COUPLINGS = [
    Rule(
        "a workflow is registered again",
        r.fires("link"),
        [r.workflow.is_("Aborted", "Failed", "Halted")],
        r.workflow.fires("register_again"),
        fact="2.5",
    ),
    *[
        Rule(f"{event} moves the workflow", r.fires(event), [], r.workflow.fires(workflow), fact="2.5")
        for event, workflow in COUPLED.items()
    ],
]

# --- An instance moves its task


def reaction(event: str, to: str, task: str, *when: Term) -> Rule:
    """Returns the rule by which an event of any instance moves its task (3.2)."""
    return Rule(f"{event} makes a task {to}", i.fires(event), when, i.task.fires(task), fact="3.2")


ATTEMPTS_LEFT = i.task.attempts < i.task.most

REACTIONS = [
    reaction("instantiate", "Instantiating", "instantiate", i.task.is_("Queued")),
    reaction("launch", "Launched", "launch"),
    reaction("start", "Running", "start"),
    reaction("finish", "Done", "finish"),
    *[
        rule
        for event in ("get_no_id", "fail", "vanish")
        for rule in (
            reaction(event, "Registering", "retry", ATTEMPTS_LEFT),
            reaction(event, "ErrorFatal", "give_up", ~ATTEMPTS_LEFT),
        )
    ],
    reaction("run_out_of_resources", "AdjustingResources", "adjust", ATTEMPTS_LEFT),
    reaction("run_out_of_resources", "ErrorFatal", "give_up", ~ATTEMPTS_LEFT),
    reaction("end", "ErrorFatal", "give_up"),
    # two bulk updates (3.1), each with its own condition
    reaction("be_killed", "ErrorFatal", "give_up", i.task.is_("Launched", "Running")),
]

# --- A run that makes room ends its instances


def to_be_ended(run: Term) -> Term:
    """Returns the condition that ``i`` is ended when ``run`` makes room."""
    return i.is_("Queued", "Instantiated", "Launched") | (i.is_("Running") & run.is_("ColdResume"))


def end_instances(action: Action, run: Term) -> list[Rule]:
    """Returns the rules that end all instances of a run that makes room at once (3.5)."""
    return [
        Rule(f"{action.name} ends what {what}", action, [i.run == run, which], i.fires(event), fact="3.5")
        for what, which, event in (
            ("is queued or instantiated", i.is_("Queued", "Instantiated"), "end_at_once"),
            ("is launched", i.is_("Launched"), "be_told_to_die"),
            ("runs, if it is cold", i.is_("Running") & run.is_("ColdResume"), "be_told_to_die"),
        )
    ]


COUPLINGS = [*RUN_COUPLINGS, *REACTIONS]
