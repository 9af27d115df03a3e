"""The cell allocation algorithm, which chooses the cells for a group: a function that the caller may replace.

The document leaves it open. It only assumes that the group outranks each holder of a chosen cell.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from .memory import CellRecord, GroupRecord, Memory

CellChoice = Callable[[Memory, GroupRecord], Collection[str]]
"""Returns the cells for a waiting group, or no cells if the group should keep waiting."""


def fewest_victims(memory: Memory, group: GroupRecord) -> Collection[str]:
    """Chooses one cell for each live pod: Free ones first, then those whose holder has the lowest priority.

    Returns:
        The names of the cells; none if too few cells are free or held by outranked groups.
    """
    priority = {g.spec.name: g.spec.priority for g in memory.groups}

    def cost(cell: CellRecord) -> tuple[int, int, str]:
        waits = cell.state in ("Used", "Reserving")
        return (2 if waits else 1, priority[cell.holder], cell.name) if cell.holder is not None else (0, 0, cell.name)

    within_reach = [c for c in memory.cells if c.holder is None or priority[c.holder] < group.spec.priority]
    needed = len(group.live)
    return [c.name for c in sorted(within_reach, key=cost)[:needed]] if len(within_reach) >= needed else []
