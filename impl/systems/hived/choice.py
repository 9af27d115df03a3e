"""Which cells a group should get: the cell allocation algorithm, as a function to plug in.

The document leaves it open, and only assumes that whoever holds a chosen cell is outranked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from .memory import CellRecord, GroupRecord, Memory

CellChoice = Callable[[Memory, GroupRecord], Collection[str]]
"""Names the cells for a group that is waiting; none of them when the group should wait on."""


def fewest_victims(memory: Memory, group: GroupRecord) -> Collection[str]:
    """One cell for each live pod: Free ones first, then those whose holder has the lowest priority.

    Names no cells when there are not enough that are free or held by outranked groups.
    """
    priority = {g.spec.name: g.spec.priority for g in memory.groups}

    def cost(cell: CellRecord) -> tuple[int, int, str]:
        waits = cell.state in ("Used", "Reserving")
        return (2 if waits else 1, priority[cell.holder], cell.name) if cell.holder is not None else (0, 0, cell.name)

    within_reach = [c for c in memory.cells if c.holder is None or priority[c.holder] < group.spec.priority]
    wanted = len(group.live)
    return [c.name for c in sorted(within_reach, key=cost)[:wanted]] if len(within_reach) >= wanted else []
