"""Maps worlds that differ only in their numbers to one world, so that an exploration recognises a visited state.

Numbers distinguish applications, asks and stays, and old ones from new. A long-running core counts ever higher, while
it comes back to the same configurations.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from .events import Wakeup, armed
from .records import Application, World


def canonical(world: World, under_way: Iterable[Wakeup] = ()) -> tuple[World, frozenset[Wakeup]]:
    """Returns the world with its numbers replaced by 1, 2, ... in their order, and the wakeups renumbered to match.

    Args:
        world: the records; their times do not count in comparisons.
        under_way: wakeups that have run out and are not delivered. One of a past stay gets the serial 0; one of a
            deleted application gets the application 0.
    """
    records = (*world.applications, *world.tracked)
    used = {a.serial for a in records} | {a.serial for a in world.asks}
    used |= {n for a in records for n in (a.state_timer, a.gang_timer) if n is not None}
    new = {number: i for i, number in enumerate(sorted(used), start=1)}
    now = set(armed(world))

    def timer(number: int | None) -> int | None:
        return None if number is None else new[number]

    # Copies only records whose numbers change: explorations call this for every world, and most records keep theirs.
    def renumbered(it: Application) -> Application:
        numbers = new[it.serial], timer(it.state_timer), timer(it.gang_timer)
        if numbers == (it.serial, it.state_timer, it.gang_timer):
            return it
        return replace(it, serial=numbers[0], state_timer=numbers[1], gang_timer=numbers[2])

    def fitting(it: Wakeup) -> Wakeup:
        return Wakeup(it.kind, new.get(it.application, 0), new.get(it.serial, 0) if it in now else 0)

    canonical_world = World(
        rm=world.rm,
        partitions=world.partitions,
        queues=world.queues,
        nodes=world.nodes,
        applications=tuple(renumbered(a) for a in world.applications),
        tracked=tuple(renumbered(a) for a in world.tracked),
        asks=tuple(a if a.serial == new[a.serial] else replace(a, serial=new[a.serial]) for a in world.asks),
        allocations=world.allocations,
        serial=len(used),
    )
    return canonical_world, frozenset(fitting(it) for it in under_way)
