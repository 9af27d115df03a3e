"""Weaker forms of the properties that cannot hold together, and properties of the repaired proposal itself.

Three pairs of properties collide, as the variants of ``collisions`` show:

- "Sorted solely by overall job priority" (line 212) and "avoids these race conditions" (line 29). If a set of a higher
  priority may overtake an earlier assigned set, each can hold a system that the other needs.
- The same order for queued recipes, and "a set that can be seated begins". A set that can never be seated holds up the
  others.
- "first scans the recipe queue" (line 54) and line 29. If a recipe takes a system although its siblings can then not be
  served, the set holds that system for ever.

Other properties are violated where events are not handled alone; their weaker forms hold eventually, not at once.
"""

from schedproof.model.lang import NONE, Invariant, LeadsTo, StepInvariant, after, exists, forall, implies

from .events import suits
from .machines import j, k, m, q, r, s
from .races import HAS_BEGUN, PEOPLE_AND_CRASHES
from .repairs import CAN_BE_TAKEN, can_find, outranked
from .seatings import OPEN, e, has_a_seat, open_recipe, p, serves

TAKING = ["find_idle", "give_to_assigned", "give_to_queued"]
LEFT_IDLE = s.is_("idle") & (s.condition == "Automated") & CAN_BE_TAKEN
UNFINISHED_AND_NOT_BEGUN = exists(r, (r.recipe_set == j) & r.is_(*OPEN, "scheduled")) & ~HAS_BEGUN
# A single open recipe needs no seating, just a system.
CAN_BE_SERVED = exists(p, (p.recipe_set == j) & serves(p, j)) | ~exists(
    [q, r], open_recipe(q, j) & open_recipe(r, j) & (q != r)
) & forall(r, implies(open_recipe(r, j), exists(s, r.viable.has(s) & (s.condition == "Automated"))))
SCHEDULING_AND_EXECUTION = [
    "take_up", "seat", "find_idle", "search_ends", "settle", "give_to_assigned", "give_to_queued", "make_idle", "wake",
    "begin", "install", "run", "complete",
]  # fmt: skip

ORDER = [
    Invariant(
        name="assigned-sets-are-in-order",
        says="of two assigned sets exactly one was assigned before the other",
        line=138,
        over=[j, k],
        given=(j.lab != NONE) & (k.lab != NONE) & (j != k),
        then=(j.behind.has(k) & ~k.behind.has(j)) | (k.behind.has(j) & ~j.behind.has(k)),
    ),
    Invariant(
        name="order-is-transitive",
        says=(
            "if one set was assigned before a second, and the second before a third, then the first was assigned "
            "before the third"
        ),
        line=138,
        over=[j, k, m],
        given=(j.lab != NONE) & (k.lab != NONE) & (m.lab != NONE) & j.behind.has(k) & k.behind.has(m),
        then=j.behind.has(m),
    ),
    Invariant(
        name="no-set-is-behind-itself",
        says="no set was assigned before itself",
        line=138,
        over=[j],
        given=j.lab != NONE,
        then=~j.behind.has(j),
    ),
    StepInvariant(
        name="order-never-changes",
        says="the order of two sets does not change as long as both are assigned",
        line=138,
        over=[j, k],
        given=(j.lab != NONE) & (k.lab != NONE) & j.behind.has(k) & after((j.lab != NONE) & (k.lab != NONE)),
        then=after(j.behind.has(k)),
    ),
    Invariant(
        name="waits-only-for-earlier-sets",
        says=(
            "if a set holds a system that is viable for an assigned recipe of another set, then the first set was "
            "assigned before"
        ),
        line=29,
        sentence="This proposal describes a new, more event driven, scheduler design which avoids these race conditions, as well as enabling other features that cannot be supported with the current scheduler.",
        over=[r, q, s],
        given=r.is_("assigned") & q.is_("scheduled") & (q.system == s) & (r.recipe_set != q.recipe_set),
        then=implies(suits(s, r), r.recipe_set.behind.has(q.recipe_set)),
    ),
    StepInvariant(
        name="assigned-first-come-first-served",
        says="a system goes to no recipe while it suits an assigned recipe of a set that was assigned before",
        line=212,
        sentence="In this initial proposal, the ``assigned`` and ``queued`` recipes are still sorted solely by overall job priority when looking for a suitable recipe.",
        over=[q],
        on=TAKING,
        given=q.is_("assigned") & suits(s, q) & (q.recipe_set != r.recipe_set),
        then=(r.recipe_set.lab != NONE) & q.recipe_set.behind.has(r.recipe_set),
    ),
    StepInvariant(
        name="no-queue-jumping-by-the-queued",
        says="a system goes to no new or queued recipe while a queued one of a higher priority can take it",
        line=21,
        sentence='This approach leads to a number of unfortunate race conditions, including the possibility of recipes "jumping the queue" to access a rare system if that system becomes available while the scheduler is midway through a pass over the currently queued recipes.',
        over=[],
        on=TAKING,
        given=r.is_("new", "queued"),
        then=~outranked(s, r),
    ),
]

