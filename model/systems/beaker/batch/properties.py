"""What the abstract says of the current scheduler, and what its proposal is to end."""

from schedproof.model.lang import (
    NONE,
    AlwaysCanReach,
    Invariant,
    LifeCycle,
    StepInvariant,
    Term,
    Var,
    after,
    exists,
    forall,
    implies,
)
from schedproof.model.systems.beaker.machines import Recipe, g, j, q, r, s, t

from .events import CRASH, PEOPLE
from .machines import UNFINISHED, x

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
