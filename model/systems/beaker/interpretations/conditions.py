"""Conditions of systems, and reservations (lines 172 to 176, 196)."""

from __future__ import annotations

from dataclasses import replace

from schedproof.model.lang import Action, Reading, Row, Rule, exists
from schedproof.model.systems.beaker import events as ev
from schedproof.model.systems.beaker.events import AUTOMATED, MANUAL, QUIET
from schedproof.model.systems.beaker.machines import EXECUTING, IN_USE, UNFINISHED, System, g, q, r, s

from .changes import also, releases

HAS_NO_RECIPE = ~exists(q, q.system == s)

STAYS = ~s.fires("make_manual") & ~s.fires("break_down")

# What holds if a system keeps its condition while a recipe is on it
IN_STEP = [
    "idle-is-not-running",
    "installing-with-its-recipe",
    "manual-is-its-users",
    "one-recipe-per-system",
    "pending-after-a-recipe",
    "pending-runs-nothing",
    "recipe-and-system-in-step",
    "running-with-its-recipe",
    "scheduled-with-its-recipe",
    "waiting-with-its-recipe",
]

CONDITIONS = (
    Reading(
        "the-recipe-stays-on-its-system",
        172,
        "When the condition of a system changes, the recipe on it goes on as if it had the system.",
        "The recipe is aborted, with its guests.",
        adds=[
            *releases(IN_USE, STAYS),
            *[
                rule
                for action in (ev.make_manual, ev.break_down)
                for rule in (
                    Rule(f"{action.name} aborts the recipe", action, [r.system == s], r.fires("abort"), line=199),
                    Rule(
                        f"{action.name} aborts the guests",
                        action,
                        [exists(r, (r.system == s) & (g.host == r)), g.is_(*UNFINISHED)],
                        g.fires("abort"),
                        line=199,
                    ),
                )
            ],
        ],
        rests=IN_STEP,
        question="What becomes of a recipe whose system becomes Broken or Manual?",
        why="The text moves the system to idle and says nothing about the recipe.",
    ),
    Reading(
        "conditions-change-in-use",
        172,
        "The condition of a system may change while a recipe is on it, and the system is idle at once.",
        "It changes only when no recipe is on the system.",
        adds=[also(action, HAS_NO_RECIPE) for action in (ev.make_manual, ev.break_down)],
        rests=IN_STEP,
        breaks=["systems-can-be-made-broken", "systems-can-be-made-manual"],
        question="May the condition of a system change while a recipe is on it?",
        why="A system breaks at any time, and line 172 says always.",
    ),
    Reading(
        "a-reserved-system-may-become-automated",
        196,
        "A system that a user has reserved becomes pending at once when its condition is changed to Automated.",
        "Its condition is changed only after the user has returned it.",
        adds=[also(ev.automate, s.is_("idle"))],
        rests=["reserved-until-given-back"],
        question="May the condition of a reserved system become Automated?",
        why="Line 196 has no exception.",
    ),
    Reading(
        "a-reserved-system-may-break",
        172,
        "A system that a user has reserved may become Broken. It is idle at once, and the reservation is over.",
        "Its condition is changed to Broken only after the user has returned it.",
        adds=[also(ev.break_down, AUTOMATED | s.is_("idle"))],
        question="What becomes of a reservation whose system becomes Broken?",
        why="Line 172 says always, and gives a Broken system no state for a reservation.",
    ),
    Reading(
        "only-manual-systems-are-reserved",
        174,
        "A user reserves a system only while its condition is Manual.",
        "A user may also reserve an idle Automated system.",
        adds=[
            replace(ev.reserve, when=[s.adjustable, MANUAL | AUTOMATED, s.is_("idle"), QUIET]),
            replace(ev.install_reserved, when=[HAS_NO_RECIPE, s.is_("waiting"), QUIET]),
            replace(ev.run_reserved, when=[HAS_NO_RECIPE, s.is_("installing"), QUIET]),
            replace(ev.give_back, when=[HAS_NO_RECIPE, s.is_("running"), QUIET]),
        ],
        breaks=[
            "in-use-by-a-recipe",
            "manual-systems-can-be-reserved",
            "no-lost-wakeup",
            "no-system-idles-beside-a-waiting-recipe",
            "systems-move-only-with-their-recipe",
        ],
        question="Can a user reserve an Automated system?",
        why="Lines 178 to 186 give an Automated system no state for that.",
    ),
    Reading(
        "a-reserved-system-is-provisioned",
        174,
        "A reserved system is always provisioned first: waiting, then installing, then running.",
        "A user may also reserve a system as it is. Then it is running at once.",
        adds=[
            Row(System, "hand_over", "idle", "running", line=174),
            Action(
                "reserve_as_it_is",
                [s],
                when=[s.adjustable, MANUAL, s.is_("idle"), QUIET],
                fires=[s.fires("hand_over")],
                says="a user reserves {s} as it is",
                line=174,
            ),
        ],
        question="Is a system provisioned in response to each reservation?",
        why="The sentence lists the states of provisioning, and not when a reservation goes without it.",
    ),
    Reading(
        "a-reservation-ends-when-running",
        176,
        "A user returns a system only when it is running.",
        "A user may also return it while it is waiting or installing.",
        adds=[
            *[Row(System, "give_back", now, "idle", line=176) for now in ("waiting", "installing")],
            replace(ev.give_back, when=[MANUAL, s.is_(*EXECUTING), QUIET]),
        ],
        question="When does a reservation end?",
        why="The text says nothing about the end. The model has the shortest form.",
    ),
)
