"""The scheduler, recipe sets, recipes and systems of the current scheduler: states, attributes and tables."""

from schedproof.model.lang import (
    EMPTY,
    NONE,
    Attribute,
    BoolType,
    Durability,
    Event,
    IntRange,
    Machine,
    Ref,
    Row,
    SetOf,
    Sort,
    State,
    given,
    me,
    those,
    variable,
)
from schedproof.model.systems.beaker.machines import Recipe, RecipeSet, System, r

Scheduler = Sort("Scheduler", "b")
b = variable(Scheduler, "b")
x = variable(System, "x")

UNFINISHED = ("new", "processed", "queued", "scheduled", "waiting", "running")
FINISHED = ("completed", "cancelled", "aborted")
PHASES = ("processing", "queueing", "scheduling", "provisioning")

SCHEDULER = Machine(
    Scheduler,
    line=15,
    states=[
        State("processing", line=17),
        State("queueing", Durability.VOLATILE, line=18),
        State("scheduling", Durability.VOLATILE, line=23),
        State("provisioning", Durability.VOLATILE, line=25),
    ],
    # "a pass over the currently queued recipes" (line 23): those that it has not yet visited
    attributes=[
        Attribute(
            "ahead", SetOf(Recipe), line=23, about="the queued recipes that the present pass has still to look at"
        )
    ],
    events=[Event("pass_over", {"recipe": Ref(Recipe)})],
)

RECIPE_SET = Machine(
    RecipeSet,
    line=25,
    # "the full set of submitted recipes" (line 15): a set arrives complete, at any time
    states=[State("to_come", about="not yet submitted"), State("submitted", line=15)],
    attributes=[
        Attribute("priority", IntRange(0, 1), durable=True, line=213),
        Attribute("endable", BoolType(), rigid=True, about="may be cancelled or aborted", assumed=False),
        Attribute("rankable", BoolType(), rigid=True, about="priority may change", assumed=False),
    ],
    events=[Event("reprioritize", {"to": IntRange(0, 1)})],
)

RECIPE = Machine(
    Recipe,
    line=99,
    states=[
        State("new", line=104),
        State("processed", line=105),
        State("queued", line=106),
        State("scheduled", line=107),
        State("waiting", line=108),
        State("running", line=109),
        State("completed", line=110),
        State("cancelled", line=112),
        State("aborted", line=113),
    ],
    attributes=[
        Attribute("recipe_set", Ref(RecipeSet), rigid=True, line=24),
        Attribute(
            "viable", SetOf(System), rigid=True, line=123, about="the systems that meet the requirements of the recipe"
        ),
        Attribute("system", Ref(System), durable=True, line=26),
    ],
    events=[Event("schedule", {"system": Ref(System)})],
)

SYSTEM = Machine(System, line=22, states=[State("available", line=22), State("taken", line=26)])

TABLE = [
    *[
        Row(Scheduler, "next_phase", now, then, line=18)
        for now, then in (("processing", "queueing"), ("provisioning", "processing"))
    ],
    Row(Scheduler, "next_phase", "queueing", "scheduling", line=23, ahead=those(r, r.is_("queued"))),
    Row(Scheduler, "next_phase", "scheduling", "provisioning", line=25),
    Row(Scheduler, "pass_over", "scheduling", "scheduling", line=23, ahead=me.ahead.without(given("recipe"))),
    *[Row(Scheduler, "crash", now, "processing", line=15, ahead=EMPTY) for now in PHASES[1:]],
    Row(RecipeSet, "submit", "to_come", "submitted", line=15),
    Row(RecipeSet, "reprioritize", "to_come", "to_come", line=213, priority=given("to")),
    Row(Recipe, "process", "new", "processed", line=17),
    Row(Recipe, "queue", "processed", "queued", line=18),
    Row(Recipe, "schedule", "queued", "scheduled", line=21, system=given("system")),
    Row(Recipe, "provision", "scheduled", "waiting", line=25),
    Row(Recipe, "run", "waiting", "running", line=115),
    Row(Recipe, "complete", "running", "completed", line=115, system=NONE),
    *[Row(Recipe, "cancel", now, "cancelled", line=116, system=NONE) for now in UNFINISHED],
    *[Row(Recipe, "abort", now, "aborted", line=116, system=NONE) for now in UNFINISHED],
    Row(System, "take", "available", "taken", line=26),
    Row(System, "free", "taken", "available", line=22),
]


SUBMITTED = r.recipe_set.is_("submitted")
