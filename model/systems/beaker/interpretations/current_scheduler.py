"""The current scheduler, as the abstract describes it (lines 14 to 27)."""

from __future__ import annotations

from dataclasses import replace

from schedproof.model.lang import Reading, Row, Rule, exists, given
from schedproof.model.systems.beaker.batch import events as batch
from schedproof.model.systems.beaker.batch.machines import b
from schedproof.model.systems.beaker.machines import RecipeSet, j, q, r, s

from .changes import also

BATCH = (
    Reading(
        "batch-passes-have-four-phases",
        16,
        "A pass moves recipes to processed, then to queued, then gives them systems, then begins sets. Then it starts again.",
        "A pass handles one recipe in several phases before the next recipe: it is queued at once, and its set begins at once.",
        adds=[
            replace(batch.queue, when=[b.is_("processing", "queueing"), r.is_("processed")]),
            replace(batch.provision, when=[b.is_("scheduling", "provisioning"), *batch.provision.when[1:]]),
        ],
        breaks=["queued-in-its-group", "waiting-in-its-group"],
        question="In which groups does the current scheduler move recipes?",
        why="The sentence gives two phases and says and so on. The other two follow from the list of states.",
        variant="batch",
    ),
    Reading(
        "batch-a-pass-does-not-look-back",
        22,
        "A pass visits each recipe once, by priority. It does not return to a recipe when a system becomes available.",
        "A system goes to the queued recipe of the highest priority that it suits, whether the pass has visited it or not.",
        adds=[
            replace(
                batch.schedule,
                when=[
                    b.is_("scheduling"),
                    r.is_("queued"),
                    ~exists(q, q.is_("queued") & q.viable.has(s) & (q.recipe_set.priority > r.recipe_set.priority)),
                    s.is_("available"),
                    r.viable.has(s),
                ],
            )
        ],
        rests=["no-queue-jumping"],
        breaks=["visits-one-after-another"],
        question="In which order does a pass visit the queued recipes, and how often?",
        why="Otherwise no recipe could jump the queue midway through a pass.",
        variant="batch",
    ),
    Reading(
        "batch-jobs-come-at-any-time",
        15,
        "A job is submitted at any moment of a pass.",
        "A job is submitted only while the pass looks for new recipes.",
        adds=[also(batch.submit, exists(b, b.is_("processing")))],
        question="When are jobs submitted?",
        why="The web service does not wait for the scheduler.",
        variant="batch",
    ),
    Reading(
        "batch-priorities-are-fixed",
        213,
        "The priority of a set is fixed when it is submitted.",
        "It may change at any time.",
        adds=[
            replace(batch.reprioritize, when=[j.rankable, j.priority != batch.n]),
            Row(RecipeSet, "reprioritize", "submitted", "submitted", line=213, priority=given("to")),
        ],
        breaks=["priority-before-submission"],
        question="Can a priority change in the current scheduler?",
        why="The abstract has queue jumping without it.",
        variant="batch",
    ),
    Reading(
        "batch-sets-begin-together",
        25,
        "A set begins when all its recipes are scheduled, and keeps its systems until then.",
        "Each recipe begins by itself when it is scheduled.",
        adds=[
            replace(
                batch.provision,
                when=[b.is_("provisioning"), exists(r, (r.recipe_set == j) & r.is_("scheduled"))],
            ),
            replace(
                batch.end_provisioning,
                when=[b.is_("provisioning"), ~exists(r, r.is_("scheduled"))],
            ),
            Rule(
                "provisioning begins for all recipes",
                batch.provision,
                [r.recipe_set == j, r.is_("scheduled")],
                r.fires("provision"),
                line=25,
            ),
        ],
        rests=["no-deadlock"],
        breaks=["begins-complete"],
        question="When does a set of several recipes begin?",
        why="Two sets that each have one of two systems deadlock only if a set needs both at once.",
        variant="batch",
    ),
    Reading(
        "batch-a-crash-ends-the-pass",
        15,
        "When the scheduler stops, the pass ends, and all moves that it has made stay. The next pass begins anew.",
        "The current scheduler stops only when it looks for new recipes: nothing of a pass is lost.",
        adds=[also(batch.CRASH, exists(b, b.is_("processing")))],
        question="What is left of a pass when the scheduler stops?",
        why="The states of recipes are in the database. The text mentions start-up in line 69.",
        variant="batch",
    ),
)
