"""The proposal where a search and the move that follows from it are two steps: a loop reads first and writes later.

In ``interleaved`` and ``repaired`` each search of a loop, and what it moves, is one step. Here people and the other loop act
between the two. A write demands that the recipe and the system are still in the states in which the search found them. It
checks nothing else that the search has read.

Each of the two loops has one search at a time. A crash loses it.
"""

from dataclasses import replace

from schedproof.model.lang import (
    NONE,
    Action,
    Attribute,
    BoolType,
    Change,
    Event,
    Invariant,
    Model,
    Ref,
    Row,
    StepInvariant,
    Term,
    crash,
    exists,
    given,
    implies,
    variable,
)

from . import events as ev
from .collisions import as_written, showing
from .configurations import Configuration
from .events import AUTOMATED, QUIET, suits
from .machines import RECIPE, RECIPE_SET, RECIPE_SET_TABLE, SYSTEM, USAGES, Recipe, System, q, r, s
from .variants import INTERLEAVED, REPAIRED

t = variable(System, "t")
STATES = tuple(state.name for state in RECIPE.states)

RECIPE_IN_A_SEARCH = replace(
    RECIPE,
    attributes=[
        *RECIPE.attributes,
        Attribute("candidate", Ref(System), line=137, about="the idle system that the new job loop has found for it"),
    ],
    events=[*RECIPE.events, Event("find", {"system": Ref(System)})],
)

SYSTEM_IN_A_SEARCH = replace(
    SYSTEM,
    attributes=[
        *SYSTEM.attributes,
        Attribute("chosen", Ref(Recipe), line=203, about="the recipe that the pending system loop has found for it"),
        Attribute("for_queued", BoolType(), line=206, about="that recipe was queued when it was found, not assigned"),
        Attribute("unwanted", BoolType(), line=210, about="the pending system loop has found no recipe for it"),
    ],
    events=[Event("choose", {"recipe": Ref(Recipe), "queued": BoolType()})],
)

NEW_JOB_LOOP_IS_FREE = ~exists(q, q.candidate != NONE)
PENDING_LOOP_IS_FREE = ~exists(t, (t.chosen != NONE) | t.unwanted)

ROWS = [
    *[Row(Recipe, "find", now, now, line=137, candidate=given("system")) for now in ("new", "assigned")],
    *[Row(Recipe, event, now, now, line=69, candidate=NONE) for event in ("lose", "crash") for now in STATES],
    *[
        Row(Recipe, "schedule", now, "scheduled", line=line, system=given("system"), candidate=NONE)
        for now, line in (("new", 137), ("assigned", 141), ("queued", 207))
    ],
    Row(System, "choose", "pending", "pending", line=203, chosen=given("recipe"), for_queued=given("queued")),
    Row(System, "search", "pending", "pending", line=210, unwanted=True),
    *[
        Row(System, event, now, now, line=69, chosen=NONE, for_queued=False, unwanted=False)
        for event in ("lose", "crash")
        for now in USAGES
    ],
    Row(System, "schedule", "pending", "scheduled", line=204, chosen=NONE, for_queued=False, unwanted=False),
    Row(System, "make_idle", "pending", "idle", line=210, chosen=NONE, for_queued=False, unwanted=False),
]
CRASH, CRASH_RULES = crash(
    "crash", "crash", [RECIPE_SET, RECIPE_IN_A_SEARCH, SYSTEM_IN_A_SEARCH], [*RECIPE_SET_TABLE, *ROWS], line=69
)


def when(action: Action, *more: Term) -> list[Term]:
    """The conditions of an action of the scheduler, which others may interrupt, and more conditions."""
    kept = action.when if action.name == ev.take_up.name else [part for part in action.when if part is not QUIET]
    return [*kept, *more]


def new_job_loop(model: Model) -> list[Action]:
    """What the new job loop does, with a search and a move of ``model`` in two steps."""
    others = [model.action(name) for name in ("take_up", "search_ends", "settle")]
    seat = [action for action in model.actions if action.name == "seat"]
    find_idle = model.action("find_idle")
    return [
        *[replace(action, when=when(action, NEW_JOB_LOOP_IS_FREE)) for action in (*others, *seat)],
        replace(
            find_idle,
            name="search_idle",
            when=when(find_idle, NEW_JOB_LOOP_IS_FREE),
            fires=[r.fires("find", system=s)],
            says="the new job loop finds {s} idle for {r}",
        ),
        replace(
            find_idle,
            when=[r.candidate == s, r.is_("new", "assigned"), s.is_("idle")],
            says="{r} and {s}, which was found idle for it, are scheduled",
        ),
        Action(
            "lose_idle",
            [r],
            when=[r.candidate != NONE],
            fires=[r.fires("lose")],
            says="the new job loop gives up what it has found for {r}",
            line=137,
        ),
    ]


def pending_loop(model: Model) -> list[Action]:
    """What the pending system loop does, with a search and a move of ``model`` in two steps."""
    actions = [
        Action(
            "lose_pending",
            [s],
            when=[(s.chosen != NONE) | s.unwanted],
            fires=[s.fires("lose")],
            says="the pending system loop gives up its search for {s}",
            line=203,
        )
    ]
    for state in ("assigned", "queued"):
        move = model.action(f"give_to_{state}")
        queued = state == "queued"
        as_found = s.for_queued if queued else ~s.for_queued
        actions += [
            replace(
                move,
                name=f"search_{state}",
                when=when(move, PENDING_LOOP_IS_FREE),
                fires=[s.fires("choose", recipe=r, queued=queued)],
                says=f"the pending system loop finds the {state} {{r}} for {{s}}",
            ),
            replace(move, when=[s.chosen == r, as_found, s.is_("pending"), r.is_(state)]),
        ]
    make_idle = model.action("make_idle")
    return [
        *actions,
        replace(
            make_idle,
            name="search_in_vain",
            when=when(make_idle, PENDING_LOOP_IS_FREE),
            fires=[s.fires("search")],
            says="the pending system loop finds no recipe for {s}",
        ),
        replace(make_idle, when=[s.unwanted, s.is_("pending")], says="{s}, for which nothing was found, becomes idle"),
    ]


