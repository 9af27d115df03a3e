"""The changes that make the proposal keep its promises: what is done differently.

``variants`` puts them together and says why; ``weaker`` has the promises that can not be kept as they
stand, in the form that is.
"""

from dataclasses import replace

from ..lang import (
    EMPTY,
    NONE,
    Action,
    Attribute,
    Event,
    Ref,
    Row,
    Rule,
    SetOf,
    Term,
    Var,
    exists,
    forall,
    given,
    implies,
    me,
    those,
)
from . import events as e
from .events import AUTOMATED, suits
from .machines import (
    EXECUTING,
    IN_USE,
    RECIPE,
    RECIPE_SET,
    UNFINISHED,
    Recipe,
    RecipeSet,
    System,
    g,
    j,
    k,
    m,
    o,
    q,
    r,
    s,
    t,
    w,
)

OPEN = ("new", "queued", "assigned")
PLACES = ("at_rest", "in_hand", "searched")

# --- First come, first served: an order of the assigned sets that never changes

RECIPE_SET_IN_ORDER = replace(
    RECIPE_SET,
    attributes=[
        *RECIPE_SET.attributes,
        # the sets that were assigned before this one, since it was assigned itself
        Attribute("behind", SetOf(RecipeSet), durable=True),
    ],
    events=[*RECIPE_SET.events, Event("forget", {"earlier": Ref(RecipeSet)})],
)

ORDER_TABLE = [
    *[Row(RecipeSet, "assign", now, now, line=138, lab=given("lab"), behind=those(m, m.lab != NONE)) for now in PLACES],
    *[Row(RecipeSet, "forget", now, now, line=138, behind=me.behind.without(given("earlier"))) for now in PLACES],
    *[Row(RecipeSet, "begin", now, now, line=226, lab=NONE, behind=EMPTY) for now in PLACES],
]

FORGET = Rule(
    "the others forget an earlier assignment",
    j.fires("assign"),
    [k.behind.has(j), k != j],
    k.fires("forget", earlier=j),
    line=138,
)


def comes_first(system: Var, recipe: Var) -> Term:
    """``system`` suits no assigned recipe of a set that was assigned before the set of ``recipe``."""
    earlier = ~((recipe.recipe_set.lab != NONE) & w.recipe_set.behind.has(recipe.recipe_set))
    return ~exists(w, w.is_("assigned") & (w.recipe_set != recipe.recipe_set) & suits(system, w) & earlier)


# --- Shares: a set takes only what leaves its other recipes theirs

RECIPE_WITH_SHARE = replace(
    RECIPE,
    attributes=[
        *RECIPE.attributes,
        # its part of the systems that suit the set, found by bipartite matching when the set is submitted
        Attribute("share", SetOf(System), rigid=True),
    ],
)

SHARE_AXIOMS = [
    forall([r, s], implies(r.share.has(s), r.viable.has(s))),
    forall([r, q, s], implies((r.recipe_set == q.recipe_set) & (r != q), ~(r.share.has(s) & q.share.has(s)))),
]


def has_a_share(recipe: Var, lab: Term) -> Term:
    """An Automated system of the share of ``recipe`` is in ``lab``."""
    return exists(t, recipe.share.has(t) & (t.lab == lab) & (t.condition == "Automated"))


def leaves_the_shares(system: Var, recipe: Var) -> Term:
    """Each open sibling keeps its share, and when the set gets its lab, each has a share there."""
    sibling = (o.recipe_set == recipe.recipe_set) & (o != recipe) & o.is_(*OPEN) & (o.host == NONE)
    with_lab = recipe.recipe_set.lab != NONE
    return ~exists(o, sibling & o.share.has(system)) & (with_lab | ~exists(o, sibling & ~has_a_share(o, system.lab)))


def can_take(system: Var, recipe: Var) -> Term:
    """``system`` suits ``recipe``, which comes first, and leaves its siblings their shares."""
    return suits(system, recipe) & comes_first(system, recipe) & leaves_the_shares(system, recipe)


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


find_idle = replace(e.find_idle, when=[r.recipe_set.is_("in_hand"), can_find(s, r)])
search_ends = replace(e.search_ends, when=[j.is_("in_hand"), ~exists([r, s], (r.recipe_set == j) & can_find(s, r))])
give_to_assigned = replace(e.give_to_assigned, when=[s.is_("pending"), r.is_("assigned"), can_take(s, r)])
give_to_queued = replace(e.give_to_queued, when=[s.is_("pending"), r.is_("queued"), can_take(s, r), ~outranked(s, r)])
CAN_BE_TAKEN = exists(r, r.is_("assigned", "queued") & can_take(s, r))
make_idle = replace(
    e.make_idle,
    when=[s.is_("pending"), ~CAN_BE_TAKEN],
    says="no assigned or queued recipe can take {s}, and it becomes idle",
)

# --- The retained loop wakes an idle system that could be taken

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
    e.begin,
    when=[
        exists(r, (r.recipe_set == j) & r.is_("scheduled")),
        forall(r, implies((r.recipe_set == j) & r.is_(*UNFINISHED), r.is_("scheduled"))),
    ],
    fires=[j.fires("begin")],
    says="all unfinished recipes of {j} are scheduled: provisioning begins",
)

# --- A system leaves Automated together with its recipe

automate = replace(e.automate, when=[s.adjustable, s.condition != "Automated", s.is_("idle")])

REQUEUE_TABLE = [
    *[Row(RecipeSet, "requeue", now, now, line=172, lab=NONE, behind=EMPTY) for now in PLACES],
    Row(Recipe, "requeue", "scheduled", "queued", line=172, system=NONE),
    Row(Recipe, "requeue", "assigned", "queued", line=172),
]

STAYS = ~s.fires("make_manual") & ~s.fires("break_down")

LAST_OF_ITS_SHARE = (
    q.is_("assigned")
    & (q.recipe_set.lab == s.lab)
    & q.share.has(s)
    & ~exists(t, (t != s) & q.share.has(t) & (t.lab == s.lab) & (t.condition == "Automated"))
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
    for action in (e.make_manual, e.break_down)
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
            [AUTOMATED, LAST_OF_ITS_SHARE],
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
