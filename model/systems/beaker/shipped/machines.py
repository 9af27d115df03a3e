"""Recipes, systems and recipe sets as Beaker's tables have them: sections 1.1, 1.2 and 1.4 of the facts."""

from pathlib import Path

from schedproof.model.lang import (
    NONE,
    Attribute,
    BoolType,
    Document,
    EnumType,
    Event,
    Machine,
    Ref,
    Row,
    SetOf,
    Sort,
    State,
    forall,
    given,
    implies,
    variable,
    variables,
)

FACTS = Document("Beaker as implemented", "Beaker as implemented", facts=Path(__file__).parents[1] / "facts.json")

RecipeSet = Sort("RecipeSet", "j")
Recipe = Sort("Recipe", "r")
System = Sort("System", "s")

j = variable(RecipeSet, "j")
r, q, g = variables(Recipe, "r q g")
s = variable(System, "s")

QUEUED_GROUP = ("new", "processed", "queued", "scheduled")  # 1.1
STARTED = ("waiting", "installing", "running")
EXECUTING = (*STARTED, "reserved")
UNFINISHED = (*QUEUED_GROUP, *EXECUTING)
FINISHED = ("completed", "cancelled", "aborted")
STATUSES = (*UNFINISHED, *FINISHED)
USAGES = ("idle", "pending", "reserved")  # 1.4

SEVERITY = ("running", "installing", "waiting", *QUEUED_GROUP, "reserved", "aborted", "cancelled", "completed")
"""Section 1.1: a set has the first of these statuses that one of its recipes has."""

RECIPE_SET = Machine(RecipeSet)  # its status is derived from its recipes

RECIPE = Machine(
    Recipe,
    states=[State(name) for name in STATUSES],
    attributes=[
        Attribute("recipe_set", Ref(RecipeSet), rigid=True),
        # The systems that the search for candidates finds (1.3). A guest has none: it runs on its host (1.6).
        Attribute(
            "candidates",
            SetOf(System),
            rigid=True,
            about="the systems that the search for candidates finds for the recipe",
        ),
        Attribute("host", Ref(Recipe), rigid=True, about="the recipe on whose system this one, its guest, runs"),
        # The system that the recipe has reserved. It keeps it after its end, until the whole set is finished.
        Attribute("system", Ref(System), durable=True),
    ],
    events=[Event("schedule", {"system": Ref(System)})],
)

CONDITION = EnumType(("Automated", "Manual", "Broken"))  # a removed system counts as Broken

SYSTEM = Machine(
    System,
    states=[State(name) for name in USAGES],
    attributes=[
        Attribute("condition", CONDITION, durable=True),
        Attribute(
            "unsearched",
            BoolType(),
            history=True,
            about="its condition, lab, loan or distro trees changed after beakerd's last search for a recipe",
        ),
    ],
    events=[Event("withdraw", {"to": CONDITION})],
)

MACHINES = [RECIPE_SET, RECIPE, SYSTEM]

# 1.2, "actual recipe edges"
RECIPE_TABLE = [
    Row(Recipe, "process", "new", "processed"),
    Row(Recipe, "queue", "processed", "queued"),
    Row(Recipe, "schedule", "processed", "scheduled", system=given("system")),
    Row(Recipe, "schedule", "queued", "scheduled", system=given("system")),
    Row(Recipe, "provision", "scheduled", "waiting"),
    Row(Recipe, "install", "waiting", "installing"),
    Row(Recipe, "boot", "installing", "waiting"),
    Row(Recipe, "run", "waiting", "running"),
    Row(Recipe, "run", "installing", "running"),
    Row(Recipe, "pause", "running", "waiting"),
    *[Row(Recipe, "hold", now, "reserved") for now in STARTED],
    *[Row(Recipe, "complete", now, "completed") for now in EXECUTING],
    *[Row(Recipe, "cancel", now, "cancelled") for now in UNFINISHED],
    *[Row(Recipe, "abort", now, "aborted") for now in UNFINISHED],
    *[Row(Recipe, "release", now, now, system=NONE) for now in FINISHED],
]

# 1.4: a change of condition alone never frees a system or takes it out of pending
SYSTEM_TABLE = [
    Row(System, "flag", "idle", "pending", unsearched=True),
    Row(System, "reserve", "idle", "reserved"),
    Row(System, "reserve", "pending", "reserved"),
    Row(System, "release", "reserved", "pending"),
    Row(System, "rest", "pending", "idle", unsearched=False),
    Row(System, "automate", "idle", "pending", condition="Automated", unsearched=True),
    Row(System, "automate", "pending", "pending", condition="Automated", unsearched=True),
    Row(System, "automate", "reserved", "reserved", condition="Automated", unsearched=True),
    *[Row(System, "withdraw", now, now, condition=given("to")) for now in USAGES],
]

NO_GUEST = r.host == NONE
SAME_SET = r.recipe_set == q.recipe_set

AXIOMS = [
    forall(r, r.recipe_set != NONE),
    forall([r, q], implies(q.host == r, NO_GUEST & SAME_SET)),
    forall([r, s], implies(r.host != NONE, ~r.candidates.has(s))),
]
