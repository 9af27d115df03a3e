"""Groups and requests that the tests of the reference scheduler share."""

from __future__ import annotations

from collections.abc import Sequence

from schedproof.impl.systems.hived import CellChoice, GroupSpec, PodStore, Scheduler

LOW, MIDDLE, HIGH = (GroupSpec(name, rank, ("a", "b")) for rank, name in enumerate(("low", "middle", "high")))
OTHER_LOW = GroupSpec("low", 7, ("a", "b"))
"""The group low, described differently."""

CELLS = ("c0", "c1", "c2")


def on(*cells: str) -> CellChoice:
    """The choice of exactly these cells."""
    return lambda memory, group: cells


def started(store: PodStore, cells: Sequence[str] = CELLS) -> Scheduler:
    scheduler = Scheduler(store, cells)
    scheduler.recover()
    return scheduler


def submit(scheduler: Scheduler, *specs: GroupSpec) -> None:
    for spec in specs:
        for pod in spec.pods:
            scheduler.submit(spec, pod)


def states(scheduler: Scheduler) -> dict[str, str]:
    """All groups and cells with their states and, for cells, the user and the reserver."""
    groups = {g.spec.name: g.state for g in scheduler.memory.groups}
    return groups | {c.name: " ".join(filter(None, (c.state, c.user, c.reserver))) for c in scheduler.memory.cells}
