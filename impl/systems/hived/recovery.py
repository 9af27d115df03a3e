"""Recovery: the groups that the durable rows describe after a crash.

The pods' rows alone decide (document, line 29):

- A group all of whose pods are deleted is Deleted.
- A group with a bound pod is Allocated the placement in that pod's row. The crash may have come before its other pods
  were bound.
- Any other group is Pending.

Preemptions are lost: neither victims nor preemptors are recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from schedproof.impl.errors import SchedulerError

from .memory import cells_of
from .store import GroupSpec, Placement, PodRow, PodStatus


class Unrecoverable(SchedulerError):
    """Raised when durable rows contradict each other, so that no state can be recovered from them."""


@dataclass(frozen=True)
class RecoveredGroup:
    """A group as its rows describe it.

    Attributes:
        pods: the status of each pod, None if it was not submitted.
        placement: the cells of the bound pods, None if no pod is bound.
        unfinished: the rows that must still be written to finish the binding.
    """

    spec: GroupSpec
    pods: tuple[PodStatus | None, ...]
    placement: Placement | None
    unfinished: tuple[PodRow, ...]


def recovered_groups(rows: Sequence[PodRow], cells: Iterable[str]) -> list[RecoveredGroup]:
    """Returns the groups that ``rows`` describe, ordered by name.

    Raises:
        Unrecoverable: rows contradict each other, or name unknown cells.
    """
    ordered = sorted(rows, key=lambda r: r.group)
    groups = [_group(list(of_group)) for _, of_group in groupby(ordered, key=lambda r: r.group)]
    known, held = frozenset(cells), dict[str, str]()
    for group in groups:
        for pod, held_by_pod in group.placement or ():
            for cell in held_by_pod:
                at = f"pod {group.spec.name}/{pod}"
                if cell not in known:
                    raise Unrecoverable(f"{at} is placed on the unknown cell {cell!r}; start with the cells of before")
                if cell in held:
                    raise Unrecoverable(f"{at} is placed on cell {cell!r}, which {held[cell]} has; correct the rows")
                held[cell] = at
    return groups


def _group(rows: list[PodRow]) -> RecoveredGroup:
    spec = rows[0].spec
    by_pod = {row.pod: row for row in rows}
    for row in rows:
        if row.spec != spec or row.pod not in spec.pods:
            raise Unrecoverable(f"the rows of group {spec.name} describe it differently; correct the row of {row.pod}")
    placement: Placement | None = None
    for row in rows:
        if row.status != PodStatus.BOUND:
            continue
        if row.placement is None or not cells_of(row.placement) or row.pod not in dict(row.placement):
            raise Unrecoverable(f"pod {spec.name}/{row.pod} is bound, but its row has no placement for it")
        if placement is not None and row.placement != placement:
            raise Unrecoverable(
                f"the bound pods of group {spec.name} have two placements; correct the row of {row.pod}"
            )
        placement = row.placement
    unfinished: list[PodRow] = []
    statuses: list[PodStatus | None] = []
    for pod in spec.pods:
        row_of_pod = by_pod.get(pod)
        if row_of_pod is None:
            statuses.append(None)
        elif placement is not None and row_of_pod.status == PodStatus.SUBMITTED:
            unfinished.append(replace(row_of_pod, status=PodStatus.BOUND, placement=placement))
            statuses.append(PodStatus.BOUND)
        else:
            statuses.append(row_of_pod.status)
    return RecoveredGroup(spec, tuple(statuses), placement, tuple(unfinished))
