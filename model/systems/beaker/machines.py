"""Recipes, recipe sets, systems and labs: states, attributes and transition tables of the proposal.

``line`` is the line of the document that states the element. Recipe states are those of lines 104 to 113 with the
changes of lines 122 to 127 and 234. System states are the usage states of lines 165 to 170. The document gives a recipe
set no states; those here record how far "New job" processing of the set has come.
"""

from pathlib import Path

from schedproof.model.lang import (
    NONE,
    Attribute,
    BoolType,
    Document,
    Durability,
    EnumType,
    Event,
    IntRange,
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

DOCUMENT = Document(
    "beaker-event-driven-scheduling.rst", "Event Driven Scheduling", Path(__file__).with_name("quotes.json")
)

Lab = Sort("Lab", "l")
RecipeSet = Sort("RecipeSet", "j")
Recipe = Sort("Recipe", "r")
System = Sort("System", "s")

l = variable(Lab, "l")  # noqa: E741 - the letter that labs have everywhere
j, k, m = variables(RecipeSet, "j k m")
r, q, g, o, w = variables(Recipe, "r q g o w")
s, t = variables(System, "s t")

UNFINISHED = ("new", "queued", "assigned", "scheduled", "waiting", "installing", "running")
EXECUTING = ("waiting", "installing", "running")
FINISHED = ("completed", "cancelled", "aborted")
IN_USE = ("scheduled", *EXECUTING)
USAGES = ("idle", *IN_USE, "pending")

LAB = Machine(Lab)

RECIPE_SET = Machine(
    RecipeSet,
    line=135,
    states=[
        State("at_rest", about="no loop of the scheduler processes the set"),
        # "all recipes in one recipe set will be processed before processing the next recipe set" (line 135): the first
        # state is that of the set being processed. The second is the same, once no idle system is left that suits it. A
        # crash loses both.
        State(
            "in_hand",
            Durability.VOLATILE,
            line=135,
            about="the new job loop processes the set, and looks for an idle system for its recipes",
        ),
        State(
            "searched",
            Durability.VOLATILE,
            line=144,
            about="the new job loop processes the set, and has found that no idle system suits its other recipes",
        ),
    ],
    attributes=[
        Attribute("priority", IntRange(0, 1), durable=True, line=213),
        # "assigned to a particular lab controller" (line 125): one for the whole set (line 142)
        Attribute("lab", Ref(Lab), durable=True, line=125),
        # Whether users may do this to the set: an exploration can exclude it, proofs leave it open.
        Attribute("endable", BoolType(), rigid=True, about="may be cancelled or aborted", assumed=False),
        Attribute("rankable", BoolType(), rigid=True, about="priority may change", assumed=False),
    ],
    events=[
        Event("assign", {"lab": Ref(Lab)}),
        Event("reprioritize", {"to": IntRange(0, 1)}),
    ],
)

RECIPE = Machine(
    Recipe,
    line=99,
    states=[
        State("new", line=104),
        State("queued", line=106),
        State("assigned", line=124),
        State("scheduled", line=107),
        State("waiting", line=108),
        State("installing", line=234),
        State("running", line=109),
        State("completed", line=110),
        State("cancelled", line=112),
        State("aborted", line=113),
    ],
    attributes=[
        Attribute("recipe_set", Ref(RecipeSet), rigid=True, line=132),
        # "meets the requirements needed to run a given recipe" (line 80); the other half of "viable", "configured for
        # automated use", changes with the condition of the system
        Attribute(
            "viable", SetOf(System), rigid=True, line=80, about="the systems that meet the requirements of the recipe"
        ),
        Attribute(
            "host", Ref(Recipe), rigid=True, line=230, about="the recipe on whose system this one, its guest, runs"
        ),
        Attribute("system", Ref(System), durable=True, line=203),
    ],
    events=[Event("schedule", {"system": Ref(System)})],
)

SYSTEM = Machine(
    System,
    line=159,
    states=[
        State("pending", line=170),  # first: "a new system is added with its condition set to Automated" (line 195)
        State("idle", line=165),
        State("scheduled", line=166),
        State("waiting", line=167),
        State("installing", line=168),
        State("running", line=169),
    ],
    attributes=[
        Attribute("condition", EnumType(("Automated", "Manual", "Broken")), durable=True, line=253),
        Attribute("lab", Ref(Lab), rigid=True, line=203),
        # Whether users may do this to the system, as for recipe sets.
        Attribute("adjustable", BoolType(), rigid=True, about="condition may change", assumed=False),
    ],
)

MACHINES = [LAB, RECIPE_SET, RECIPE, SYSTEM]

RECIPE_SET_TABLE = [
    Row(RecipeSet, "take_up", "at_rest", "in_hand", line=129),
    Row(RecipeSet, "search_ends", "in_hand", "searched", line=144),
    Row(RecipeSet, "settle", "searched", "at_rest", line=144),
    *[Row(RecipeSet, "assign", now, now, line=138, lab=given("lab")) for now in ("at_rest", "in_hand", "searched")],
    *[
        Row(RecipeSet, "reprioritize", now, now, line=213, priority=given("to"))
        for now in ("at_rest", "in_hand", "searched")
    ],
    Row(RecipeSet, "crash", "in_hand", "at_rest", line=69),
    Row(RecipeSet, "crash", "searched", "at_rest", line=69),
]

RECIPE_TABLE = [
    Row(Recipe, "queue", "new", "queued", line=144),
    Row(Recipe, "assign", "new", "assigned", line=138),
    Row(Recipe, "assign", "queued", "assigned", line=208),
    Row(Recipe, "schedule", "new", "scheduled", line=137, system=given("system")),
    Row(Recipe, "schedule", "assigned", "scheduled", line=141, system=given("system")),
    Row(Recipe, "schedule", "queued", "scheduled", line=207, system=given("system")),
    Row(Recipe, "provision", "scheduled", "waiting", line=227),
    Row(Recipe, "install", "waiting", "installing", line=234),
    Row(Recipe, "run", "installing", "running", line=240),
    Row(Recipe, "complete", "running", "completed", line=115, system=NONE),
    *[Row(Recipe, "cancel", now, "cancelled", line=116, system=NONE) for now in UNFINISHED],
    *[Row(Recipe, "abort", now, "aborted", line=116, system=NONE) for now in UNFINISHED],
]

SYSTEM_TABLE = [
    Row(System, "schedule", "idle", "scheduled", line=238),
    Row(System, "schedule", "pending", "scheduled", line=204),
    Row(System, "provision", "scheduled", "waiting", line=240),
    Row(System, "install", "waiting", "installing", line=240),
    Row(System, "run", "installing", "running", line=240),
    *[Row(System, "release", now, "pending", line=197) for now in IN_USE],
    Row(System, "make_idle", "pending", "idle", line=210),
    # The condition changes.
    *[Row(System, "automate", now, "pending", line=196, condition="Automated") for now in USAGES if now != "pending"],
    *[Row(System, "make_manual", now, "idle", line=176, condition="Manual") for now in USAGES],
    *[Row(System, "break_down", now, "idle", line=172, condition="Broken") for now in USAGES],
    # A user reserves a system whose condition is Manual.
    Row(System, "reserve", "idle", "waiting", line=175),
    Row(System, "give_back", "running", "idle", line=176),
]

# These hold in every configuration. Every recipe belongs to a set and every system to a lab. A guest runs on its host,
# which is a recipe of the same set and not a guest. The guest has no system of its own.
AXIOMS = [
    forall(r, r.recipe_set != NONE),
    forall(s, s.lab != NONE),
    forall([r, q], implies(r.host == q, (q.host == NONE) & (q.recipe_set == r.recipe_set))),
    forall([r, s], implies(r.host != NONE, ~r.viable.has(s))),
]
