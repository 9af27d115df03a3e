"""The actions and rules: "New job" processing, "Pending system" processing, execution, and actions of users.

Scheduling events are handled recipe by recipe, in every order that the text leaves open. As written, an event is
handled alone: while a set is in hand, no other action is possible (``QUIET``), crashes included. The text does not say
so. The variant ``interleaved`` omits this condition.
"""

from dataclasses import replace

from schedproof.model.lang import NONE, Action, IntRange, Rule, Term, Var, crash, exists, forall, implies, variable

from .machines import IN_USE, RECIPE_SET, RECIPE_SET_TABLE, UNFINISHED, g, j, k, q, r, s

QUIET = ~exists(k, k.is_("in_hand", "searched"))
AUTOMATED = s.condition == "Automated"


def suits(system: Var, recipe: Var) -> Term:
    """``system`` is viable for ``recipe`` and, if its set is assigned to a lab, controlled by that lab."""
    its_lab = recipe.recipe_set.lab
    return recipe.viable.has(system) & ((its_lab == NONE) | (its_lab == system.lab))


# --- "New job" processing (lines 129 to 145)

take_up = Action(
    "take_up",
    [j],
    when=[j.is_("at_rest"), exists(r, (r.recipe_set == j) & r.is_("new")), QUIET],
    fires=[j.fires("take_up")],
    says="the new job loop takes up {j}",
    line=131,
)

find_idle = Action(
    "find_idle",
    [r, s],
    when=[
        r.is_("new", "assigned"),
        r.recipe_set.is_("in_hand"),
        s.is_("idle"),
        AUTOMATED,
        suits(s, r),
    ],
    fires=[r.fires("schedule", system=s), s.fires("schedule")],
    says="{r} finds {s} idle, and both are scheduled",
    line=137,
)

search_ends = Action(
    "search_ends",
    [j],
    when=[
        j.is_("in_hand"),
        ~exists(
            [r, s],
            (r.recipe_set == j) & r.is_("new", "assigned") & s.is_("idle") & AUTOMATED & suits(s, r),
        ),
    ],
    fires=[j.fires("search_ends")],
    says="no idle system suits another recipe of {j}",
    line=144,
)

settle = Action(
    "settle",
    [j],
    when=[j.is_("searched")],
    fires=[j.fires("settle")],
    says="{j} has been processed; those of its recipes that are still new are queued",
    line=144,
)

# --- "Pending system" processing (lines 201 to 210)


def outranked(state: str) -> Term:
    """Another recipe in ``state`` that the system suits has a higher priority (line 213)."""
    return exists(q, q.is_(state) & suits(s, q) & (q.recipe_set.priority > r.recipe_set.priority))


give_to_assigned = Action(
    "give_to_assigned",
    [s, r],
    when=[s.is_("pending"), r.is_("assigned"), suits(s, r), ~outranked("assigned"), QUIET],
    fires=[r.fires("schedule", system=s), s.fires("schedule")],
    says="pending {s} is given to the assigned {r}",
    line=203,
)

give_to_queued = Action(
    "give_to_queued",
    [s, r],
    when=[
        s.is_("pending"),
        r.is_("queued"),
        suits(s, r),
        ~exists(q, q.is_("assigned") & suits(s, q)),
        ~outranked("queued"),
        QUIET,
    ],
    fires=[r.fires("schedule", system=s), s.fires("schedule")],
    says="pending {s} is given to the queued {r}",
    line=206,
)

make_idle = Action(
    "make_idle",
    [s],
    when=[s.is_("pending"), ~exists(q, q.is_("assigned", "queued") & suits(s, q)), QUIET],
    fires=[s.fires("make_idle")],
    says="{s} suits no assigned or queued recipe and becomes idle",
    line=210,
)

# --- Recipe set execution (lines 224 to 241)

