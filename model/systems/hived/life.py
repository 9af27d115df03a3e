"""Liveness and reachability properties: the sections "Common life cycles", and the states that must stay reachable."""

from schedproof.model.lang import AlwaysCanReach, DeadlockFree, LeadsTo, LifeCycle, forall

from .machines import Cell, PodGroup, c, p

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
    sentence="`Preempting`: the PG has reserved cells but is waiting for the completion of preemptions of other PGs.",
    over=[p],
    given=p.is_("Preempting"),
    goal=~p.is_("Preempting"),
    weak=["vacate", "complete"],
)

PROGRESS = [
    DeadlockFree(
        name="something-can-happen-until-all-is-deleted",
        says="something but a crash can happen as long as a group is not Deleted",
        line=27,
        sentence="`Deleted`: the PG is fully deleted and all of its cells are released.",
        ended=forall(p, p.is_("Deleted")),
        without=["crash"],
    ),
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
        sentence="`Deleted`: the PG is fully deleted and all of its cells are released.",
        over=[],
        goal=forall(c, c.is_("Free")),
    ),
    preempting_ends,
]
