"""Invariants that the document leaves implicit: the recipes of a set go through their states together.

No sentence states them outright, but the proofs of the stated properties need them. Each cites the line from which it
follows.
"""

from schedproof.model.lang import NONE, Invariant, StepInvariant, exists

from .events import ACTIONS, find_idle, search_ends, settle, suits
from .machines import EXECUTING, FINISHED, IN_USE, g, j, k, q, r, s

SIBLINGS = (r.recipe_set == q.recipe_set) & (r != q)

PHASES = [
    Invariant(
        name="no-lab-before-the-first-system",
        says="a set of which a recipe is new or queued has no lab",
        line=124,
        over=[r],
        given=r.is_("new", "queued"),
        then=r.recipe_set.lab == NONE,
    ),
    Invariant(
        name="queued-together",
        says="siblings of a queued recipe are not new",
        line=144,
        over=[r, q],
        given=SIBLINGS & r.is_("queued"),
        then=~q.is_("new"),
    ),
    Invariant(
        name="nothing-queued-in-hand",
        says="no recipe of the set that is being processed is queued",
        line=144,
        over=[r],
        given=r.recipe_set.is_("in_hand", "searched"),
        then=~r.is_("queued"),
    ),
    Invariant(
        name="begun-together",
        says="when a recipe is being executed, its siblings have been scheduled",
        line=226,
        over=[r, q],
        given=SIBLINGS & r.is_(*EXECUTING),
        then=q.is_(*EXECUTING, *FINISHED),
    ),
    Invariant(
        name="a-system-while-in-use",
        says="a recipe has a system from when it is scheduled until it has ended, and a guest has none",
        line=203,
        over=[r],
        then=((r.system != NONE) & r.is_(*IN_USE) & (r.host == NONE))
        | ((r.system == NONE) & (~r.is_(*IN_USE) | (r.host != NONE))),
    ),
    Invariant(
        name="in-use-by-a-recipe",
        says="an Automated system that is in use has a recipe on it",
        line=186,
        over=[s],
        given=(s.condition == "Automated") & s.is_(*IN_USE),
        then=exists(r, r.system == s),
    ),
    Invariant(
        name="system-of-its-lab",
        says="the system of a recipe that has not begun is viable for it, and controlled by the lab of its set",
        line=142,
        over=[r, s],
        given=r.is_("scheduled") & (r.system == s),
        then=r.viable.has(s) & (r.recipe_set.lab == s.lab),
    ),
    Invariant(
        name="systems-of-begun-sets-are-in-one-lab",
        says="siblings that are being executed are in one lab",
        line=142,
        over=[r, q, s],
        given=SIBLINGS & r.is_(*EXECUTING) & (r.system == s) & q.is_(*EXECUTING) & (q.system != NONE),
        then=q.system.lab == s.lab,
    ),
    Invariant(
        name="guest-in-the-phase-of-its-host",
        says="a guest that is not cancelled or aborted goes with its host, and completes while it runs",
        line=230,
        over=[g, r],
        given=(g.host == r) & ~g.is_("cancelled", "aborted"),
        then=(r.is_("new") & g.is_("new"))
        | (r.is_("queued") & g.is_("queued"))
        | (r.is_("assigned") & g.is_("assigned"))
        | (r.is_("scheduled") & g.is_("scheduled"))
        | (r.is_("waiting", "installing") & g.is_("waiting"))
        | (r.is_("running") & g.is_(*EXECUTING, "completed"))
        | (r.is_(*FINISHED) & g.is_("completed")),
    ),
    StepInvariant(
        name="events-are-handled-alone",
        says="while the new job loop processes a set, nothing else happens",
        line=135,
        over=[k],
        on=[action.name for action in ACTIONS if action not in (find_idle, search_ends, settle)],
        then=k.is_("at_rest"),
    ),
    Invariant(
        name="the-search-was-complete",
        says="when a set has been processed, no idle system suits a recipe of it that has none",
        line=144,
        over=[j, r, s],
        given=j.is_("searched") & (r.recipe_set == j) & r.is_("new", "assigned"),
        then=~(s.is_("idle") & (s.condition == "Automated") & suits(s, r)),
    ),
]
