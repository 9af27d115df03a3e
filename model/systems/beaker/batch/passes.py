"""Properties of the batch scheduler's passes (lines 14 to 23, 116, 213): they are over all recipes, in groups and in order."""

from schedproof.model.lang import NONE, Invariant, LeadsTo, StepInvariant, after, exists, forall, iff, implies
from schedproof.model.lang.terms import both
from schedproof.model.systems.beaker.machines import j, k, q, r, s

from .machines import FINISHED, SUBMITTED, UNFINISHED, b

LOOPING = "The current Beaker scheduler operates on a batch processing model, repeatedly looping over the full set of submitted recipes, advancing them through the possible states in groups."
GROUPS = "That is, it looks for recipes to move from ``new`` to ``processed``, then again for recipes to move from ``processed`` to ``queued``, and so on."
JUMP = "A recipe may jump from any state other than ``completed`` directly to ``cancelled`` or ``aborted``."
STATES = (*UNFINISHED, *FINISHED)
PEOPLE = ("submit", "cancel", "abort", "reprioritize")
LOOP = (
    *("process", "end_processing", "queue", "end_queueing", "schedule", "pass_over", "end_scheduling"),
    *("provision", "end_provisioning"),
)

COMPLETE = [
    StepInvariant(
        name=name,
        says=says,
        line=15,
        sentence=LOOPING,
        over=over,
        given=b.is_(phase) & after(b.is_(following)),
        then=then,
    )
    for name, says, phase, following, over, then in (
        (
            "all-new-are-processed",
            "a pass goes on to the processed recipes only when no submitted recipe is new",
            *("processing", "queueing", [b, r], ~(r.is_("new") & SUBMITTED)),
        ),
        (
            "all-processed-are-queued",
            "a pass goes on to the queued recipes only when none is processed",
            *("queueing", "scheduling", [b, r], ~r.is_("processed")),
        ),
        (
            "all-queued-are-visited",
            "a pass over the queued recipes ends only when it has come to each of them",
            *("scheduling", "provisioning", [b, r], ~(r.is_("queued") & b.ahead.has(r))),
        ),
    )
]

COMPLETE += [
    StepInvariant(
        name="all-complete-sets-begin",
        says="a pass ends only when every set whose recipes are all scheduled has begun",
        line=25,
        over=[j],
        on=["end_provisioning"],
        then=~(
            exists(q, (q.recipe_set == j) & q.is_("scheduled"))
            & forall(q, implies(q.recipe_set == j, q.is_("scheduled")))
        ),
    ),
]

SUBMISSION = [
    Invariant(
        name="new-until-submitted",
        says="a recipe is new until its set is submitted",
        line=15,
        sentence=LOOPING,
        over=[r],
        given=r.recipe_set.is_("to_come"),
        then=r.is_("new"),
    ),
    StepInvariant(
        name="priority-before-submission",
        says="only a set that is not yet submitted gets another priority, and it is not submitted with that",
        line=213,
        over=[k],
        given=((k.priority == 0) & after(k.priority == 1)) | ((k.priority == 1) & after(k.priority == 0)),
        then=k.is_("to_come") & after(k.is_("to_come")),
    ),
]

IN_GROUPS = [
    StepInvariant(
        name=f"{target}-in-its-group",
        says=f"a recipe moves from {source} to {target} only in the part of a pass for such recipes",
        line=line,
        sentence=GROUPS,
        over=[r],
        given=r.is_(source) & after(r.is_(target)),
        then=exists(b, b.is_(phase)),
    )
    for source, target, phase, line in (
        ("new", "processed", "processing", 17),
        ("processed", "queued", "queueing", 18),
        ("queued", "scheduled", "scheduling", 18),
        ("scheduled", "waiting", "provisioning", 18),
    )
]

VISITS = [
    StepInvariant(
        name="a-pass-is-over-the-queued",
        says="a pass is over the recipes that are queued when it begins",
        line=23,
        over=[b, q],
        given=b.is_("queueing") & after(b.is_("scheduling")),
        then=iff(q.is_("queued"), after(b.ahead.has(q))),
    ),
    StepInvariant(
        name="visits-one-after-another",
        says="a pass over the queued recipes leaves each but the one that it comes to for later",
        line=23,
        over=[q],
        on=["schedule", "pass_over"],
        given=q != r,
        then=iff(b.ahead.has(q), after(b.ahead.has(q))) & ~after(b.ahead.has(r)) & b.ahead.has(r),
    ),
    StepInvariant(
        name="visits-by-priority",
        says="a pass comes to no queued recipe while one of a higher priority is ahead",
        line=213,
        sentence="In this initial proposal, the ``assigned`` and ``queued`` recipes are still sorted solely by overall job priority when looking for a suitable recipe.",
        over=[q],
        on=["schedule", "pass_over"],
        given=b.ahead.has(q) & q.is_("queued"),
        then=q.recipe_set.priority <= r.recipe_set.priority,
    ),
    StepInvariant(
        name="passed-over-without-a-system",
        says="a pass passes a recipe over only if no system that suits it is available",
        line=23,
        over=[s],
        on=["pass_over"],
        given=r.viable.has(s),
        then=~s.is_("available"),
    ),
    StepInvariant(
        name="given-available-and-viable",
        says="a recipe gets a system only if it is queued, and the system is available and viable for it",
        line=26,
        over=[r, s],
        given=(r.system != s) & after(r.system == s),
        then=r.is_("queued") & s.is_("available") & r.viable.has(s),
    ),
]

ENDS = [
    StepInvariant(
        name=f"{action}-ends-one",
        says=f"who asks for one recipe to be {end} gets that, and nothing else",
        line=116,
        sentence=JUMP,
        over=[q],
        on=[action],
        then=after(r.is_(end)) & implies(q != r, both([iff(q.is_(state), after(q.is_(state))) for state in STATES])),
    )
    for action, end in (("cancel", "cancelled"), ("abort", "aborted"))
]

PASSES = [
    *SUBMISSION,
    *COMPLETE,
    *IN_GROUPS,
    *VISITS,
    *ENDS,
    StepInvariant(
        name="a-crash-moves-no-recipe",
        says="what a pass has moved stays when the scheduler stops, and the next pass begins anew",
        line=15,
        over=[b, r],
        on=["crash"],
        then=after(b.is_("processing"))
        & (b.is_("processing") | after(~b.ahead.has(r)))
        & both([iff(r.is_(state), after(r.is_(state))) for state in STATES])
        & implies(r.system == NONE, after(r.system == NONE)),
    ),
    LeadsTo(
        name="passes-come-again",
        says="each part of a pass ends, if no user intervenes and nothing stops",
        line=15,
        sentence=LOOPING,
        over=[b],
        given=b.is_("processing"),
        goal=b.is_("provisioning"),
        weak=LOOP,
        without=[*PEOPLE, "crash"],
    ),
    LeadsTo(
        name="a-pass-is-followed-by-another",
        says="after a pass another one begins, if no user intervenes and nothing stops",
        line=15,
        sentence=LOOPING,
        over=[b],
        given=b.is_("provisioning"),
        goal=b.is_("processing"),
        weak=LOOP,
        without=[*PEOPLE, "crash"],
    ),
]