SEATS = [
    StepInvariant(
        name="searches-end-with-nothing-found",
        says="the new job loop ends its search for a set only when no idle system can be given to a recipe of it",
        line=144,
        over=[r, s],
        on=["search_ends"],
        given=r.recipe_set == j,
        then=~can_find(s, r),
    ),
    Invariant(
        name="assigned-have-a-seat",
        says="an assigned recipe has an Automated system in the seating of its set",
        line=125,
        over=[r],
        given=r.is_("assigned") & (r.host == NONE),
        then=(r.recipe_set.seating != NONE) & has_a_seat(r, r.recipe_set.seating),
    ),
    Invariant(
        name="seats-are-in-the-lab-of-the-set",
        says="the seat of an assigned recipe is in the lab of its set",
        line=125,
        over=[r, e],
        given=r.is_("assigned") & (r.host == NONE) & (e.seating == r.recipe_set.seating) & (e.recipe == r),
        then=e.system.lab == r.recipe_set.lab,
    ),
    Invariant(
        name="seats-are-left-free",
        says="no recipe holds the seat of an assigned sibling",
        line=29,
        over=[r, q, e],
        given=r.is_("assigned")
        & (e.seating == r.recipe_set.seating)
        & (e.recipe == r)
        & (q.recipe_set == r.recipe_set)
        & q.is_("scheduled"),
        then=q.system != e.system,
    ),
    Invariant(
        name="seated-by-its-own-seating",
        says="the seating of a set is one of its own",
        line=132,
        over=[j, p],
        given=j.seating == p,
        then=p.recipe_set == j,
    ),
]

IDLE = [
    LeadsTo(
        name="idle-systems-are-woken",
        says="a system does not stay idle beside a recipe that waits and can take it",
        line=54,
        sentence='"Pending system" scheduling events will occur when a system is about to be marked as idle and Beaker first scans the recipe queue for a suitable recipe to schedule on that system.',
        over=[s],
        given=LEFT_IDLE,
        goal=~LEFT_IDLE,
        weak=["wake"],
    ),
    LeadsTo(
        name="new-recipes-are-processed",
        says="a new recipe does not stay new, whenever the scheduler crashed, if no user intervenes",
        line=68,
        sentence="This approach has the advantage of not requiring any special processing at system startup to deal with unprocessed events left over from the previous shutdown.",
        over=[r],
        given=r.is_("new"),
        goal=~r.is_("new"),
        weak=["take_up", "seat", "find_idle", "search_ends", "settle"],
        without=PEOPLE_AND_CRASHES,
    ),
    LeadsTo(
        name="pending-ends",
        says="a pending system does not stay pending, if no user intervenes",
        line=210,
        sentence="if the system still remains ``pending``, it will be moved to ``idle``.",
        over=[s],
        given=s.is_("pending"),
        goal=~s.is_("pending"),
        weak=SCHEDULING_AND_EXECUTION,
        without=PEOPLE_AND_CRASHES,
    ),
    LeadsTo(
        name="sets-begin",
        says="a set whose recipes can each get an Automated system of one lab begins, if no user intervenes",
        line=29,
        sentence="This proposal describes a new, more event driven, scheduler design which avoids these race conditions, as well as enabling other features that cannot be supported with the current scheduler.",
        over=[j],
        given=UNFINISHED_AND_NOT_BEGUN & CAN_BE_SERVED,
        goal=~(UNFINISHED_AND_NOT_BEGUN & CAN_BE_SERVED),
        weak=SCHEDULING_AND_EXECUTION,
        without=PEOPLE_AND_CRASHES,
    ),
]

WEAKER = [*ORDER, *SEATS, *IDLE]