begin = Action(
    "begin",
    [j],
    when=[
        exists(r, r.recipe_set == j),
        forall(r, implies(r.recipe_set == j, r.is_("scheduled"))),
        QUIET,
    ],
    fires=[],
    says="all recipes of {j} are scheduled: provisioning begins",
    line=226,
)

# Our interpretation: a guest is set up on its host, so it installs when the host runs. The text has only line 230.
HOST_RUNS = (r.host == NONE) | exists(q, (r.host == q) & q.is_("running"))

install = Action(
    "install",
    [r],
    when=[r.is_("waiting"), HOST_RUNS, QUIET],
    fires=[r.fires("install")],
    says="{r} is being installed",
    line=234,
)

run = Action(
    "run",
    [r],
    when=[r.is_("installing"), QUIET],
    fires=[r.fires("run")],
    says="{r} runs",
    line=240,
)

complete = Action(
    "complete",
    [r],
    when=[r.is_("running"), QUIET],
    fires=[r.fires("complete")],
    says="{r} completes",
    line=197,
)

# --- Actions of users: cancel and abort (line 116), priorities (line 213), conditions (lines 172 to 199)

cancel = Action(
    "cancel",
    [r],
    when=[r.recipe_set.endable, r.is_(*UNFINISHED), QUIET],
    fires=[r.fires("cancel")],
    says="{r} is cancelled",
    line=116,
)

abort = Action(
    "abort",
    [r],
    when=[r.recipe_set.endable, r.is_(*UNFINISHED), QUIET],
    fires=[r.fires("abort")],
    says="{r} is aborted",
    line=116,
)

UNFINISHED_IN_J = (r.recipe_set == j) & r.is_(*UNFINISHED)

cancel_set = Action(
    "cancel_set",
    [j],
    when=[j.endable, exists(r, UNFINISHED_IN_J), QUIET],
    fires=[],
    says="all of {j} is cancelled",
    line=116,
)

abort_set = Action(
    "abort_set",
    [j],
    when=[j.endable, exists(r, UNFINISHED_IN_J), QUIET],
    fires=[],
    says="all of {j} is aborted",
    line=116,
)

# "monitoring database consistency ... for example, by aborting recipes where the requested distro tree has been
# removed": here, recipes that no system can run any more.
abort_dead = Action(
    "abort_dead",
    [r],
    when=[
        r.is_("queued", "assigned"),
        r.host == NONE,
        ~exists(s, r.viable.has(s) & AUTOMATED),
        QUIET,
    ],
    fires=[r.fires("abort")],
    says="{r} has no viable system any more and is aborted",
    line=60,
)

n = variable(IntRange(0, 1), "n")

reprioritize = Action(
    "reprioritize",
    [j, n],
    when=[j.rankable, j.priority != n, exists(r, (r.recipe_set == j) & r.is_("new", "queued", "assigned")), QUIET],
    fires=[j.fires("reprioritize", to=n)],
    says="the priority of {j} becomes {n}",
    line=213,
)

automate = Action(
    "automate",
    [s],
    when=[s.adjustable, s.condition != "Automated", QUIET],
    fires=[s.fires("automate")],
    says="the condition of {s} is changed to Automated",
    line=196,
)

make_manual = Action(
    "make_manual",
    [s],
    when=[s.adjustable, s.condition != "Manual", QUIET],
    fires=[s.fires("make_manual")],
    says="the condition of {s} is changed to Manual",
    line=174,
)

break_down = Action(
    "break_down",
    [s],
    when=[s.adjustable, s.condition != "Broken", QUIET],
    fires=[s.fires("break_down")],
    says="the condition of {s} is changed to Broken",
    line=172,
)

MANUAL = s.condition == "Manual"

reserve = Action(
    "reserve",
    [s],
    when=[s.adjustable, MANUAL, s.is_("idle"), QUIET],
    fires=[s.fires("reserve")],
    says="a user reserves {s}",
    line=174,
)

install_reserved = Action(
    "install_reserved",
    [s],
    when=[MANUAL, s.is_("waiting"), QUIET],
    fires=[s.fires("install")],
    says="{s} is being installed for its user",
    line=175,
)

