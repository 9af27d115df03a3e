"""The retained loop (lines 58 to 61)."""

from __future__ import annotations

from dataclasses import replace

from schedproof.model.lang import NONE, Action, Reading, Row, Rule, exists
from schedproof.model.systems.beaker import events as ev
from schedproof.model.systems.beaker.events import AUTOMATED, QUIET, suits
from schedproof.model.systems.beaker.machines import UNFINISHED, System, r, s

from .changes import o

RETAINED_LOOP = (
    Reading(
        "dead-is-without-an-automated-system",
        60,
        "The retained loop aborts a queued or assigned recipe if no system that meets its requirements is Automated.",
        "It aborts one only if no system at all meets its requirements, whatever the conditions.",
        adds=[
            replace(
                ev.abort_dead,
                when=[r.is_("queued", "assigned"), r.host == NONE, ~exists(s, r.viable.has(s)), QUIET],
            )
        ],
        breaks=["dead-recipes-are-aborted", "dead-recipes-end", "only-dead-recipes-are-aborted"],
        question="Which recipes does the retained loop abort?",
        why="The removed distro tree is an example. A recipe without a viable system can never be scheduled.",
    ),
    Reading(
        "systems-of-other-labs-count",
        61,
        "An assigned recipe is not aborted as long as a viable Automated system is in some lab.",
        "It is aborted if none is in the lab of its set.",
        adds=[
            replace(
                ev.abort_dead,
                when=[r.is_("queued", "assigned"), r.host == NONE, ~exists(s, suits(s, r) & AUTOMATED), QUIET],
            )
        ],
        breaks=["only-dead-recipes-are-aborted"],
        question="Does a viable system in another lab keep an assigned recipe alive?",
        why="The example speaks of all registered lab controllers.",
    ),
    Reading(
        "dead-recipes-are-aborted-alone",
        60,
        "The retained loop aborts the recipe, and not its siblings.",
        "It aborts the whole set.",
        adds=[
            Rule(
                "abort_dead aborts the guests",
                ev.abort_dead,
                [o.recipe_set == r.recipe_set, o != r, o.is_(*UNFINISHED)],
                o.fires("abort"),
                line=60,
            )
        ],
        breaks=["only-dead-recipes-are-aborted"],
        question="What becomes of the siblings of a recipe that the retained loop aborts?",
        why="The sentence is about recipes.",
    ),
    Reading(
        "the-retained-loop-wakes-no-system",
        59,
        "The retained loop corrects no other discrepancy: it leaves systems as they are.",
        "It also marks an idle system as pending if a waiting recipe suits it.",
        adds=[
            Action(
                "wake",
                [s],
                when=[s.is_("idle"), AUTOMATED, exists(r, r.is_("assigned", "queued") & suits(s, r)), QUIET],
                fires=[s.fires("wake")],
                says="the retained loop marks {s} as pending",
                line=59,
            ),
            Row(System, "wake", "idle", "pending", line=59),
        ],
        question="Which discrepancies does the retained loop correct?",
        why="The text has one example. As written, no wakeup is lost, so there is nothing to correct.",
    ),
)
