"""The batch scheduler that the abstract describes (lines 14 to 27, 99 to 118).

"Repeatedly looping over the full set of submitted recipes, advancing them through the possible states in groups": a
pass has four phases.

1. It moves recipes from ``new`` to ``processed``.
2. It moves recipes from ``processed`` to ``queued``.
3. It gives systems to the recipes that are queued at that moment, by priority.
4. It begins the sets all of whose recipes are scheduled.

Jobs, cancellations and freed systems come at any time. The model leaves out labs, conditions and guests, which the
abstract does not mention. The abstract also leaves open when a set begins. Our interpretation: it "needs systems A and
B" (line 25) all at once.
"""

from collections.abc import Iterator, Mapping

from schedproof.model.lang import (
    EMPTY,
    NONE,
    Action,
    AlwaysCanReach,
    Attribute,
    BoolType,
    Durability,
    Event,
    IntRange,
    Invariant,
    LifeCycle,
    Machine,
    Model,
    Ref,
    Rigid,
    Row,
    Rule,
    SetOf,
    Sort,
    State,
    StepInvariant,
    Term,
    Var,
    after,
    crash,
    exists,
    forall,
    given,
    implies,
    me,
    those,
    variable,
)

from .configurations import BATCH_CONFIGURATIONS
from .machines import DOCUMENT, Recipe, RecipeSet, System, g, j, q, r, s, t

Scheduler = Sort("Scheduler", "b")
b = variable(Scheduler, "b")
x = variable(System, "x")

UNFINISHED = ("new", "processed", "queued", "scheduled", "waiting", "running")
FINISHED = ("completed", "cancelled", "aborted")
PHASES = ("processing", "queueing", "scheduling", "provisioning")

SCHEDULER = Machine(
    Scheduler,
    line=15,
    states=[
        State("processing", line=17),
        State("queueing", Durability.VOLATILE, line=18),
        State("scheduling", Durability.VOLATILE, line=23),
        State("provisioning", Durability.VOLATILE, line=25),
    ],
    # "a pass over the currently queued recipes" (line 23): those that it has not yet visited
    attributes=[
        Attribute(
            "ahead", SetOf(Recipe), line=23, about="the queued recipes that the present pass has still to look at"
        )
    ],
    events=[Event("pass_over", {"recipe": Ref(Recipe)})],
)

RECIPE_SET = Machine(
    RecipeSet,
    line=25,
    # "the full set of submitted recipes" (line 15): a set arrives complete, at any time
    states=[State("to_come", about="not yet submitted"), State("submitted", line=15)],
    attributes=[
        Attribute("priority", IntRange(0, 1), durable=True, line=213),
        Attribute("endable", BoolType(), rigid=True, about="may be cancelled or aborted", assumed=False),
        Attribute("rankable", BoolType(), rigid=True, about="priority may change", assumed=False),
    ],
    events=[Event("reprioritize", {"to": IntRange(0, 1)})],
)

RECIPE = Machine(
    Recipe,
    line=99,
    states=[
        State("new", line=104),
        State("processed", line=105),
        State("queued", line=106),
        State("scheduled", line=107),
        State("waiting", line=108),
        State("running", line=109),
        State("completed", line=110),
        State("cancelled", line=112),
        State("aborted", line=113),
    ],
    attributes=[
        Attribute("recipe_set", Ref(RecipeSet), rigid=True, line=24),
        Attribute(
            "viable", SetOf(System), rigid=True, line=123, about="the systems that meet the requirements of the recipe"
        ),
        Attribute("system", Ref(System), durable=True, line=26),
    ],
    events=[Event("schedule", {"system": Ref(System)})],
)

SYSTEM = Machine(System, line=22, states=[State("available", line=22), State("taken", line=26)])