run_reserved = Action(
    "run_reserved",
    [s],
    when=[MANUAL, s.is_("installing"), QUIET],
    fires=[s.fires("run")],
    says="{s} runs for its user",
    line=174,
)

give_back = Action(
    "give_back",
    [s],
    when=[MANUAL, s.is_("running"), QUIET],
    fires=[s.fires("give_back")],
    says="the user of {s} gives it back",
    line=176,
)

CRASH_ANY_TIME, CRASH_RULES = crash("crash", "crash", [RECIPE_SET], RECIPE_SET_TABLE, line=69)
CRASH = replace(CRASH_ANY_TIME, when=[QUIET])

SCHEDULER = [take_up, find_idle, search_ends, settle, give_to_assigned, give_to_queued, make_idle, begin, abort_dead]
EXECUTION = [install, run, complete]
PEOPLE = [
    cancel,
    abort,
    cancel_set,
    abort_set,
    reprioritize,
    automate,
    make_manual,
    break_down,
    reserve,
    install_reserved,
    run_reserved,
    give_back,
]
ACTIONS = [*SCHEDULER, *EXECUTION, *PEOPLE, CRASH]

SCHEDULING = (find_idle, give_to_assigned, give_to_queued)
SIBLINGS = ((find_idle, "new", 138), (give_to_queued, "queued", 208))
MOVES = (("provision", "scheduled"), ("install", "waiting"), ("run", "installing"))

RULES = [
    # A recipe is scheduled.
    *[
        Rule(
            f"{action.name} assigns the other recipes",
            action,
            [q.recipe_set == r.recipe_set, q != r, q.is_(state), q.host != r],
            q.fires("assign"),
            line=line,
        )
        for action, state, line in SIBLINGS
    ],
    *[
        Rule(
            f"{action.name} fixes the lab",
            action,
            [r.recipe_set.lab == NONE],
            r.recipe_set.fires("assign", lab=s.lab),
            line=line,
        )
        for action, _, line in SIBLINGS  # an assigned recipe already has a lab
    ],
    *[
        Rule(
            f"{action.name} schedules the guests",
            action,
            [g.host == r, g.is_("new", "queued", "assigned")],
            g.fires("schedule", system=NONE),
            line=230,
        )
        for action in SCHEDULING
    ],
    Rule(
        "settle queues the recipes",
        settle,
        [r.recipe_set == j, r.is_("new")],
        r.fires("queue"),
        line=144,
    ),
    # Execution: "the associated system is moved through those same states" (line 240), if it is Automated and in the
    # state of its recipe. Changes of its condition have lines of their own.
    Rule(
        "begin provisions the recipes", begin, [r.recipe_set == j, r.is_("scheduled")], r.fires("provision"), line=227
    ),
    *[
        Rule(
            f"{event} moves the system",
            r.fires(event),
            [r.system == s, AUTOMATED, s.is_(now)],
            s.fires(event),
            line=239,
        )
        for event, now in MOVES
    ],
    *[
        Rule(
            f"{event} releases the system",
            r.fires(event),
            [r.system == s, AUTOMATED, s.is_(*IN_USE)],
            s.fires("release"),
            line=line,
        )
        for event, line in (("complete", 198), ("cancel", 199), ("abort", 199))
    ],
    # When a host ends, its guests end. This is our interpretation: the text says only that they begin together.
    *[
        Rule(f"{action.name} aborts the guests", action, [g.host == r, g.is_(*UNFINISHED)], g.fires("abort"), line=230)
        for action in (complete, cancel, abort, abort_dead)
    ],
    Rule("cancel_set cancels the recipes", cancel_set, [UNFINISHED_IN_J], r.fires("cancel"), line=116),
    Rule("abort_set aborts the recipes", abort_set, [UNFINISHED_IN_J], r.fires("abort"), line=116),
    *CRASH_RULES,
]
