"""The document as written, and the changes with which all its properties hold.

The changes are minimal. Without one of them, exactly the properties that it repairs are violated again; no rule,
condition or row of the result can be left out. Tests check both.
"""

from dataclasses import replace

from schedproof.model.lang import Change, Model, Row, Rule, StepInvariant, after, exists, forall, implies, variable

from .events import ACTIONS, OVERWRITTEN, RULES, delete_preempted
from .machines import (
    AXIOMS,
    CELL,
    CELL_TABLE,
    DOCUMENT,
    POD_GROUP,
    POD_GROUP_TABLE,
    Cell,
    PodGroup,
    c,
    p,
    q,
    total_order,
)
from .properties import PROPERTIES, preempting_ends

AS_WRITTEN = Model(
    system="hived",
    variant="as-written",
    about="the document, read literally",
    document=DOCUMENT,
    machines=[POD_GROUP, CELL],
    rows=[*POD_GROUP_TABLE, *CELL_TABLE],
    actions=ACTIONS,
    rules=RULES,
    properties=PROPERTIES,
    axioms=AXIOMS,
    configurations=total_order,
    default_scope={"PodGroup": 3, "Cell": 3},
    verify_scope={"PodGroup": 4},
    refuted=frozenset(
        {
            "allocated-has-cells",
            "allocated-fully",
            "preemption-ongoing",
            "victim-freed-with-the-preemptor",
            "placement-is-what-it-uses",
            "placements-are-disjoint",
            "recovery-from-durable",
            "cell-e1-frees-an-allocated-group",
            "cell-e2-preempts-an-allocated-group",
            "cancelled-only-when-overwritten",
        }
    ),
)

d = variable(Cell, "d")

VICTIMS_CELLS_GO_TOGETHER = Change(
    name="victims-lose-their-cells-one-by-one",
    wrong="A victim loses its cells pod by pod (e9), and a crash makes it Allocated again with those that are left.",
    shown="allocated-fully",
    asks=exists(d, d.user == p),
    why=(
        "A victim keeps all its cells until its last pod is deleted. In the document it loses them one by one. "
        "It can then go back to Allocated (line 29) with fewer cells than it was allocated (line 23), or stay "
        "BeingPreempted with no cell left to preempt (line 25). No durable data says which cells it has left "
        "(line 151)."
    ),
    repairs=[
        "allocated-has-cells",
        "allocated-fully",
        "preemption-ongoing",
        "placement-is-what-it-uses",
        "placements-are-disjoint",
        "recovery-from-durable",
    ],
    drops=["vacate", "e9-vacates-one-pod-at-a-time"],
    adds=[
        replace(delete_preempted, when=delete_preempted.when[:1]),
        Rule("e4 vacates its cells", p.fires("e4"), [c.user == p, c.is_("Reserving")], c.fires("e9"), line=98),
        StepInvariant(
            name="e9-vacates-with-its-group",
            says="a Reserving cell becomes Reserved when the group that uses it is deleted",
            line=247,
            sentence="Condition: the pod on this cell is deleted.",
            over=[c, p],
            given=c.fires("e9") & (c.user == p),
            then=after(p.is_("Deleted")),
        ),
    ],
)

VICTIM_IS_FREED = Change(
    name="no-way-back-to-allocated",
    wrong="A victim whose last preemptor gives up stays Being preempted; only a crash takes it back to Allocated.",
    shown="victim-freed-with-the-preemptor",
    why=(
        "A victim goes back to Allocated when its last preemptor gives up. In the document it stays "
        "BeingPreempted without a preemptor (line 25)."
    ),
    repairs=["preemption-ongoing", "victim-freed-with-the-preemptor"],
    adds=[
        # The document has no line for this arrow; the property of line 25 requires it.
        Row(PodGroup, "e10", "BeingPreempted", "Allocated", line=25),
        Rule(
            "e4 frees the victim",
            c.fires("e4"),
            [
                # the last preemptor gives up: every Reserving cell of the victim comes back ...
                forall(d, implies((d.user == c.user) & d.is_("Reserving"), d.fires("e4"))),
                # ... and the same step begins no new preemption of the victim
                forall(d, implies((d.user == c.user) & d.is_("Used"), ~d.fires("e2"))),
            ],
            c.user.fires("e10"),
            line=25,
        ),
    ],
)

