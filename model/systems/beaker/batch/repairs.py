"""Changes of the batch scheduler that end what the abstract describes (lines 20 to 27), each in a variant of its own.

In one variant they would collide, as in the proposal: see ``collisions``.
"""

from dataclasses import replace

from schedproof.model.lang import (
    Change,
    Invariant,
    Row,
    Rule,
    StepInvariant,
    Term,
    Var,
    exists,
    forall,
    implies,
    those,
    variable,
)
from schedproof.model.systems.beaker.machines import Recipe, System, g, j, q, r, s

from . import BATCH
from .events import COMES_TO_R, end_provisioning, pass_over, provision, schedule
from .machines import UNFINISHED, Scheduler, b

o = variable(Recipe, "o")
x = variable(System, "x")
c = variable(Scheduler, "c")
OPEN = ("new", "processed", "queued")


def waits_with_systems(recipe: Var) -> Term:
    """``recipe`` has no system yet, and a sibling is scheduled."""
    return recipe.is_(*OPEN) & exists(g, (g.recipe_set == recipe.recipe_set) & g.is_("scheduled"))


def held_by_the_set_of(recipe: Var, system: Var) -> Term:
    """A sibling of ``recipe`` is scheduled on ``system``."""
    return exists(g, (g.recipe_set == recipe.recipe_set) & g.is_("scheduled") & (g.system == system))


def can_take(system: Var, recipe: Var) -> Term:
    """No other set waits with systems, and each sibling without a system keeps one that suits it."""
    left = exists(x, (x != system) & o.viable.has(x) & ~held_by_the_set_of(o, x))
    sibling = (o.recipe_set == recipe.recipe_set) & (o != recipe) & o.is_(*OPEN)
    return (
        system.is_("available")
        & recipe.viable.has(system)
        & ~exists(q, (q.recipe_set != recipe.recipe_set) & waits_with_systems(q))
        & forall(o, implies(sibling, left))
    )


ONE_SET_AT_A_TIME = Change(
    name="sets-hold-systems-that-they-cannot-use",
    wrong=(
        "A recipe takes any system that suits it, whether its siblings can get theirs or not. Its set holds the system, "
        "and waits for one that another set, or the set itself, holds for ever."
    ),
    shown="no-abba",
    why=(
        "A recipe takes a system only if no other set waits with systems, and if a system is left for each of its "
        "siblings."
    ),
    repairs=["no-abba", "no-set-blocks-itself", "no-deadlock"],
    weakens={"passed-over-without-a-system": ["passed-over-if-it-can-take-none"]},
    adds=[
        StepInvariant(
            name="passed-over-if-it-can-take-none",
            says="a pass passes a recipe over only if it can take no system",
            line=23,
            over=[s],
            on=["pass_over"],
            then=~can_take(s, r),
        ),
        replace(schedule, when=[*COMES_TO_R, can_take(s, r)]),
        replace(pass_over, when=[*COMES_TO_R, ~exists(s, can_take(s, r))]),
        Invariant(
            name="one-set-waits-with-systems",
            says="no two sets hold systems and wait for more",
            line=26,
            over=[r, q],
            given=waits_with_systems(r) & waits_with_systems(q),
            then=r.recipe_set == q.recipe_set,
        ),
        Invariant(
            name="open-recipes-keep-a-system",
            says="a recipe without a system has one that suits it and that none of its siblings holds",
            line=23,
            over=[r, s],
            given=r.is_(*OPEN) & r.viable.has(s),
            then=exists(x, r.viable.has(x) & ~held_by_the_set_of(r, x)),
        ),
    ],
)

READY = exists(r, (r.recipe_set == j) & r.is_("scheduled")) & forall(
    r, implies((r.recipe_set == j) & r.is_(*UNFINISHED), r.is_("scheduled"))
)

FINISHED_DO_NOT_COUNT = Change(
    name="a-pass-waits-for-a-cancelled-recipe",
    wrong="A set begins only when all its recipes are scheduled, and a cancelled or aborted recipe never is.",
    why="A set begins when all its unfinished recipes are scheduled.",
    repairs=["no-deadlock"],
    adds=[
        replace(provision, when=[b.is_("provisioning"), READY]),
        replace(end_provisioning, when=[b.is_("provisioning"), ~exists(j, READY)]),
        Rule(
            "provisioning begins for all recipes",
            provision,
            [r.recipe_set == j, r.is_("scheduled")],
            r.fires("provision"),
            line=25,
        ),
    ],
)

BATCH_TOGETHER = BATCH.amend(
    "batch-together",
    "batch, where a set takes systems only if all its recipes can get one, and no other set waits with systems",
    [ONE_SET_AT_A_TIME, FINISHED_DO_NOT_COUNT],
    refuted=frozenset({"no-queue-jumping"}),
)

RESTART = Change(
    name="a-pass-does-not-look-back",
    wrong=(
        "A pass comes to each queued recipe once. A system that becomes available after that goes to a recipe that the "
        "pass has still to come to, whatever its priority."
    ),
    shown="no-queue-jumping",
    why="When a system becomes available, the pass over the queued recipes starts again.",
    repairs=["no-queue-jumping"],
    adds=[
        Row(Scheduler, "start_again", "scheduling", "scheduling", line=23, ahead=those(r, r.is_("queued"))),
        Rule(
            "a free system starts the pass again",
            s.fires("free"),
            [b.is_("scheduling")],
            b.fires("start_again"),
            line=22,
        ),
        Invariant(
            name="passed-over-find-nothing",
            says="no system that suits a recipe which the pass has passed over is available",
            line=23,
            over=[b, r, s],
            given=b.is_("scheduling") & r.is_("queued") & ~b.ahead.has(r) & r.viable.has(s),
            then=s.is_("taken"),
        ),
    ],
)

BATCH_RESTARTED = BATCH.amend(
    "batch-restarted",
    "batch, where a pass starts again when a system becomes available",
    [RESTART],
    refuted=BATCH.refuted - {"no-queue-jumping"},
    axioms=[forall([b, c], b == c)],  # "the current Beaker scheduler" (line 14)
)