TABLE = [
    *[
        Row(Scheduler, "next_phase", now, then, line=18)
        for now, then in (("processing", "queueing"), ("provisioning", "processing"))
    ],
    Row(Scheduler, "next_phase", "queueing", "scheduling", line=23, ahead=those(r, r.is_("queued"))),
    Row(Scheduler, "next_phase", "scheduling", "provisioning", line=25),
    Row(Scheduler, "pass_over", "scheduling", "scheduling", line=23, ahead=me.ahead.without(given("recipe"))),
    *[Row(Scheduler, "crash", now, "processing", line=15, ahead=EMPTY) for now in PHASES[1:]],
    Row(RecipeSet, "submit", "to_come", "submitted", line=15),
    Row(RecipeSet, "reprioritize", "to_come", "to_come", line=213, priority=given("to")),
    Row(Recipe, "process", "new", "processed", line=17),
    Row(Recipe, "queue", "processed", "queued", line=18),
    Row(Recipe, "schedule", "queued", "scheduled", line=21, system=given("system")),
    Row(Recipe, "provision", "scheduled", "waiting", line=25),
    Row(Recipe, "run", "waiting", "running", line=115),
    Row(Recipe, "complete", "running", "completed", line=115, system=NONE),
    *[Row(Recipe, "cancel", now, "cancelled", line=116, system=NONE) for now in UNFINISHED],
    *[Row(Recipe, "abort", now, "aborted", line=116, system=NONE) for now in UNFINISHED],
    Row(System, "take", "available", "taken", line=26),
    Row(System, "free", "taken", "available", line=22),
]


NONE_BEFORE = ~exists(q, b.ahead.has(q) & q.is_("queued") & (q.recipe_set.priority > r.recipe_set.priority))
COMES_TO_R = [b.is_("scheduling"), b.ahead.has(r), r.is_("queued"), NONE_BEFORE]

SUBMITTED = r.recipe_set.is_("submitted")

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

HAS_BEGUN = exists(r, (r.recipe_set == j) & r.is_("waiting", "running", "completed"))
ABBA = "More seriously, it causes problems when scheduling multi-host recipesets that can only run on a limited number of systems: if two recipesets need systems A and B, and one gets system A, while the other gets system B, then the two recipesets will effectively deadlock, both waiting for each other in a classic ABBA race condition."


SIBLINGS = (r.recipe_set == q.recipe_set) & (r != q)


def holds(recipe: Var, system: Var) -> Term:
    """A sibling of ``recipe`` is scheduled on ``system`` and waits for the rest of the set."""
    return exists(g, (g.recipe_set == recipe.recipe_set) & g.is_("scheduled") & (g.system == system))


def needs_just(recipe: Var, system: Var) -> Term:
    """``recipe`` is queued, and only ``system`` is viable for it."""
    return recipe.is_("queued") & recipe.viable.has(system) & forall(x, implies(recipe.viable.has(x), x == system))


