"""The actions and rules: the phases of a pass, execution, and people."""

from schedproof.model.lang import Action, IntRange, Rule, crash, exists, forall, implies, variable
from schedproof.model.systems.beaker.machines import j, q, r, s

from .machines import SCHEDULER, SUBMITTED, TABLE, UNFINISHED, b

NONE_BEFORE = ~exists(q, b.ahead.has(q) & q.is_("queued") & (q.recipe_set.priority > r.recipe_set.priority))
COMES_TO_R = [b.is_("scheduling"), b.ahead.has(r), r.is_("queued"), NONE_BEFORE]


submit = Action("submit", [j], when=[j.is_("to_come")], fires=[j.fires("submit")], says="{j} is submitted", line=15)
process = Action(
    "process",
    [b, r],
    when=[b.is_("processing"), r.is_("new"), SUBMITTED],
    fires=[r.fires("process")],
    says="{r} is processed",
    line=17,
)
end_processing = Action(
    "end_processing",
    [b],
    when=[b.is_("processing"), ~exists(r, r.is_("new") & SUBMITTED)],
    fires=[b.fires("next_phase")],
    says="the pass goes on to the processed recipes",
    line=18,
)
queue = Action(
    "queue",
    [b, r],
    when=[b.is_("queueing"), r.is_("processed")],
    fires=[r.fires("queue")],
    says="{r} is queued",
    line=18,
)
end_queueing = Action(
    "end_queueing",
    [b],
    when=[b.is_("queueing"), ~exists(r, r.is_("processed"))],
    fires=[b.fires("next_phase")],
    says="the pass over the queued recipes begins",
    line=23,
)
schedule = Action(
    "schedule",
    [b, r, s],
    when=[*COMES_TO_R, s.is_("available"), r.viable.has(s)],
    fires=[r.fires("schedule", system=s), s.fires("take"), b.fires("pass_over", recipe=r)],
    says="the pass comes to {r} and gives it {s}",
    line=26,
)
pass_over = Action(
    "pass_over",
    [b, r],
    when=[*COMES_TO_R, ~exists(s, s.is_("available") & r.viable.has(s))],
    fires=[b.fires("pass_over", recipe=r)],
    says="the pass comes to {r}, for which no system is available",
    line=23,
)
end_scheduling = Action(
    "end_scheduling",
    [b],
    when=[b.is_("scheduling"), ~exists(r, b.ahead.has(r) & r.is_("queued"))],
    fires=[b.fires("next_phase")],
    says="the pass over the queued recipes ends",
    line=25,
)
provision = Action(
    "provision",
    [b, j],
    when=[
        b.is_("provisioning"),
        exists(r, r.recipe_set == j),
        forall(r, implies(r.recipe_set == j, r.is_("scheduled"))),
    ],
    fires=[],
    says="all recipes of {j} are scheduled: provisioning begins",
    line=25,
)
end_provisioning = Action(
    "end_provisioning",
    [b],
    when=[
        b.is_("provisioning"),
        ~exists(
            j,
            exists(r, r.recipe_set == j) & forall(r, implies(r.recipe_set == j, r.is_("scheduled"))),
        ),
    ],
    fires=[b.fires("next_phase")],
    says="the pass ends, and the next one begins",
    line=15,
)
run = Action("run", [r], when=[r.is_("waiting")], fires=[r.fires("run")], says="{r} runs", line=115)
complete = Action("complete", [r], when=[r.is_("running")], fires=[r.fires("complete")], says="{r} completes", line=115)
cancel = Action(
    "cancel",
    [r],
    when=[r.recipe_set.endable, SUBMITTED, r.is_(*UNFINISHED)],
    fires=[r.fires("cancel")],
    says="{r} is cancelled",
    line=116,
)
abort = Action(
    "abort",
    [r],
    when=[r.recipe_set.endable, SUBMITTED, r.is_(*UNFINISHED)],
    fires=[r.fires("abort")],
    says="{r} is aborted",
    line=116,
)
n = variable(IntRange(0, 1), "n")
reprioritize = Action(
    "reprioritize",
    [j, n],
    when=[j.rankable, j.priority != n, j.is_("to_come")],
    fires=[j.fires("reprioritize", to=n)],
    says="{j} is to have the priority {n}",
    line=213,
)
CRASH, CRASH_RULES = crash("crash", "crash", [SCHEDULER], TABLE, line=15)

PEOPLE = [cancel, abort, reprioritize]
ACTIONS = [
    submit,
    process,
    end_processing,
    queue,
    end_queueing,
    schedule,
    pass_over,
    end_scheduling,
    provision,
    end_provisioning,
    run,
    complete,
    *PEOPLE,
    CRASH,
]

RULES = [
    Rule("provisioning begins for all recipes", provision, [r.recipe_set == j], r.fires("provision"), line=25),
    *[
        Rule(f"{event} frees the system", r.fires(event), [r.system == s], s.fires("free"), line=22)
        for event in ("complete", "cancel", "abort")
    ],
    *CRASH_RULES,
]
