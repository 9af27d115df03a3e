"""The "Condition" sentences: which event occurs only together with which other event, and of which objects."""

from schedproof.model.lang import ByConstruction, Model, StepInvariant, after, exists, implies
from schedproof.model.lang.triggers import trigger_graph

from .machines import PodGroup, c, p, q


def groups_meet_only_at_cells(model: Model) -> bool:
    """No edge of the trigger graph leads from one event of a pod group to another."""
    return not any(a[0] == b[0] == PodGroup.name for a, b, _ in trigger_graph(model).edges())


CONDITIONS = [
    ByConstruction(
        name="groups-meet-only-at-cells",
        says="one group's event reaches another group only through a cell",
        line=10,
        sentence="In our design, PGs influence each other only via their overlapping cells: for example, an event sent to an PG may trigger an event sent to a cell, and that cell may further trigger another event sent to another PG which is currently associated with the cell.",
        because="no rule leads from an event of a pod group to an event of a pod group",
        checked="on the trigger graph of the model",
        holds=groups_meet_only_at_cells,
    ),
    StepInvariant(
        name="overwritten-by-the-outranking",
        says="a reservation passes only to a group that outranks the one it is taken from",
        line=51,
        sentence="Condition: all cells that the cell allocation algorithm decides to allocate to the PG are in `Free` or `Reserved` states (we assume the cell allocation algorithm has ensured that for every `Reserved` cell this PG's priority is higher than that of the PG currently associated with the cell, e.g., a `Preempting` PG).",
        over=[c, p, q],
        given=(c.reserver == p)
        & after(((c.reserver == q) | (c.user == q)) & ~(c.user == p))
        & (c.user != q)
        & (p != q),
        then=q.outranks.has(p),
    ),
    StepInvariant(
        name="preempting-ends-when-complete",
        says="a Preempting group becomes Allocated only when no preemption is still to be completed",
        line=79,
        sentence="Condition: all the cells that the cell allocation algorithm decided to allocate to this PG are `Reserved`.",
        over=[p, c],
        given=p.is_("Preempting") & after(p.is_("Allocated")),
        then=implies(c.reserver == p, c.is_("Reserved") & after((c.user == p) & c.is_("Used"))),
    ),
    StepInvariant(
        name="cancelled-only-when-overwritten",
        says="a preemptor is cancelled only when another preemptor overwrites one of its cells",
        line=102,
        sentence="Condition: a `Reserving` or `Reserved` cell in this PG is being overwritten by another PG (e3 or e6 in cell state machine).",
        over=[q],
        given=q.fires("e5"),
        then=exists(c, (c.reserver == q) & after(c.reserver != q) & (c.fires("e3") | c.fires("e6"))),
    ),
    StepInvariant(
        name="preempted-only-at-its-cells",
        says="a group becomes BeingPreempted only when a cell that it uses becomes Reserving",
        line=113,
        sentence="Condition: a cell allocated to this PG from `Used` (by this PG) to `Reserving` (by another PG) (e2 in cell state machine)",
        over=[p],
        given=p.is_("Allocated") & after(p.is_("BeingPreempted")),
        then=exists(c, (c.user == p) & c.is_("Used") & after(c.is_("Reserving"))),
    ),
    StepInvariant(
        name="free-cell-used-only-at-allocation",
        says="a Free cell becomes Used only by a group that goes from Pending to Allocated",
        line=177,
        sentence="Condition: triggered by PG from `Pending` to `Allocated` (e0 in PG state machine).",
        over=[c, p],
        given=c.is_("Free") & after(c.is_("Used") & (c.user == p)),
        then=p.is_("Pending") & after(p.is_("Allocated")),
    ),
    StepInvariant(
        name="freed-with-its-group",
        says="a Used cell becomes Free only when the group that uses it is deleted",
        line=183,
        sentence="Condition: the `Allocated` PG on this is deleted (e3 in PG state machine).",
        over=[c, p],
        given=c.is_("Used") & (c.user == p) & after(c.is_("Free")),
        then=after(p.is_("Deleted")),
    ),
    StepInvariant(
        name="cell-e1-frees-an-allocated-group",
        says="a Used cell becomes Free only when the Allocated group on it is deleted",
        line=183,
        sentence="Condition: the `Allocated` PG on this is deleted (e3 in PG state machine).",
        over=[c, p],
        given=c.fires("e1") & (c.user == p),
        then=p.is_("Allocated") & after(p.is_("Deleted")),
    ),
    StepInvariant(
        name="cell-e2-preempts-an-allocated-group",
        says="a Used cell becomes Reserving only when the group on it is Allocated",
        line=189,
        sentence="Condition: triggered by another PG from `Pending` to `Preempting` (i.e., that PG is preempting the `Allocated` PG currently associated with this cell) (e1 in PG state machine).",
        over=[c, p],
        given=c.fires("e2") & (c.user == p),
        then=p.is_("Allocated"),
    ),
    StepInvariant(
        name="new-preemptor-keeps-the-victim",
        says="a group that takes over a Reserving cell continues to preempt the same victim",
        line=199,
        sentence="Condition: triggered by another PG from `Pending` to `Preempting` (i.e., that PG cancels the preemption of the `Preempting` PG currently associated with this cell, and continues to preempt the `Being preempted` PG associated with this cell) (e1 in PG state machine).",
        over=[c, p],
        given=c.is_("Reserving") & (c.user == p) & c.fires("e3"),
        then=after(c.is_("Reserving") & (c.user == p) & p.is_("BeingPreempted")),
    ),
    StepInvariant(
        name="returned-only-when-the-preemptor-gives-up",
        says="a Reserving cell becomes Used again only when its preemptor becomes Pending or Deleted",
        line=209,
        sentence="Condition: triggered by the `Preempting` PG currently associated with this cell to `Pending` (e5 in PG state machine) or to `Deleted` (e7 in PG state machine).",
        over=[c, q],
        given=c.is_("Reserving") & (c.reserver == q) & after(c.is_("Used")),
        then=q.is_("Preempting") & after(q.is_("Pending", "Deleted")),
    ),
    StepInvariant(
        name="reserved-only-by-a-new-preemptor",
        says="a cell is reserved only for a group that goes from Pending to Preempting",
        line=215,
        sentence="Condition: triggered by PG from `Pending` to `Preempting` (e1 in PG state machine).",
        over=[c, q],
        given=(c.reserver != q) & after(c.reserver == q),
        then=q.is_("Pending") & after(q.is_("Preempting")),
    ),
    StepInvariant(
        name="unreserved-only-when-the-preemptor-gives-up",
        says="a Reserved cell becomes Free only when its preemptor becomes Pending or Deleted",
        line=231,
        sentence="Condition: triggered by the `Preempting` PG currently associated with this cell to `Pending` (e5 in PG state machine) or to `Deleted` (e7 in PG state machine).",
        over=[c, q],
        given=c.is_("Reserved") & (c.reserver == q) & after(c.is_("Free")),
        then=q.is_("Preempting") & after(q.is_("Pending", "Deleted")),
    ),
    StepInvariant(
        name="reserved-cell-used-only-at-allocation",
        says="a Reserved cell becomes Used only by a group that becomes Allocated: another's, from Pending, or its preemptor",
        line=237,
        sentence="Condition: triggered by (i) there is currently a `Preempting` PG on this cell but another `Allocated` PG is now associated with the cell (e0 in PG state machine); OR (ii) the `Preempting` PG currently associated with this cell transitions to `Allocated` (e2 in PG state machine).",
        over=[c, p],
        given=c.is_("Reserved") & after(c.is_("Used") & (c.user == p)),
        then=(p.is_("Pending") | (p.is_("Preempting") & (c.reserver == p))) & after(p.is_("Allocated")),
    ),
    StepInvariant(
        name="e9-vacates-one-pod-at-a-time",
        says="a Reserving cell becomes Reserved when the pod on it is deleted, while its group is still being preempted",
        line=247,
        sentence="Condition: the pod on this cell is deleted.",
        over=[c, p],
        given=c.fires("e9") & (c.user == p),
        then=after(p.is_("BeingPreempted")),
    ),
]