E1_FREES_CELLS_OF_VICTIMS = Change(
    name="e1-forgets-victims",
    wrong="Cell e1 waits for the deletion of an Allocated PG; the deletion of a Being preempted PG frees the cells that it still uses, too.",
    shown="cell-e1-frees-an-allocated-group",
    # Its preemption goes on: the preemptor has the cell of a pod that is gone. The record still names that cell.
    asks=exists(d, p.placement.has(d) & d.is_("Reserved")),
    why="The condition of cell e1 (line 183) overlooks that a Used cell can belong to a group that is BeingPreempted at other cells; lines 98 and 145 are right. This changes the sentence and no behaviour.",
    repairs=[],
    weakens={"cell-e1-frees-an-allocated-group": ["cell-e1-frees-a-deleted-group"]},
    adds=[
        StepInvariant(
            name="cell-e1-frees-a-deleted-group",
            says="a Used cell becomes Free only when the Allocated or BeingPreempted group on it is deleted",
            line=183,
            sentence="Condition: the `Allocated` PG on this is deleted (e3 in PG state machine).",
            over=[c, p],
            given=c.fires("e1") & (c.user == p),
            then=p.is_("Allocated", "BeingPreempted") & after(p.is_("Deleted")),
        ),
    ],
)

E2_RESERVES_CELLS_OF_VICTIMS = Change(
    name="e2-forgets-victims",
    wrong="Cell e2 preempts the Allocated PG on the cell; that PG may be Being preempted already, for another of its cells.",
    why="The condition of cell e2 (line 189) overlooks that a Used cell can belong to a group that is BeingPreempted at other cells; lines 69 and 145 are right. This changes the sentence and no behaviour.",
    repairs=[],
    weakens={"cell-e2-preempts-an-allocated-group": ["cell-e2-preempts-its-user"]},
    adds=[
        StepInvariant(
            name="cell-e2-preempts-its-user",
            says="a Used cell becomes Reserving only with an Allocated or BeingPreempted group, BeingPreempted from then on",
            line=189,
            sentence="Condition: triggered by another PG from `Pending` to `Preempting` (i.e., that PG is preempting the `Allocated` PG currently associated with this cell) (e1 in PG state machine).",
            over=[c, p],
            given=c.fires("e2") & (c.user == p),
            then=p.is_("Allocated", "BeingPreempted") & after(p.is_("BeingPreempted")),
        ),
    ],
)

AN_ALLOCATION_CANCELS = Change(
    name="e5-forgets-allocations",
    wrong="e5 names cell e3 and e6 as what cancels a preemptor; a group that is allocated one of its Reserved cells (e8) cancels it, too.",
    why="The condition of e5 (line 102) overlooks that a group that is allocated a Reserved cell cancels its preemptor; lines 59 and 241 are right. This changes the sentence and no behaviour.",
    repairs=[],
    weakens={"cancelled-only-when-overwritten": ["cancelled-only-when-it-loses-a-cell"]},
    adds=[
        StepInvariant(
            name="cancelled-only-when-it-loses-a-cell",
            says="a preemptor is cancelled only when another group takes one of its cells",
            line=241,
            sentence="For (i): the `Preempting` PG on this cell -> `Pending` (e5 in PG state machine); release the cell and then allocate it to the new `Allocated` PG.",
            over=[q],
            given=q.fires("e5"),
            then=exists(c, (c.reserver == q) & after(c.reserver != q) & OVERWRITTEN),
        ),
    ],
)

CONDITIONS = [E1_FREES_CELLS_OF_VICTIMS, E2_RESERVES_CELLS_OF_VICTIMS, AN_ALLOCATION_CANCELS]

FAIR_TO_THE_GROUP = Change(
    why="Pods of victims are now deleted group by group, so the fairness assumption is about that action.",
    repairs=[],
    adds=[replace(preempting_ends, weak=["delete_preempted", "complete"])],
)

REPAIRED = AS_WRITTEN.amend(
    "repaired",
    "the document with the changes that its properties need",
    [VICTIMS_CELLS_GO_TOGETHER, VICTIM_IS_FREED, *CONDITIONS, FAIR_TO_THE_GROUP],
    refuted=frozenset(),
)
