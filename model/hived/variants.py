"""The document as written, and the smallest changes that make it keep its promises."""

from dataclasses import replace

from ..lang import Change, Model, Row, Rule, forall, implies, variable
from .events import ACTIONS, RULES, delete_preempted
from .machines import AXIOMS, CELL, CELL_TABLE, DOCUMENT, POD_GROUP, POD_GROUP_TABLE, Cell, PodGroup, c, p, total_order
from .promises import PROGRESS, PROMISES

AS_WRITTEN = Model(
    system="hived",
    variant="as-written",
    about="the document, read literally",
    document=DOCUMENT,
    machines=[POD_GROUP, CELL],
    rows=[*POD_GROUP_TABLE, *CELL_TABLE],
    actions=ACTIONS,
    rules=RULES,
    properties=PROMISES,
    axioms=AXIOMS,
    topologies=total_order,
    default_scope={"PodGroup": 3, "Cell": 3},
    refuted=frozenset(
        {
            "allocated-has-cells",
            "allocated-fully",
            "preemption-ongoing",
            "victim-freed-with-the-preemptor",
            "placement-is-what-it-uses",
            "recovery-from-durable",
            "cell-e1-frees-an-allocated-group",
            "cell-e2-preempts-an-allocated-group",
        }
    ),
)

VICTIMS_CELLS_GO_TOGETHER = Change(
    why=(
        "The victim keeps its cells until its last pod is deleted; then they go together. "
        "A victim that has lost cells can go back to Allocated (line 29) with less than it was allocated (line 23), "
        "and nothing durable says what it has left (line 151)."
    ),
    repairs=["allocated-has-cells", "allocated-fully", "placement-is-what-it-uses", "recovery-from-durable"],
    drops=["vacate", "e9-vacates-one-pod-at-a-time"],
    adds=[
        replace(delete_preempted, when=delete_preempted.when[:1]),
        Rule("e4 vacates its cells", p.fires("e4"), [c.user == p, c.is_("Reserving")], c.fires("e9"), line=98),
    ],
)

d = variable(Cell, "d")

VICTIM_IS_FREED = Change(
    why=(
        "A victim goes back to Allocated when the last of its preemptors gives up; "
        "the document leaves it BeingPreempted by nobody (line 25)."
    ),
    repairs=["preemption-ongoing", "victim-freed-with-the-preemptor"],
    adds=[
        Row(PodGroup, "e10", "BeingPreempted", "Allocated", line=25),
        Rule(
            "e4 frees the victim",
            c.fires("e4"),
            [
                forall(d, implies((d.user == c.user) & d.is_("Reserving"), d.fires("e4"))),
                forall(d, implies((d.user == c.user) & d.is_("Used"), ~d.fires("e2"))),
            ],
            c.user.fires("e10"),
            line=25,
        ),
    ],
)

FAIR_TO_THE_GROUP = Change(
    why="Victims' pods now go group by group, so that is what the environment must be fair to.",
    repairs=[],
    adds=[replace(prop, weak=["delete_preempted", "complete"]) for prop in PROGRESS if prop.name == "preempting-ends"],
)

REPAIRED = AS_WRITTEN.amend(
    "repaired",
    "the smallest changes that make the document keep its promises",
    [VICTIMS_CELLS_GO_TOGETHER, VICTIM_IS_FREED, FAIR_TO_THE_GROUP],
    refuted=frozenset({"cell-e1-frees-an-allocated-group", "cell-e2-preempts-an-allocated-group"}),
)
