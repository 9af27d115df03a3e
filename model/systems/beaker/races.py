"""The goals of the proposal: no deadlock, no queue jumping, no lost work (lines 20 to 31, 68 to 71, 201 to 216)."""

from schedproof.model.lang import (
    NONE,
    AlwaysCanReach,
    Invariant,
    StepInvariant,
    Term,
    Var,
    after,
    exists,
    forall,
    implies,
    variable,
)

from .events import ACTIONS, CRASH, PEOPLE, suits
from .machines import EXECUTING, FINISHED, UNFINISHED, System, g, j, q, r, s, t

x = variable(System, "x")

PEOPLE_AND_CRASHES = [*(a.name for a in PEOPLE), CRASH.name]
HAS_BEGUN = exists(r, (r.recipe_set == j) & r.is_(*EXECUTING, "completed"))


def waits_for(system: Var, recipe: Var) -> Term:
    """``recipe`` is assigned or queued, and ``system`` suits it."""
    return recipe.is_("assigned", "queued") & suits(system, recipe)


def held_by_the_set_of(recipe: Var, system: Var) -> Term:
    """``system`` is held by a sibling of ``recipe`` whose set has not begun."""
    return exists(g, (g.recipe_set == recipe.recipe_set) & g.is_("scheduled") & (g.system == system))


def needs_just(recipe: Var, system: Var) -> Term:
    """``recipe`` is assigned, and no other system of its lab suits it."""
    return recipe.is_("assigned") & suits(system, recipe) & forall(x, implies(suits(x, recipe), x == system))


def left_idle(system: Var, recipe: Var) -> Term:
    """``system`` is idle, ``recipe`` waits for it, and its set is not in hand: no loop is about to see it."""
    return (
        system.is_("idle")
        & (system.condition == "Automated")
        & waits_for(system, recipe)
        & ~recipe.recipe_set.is_("in_hand")
    )


