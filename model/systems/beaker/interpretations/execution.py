"""Recipe set execution: when a set begins, and how its systems follow (lines 204, 226 to 241)."""

from __future__ import annotations

from dataclasses import replace

from schedproof.model.lang import NONE, Action, Reading, Row, Rule, exists, forall, implies
from schedproof.model.systems.beaker import events as ev
from schedproof.model.systems.beaker.events import AUTOMATED, QUIET
from schedproof.model.systems.beaker.machines import (
    EXECUTING,
    UNFINISHED,
    USAGES,
    Recipe,
    RecipeSet,
    System,
    j,
    k,
    q,
    r,
    s,
)

from .changes import also, o

COMPLETE = exists(
    k, exists(o, o.recipe_set == k) & forall(o, implies(o.recipe_set == k, o.is_("scheduled")))
)  # all recipes of some set are scheduled

EXECUTION = (
    Reading(
        "a-set-keeps-its-systems",
        204,
        "A set keeps the systems that its recipes have until it begins or they end.",
        "A set that cannot begin yet may return all its systems. Its recipes are queued again, and it has no lab.",
        adds=[
            Action(
                "return_systems",
                [j],
                when=[
                    exists(r, (r.recipe_set == j) & r.is_("scheduled")),
                    exists(r, (r.recipe_set == j) & r.is_("assigned")),
                    QUIET,
                ],
                fires=[j.fires("return_systems")],
                says="{j} returns its systems",
                line=26,
            ),
            *[
                Row(RecipeSet, "return_systems", now, now, line=26, lab=NONE)
                for now in ("at_rest", "in_hand", "searched")
            ],
            *[Row(Recipe, "return_system", now, "queued", line=26, system=NONE) for now in ("assigned", "scheduled")],
            Rule(
                "return_systems queues the recipes",
                j.fires("return_systems"),
                [r.recipe_set == j, r.is_("assigned", "scheduled")],
                r.fires("return_system"),
                line=26,
            ),
            Rule(
                "return_system releases the system",
                r.fires("return_system"),
                [r.system == s, AUTOMATED, s.is_("scheduled")],
                s.fires("release"),
                line=26,
            ),
        ],
        breaks=["no-system-idles-beside-a-waiting-recipe"],
        question="May a set return the systems that it has before it begins?",
        why=(
            "The text has no way from scheduled back to queued. The other answer alone does not end the deadlocks: "
            "no-deadlock then also needs the other answers of finished-recipes-count and suitable-is-viable."
        ),
    ),
    Reading(
        "finished-recipes-count",
        226,
        "A set begins only if all its recipes are scheduled. A cancelled or aborted one is not, so the set never begins.",
        "It begins when all its unfinished recipes are scheduled.",
        adds=[
            replace(
                ev.begin,
                when=[
                    exists(r, (r.recipe_set == j) & r.is_("scheduled")),
                    forall(r, implies((r.recipe_set == j) & r.is_(*UNFINISHED), r.is_("scheduled"))),
                    QUIET,
                ],
            )
        ],
        rests=["no-finished-recipe-blocks-its-set"],
        question="Do the other recipes of a set include those that were cancelled or aborted?",
        why="The sentence says all other recipes.",
    ),
    Reading(
        "a-set-begins-in-its-own-step",
        226,
        "Provisioning begins some time after the last recipe of the set is scheduled.",
        "It begins at once: nothing else comes in between.",
        adds=[
            replace(ev.begin, when=ev.begin.when[:-1]),
            *[also(action, ~COMPLETE) for action in ev.ACTIONS if action is not ev.begin],
        ],
        breaks=[
            "events-are-handled-alone",
            "manual-systems-can-be-reserved",
            "priorities-can-be-changed",
            "recipes-can-be-aborted",
            "recipes-can-be-cancelled",
            "reserved-systems-can-be-returned",
            "sets-can-be-aborted",
            "sets-can-be-cancelled",
            "systems-can-be-made-automated",
            "systems-can-be-made-broken",
            "systems-can-be-made-manual",
        ],
        question="Can a recipe be cancelled, or a condition change, between the last recipe's move and the beginning?",
        why="The two may be transactions of different loops.",
    ),
    Reading(
        "a-set-waits-together",
        227,
        "When provisioning begins, all recipes of the set become waiting in one step.",
        "Each becomes waiting by itself.",
        adds=[
            Action(
                "begin",
                [r],
                when=[
                    r.is_("scheduled"),
                    forall(q, implies(q.recipe_set == r.recipe_set, q.is_("scheduled")))
                    | exists(q, (q.recipe_set == r.recipe_set) & q.is_(*EXECUTING, "completed")),
                    QUIET,
                ],
                fires=[r.fires("provision")],
                says="provisioning of {r} begins",
                line=226,
            )
        ],
        drops=["begin provisions the recipes"],
        breaks=["begins-complete", "begun-together", "guest-in-the-phase-of-its-host", "guest-with-its-host"],
        question="When does a scheduled recipe become waiting?",
        why="The text states no other step from scheduled to waiting. Line 231 configures a host and its guests together.",
    ),
    Reading(
        "a-system-out-of-step-stays",
        239,
        "A system moves with its recipe only from the state that the recipe leaves.",
        "An Automated system takes the state of its recipe, whatever its own was.",
        adds=[
            *[
                Row(System, event, now, target, line=239)
                for event, target in (("provision", "waiting"), ("install", "installing"), ("run", "running"))
                for now in USAGES
            ],
            *[
                Rule(f"{event} moves the system", r.fires(event), [r.system == s, AUTOMATED], s.fires(event), line=239)
                for event, _ in ev.MOVES
            ],
        ],
        question="Where does a system move that is not in the state of its recipe?",
        why="Line 240 moves the system through those same states.",
    ),
)
