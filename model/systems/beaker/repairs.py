"""The changed actions, rules and rows with which the proposal keeps its properties.

``order`` and ``seatings`` decide which recipe may take a system. This module has the actions that follow from them, and
the smaller changes. ``variants`` puts the changes together and gives the reasons; ``weakened_properties`` has the properties that
hold only in a weaker form.
"""

from dataclasses import replace

from schedproof.model.lang import EMPTY, NONE, Action, Row, Rule, Term, Var, exists, forall, implies

from . import events as ev
from .events import AUTOMATED, suits
from .machines import EXECUTING, IN_USE, UNFINISHED, Recipe, RecipeSet, System, g, j, q, r, s
from .order import PLACES, comes_first
from .seatings import CAN_BE_SEATED, e, leaves_the_seats, p


def can_take(system: Var, recipe: Var) -> Term:
    """``system`` suits ``recipe``, which comes first, and leaves its siblings their seats."""
    return suits(system, recipe) & comes_first(system, recipe) & leaves_the_seats(system, recipe)


def outranked(system: Var, recipe: Var) -> Term:
    """A queued recipe of a higher priority can take ``system``."""
    return exists(q, q.is_("queued") & can_take(system, q) & (q.recipe_set.priority > recipe.recipe_set.priority))


def can_find(system: Var, recipe: Var) -> Term:
    """New job processing can give ``system`` to ``recipe``."""
    return (
        recipe.is_("new", "assigned")
        & system.is_("idle")
        & (system.condition == "Automated")
        & can_take(system, recipe)
        & ~outranked(system, recipe)
    )


find_idle = replace(ev.find_idle, when=[r.recipe_set.is_("in_hand"), can_find(s, r)])
search_ends = replace(
    ev.search_ends,
    when=[
        j.is_("in_hand"),
        ~exists(p, CAN_BE_SEATED),  # no property needs it: a set that can be seated and served at once is not queued
        ~exists([r, s], (r.recipe_set == j) & can_find(s, r)),
    ],
)
give_to_assigned = replace(ev.give_to_assigned, when=[s.is_("pending"), r.is_("assigned"), can_take(s, r)])
give_to_queued = replace(ev.give_to_queued, when=[s.is_("pending"), r.is_("queued"), can_take(s, r), ~outranked(s, r)])
CAN_BE_TAKEN = exists(r, r.is_("assigned", "queued") & can_take(s, r))
make_idle = replace(
    ev.make_idle,
    when=[s.is_("pending"), ~CAN_BE_TAKEN],
    says="no assigned or queued recipe can take {s}, and it becomes idle",
)

# --- The retained loop wakes an idle system that a recipe can take

wake = Action(
    "wake",
    [s],
    when=[s.is_("idle"), AUTOMATED, CAN_BE_TAKEN],
    fires=[s.fires("wake")],
    says="the retained loop finds that {s} could be taken, and marks it pending",
    line=58,
)
WAKE = Row(System, "wake", "idle", "pending", line=58)

# --- Finished recipes do not count

begin = replace(
    ev.begin,
    when=[
        exists(r, (r.recipe_set == j) & r.is_("scheduled")),
        forall(r, implies((r.recipe_set == j) & r.is_(*UNFINISHED), r.is_("scheduled"))),
    ],
    fires=[j.fires("begin")],
    says="all unfinished recipes of {j} are scheduled: provisioning begins",
)

# --- A system leaves Automated together with its recipe

automate = replace(ev.automate, when=[s.adjustable, s.condition != "Automated", s.is_("idle")])

REQUEUE_TABLE = [
    *[Row(RecipeSet, "requeue", now, now, line=172, lab=NONE, behind=EMPTY, seating=NONE) for now in PLACES],
    Row(Recipe, "requeue", "scheduled", "queued", line=172, system=NONE),
    Row(Recipe, "requeue", "assigned", "queued", line=172),
]

STAYS = ~s.fires("make_manual") & ~s.fires("break_down")

ITS_SEAT = (
    q.is_("assigned")
    & (q.recipe_set.seating != NONE)
    & exists(e, (e.seating == q.recipe_set.seating) & (e.recipe == q) & (e.system == s))
)

RELEASES = [
    Rule(
        f"{event} releases the system",
        r.fires(event),
        [r.system == s, AUTOMATED, s.is_(*IN_USE), STAYS],
        s.fires("release"),
        line=line,
    )
    for event, line in (("complete", 198), ("cancel", 199), ("abort", 199), ("requeue", 172))
]

LEAVING = [
    rule
    for action in (ev.make_manual, ev.break_down)
    for rule in (
        Rule(
            f"{action.name} aborts what executes on it",
            action,
            [r.system == s, r.is_(*EXECUTING)],
            r.fires("abort"),
            line=199,
        ),
        Rule(
            f"{action.name} aborts the guests",
            action,
            [r.system == s, r.is_(*EXECUTING), g.host == r, g.is_(*UNFINISHED)],
            g.fires("abort"),
            line=199,
        ),
        Rule(
            f"{action.name} gives back what holds it",
            action,
            [r.system == s, r.is_("scheduled")],
            r.recipe_set.fires("requeue"),
            line=172,
        ),
        Rule(
            f"{action.name} gives back what counts on it",
            action,
            [ITS_SEAT],
            q.recipe_set.fires("requeue"),
            line=172,
        ),
    )
] + [
    Rule(
        "requeue queues the recipes",
        j.fires("requeue"),
        [r.recipe_set == j, r.is_("scheduled", "assigned")],
        r.fires("requeue"),
        line=172,
    ),
]
