"""Properties of crashes: the notes below the two sections "States"."""

from schedproof.model.lang import Invariant, Recovery, Restored, StepInvariant, after, exists, forall, iff, implies

from .machines import c, p, q

CRASHES = [
    StepInvariant(
        name="crash-leaves-recovery-points",
        says="after a crash every group is Pending, Allocated or Deleted",
        line=29,
        sentence="Note that only ``Pending``, `Allocated`, and `Deleted` are persistent, thus they are the recovery points of HiveD.",
        over=[p],
        on=["crash"],
        then=after(p.is_("Pending", "Allocated", "Deleted")),
    ),
    StepInvariant(
        name="crash-keeps-recovery-points",
        says="a crash changes no group that is Pending, Allocated or Deleted",
        line=29,
        sentence="Note that only ``Pending``, `Allocated`, and `Deleted` are persistent, thus they are the recovery points of HiveD.",
        over=[p],
        on=["crash"],
        then=(
            implies(p.is_("Pending"), after(p.is_("Pending")))
            & implies(p.is_("Allocated"), after(p.is_("Allocated")))
            & implies(p.is_("Deleted"), after(p.is_("Deleted")))
        ),
    ),
    StepInvariant(
        name="crash-is-of-all",
        says="ec is the crash of the whole scheduler: after it no group and no cell is in a volatile state",
        line=45,
        sentence="Condition: scheduler crashes and restarts.",
        over=[],
        given=exists(p, p.fires("ec")) | exists(c, c.fires("ec")),
        then=after(forall(p, p.is_("Pending", "Allocated", "Deleted")) & forall(c, c.is_("Free", "Used"))),
    ),
    StepInvariant(
        name="crash-undoes-preemption",
        says="after a crash the victim is Allocated, the preemptor Pending, and the cell Used by the victim",
        line=29,
        sentence="While the other PG states (`Preempting`, `Being preempted`) are volatile, so they will transition to others after scheduler crash and restart (i.e., ec in the state machine).",
        over=[p, q, c],
        on=["crash"],
        given=c.is_("Reserving") & (c.user == p) & (c.reserver == q),
        then=after(p.is_("Allocated") & q.is_("Pending") & c.is_("Used") & (c.user == p)),
    ),
    StepInvariant(
        name="crash-leaves-free-and-used",
        says="after a crash every cell is Free or Used: the other cell states are volatile",
        line=151,
        sentence="Note that all states are volatile; the `Free` and `Used` states are derived from the PG state machine.",
        over=[c],
        on=["crash"],
        then=after(c.is_("Free", "Used")),
    ),
    Invariant(
        name="record-follows-state",
        says="a group's durable record says submitted, bound or deleted exactly as its state's recovery point",
        line=29,
        sentence="Note that only ``Pending``, `Allocated`, and `Deleted` are persistent, thus they are the recovery points of HiveD.",
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
        sentence="Note that all states are volatile; the `Free` and `Used` states are derived from the PG state machine.",
        over=[p, c],
        then=iff(p.placement.has(c), c.user == p),
    ),
    Invariant(
        name="only-allocated-groups-record-cells",
        says="no cell is on record for a group that is not allocated yet, or is Deleted",
        line=31,
        sentence="Also note that `Allocated` state includes updating pod annotation (pod binding) and pod running.",
        over=[p, c],
        given=p.is_("Pending", "Preempting", "Deleted"),
        then=~p.placement.has(c),
    ),
    Invariant(
        name="placements-are-disjoint",
        says="only one group is associated with a cell on record as Used: no cell is on record for two groups",
        line=145,
        sentence="`Used`: only an `Allocated` or a `Being preempted` PG is associated with the cell.",
        over=[p, q, c],
        given=(p != q) & p.placement.has(c),
        then=~q.placement.has(c),
    ),
    Recovery(
        name="recovery-from-durable",
        says="the state after a crash can be computed from the durable records alone",
        line=151,
        sentence="Note that all states are volatile; the `Free` and `Used` states are derived from the PG state machine.",
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