PROPERTIES = [
    StepInvariant(
        name="completed-is-final",
        says="a completed recipe is not cancelled or aborted any more",
        line=116,
        sentence="A recipe may jump from any state other than ``completed`` directly to ``cancelled`` or ``aborted``.",
        over=[r],
        given=r.is_("completed"),
        then=after(r.is_("completed")),
    ),
    StepInvariant(
        name="ended-is-final",
        says="a cancelled or aborted recipe stays what it is",
        line=199,
        over=[r],
        given=r.is_("cancelled", "aborted"),
        then=(r.is_("cancelled") & after(r.is_("cancelled"))) | (r.is_("aborted") & after(r.is_("aborted"))),
    ),
    Invariant(
        name="a-system-while-in-use",
        says="a recipe has a system from when it is scheduled until it has ended, and the system is taken",
        line=26,
        over=[r, s],
        given=(r.system == s) | r.is_("scheduled", "waiting", "running"),
        then=r.is_("scheduled", "waiting", "running") & (r.system != NONE) & implies(r.system == s, s.is_("taken")),
    ),
    Invariant(
        name="one-recipe-per-system",
        says="a system is not given to two recipes",
        line=26,
        over=[r, q, s],
        given=(r.system == s) & (r != q),
        then=q.system != s,
    ),
    Invariant(
        name="taken-by-a-recipe",
        says="a system that is taken is taken by a recipe",
        line=26,
        over=[s],
        given=s.is_("taken"),
        then=exists(r, r.system == s),
    ),
    StepInvariant(
        name="begins-complete",
        says="provisioning of a recipe begins only when all unfinished recipes of its set are scheduled, and with them",
        line=25,
        over=[r, q],
        given=SIBLINGS & r.is_("scheduled") & after(r.is_("waiting")) & q.is_(*UNFINISHED),
        then=q.is_("scheduled") & after(q.is_("waiting")),
    ),
    StepInvariant(
        name="no-queue-jumping",
        says="a system is never given to a recipe while it suits a queued one of a higher priority",
        line=21,
        sentence='This approach leads to a number of unfortunate race conditions, including the possibility of recipes "jumping the queue" to access a rare system if that system becomes available while the scheduler is midway through a pass over the currently queued recipes.',
        over=[q],
        on=["schedule"],
        given=q.is_("queued") & q.viable.has(s) & (q.recipe_set != r.recipe_set),
        then=q.recipe_set.priority <= r.recipe_set.priority,
    ),
    AlwaysCanReach(
        name="no-deadlock",
        says="a set that holds a system, and whose recipes each have a viable system, can still begin",
        line=23,
        sentence="More seriously, it causes problems when scheduling multi-host recipesets that can only run on a limited number of systems: if two recipesets need systems A and B, and one gets system A, while the other gets system B, then the two recipesets will effectively deadlock, both waiting for each other in a classic ABBA race condition.",
        over=[j],
        given=exists(r, (r.recipe_set == j) & r.is_("scheduled"))
        & forall(r, implies(r.recipe_set == j, exists(s, r.viable.has(s)))),
        goal=HAS_BEGUN,
        without=[*(a.name for a in PEOPLE), CRASH.name],
    ),
    Invariant(
        name="no-abba",
        says="no two sets each hold the one system that a recipe of the other needs",
        line=25,
        sentence=ABBA,
        over=[r, q, s, t],
        given=(r.recipe_set != q.recipe_set) & holds(r, t) & needs_just(r, s),
        then=~(holds(q, s) & needs_just(q, t)),
    ),
    Invariant(
        name="no-set-blocks-itself",
        says="the systems that suit a queued recipe are not all held by its own siblings",
        line=23,
        sentence="More seriously, it causes problems when scheduling multi-host recipesets that can only run on a limited number of systems: if two recipesets need systems A and B, and one gets system A, while the other gets system B, then the two recipesets will effectively deadlock, both waiting for each other in a classic ABBA race condition.",
        over=[r, s],
        given=r.is_("queued") & r.viable.has(s),
        then=exists(t, r.viable.has(t) & ~holds(r, t)),
    ),
    LifeCycle(
        name="life",
        says="a recipe passes through the full sequence of states",
        line=115,
        sentence="With the current scheduler, all successfully completed recipes pass through the full sequence of states from ``new`` to ``completed``.",
        sort=Recipe,
        states=["new", "processed", "queued", "scheduled", "waiting", "running", "completed"],
    ),
    *[
        LifeCycle(
            name=f"life-{end}",
            says=f"a new recipe is {end}",
            line=116,
            sentence="A recipe may jump from any state other than ``completed`` directly to ``cancelled`` or ``aborted``.",
            sort=Recipe,
            states=["new", end],
        )
        for end in ("cancelled", "aborted")
    ],
]


def one_scheduler(sizes: Mapping[str, int]) -> Iterator[Rigid]:
    """Yields the configurations, each with one scheduler, without the labs, hosts and conditions that this model lacks."""
    for configuration in BATCH_CONFIGURATIONS:
        if all(n <= sizes[sort] for sort, n in configuration.sizes.items() if sort in sizes):
            rigid = configuration.rigid()
            kept = ("recipe_set", "viable", "endable", "rankable")
            yield {key: values for key, values in rigid.items() if key[1] in kept and key[0] != "System"}


BATCH = Model(
    system="beaker",
    variant="batch",
    about="the scheduler that the abstract describes: passes over all recipes, state by state",
    document=DOCUMENT,
    machines=[SCHEDULER, RECIPE_SET, RECIPE, SYSTEM],
    rows=TABLE,
    actions=ACTIONS,
    rules=RULES,
    properties=PROPERTIES,
    axioms=[forall(r, r.recipe_set != NONE)],
    configurations=one_scheduler,
    default_scope={"Scheduler": 1, "RecipeSet": 3, "Recipe": 4, "System": 2},
    refuted=frozenset({"no-queue-jumping", "no-deadlock", "no-abba", "no-set-blocks-itself"}),
)
