"""The scheduler's memory: a record of each pod group and each cell.

Records are immutable. An operation works on a draft, and the scheduler installs the finished memory with one
assignment. A crash loses all of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from schedproof.impl.errors import Refused
from schedproof.impl.hashed import hashed_once

from .store import GroupSpec, Placement, PodStatus


@dataclass(frozen=True)
class CellRecord:
    """A cell: the state of its machine, and the groups associated with it."""

    name: str
    state: str = "Free"
    user: str | None = None
    reserver: str | None = None

    @property
    def holder(self) -> str | None:
        """The group to outrank for this cell: its reserver if it has one, else its user (lines 51 and 63)."""
        return self.reserver if self.reserver is not None else self.user


@dataclass(frozen=True)
class GroupRecord:
    """A pod group: the state of its machine, its pods and its cells.

    Attributes:
        pods: the status of each pod of the spec, None if the client has not submitted it yet.
        placement: the cells to which the pods are bound.
        reserved: the cells that a preemption holds for the pods.
    """

    spec: GroupSpec
    pods: tuple[PodStatus | None, ...]
    state: str = "Pending"
    placement: Placement = ()
    reserved: frozenset[str] = frozenset()

    @property
    def live(self) -> tuple[str, ...]:
        """The pods that were submitted and are not deleted."""
        with_status = zip(self.spec.pods, self.pods, strict=True)
        return tuple(pod for pod, status in with_status if status not in (None, PodStatus.DELETED))

    @property
    def missing(self) -> tuple[str, ...]:
        """The pods that were not submitted yet. The group is a gang, so it waits for them."""
        return tuple(pod for pod, status in zip(self.spec.pods, self.pods, strict=True) if status is None)

    def status(self, pod: str) -> PodStatus | None:
        """Returns the status of a pod of the group, None if it was not submitted."""
        return self.pods[self.spec.pods.index(pod)]


@hashed_once
@dataclass(frozen=True)
class Memory:
    """All records, ordered by name."""

    groups: tuple[GroupRecord, ...]
    cells: tuple[CellRecord, ...]

    @staticmethod
    def of(cells: Iterable[str]) -> Memory:
        """Returns a memory without groups, in which every cell is Free."""
        return Memory((), tuple(CellRecord(name) for name in sorted(cells)))

    def group(self, name: str) -> GroupRecord:
        """Returns the record of a group.

        Raises:
            Refused: no pod of such a group was ever submitted.
        """
        for group in self.groups:
            if group.spec.name == name:
                return group
        known = ", ".join(g.spec.name for g in self.groups) or "none yet"
        raise Refused(f"unknown group {name!r}; submitted groups: {known}")

    def find(self, name: str) -> GroupRecord | None:
        """Returns the record of a group, or None if it is unknown."""
        return next((g for g in self.groups if g.spec.name == name), None)

    def cell(self, name: str) -> CellRecord:
        """Returns the record of a cell.

        Raises:
            Refused: no such cell was configured.
        """
        for cell in self.cells:
            if cell.name == name:
                return cell
        raise Refused(f"unknown cell {name!r}; cells: {', '.join(c.name for c in self.cells)}")


def cells_of(placement: Placement) -> frozenset[str]:
    """Returns all cells of a placement."""
    return frozenset(cell for _, cells in placement for cell in cells)


def spread(cells: Iterable[str], pods: tuple[str, ...]) -> Placement:
    """Deals ``cells``, ordered by name, to ``pods`` in turn; a pod may get none."""
    dealt: dict[str, list[str]] = {pod: [] for pod in pods}
    for i, cell in enumerate(sorted(cells)):
        dealt[pods[i % len(pods)]].append(cell)
    return tuple((pod, tuple(held)) for pod, held in dealt.items())