def read_first(model: Model) -> Change:
    """The change that takes each search of ``model``, and the move that follows from it, apart."""
    return Change(
        why=(
            "A loop searches first and moves later, and others act in between. A move checks the states of the recipe "
            "and of the system, and nothing else that the search has read."
        ),
        repairs=[],
        adds=[*ROWS, CRASH, *CRASH_RULES, *new_job_loop(model), *pending_loop(model)],
    )


SEARCHES = [
    Invariant(
        name="one-search-of-the-new-job-loop",
        says="the new job loop has one search at a time",
        line=65,
        over=[r, q],
        given=(r.candidate != NONE) & (q.candidate != NONE),
        then=r == q,
    ),
    Invariant(
        name="one-search-of-the-pending-system-loop",
        says="the pending system loop has one search at a time",
        line=65,
        over=[s, t],
        given=((s.chosen != NONE) | s.unwanted) & ((t.chosen != NONE) | t.unwanted),
        then=s == t,
    ),
    Invariant(
        name="found-in-hand",
        says="the new job loop searches for recipes of the set that it processes, and what it has found suits the recipe",
        line=137,
        over=[r, s],
        given=r.candidate == s,
        then=r.recipe_set.is_("in_hand") & suits(s, r),
    ),
    Invariant(
        name="chosen-suits",
        says="the pending system loop has found no new recipe, and one that the system suits as long as it waits",
        line=203,
        over=[s, r],
        given=s.chosen == r,
        then=~r.is_("new") & implies(r.is_("assigned", "queued"), suits(s, r)),
    ),
]


VIABLE = Invariant(
    name="searches-find-viable-systems",
    says="a loop finds only systems that are viable for the recipe",
    line=80,
    over=[r, s],
    given=(r.candidate == s) | (s.chosen == r),
    then=r.viable.has(s),
)


def when_searched(name: str) -> StepInvariant:
    """The property of that name, of what the pending system loop finds and not of what it gives later."""
    prop = INTERLEAVED.property(name)
    assert isinstance(prop, StepInvariant)
    return replace(
        prop,
        name=f"{name}-when-searched",
        says=prop.says.replace("goes to", "is chosen for"),
        on=[action.replace("give_to_", "search_") for action in prop.on],
    )


BY_ORDER = ("assigned-before-queued", "assigned-by-priority", "queued-by-priority")

FOUND_EARLIER = replace(
    read_first(INTERLEAVED),
    weakens={name: [f"{name}-when-searched"] for name in BY_ORDER},
    adds=[*read_first(INTERLEAVED).adds, *SEARCHES, *map(when_searched, BY_ORDER)],
)

CONCURRENT = INTERLEAVED.amend(
    "concurrent",
    "interleaved, and others come in between a search and the move that follows from it",
    [FOUND_EARLIER],
    refuted=INTERLEAVED.refuted | {"broken-is-idle", "handed-out-automated"},
    machines=[RECIPE_IN_A_SEARCH, SYSTEM_IN_A_SEARCH],
)

CHECK_THE_CONDITION = Change(
    name="an-idle-system-is-given-unchecked",
    wrong=(
        "The text has no check when a recipe and an idle system are moved to scheduled: a system that has become Manual "
        "or Broken since it was found idle is given to the recipe."
    ),
    shown="handed-out-automated",
    why="The move demands that the system is still Automated. A pending system always is.",
    repairs=["broken-is-idle", "handed-out-automated"],
    adds=[replace(CONCURRENT.action("find_idle"), when=[*CONCURRENT.action("find_idle").when, AUTOMATED])],
)

CONCURRENT_CHECKED = CONCURRENT.amend(
    "concurrent-checked",
    "concurrent, with a check of the condition when an idle system is given",
    [CHECK_THE_CONDITION],
    refuted=INTERLEAVED.refuted,
)

# The repaired proposal needs more than that check: its order of sets holds only if a search and its move are one transaction.

IN_REPAIRED = read_first(REPAIRED)
FOUND_EARLIER_IN_REPAIRED = replace(
    IN_REPAIRED,
    name="two-loops-search-at-once",
    wrong=(
        "The text has two loops and no transaction (line 65). While one has found a recipe for a pending system, the other "
        "gives an idle system to another set. Each set then holds what the other waits for."
    ),
    adds=[*IN_REPAIRED.adds, *CHECK_THE_CONDITION.adds],
)

REPAIRED_CONCURRENT = showing(
    REPAIRED.amend(
        "repaired-concurrent",
        "repaired, but others come in between a search and the move that follows from it",
        [FOUND_EARLIER_IN_REPAIRED],
        refuted=frozenset(),
        machines=[RECIPE_IN_A_SEARCH, SYSTEM_IN_A_SEARCH],
    ),
    Configuration("two sets of two need the same two systems", [["A", "B"], ["A", "B"]], [0, 0]),
    kept=[VIABLE],
    falls=as_written("no-abba", "no-deadlock"),
)
