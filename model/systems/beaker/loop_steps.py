"""Properties of the repaired proposal's loops: when each of their actions is taken, and that it can be taken then.

A loop takes an action only as it is allowed. Of some actions it is also said that they can be taken whenever they are allowed, without
another action before; of the others this follows, since a loop needs no other one (``repaired_steps``).
"""

from schedproof.model.lang import NONE, AlwaysCanReach, StepInvariant, exists, forall, implies

from .events import AUTOMATED
from .machines import UNFINISHED, j, k, r, s
from .possibilities import HANDLING, others
from .races import HAS_BEGUN
from .repairs import CAN_BE_TAKEN, can_find, can_take, outranked
from .seatings import CAN_BE_SEATED, p

ASSIGNED_FOUND = "recipes in ``assigned`` will be moved to ``scheduled`` if a suitable idle system controlled by the appropriate lab controller is found."
IF_FOUND = "If one is found, both the system and the recipe will be moved to ``scheduled``."
STILL_PENDING = "if the system still remains ``pending``, it will be moved to ``idle``."
ALL_SCHEDULED = "Whenever a recipe is moved to ``scheduled``, if all other recipes in that recipe set are also ``scheduled``, then provisioning of the allocated systems and execution of tasks in those recipes will begin."
RETAINED = "The existing scheduling loop will be retained for its secondary role in monitoring database consistency and correcting any discrepancies (for example, by aborting recipes where the requested distro tree has been removed from all registered lab controllers)."

FINDS = r.recipe_set.is_("in_hand") & can_find(s, r)
SEARCH_IS_OVER = j.is_("in_hand") & ~exists(p, CAN_BE_SEATED) & ~exists([r, s], (r.recipe_set == j) & can_find(s, r))
GIVES_TO_ASSIGNED = s.is_("pending") & r.is_("assigned") & can_take(s, r)
GIVES_TO_QUEUED = s.is_("pending") & r.is_("queued") & can_take(s, r) & ~outranked(s, r)
WAKES = s.is_("idle") & AUTOMATED & CAN_BE_TAKEN
BEGINS = exists(r, (r.recipe_set == j) & r.is_("scheduled")) & forall(
    r, implies((r.recipe_set == j) & r.is_(*UNFINISHED), r.is_("scheduled"))
)
TAKES_UP = ~exists(k, k.is_("in_hand", "searched")) & exists(r, (r.recipe_set == j) & r.is_("new"))
IS_DEAD = r.is_("queued", "assigned") & (r.host == NONE) & ~exists(s, r.viable.has(s) & AUTOMATED)

AT_ONCE = [
    AlwaysCanReach(
        name=f"{what}-at-once",
        says=f"{says}: no other action has to come before",
        line=line,
        sentence=sentence,
        over=over,
        given=given,
        goal=goal,
        without=[name for name in (*others(action), *HANDLING, "seat", "wake") if name != action],
    )
    for what, action, says, over, given, goal, line, sentence in (
        (
            "searches-end",
            "search_ends",
            "the new job loop can end its search when it can give and choose nothing",
            [j],
            SEARCH_IS_OVER,
            j.is_("searched"),
            144,
            "",
        ),
        (
            "seatings-are-chosen",
            "seat",
            "each seating that serves a set can be chosen for it, as long as it needs one",
            [j, p],
            CAN_BE_SEATED,
            j.seating == p,
            132,
            "",
        ),
        (
            "pending-are-idle",
            "make_idle",
            "a pending system that no waiting recipe can take can become idle",
            [s],
            s.is_("pending") & ~CAN_BE_TAKEN,
            s.is_("idle"),
            210,
            STILL_PENDING,
        ),
        (
            "idle-are-woken",
            "wake",
            "the retained loop can wake each idle system that a waiting recipe can take",
            [s],
            WAKES,
            s.is_("pending"),
            58,
            RETAINED,
        ),
        (
            "sets-begin",
            "begin",
            "a set can begin when its unfinished recipes are all scheduled",
            [j],
            BEGINS,
            HAS_BEGUN,
            226,
            ALL_SCHEDULED,
        ),
        (
            "sets-are-taken-up",
            "take_up",
            "the new job loop can take up each set with a new recipe when it processes none",
            [j],
            TAKES_UP,
            j.is_("in_hand"),
            131,
            "",
        ),
        (
            "dead-are-aborted",
            "abort_dead",
            "the retained loop can abort each waiting recipe that has no viable Automated system",
            [r],
            IS_DEAD,
            r.is_("aborted"),
            60,
            RETAINED,
        ),
    )
]
AS_ALLOWED = [
    StepInvariant(
        name=f"{what}-as-allowed",
        says=says,
        line=line,
        sentence=sentence,
        over=[],
        on=[action],
        then=then,
    )
    for what, action, says, then, line, sentence in (
        (
            "found",
            "find_idle",
            "the new job loop gives a recipe of its set only an idle system that it may give",
            FINDS,
            141,
            ASSIGNED_FOUND,
        ),
        (
            "assigned-given",
            "give_to_assigned",
            "a pending system goes only to an assigned recipe that can take it",
            GIVES_TO_ASSIGNED,
            204,
            IF_FOUND,
        ),
        (
            "queued-given",
            "give_to_queued",
            "a pending system goes only to a queued recipe that can take it and is not outranked",
            GIVES_TO_QUEUED,
            207,
            IF_FOUND,
        ),
        ("seated", "seat", "a seating is chosen only for a set that needs one, and serves it", CAN_BE_SEATED, 132, ""),
        (
            "woken",
            "wake",
            "the retained loop wakes only an Automated system that a waiting recipe can take",
            WAKES,
            58,
            RETAINED,
        ),
        (
            "begun",
            "begin",
            "a set begins only when its unfinished recipes are all scheduled, at least one",
            BEGINS,
            226,
            ALL_SCHEDULED,
        ),
        (
            "taken-up",
            "take_up",
            "the new job loop takes up only a set with a new recipe, and when it processes none",
            TAKES_UP,
            131,
            "",
        ),
    )
]
