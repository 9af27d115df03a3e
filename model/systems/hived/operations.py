"""The "Operation" sentences: the state that each event gives to all cells, and groups, that its operation names."""

from schedproof.model.lang import NONE, StepInvariant, after, exists, iff

from .events import OVERWRITTEN, K
from .machines import c, p, q

OPERATIONS = [
    StepInvariant(
        name="allocation-takes-the-decided-cells",
        says="a group that is allocated cells uses exactly the cells that were decided",
        line=55,
        sentence="For all cells allocated to this PG: `Free` -> `Used` (by this PG) (e0 in cell state machine); `Reserved` (by another PG) -> `Used` (by this PG)",
        over=[c],
        on=["allocate"],
        then=iff(K.has(c), after((c.user == p) & c.is_("Used"))),
    ),
    StepInvariant(
        name="allocated-begins-with-cells",
        says="a group that becomes Allocated uses at least one cell",
        line=23,
        sentence="`Allocated`: the PG is fully allocated cells.",
        over=[p],
        given=p.is_("Pending", "Preempting") & after(p.is_("Allocated")),
        then=after(exists(c, (c.user == p) & c.is_("Used"))),
    ),
    StepInvariant(
        name="preemption-takes-the-decided-cells",
        says="a group that begins to preempt reserves exactly the cells that were decided",
        line=67,
        sentence="For all cells currently associated with other PGs: `Used` (by other PGs) -> `Reserving` (by this PG) (e2 in cell state machine); `Reserving`/`Reserved` (by other PGs) -> `Reserving`/`Reserved` (by this PG) (e3/e6 in cell state machine); For free cells: `Free` -> `Reserved` (by this PG)",
        over=[c],
        on=["preempt"],
        then=iff(K.has(c), after(c.reserver == p)),
    ),
    StepInvariant(
        name="deleted-group-frees-its-cells",
        says="all cells that an Allocated group uses become Free when it is deleted",
        line=89,
        sentence="Operation: for all cells of this PG: `Used` (by this PG) -> `Free` (e1 in cell state machine).",
        over=[p, c],
        given=p.is_("Allocated") & after(p.is_("Deleted")) & (c.user == p),
        then=after(c.is_("Free")),
    ),
    StepInvariant(
        name="deleted-victim-frees-its-used-cells",
        says="all cells Used by a BeingPreempted group become Free when it is deleted",
        line=98,
        sentence="all cells `Used` (by this PG) -> `Free` (e1 in cell state machine).",
        over=[p, c],
        given=p.is_("BeingPreempted") & after(p.is_("Deleted")) & c.is_("Used") & (c.user == p),
        then=after(c.is_("Free")),
    ),
    StepInvariant(
        name="cancelled-preemptor-returns-its-reserving-cells",
        says="when a preemptor goes back to Pending, its victims get back all Reserving cells that are not overwritten",
        line=106,
        sentence="All the other `Reserving` cells (by this PG) -> `Used` (by the `Being preempted` PG currently associated with the cell) (e4 in cell state machine);",
        over=[c, p, q],
        given=c.is_("Reserving") & (c.reserver == q) & (c.user == p) & after(q.is_("Pending")) & ~OVERWRITTEN,
        then=after(c.is_("Used") & (c.user == p) & (c.reserver == NONE)),
    ),
    StepInvariant(
        name="cancelled-preemptor-frees-its-reserved-cells",
        says="when a preemptor goes back to Pending, all its Reserved cells that are not overwritten become Free",
        line=108,
        sentence="All the other `Reserved` cells (by this PG) -> `Free` (e7 in cell state machine).",
        over=[c, q],
        given=c.is_("Reserved") & (c.reserver == q) & after(q.is_("Pending")) & ~OVERWRITTEN,
        then=after(c.is_("Free")),
    ),
    StepInvariant(
        name="deleted-preemptor-returns-its-reserving-cells",
        says="when a preemptor is deleted, its victims get back all its Reserving cells",
        line=123,
        sentence="All the `Reserving` cells (by this PG) -> `Used` (by the `Being preempted` PG currently associated with the cell) (e4 in cell state machine).",
        over=[c, p, q],
        given=c.is_("Reserving") & (c.reserver == q) & (c.user == p) & after(q.is_("Deleted")),
        then=after(c.is_("Used") & (c.user == p) & (c.reserver == NONE)),
    ),
    StepInvariant(
        name="deleted-preemptor-frees-its-reserved-cells",
        says="when a preemptor is deleted, all its Reserved cells become Free",
        line=125,
        sentence="All the `Reserved` cells (by this PG) -> `Free` (e7 in cell state machine);",
        over=[c, q],
        given=c.is_("Reserved") & (c.reserver == q) & after(q.is_("Deleted")),
        then=after(c.is_("Free")),
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
]
