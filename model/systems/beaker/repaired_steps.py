"""Properties of single steps, and of single loops, of the repaired proposal: what its changes say that an action does."""

from schedproof.model.lang import NONE, AlwaysCanReach, Invariant, StepInvariant, after, exists, implies

from .machines import EXECUTING, UNFINISHED, g, j, k, q, r, s
from .possibilities import others
from .repairs import CAN_BE_TAKEN
from .seatings import CAN_BE_SEATED, e, p, serves

LEAVING = ["make_manual", "break_down"]
RECIPES_OF_THE_SET = (
    "if no recipes in a recipe set are scheduled, then every recipe in the recipe set will be moved to ``queued``."
)

IN_ORDER = [
    Invariant(
        name="unassigned-sets-are-behind-none",
        says="a set that is not assigned is behind no set",
        line=138,
        over=[j, k],
        given=j.lab == NONE,
        then=~j.behind.has(k),
    ),
    Invariant(
        name="begun-sets-have-no-place",
        says="a set of which a recipe executes is behind no set, and has neither a lab nor a seating",
        line=226,
        over=[r, k],
        given=r.is_(*EXECUTING),
        then=(r.recipe_set.lab == NONE) & (r.recipe_set.seating == NONE) & ~r.recipe_set.behind.has(k),
    ),
]
SEATED = [
    StepInvariant(
        name="searches-end-without-a-seating",
        says="the new job loop ends its search for a set only when no seating serves it that it does not have",
        line=144,
        over=[p],
        on=["search_ends"],
        then=~CAN_BE_SEATED,
    ),
    StepInvariant(
        name="seated-as-chosen",
        says="a set gets the seating that is chosen for it, with a seat for each recipe that has no system",
        line=132,
        over=[],
        on=["seat"],
        then=serves(p, j) & after(j.seating == p),
    ),
    StepInvariant(
        name="seats-are-kept-while-they-serve",
        says="a set changes its seating only before it is assigned, and only when the one that it has does not serve it",
        line=132,
        over=[],
        on=["seat"],
        then=(j.lab == NONE) & ((j.seating == NONE) | ~serves(j.seating, j)),
    ),
]
GIVEN_BACK = [
    StepInvariant(
        name="sets-that-give-back-are-queued",
        says="when a system changes its condition, the set that is scheduled on it is queued, and no other waiting recipe ends",
        line=172,
        over=[q],
        on=LEAVING,
        given=q.is_("scheduled", "assigned"),
        then=after(q.is_("scheduled", "assigned", "queued"))
        & implies(
            exists(r, (r.system == s) & r.is_("scheduled") & (r.recipe_set == q.recipe_set)), after(q.is_("queued"))
        ),
    ),
    StepInvariant(
        name="sets-that-give-back-keep-nothing",
        says="when a system changes its condition, the set that is scheduled or counts on it has no lab, place or seating any more",
        line=172,
        over=[k],
        on=LEAVING,
        given=exists(
            r,
            (r.recipe_set == k)
            & (
                (r.system == s) & r.is_("scheduled")
                | r.is_("assigned") & exists(e, (e.seating == k.seating) & (e.recipe == r) & (e.system == s))
            ),
        ),
        then=after((k.lab == NONE) & (k.seating == NONE) & ~exists(j, k.behind.has(j))),
    ),
    StepInvariant(
        name="other-sets-are-left-alone",
        says="when a system changes its condition, a set that neither has it nor has a seat on it keeps its place",
        line=172,
        over=[q],
        on=LEAVING,
        given=q.is_("scheduled", "assigned")
        & ~exists(r, (r.recipe_set == q.recipe_set) & (r.system == s))
        & ~exists(e, (e.seating == q.recipe_set.seating) & (e.system == s)),
        then=implies(q.is_("scheduled"), after(q.is_("scheduled")))
        & implies(q.is_("assigned"), after(q.is_("assigned"))),
    ),
    StepInvariant(
        name="what-executes-is-aborted",
        says="when a system changes its condition, the recipe that executes on it is aborted, with its unfinished guests",
        line=199,
        over=[r, g],
        on=LEAVING,
        given=(r.system == s) & r.is_(*EXECUTING),
        then=after(r.is_("aborted")) & implies((g.host == r) & g.is_(*UNFINISHED), after(g.is_("aborted"))),
    ),
]
LOOPS = [
    StepInvariant(
        name="settled-recipes-are-queued",
        says="the recipes of a processed set that are still new are queued",
        line=144,
        sentence=RECIPES_OF_THE_SET,
        over=[r],
        on=["settle"],
        given=(r.recipe_set == j) & r.is_("new"),
        then=after(r.is_("queued")),
    ),
    StepInvariant(
        name="in-hand-until-processed",
        says="a set stays in hand until its search ends and then until it is settled, whatever others do",
        line=135,
        over=[k],
        given=~k.fires("search_ends") & ~k.fires("settle") & ~k.fires("crash"),
        then=implies(k.is_("in_hand"), after(k.is_("in_hand"))) & implies(k.is_("searched"), after(k.is_("searched"))),
    ),
    StepInvariant(
        name="idle-when-nobody-can-take",
        says="a pending system becomes idle only when no waiting recipe can take it",
        line=210,
        over=[],
        on=["make_idle"],
        then=~CAN_BE_TAKEN,
    ),
    AlwaysCanReach(
        name="the-new-job-loop-needs-no-other",
        says="the new job loop can always come to the end of the set that it processes, without another loop",
        line=135,
        over=[j],
        given=j.is_("in_hand", "searched"),
        goal=j.is_("at_rest"),
        without=[*others(), "wake"],
    ),
    AlwaysCanReach(
        name="the-pending-system-loop-needs-no-other",
        says="the loop of pending systems can always give a pending system away or make it idle, without another loop",
        line=210,
        over=[s],
        given=s.is_("pending"),
        goal=~s.is_("pending"),
        without=[
            *others("give_to_assigned", "give_to_queued", "make_idle"),
            "find_idle",
            "search_ends",
            "settle",
            "seat",
            "wake",
        ],
    ),
]
