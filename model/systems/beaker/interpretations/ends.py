"""How recipes end, and what becomes of their systems and siblings (lines 115, 116, 197, 208)."""

from __future__ import annotations

from dataclasses import replace

from schedproof.model.lang import NONE, Reading, Row, Rule, exists, forall, implies
from schedproof.model.systems.beaker import events as ev
from schedproof.model.systems.beaker.events import AUTOMATED, QUIET
from schedproof.model.systems.beaker.machines import EXECUTING, UNFINISHED, Recipe, RecipeSet, System, j, q, r, s

from .changes import also, o, releases

OF_ONE_RECIPE = ~exists(q, (q.recipe_set == r.recipe_set) & (q != r))

LAST_OF_THE_SCHEDULED = r.is_("scheduled") & ~exists(
    o, (o.recipe_set == r.recipe_set) & (o != r) & (o.host != r) & o.is_("scheduled")
)

OF_BEFORE = (
    "new",
    "queued",
    "scheduled",
    "waiting",
    "running",
)  # the unfinished states of lines 104 to 109 that remain

BEFORE_IN_J = (r.recipe_set == j) & r.is_(*OF_BEFORE)

ENDS = (
    Reading(
        "unchanged-sentences-stay",
        115,
        "What the text says of the current scheduler and does not change also holds for the new one, and for the new states.",
        "A recipe jumps to cancelled or aborted only from states of the current scheduler, not from assigned or installing.",
        adds=[
            *[
                replace(action, when=[r.recipe_set.endable, r.is_(*OF_BEFORE), QUIET])
                for action in (ev.cancel, ev.abort)
            ],
            *[
                replace(action, when=[j.endable, exists(r, BEFORE_IN_J), QUIET])
                for action in (ev.cancel_set, ev.abort_set)
            ],
            Rule("cancel_set cancels the recipes", ev.cancel_set, [BEFORE_IN_J], r.fires("cancel"), line=116),
            Rule("abort_set aborts the recipes", ev.abort_set, [BEFORE_IN_J], r.fires("abort"), line=116),
        ],
        breaks=[
            "guest-ends-with-its-host",
            "guest-in-the-phase-of-its-host",
            "recipes-can-be-aborted",
            "recipes-can-be-cancelled",
            "sets-are-aborted-as-asked",
            "sets-are-cancelled-as-asked",
            "sets-can-be-aborted",
            "sets-can-be-cancelled",
        ],
        question="Do the sentences on the current scheduler hold for the proposed one?",
        why="Line 120 lists the changes, and these sentences are not among them.",
    ),
    Reading(
        "finished-recipes-stay",
        116,
        "A cancelled or aborted recipe stays what it is.",
        "Cancelled and aborted are states other than completed, so a recipe may jump from one to the other.",
        adds=[
            Row(Recipe, "cancel", "aborted", "cancelled", line=116, system=NONE),
            Row(Recipe, "abort", "cancelled", "aborted", line=116, system=NONE),
            replace(ev.cancel, when=[r.recipe_set.endable, r.is_(*UNFINISHED, "aborted"), QUIET]),
            replace(ev.abort, when=[r.recipe_set.endable, r.is_(*UNFINISHED, "cancelled"), QUIET]),
        ],
        breaks=["ended-is-final"],
        question="May a cancelled recipe be aborted, and an aborted one be cancelled?",
        why="Line 199 counts cancelled and aborted among the ways in which execution finishes.",
    ),
    Reading(
        "recipes-are-ended-one-by-one",
        116,
        "A recipe may be cancelled or aborted without its siblings, also by the retained loop.",
        "A recipe set is cancelled or aborted as a whole only.",
        adds=[
            also(ev.cancel, OF_ONE_RECIPE),
            also(ev.abort, OF_ONE_RECIPE),
            Rule(
                "abort_dead aborts the guests",
                ev.abort_dead,
                [o.recipe_set == r.recipe_set, o != r, o.is_(*UNFINISHED)],
                o.fires("abort"),
                line=60,
            ),
        ],
        rests=["no-finished-recipe-blocks-its-set"],
        breaks=["only-dead-recipes-are-aborted", "recipes-can-be-aborted", "recipes-can-be-cancelled"],
        question="Can one recipe of a set be cancelled or aborted?",
        why="The sentence is about a recipe.",
    ),
    Reading(
        "sets-are-also-ended-as-a-whole",
        116,
        "A user may also cancel or abort all unfinished recipes of a set in one step.",
        "A user cancels and aborts recipes one by one only.",
        adds=[
            replace(
                action, when=[*action.when, forall([q, r], implies((q.recipe_set == j) & (r.recipe_set == j), q == r))]
            )
            for action in (ev.cancel_set, ev.abort_set)
        ],
        breaks=["sets-can-be-aborted", "sets-can-be-cancelled"],
        question="Can a recipe set be cancelled or aborted as a whole?",
        why="Beaker has it, and the text does not exclude it.",
    ),
    Reading(
        "a-scheduled-recipe-returns-its-system-as-pending",
        197,
        "A system is also pending after a recipe that was scheduled on it and never executed.",
        "Such a recipe has executed nothing, so its system is idle as in any other case (line 186).",
        adds=[
            *releases(EXECUTING),
            *[
                Rule(
                    f"{event} frees the system",
                    r.fires(event),
                    [r.system == s, AUTOMATED, s.is_("scheduled")],
                    s.fires("free"),
                    line=186,
                )
                for event in ("cancel", "abort")
            ],
            Row(System, "free", "scheduled", "idle", line=186),
        ],
        breaks=["no-lost-wakeup", "no-system-idles-beside-a-waiting-recipe"],
        question="What becomes of the system of a recipe that ends before it is executed?",
        why="The system has to be offered to other recipes, or it idles beside them.",
    ),
    Reading(
        "only-systems-in-use-become-pending",
        197,
        "A system that is idle when its recipe ends stays idle.",
        "It becomes pending whatever its usage is.",
        adds=[
            *releases(()),
            *[Row(System, "release", now, "pending", line=197) for now in ("idle", "pending")],
        ],
        rests=["pending-after-a-recipe"],
        question="What becomes of an idle system when a recipe that is still on it ends?",
        why="A system that executes a recipe is in use. The text knows no other case.",
    ),
    Reading(
        "assigned-recipes-stay-assigned",
        208,
        "Assigned recipes stay assigned, and keep their lab, when no sibling is scheduled any more.",
        "They are queued again, and the set has no lab.",
        adds=[
            Row(Recipe, "unassign", "assigned", "queued", line=144),
            *[Row(RecipeSet, "unassign", now, now, line=144, lab=NONE) for now in ("at_rest", "in_hand", "searched")],
            *[
                rule
                for action in (ev.cancel, ev.abort)
                for rule in (
                    Rule(
                        f"{action.name} queues the siblings",
                        action,
                        [LAST_OF_THE_SCHEDULED, q.recipe_set == r.recipe_set, q.is_("assigned")],
                        q.fires("unassign"),
                        line=144,
                    ),
                    Rule(
                        f"{action.name} takes the lab",
                        action,
                        [LAST_OF_THE_SCHEDULED],
                        r.recipe_set.fires("unassign"),
                        line=144,
                    ),
                )
            ],
        ],
        question="What becomes of assigned recipes when their only scheduled sibling ends?",
        why=(
            "The text has no way from assigned back to queued. Under the other answer, idle systems of other labs are "
            "not offered to the set again. No explored configuration shows that."
        ),
    ),
)