RACES = [
    AlwaysCanReach(
        name="no-deadlock",
        says="a set that holds a system, and whose recipes each have a viable Automated system, can still begin",
        line=29,
        sentence="This proposal describes a new, more event driven, scheduler design which avoids these race conditions, as well as enabling other features that cannot be supported with the current scheduler.",
        over=[j],
        given=exists(r, (r.recipe_set == j) & r.is_("scheduled"))
        & forall(
            r,
            implies((r.recipe_set == j) & (r.host == NONE), exists(s, r.viable.has(s) & (s.condition == "Automated"))),
        ),
        goal=HAS_BEGUN,
        without=PEOPLE_AND_CRASHES,
    ),
    Invariant(
        name="no-abba",
        says="no two sets each hold the one system that a recipe of the other needs",
        line=26,
        sentence="More seriously, it causes problems when scheduling multi-host recipesets that can only run on a limited number of systems: if two recipesets need systems A and B, and one gets system A, while the other gets system B, then the two recipesets will effectively deadlock, both waiting for each other in a classic ABBA race condition.",
        over=[r, q, s, t],
        given=r.is_("assigned")
        & q.is_("assigned")
        & (r.recipe_set != q.recipe_set)
        & held_by_the_set_of(r, t)
        & held_by_the_set_of(q, s)
        & needs_just(r, s),
        then=~needs_just(q, t),
    ),
    Invariant(
        name="no-set-blocks-itself",
        says="the systems that suit an assigned recipe are not all held by its own siblings",
        line=29,
        sentence="This proposal describes a new, more event driven, scheduler design which avoids these race conditions, as well as enabling other features that cannot be supported with the current scheduler.",
        over=[r, s],
        given=r.is_("assigned") & suits(s, r),
        then=exists(t, suits(t, r) & ~held_by_the_set_of(r, t)),
    ),
    AlwaysCanReach(
        name="no-finished-recipe-blocks-its-set",
        says="a set whose unfinished recipes are all scheduled can begin",
        line=226,
        sentence="Whenever a recipe is moved to ``scheduled``, if all other recipes in that recipe set are also ``scheduled``, then provisioning of the allocated systems and execution of tasks in those recipes will begin.",
        over=[j],
        given=exists(r, (r.recipe_set == j) & r.is_("scheduled"))
        & forall(r, implies((r.recipe_set == j) & r.is_(*UNFINISHED), r.is_("scheduled"))),
        goal=HAS_BEGUN,
        without=PEOPLE_AND_CRASHES,
    ),
    AlwaysCanReach(
        name="dead-recipes-end",
        says="a waiting recipe that has no viable Automated system left can be ended by the scheduler, or gets one again",
        line=58,
        sentence="The existing scheduling loop will be retained for its secondary role in monitoring database consistency and correcting any discrepancies (for example, by aborting recipes where the requested distro tree has been removed from all registered lab controllers).",
        over=[r],
        given=r.is_("queued", "assigned")
        & (r.host == NONE)
        & ~exists(s, r.viable.has(s) & (s.condition == "Automated")),
        goal=r.is_(*FINISHED) | exists(s, r.viable.has(s) & (s.condition == "Automated")),
        without=PEOPLE_AND_CRASHES,
    ),
    AlwaysCanReach(
        name="guests-can-run",
        says="a guest that waits can run while its host does",
        line=230,
        over=[g, r],
        given=(g.host == r) & r.is_("running") & g.is_("waiting"),
        goal=g.is_("running") & r.is_("running"),
        without=PEOPLE_AND_CRASHES,
    ),
    Invariant(
        name="no-system-idles-beside-a-waiting-recipe",
        says="no idle Automated system suits a recipe that waits",
        line=54,
        sentence='"Pending system" scheduling events will occur when a system is about to be marked as idle and Beaker first scans the recipe queue for a suitable recipe to schedule on that system.',
        over=[s, r],
        given=s.is_("idle") & (s.condition == "Automated") & r.is_("assigned", "queued"),
        then=~left_idle(s, r),
    ),
    StepInvariant(
        name="no-lost-wakeup",
        says="no step but a crash leaves an Automated system idle beside a recipe that waits for it",
        line=214,
        sentence="While this is valuable in its own right (it eliminates a number of race conditions and queue jumping that is possible in the current design), it also creates a foundation for more sophisticated control over the system preferences for execution of recipes (for example, see :ref:`proposal-effective-job-priorities`).",
        over=[s, r],
        on=[a.name for a in ACTIONS if not a.crash],
        given=after(s.is_("idle") & (s.condition == "Automated") & r.is_("assigned", "queued")),
        then=after(~left_idle(s, r)) | left_idle(s, r),
    ),
    StepInvariant(
        name="nothing-special-at-start-up",
        says="a crash leaves no system idle beside a recipe that waits for it: the loops find what is left to do",
        line=68,
        sentence="This approach has the advantage of not requiring any special processing at system startup to deal with unprocessed events left over from the previous shutdown.",
        over=[s, r],
        on=[CRASH.name],
        given=after(s.is_("idle") & (s.condition == "Automated") & r.is_("assigned", "queued")),
        then=after(~left_idle(s, r)) | left_idle(s, r),
    ),
    StepInvariant(
        name="assigned-before-queued",
        says="a pending system goes to a queued recipe only if it suits no assigned one",
        line=206,
        sentence="if the system remains ``pending``, all currently ``queued`` recipes are searched for a suitable recipe.",
        over=[q],
        on=["give_to_queued"],
        given=q.is_("assigned"),
        then=~suits(s, q),
    ),
    *[
        StepInvariant(
            name=f"{state}-by-priority",
            says=f"a pending system goes to the {state} recipe of the highest priority",
            line=212,
            sentence="In this initial proposal, the ``assigned`` and ``queued`` recipes are still sorted solely by overall job priority when looking for a suitable recipe.",
            over=[q],
            on=[f"give_to_{state}"],
            given=q.is_(state) & suits(s, q) & (q != r),
            then=q.recipe_set.priority <= r.recipe_set.priority,
        )
        for state in ("assigned", "queued")
    ],
    StepInvariant(
        name="no-queue-jumping",
        says="a system is never given to a recipe while it suits a waiting one of a higher priority",
        line=21,
        sentence='This approach leads to a number of unfortunate race conditions, including the possibility of recipes "jumping the queue" to access a rare system if that system becomes available while the scheduler is midway through a pass over the currently queued recipes.',
        over=[q],
        on=["find_idle", "give_to_assigned", "give_to_queued"],
        given=waits_for(s, q) & (q.recipe_set != r.recipe_set),
        then=q.recipe_set.priority <= r.recipe_set.priority,
    ),
]
