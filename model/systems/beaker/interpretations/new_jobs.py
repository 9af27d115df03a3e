"""New job processing: which sets, recipes and systems (lines 89, 129 to 150)."""

from __future__ import annotations

from dataclasses import replace

from schedproof.model.lang import Reading, Row, Rule, exists, forall, implies
from schedproof.model.systems.beaker import events as ev
from schedproof.model.systems.beaker.events import AUTOMATED, QUIET, SIBLINGS, suits
from schedproof.model.systems.beaker.machines import Recipe, j, q, r, s, t

from .changes import also, x
from .orders import (
    PREFERRED_FIRST,
    RECIPE_SET_IN_TURN,
    RECIPE_WITH_PREFERENCES,
    both_orders,
    sets_in_turn,
    with_preferences,
)

# "Fewest viable systems first", by inclusion: terms cannot count. In the explored configurations it is the same.
FEWER_FIRST = ~exists(
    q,
    (q.recipe_set == r.recipe_set)
    & q.is_("new", "assigned")
    & forall(x, implies(q.viable.has(x), r.viable.has(x)))
    & exists(x, r.viable.has(x) & ~q.viable.has(x))
    & exists(t, t.is_("idle") & (t.condition == "Automated") & suits(t, q)),
)

ENDED_EARLY = ("cancelled", "aborted")

NEW_JOBS = (
    Reading(
        "new-sets-in-any-order",
        131,
        "Recipe sets are handled in any order, and sets of different jobs may alternate.",
        "All sets of one job are handled before those of the next job, in the order of submission.",
        adds=sets_in_turn(),
        machines=[RECIPE_SET_IN_TURN],
        configurations=both_orders,
        question="In which order are the sets of different jobs handled?",
        why=(
            "The text gives an order only within a job, an arbitrary one. The model has no jobs, only their sets. Under the "
            "other answer each set is a job."
        ),
    ),
    Reading(
        "recipes-in-any-order",
        132,
        "Recipes of a set are handled in any order.",
        "Those with the fewest viable systems come first.",
        adds=[also(ev.find_idle, FEWER_FIRST)],
        question="In which order are the recipes of a set handled?",
        why="The text gives the other answer as an alternative only, with a question mark.",
    ),
    Reading(
        "any-idle-system",
        147,
        "A recipe takes any viable idle system.",
        "It takes one that the current scheduler prefers, such as one that its owner owns, before any other.",
        adds=[PREFERRED_FIRST],
        machines=[RECIPE_WITH_PREFERENCES],
        configurations=with_preferences,
        question="Which of several viable idle systems does a recipe take?",
        why="The text keeps the current choice and does not state it.",
    ),
    Reading(
        "the-idle-pool-is-automated",
        89,
        "Only systems whose condition is Automated are in the idle pool.",
        "All systems in the usage state idle are in it, Broken and Manual ones included.",
        adds=[
            replace(ev.find_idle, when=[part for part in ev.find_idle.when if part is not AUTOMATED]),
            replace(
                ev.search_ends,
                when=[
                    j.is_("in_hand"),
                    ~exists(
                        [r, s],
                        (r.recipe_set == j) & r.is_("new", "assigned") & s.is_("idle") & suits(s, r),
                    ),
                ],
            ),
        ],
        breaks=["broken-is-idle", "handed-out-automated", "manual-systems-can-be-reserved"],
        question="Is a Broken or Manual system that is idle in the idle pool?",
        why="Line 85 defines idle systems as configured for automated use. Lines 172 and 176 call Broken and Manual ones idle.",
    ),
    Reading(
        "assigned-recipes-look-in-their-own-event",
        141,
        "An assigned recipe looks for idle systems only while the new job loop handles its set.",
        "Every assigned recipe takes a suitable idle system as soon as there is one.",
        adds=[
            replace(
                ev.find_idle,
                when=[
                    r.recipe_set.is_("in_hand") & r.is_("new", "assigned") | (r.is_("assigned") & QUIET),
                    *ev.find_idle.when[2:],
                ],
            )
        ],
        question="Which assigned recipes does a new job event move to scheduled?",
        why="The sentence is in the list of what a new job event does to the recipes of the job.",
    ),
    Reading(
        "all-recipes-means-the-unfinished",
        138,
        "All other recipes, and every recipe, means those that are not finished.",
        "It also means cancelled and aborted ones: they are assigned or queued again.",
        adds=[
            *[Row(Recipe, "assign", now, "assigned", line=138) for now in ENDED_EARLY],
            *[Row(Recipe, "queue", now, "queued", line=144) for now in ENDED_EARLY],
            *[
                Rule(
                    f"{action.name} assigns the other recipes",
                    action,
                    [q.recipe_set == r.recipe_set, q != r, q.is_(state, *ENDED_EARLY), q.host != r],
                    q.fires("assign"),
                    line=line,
                )
                for action, state, line in SIBLINGS
            ],
            Rule(
                "settle queues the recipes",
                ev.settle,
                [r.recipe_set == j, r.is_("new", *ENDED_EARLY)],
                r.fires("queue"),
                line=144,
            ),
        ],
        breaks=[
            "ended-is-final",
            "guest-in-the-phase-of-its-host",
            "guest-with-its-host",
            "no-lab-before-the-first-system",
            "no-lost-wakeup",
            "no-system-idles-beside-a-waiting-recipe",
            "siblings-of-the-scheduled-are-assigned",
        ],
        question="Does a recipe that was cancelled before count among the other recipes of its set?",
        why="A user who cancels a recipe does not want it to run.",
    ),
)
