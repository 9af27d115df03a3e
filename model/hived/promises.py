"""Every sentence of the document that promises something, as a property.

The names are stable: scripts use them.
"""

from ..lang import (
    NONE,
    AlwaysCanReach,
    ByConstruction,
    Invariant,
    LeadsTo,
    LifeCycle,
    Recovery,
    Restored,
    StepInvariant,
    after,
    exists,
    forall,
    iff,
    implies,
)
from .events import K
from .machines import Cell, PodGroup, c, p, q

HOLDS_CELL = (c.user == p) | (c.reserver == p)

GROUP_STATES = [
    Invariant(
        name="pending-holds-nothing",
        says="a Pending group is waiting: no cell is associated with it",
        line=19,
        sentence="`Pending`: the PG is waiting to be scheduled.",
        over=[p, c],
        given=p.is_("Pending"),
        then=~HOLDS_CELL,
    ),
    Invariant(
        name="preempting-has-cells",
        says="a Preempting group has reserved at least one cell",
        line=21,
        sentence="`Preempting`: the PG has reserved cells ...",
        over=[p],
        given=p.is_("Preempting"),
        then=exists(c, c.reserver == p),
    ),
    Invariant(
        name="preempting-uses-nothing",
        says="a Preempting group uses no cell yet",
        line=21,
        sentence="`Preempting`: the PG has reserved cells but is waiting ...",
        over=[p, c],
        given=p.is_("Preempting"),
        then=c.user != p,
    ),
    StepInvariant(
        name="preempting-begins-with-a-victim",
        says="a group that becomes Preempting has a preemption to wait for",
        line=21,
        sentence="`Preempting`: the PG ... is waiting for the completion of preemptions of other PGs.",
        over=[p],
        given=p.is_("Pending") & after(p.is_("Preempting")),
        then=after(exists(c, c.is_("Reserving") & (c.reserver == p))),
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
    Invariant(
        name="allocated-has-cells",
        says="an Allocated group uses at least one cell",
        line=23,
        sentence="`Allocated`: the PG is fully allocated cells.",
        over=[p],
        given=p.is_("Allocated"),
        then=exists(c, (c.user == p) & c.is_("Used")),
    ),
    Invariant(
        name="allocated-fully",
        says="an Allocated group uses every cell that it was allocated, alone",
        line=23,
        sentence="`Allocated`: the PG is fully allocated cells.",
        over=[p, c],
        given=p.is_("Allocated"),
        then=implies(p.placement.has(c), c.is_("Used") & (c.user == p) & (c.reserver == NONE)),
    ),
    Invariant(
        name="allocated-is-not-preempted",
        says="no cell of an Allocated group is reserved for another",
        line=25,
        sentence="`Being preempted`: the PG is being preempted by other PGs via their overlapping cells ...",
        over=[p, c],
        given=p.is_("Allocated"),
        then=implies(c.user == p, c.is_("Used")),
    ),
    Invariant(
        name="preemption-ongoing",
        says="a BeingPreempted group has a cell that is reserved for its preemptor",
        line=25,
        sentence="`Being preempted`: the PG is being preempted by other PGs via their overlapping cells (the preemption is still ongoing).",
        over=[p],
        given=p.is_("BeingPreempted"),
        then=exists(c, c.is_("Reserving") & (c.user == p)),
    ),
    StepInvariant(
        name="victim-freed-with-the-preemptor",
        says="when a preemptor gives a cell back, its victim is Allocated again unless another still preempts it",
        line=25,
        sentence="`Being preempted`: ... (the preemption is still ongoing).",
        over=[c, p],
        given=c.is_("Reserving") & (c.user == p) & after(c.is_("Used") & (c.user == p)),
        then=after(p.is_("Allocated") | exists(c, c.is_("Reserving") & (c.user == p))),
    ),
    Invariant(
        name="deleted-holds-nothing",
        says="all cells of a Deleted group are released",
        line=27,
        sentence="`Deleted`: the PG is fully deleted and all of its cells are released.",
        over=[p, c],
        given=p.is_("Deleted"),
        then=~HOLDS_CELL,
    ),
    StepInvariant(
        name="deleted-is-final",
        says="a Deleted group stays Deleted",
        line=27,
        sentence="`Deleted`: the PG is fully deleted ...",
        over=[p],
        given=p.is_("Deleted"),
        then=after(p.is_("Deleted")),
    ),
]

CRASHES = [
    StepInvariant(
        name="crash-leaves-recovery-points",
        says="after a crash every group is Pending, Allocated or Deleted",
        line=29,
        sentence="Note that only Pending, Allocated, and Deleted are persistent, thus they are the recovery points of HiveD.",
        over=[p],
        on=["crash"],
        then=after(p.is_("Pending", "Allocated", "Deleted")),
    ),
    StepInvariant(
        name="crash-keeps-recovery-points",
        says="a crash changes no group that is Pending, Allocated or Deleted",
        line=29,
        sentence="Note that only Pending, Allocated, and Deleted are persistent ...",
        over=[p],
        on=["crash"],
        then=(
            implies(p.is_("Pending"), after(p.is_("Pending")))
            & implies(p.is_("Allocated"), after(p.is_("Allocated")))
            & implies(p.is_("Deleted"), after(p.is_("Deleted")))
        ),
    ),
    StepInvariant(
        name="crash-undoes-preemption",
        says="after a crash the victim is Allocated, the preemptor Pending, and the cell Used by the victim",
        line=29,
        sentence="While the other PG states (Preempting, Being preempted) are volatile ... (i.e., ec in the state machine).",
        over=[p, q, c],
        on=["crash"],
        given=c.is_("Reserving") & (c.user == p) & (c.reserver == q),
        then=after(p.is_("Allocated") & q.is_("Pending") & c.is_("Used") & (c.user == p)),
    ),
    StepInvariant(
        name="crash-leaves-free-and-used",
        says="after a crash every cell is Free or Used: the other cell states are volatile",
        line=151,
        sentence="Note that all states are volatile; the Free and Used states are derived from the PG state machine.",
        over=[c],
        on=["crash"],
        then=after(c.is_("Free", "Used")),
    ),
    Invariant(
        name="record-follows-state",
        says="a group's durable record says submitted, bound or deleted exactly as its state's recovery point",
        line=29,
        sentence="Note that only Pending, Allocated, and Deleted are persistent, thus they are the recovery points of HiveD.",
        over=[p],
        then=(
            iff(p.record == "submitted", p.is_("Pending", "Preempting"))
            & iff(p.record == "bound", p.is_("Allocated", "BeingPreempted"))
            & iff(p.record == "deleted", p.is_("Deleted"))
        ),
    ),
    Invariant(
        name="placement-is-what-it-uses",
        says="the placement on record is exactly the cells that the group uses",
        line=151,
        sentence="... the Free and Used states are derived from the PG state machine.",
        over=[p, c],
        then=iff(p.placement.has(c), c.user == p),
    ),
    Invariant(
        name="placements-are-disjoint",
        says="no cell is on record for two groups",
        line=31,
        sentence="Also note that `Allocated` state includes updating pod annotation (pod binding) and pod running.",
        over=[p, q, c],
        given=(p != q) & p.placement.has(c),
        then=~q.placement.has(c),
    ),
    Recovery(
        name="recovery-from-durable",
        says="the state after a crash can be computed from the durable records alone",
        line=151,
        sentence="Note that all states are volatile; the Free and Used states are derived from the PG state machine.",
        restores=[
            Restored([p], p.is_("Pending"), p.record == "submitted"),
            Restored([p], p.is_("Allocated"), p.record == "bound"),
            Restored([p], p.is_("Deleted"), p.record == "deleted"),
            Restored([c], c.is_("Used"), exists(p, p.placement.has(c))),
            Restored([c], c.is_("Free"), ~exists(p, p.placement.has(c))),
            Restored([c, p], c.user == p, p.placement.has(c)),
        ],
    ),
]

CELL_STATES = [
    Invariant(
        name="free-cell",
        says="no group is associated with a Free cell",
        line=143,
        sentence="`Free`: no PG is associated with this cell.",
        over=[c],
        given=c.is_("Free"),
        then=(c.user == NONE) & (c.reserver == NONE),
    ),
    Invariant(
        name="used-cell",
        says="exactly an Allocated or BeingPreempted group is associated with a Used cell",
        line=145,
        sentence="`Used`: only an `Allocated` or a `Being preempted` PG is associated with the cell.",
        over=[c],
        given=c.is_("Used"),
        then=(c.reserver == NONE) & (c.user != NONE) & exists(p, (c.user == p) & p.is_("Allocated", "BeingPreempted")),
    ),
    Invariant(
        name="reserved-cell",
        says="exactly a Preempting group is associated with a Reserved cell",
        line=147,
        sentence="`Reserved`: only a `Preempting` PG is associated with the cell.",
        over=[c],
        given=c.is_("Reserved"),
        then=(c.user == NONE) & exists(p, (c.reserver == p) & p.is_("Preempting")),
    ),
    Invariant(
        name="reserving-cell",
        says="a Reserving cell has exactly one Preempting and one BeingPreempted group",
        line=149,
        sentence="`Reserving`: a `Preempting` and a `Being preempted` PG are associated with the cell.",
        over=[c],
        given=c.is_("Reserving"),
        then=exists(p, (c.reserver == p) & p.is_("Preempting")) & exists(p, (c.user == p) & p.is_("BeingPreempted")),
    ),
    Invariant(
        name="preemptor-outranks-victim",
        says="the group that a Reserving cell is reserved for outranks the group that uses it",
        line=63,
        sentence="... for every `Used` or `Reserving` cell this PG's priority is higher than that of the PG currently associated with the cell",
        over=[c, p, q],
        given=c.is_("Reserving") & (c.user == p) & (c.reserver == q),
        then=q.outranks.has(p),
    ),
    StepInvariant(
        name="overwritten-by-the-outranking",
        says="a reservation passes only to a group that outranks the one it is taken from",
        line=51,
        sentence="... for every `Reserved` cell this PG's priority is higher than that of the PG currently associated with the cell",
        over=[c, p, q],
        given=(c.reserver == p)
        & after(((c.reserver == q) | (c.user == q)) & ~(c.user == p))
        & (c.user != q)
        & (p != q),
        then=q.outranks.has(p),
    ),
    ByConstruction(
        name="one-user-per-cell",
        says="no cell is used by two groups",
        line=145,
        sentence="`Used`: only an `Allocated` or a `Being preempted` PG is associated with the cell.",
        because="a cell has one reference to its user, so no state of the model can hold two",
        checked="in the reference scheduler: the placements in durable rows and in its group records are disjoint and agree with the cells",
    ),
    ByConstruction(
        name="groups-meet-only-at-cells",
        says="one group's event reaches another group only through a cell",
        line=10,
        sentence="In our design, PGs influence each other only via their overlapping cells ...",
        because="no rule leads from an event of a pod group to an event of a pod group",
        checked="on the trigger graph of the model, by a test",
    ),
]

TRIGGERS = [
    StepInvariant(
        name="allocation-takes-the-decided-cells",
        says="a group that is allocated cells uses exactly the cells that were decided",
        line=55,
        sentence="For all cells allocated to this PG: `Free` -> `Used` (by this PG) ...; `Reserved` (by another PG) -> `Used` (by this PG)",
        over=[c],
        on=["allocate"],
        then=iff(K.has(c), after((c.user == p) & c.is_("Used"))),
    ),
    StepInvariant(
        name="preemption-takes-the-decided-cells",
        says="a group that begins to preempt reserves exactly the cells that were decided",
        line=67,
        sentence="For all cells currently associated with other PGs: ... -> `Reserving`/`Reserved` (by this PG) ... For free cells: `Free` -> `Reserved` (by this PG)",
        over=[c],
        on=["preempt"],
        then=iff(K.has(c), after(c.reserver == p)),
    ),
    StepInvariant(
        name="overwritten-preemptor-is-pending",
        says="a group whose reservation passes to another goes back to Pending",
        line=203,
        sentence="The original `Preempting` PG on this cell -> `Pending` (e5 in PG state machine)",
        over=[c, p, q],
        given=(c.reserver == p) & (p != q) & (c.user != q) & after((c.reserver == q) | (c.user == q)),
        then=after(p.is_("Pending")),
    ),
    StepInvariant(
        name="cell-e1-frees-an-allocated-group",
        says="a Used cell becomes Free only when the Allocated group on it is deleted",
        line=183,
        sentence="Condition: the `Allocated` PG on this is deleted (e3 in PG state machine).",
        over=[c, p],
        given=c.fires("e1") & (c.user == p),
        then=p.is_("Allocated"),
    ),
    StepInvariant(
        name="cell-e2-preempts-an-allocated-group",
        says="a Used cell becomes Reserving only when the group on it is Allocated",
        line=189,
        sentence="... that PG is preempting the `Allocated` PG currently associated with this cell",
        over=[c, p],
        given=c.fires("e2") & (c.user == p),
        then=p.is_("Allocated"),
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

LIFE_CYCLES = [
    LifeCycle(
        name="group-life-without-preemption",
        says="a group can live Pending, Allocated, Deleted",
        line=36,
        sentence="`Pending` -> `Allocated` -> `Deleted`",
        sort=PodGroup,
        states=["Pending", "Allocated", "Deleted"],
    ),
    LifeCycle(
        name="group-life-with-preemption",
        says="a group can live Pending, Preempting, Allocated, BeingPreempted, Deleted",
        line=39,
        sentence="`Pending` -> `Preempting` -> `Allocated` -> `Being preempted` -> `Deleted`",
        sort=PodGroup,
        states=["Pending", "Preempting", "Allocated", "BeingPreempted", "Deleted"],
    ),
    LifeCycle(
        name="cell-life-without-preemption",
        says="a cell can go Free, Used, Free",
        line=158,
        sentence="`Free` -> `Used` -> `Free`",
        sort=Cell,
        states=["Free", "Used", "Free"],
    ),
    LifeCycle(
        name="cell-life-with-preemption",
        says="a cell can go Free, Used, Reserving, Reserved, Used, Free",
        line=161,
        sentence="`Free` -> `Used` -> `Reserving` -> `Reserved` -> `Used` -> `Free`",
        sort=Cell,
        states=["Free", "Used", "Reserving", "Reserved", "Used", "Free"],
    ),
]

preempting_ends = LeadsTo(
    name="preempting-ends",
    says="a Preempting group does not wait for ever, if victims' pods go and complete preemptions are acted on",
    line=21,
    sentence="`Preempting`: the PG ... is waiting for the completion of preemptions of other PGs.",
    over=[p],
    given=p.is_("Preempting"),
    goal=~p.is_("Preempting"),
    weak=["vacate", "complete"],
)

PROGRESS = [
    AlwaysCanReach(
        name="group-can-always-be-deleted",
        says="every group can still be deleted",
        line=27,
        sentence="`Deleted`: the PG is fully deleted and all of its cells are released.",
        over=[p],
        goal=p.is_("Deleted"),
    ),
    AlwaysCanReach(
        name="pending-can-be-allocated",
        says="every Pending group can still be Allocated",
        line=19,
        sentence="`Pending`: the PG is waiting to be scheduled.",
        over=[p],
        given=p.is_("Pending"),
        goal=p.is_("Allocated"),
    ),
    AlwaysCanReach(
        name="cells-can-always-be-free",
        says="all cells can always become Free together",
        line=27,
        sentence="... all of its cells are released.",
        over=[],
        goal=forall(c, c.is_("Free")),
    ),
    preempting_ends,
]

PROMISES = [*GROUP_STATES, *CRASHES, *CELL_STATES, *TRIGGERS, *LIFE_CYCLES, *PROGRESS]
