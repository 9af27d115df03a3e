"""What the scheduler remembers: a record of each pod group and each cell.

Values, never changed in place: an operation works on a draft, and the scheduler installs the
finished memory with one assignment. A crash loses all of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from schedproof.impl.errors import Refused

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
        """The group to outrank for this cell: who it is reserved for, else who uses it (lines 51 and 63)."""
        return self.reserver if self.reserver is not None else self.user


@dataclass(frozen=True)
class GroupRecord:
    """A pod group: the state of its machine, its pods, and the cells that it was given.

    ``pods`` has the status of each pod of the spec, None where the client has not submitted it yet;
    ``placement`` is what the pods are bound to, ``reserved`` what a preemption holds for them.
    """

    spec: GroupSpec
    pods: tuple[PodStatus | None, ...]
    state: str = "Pending"
    placement: Placement = ()
    reserved: frozenset[str] = frozenset()

    @property
    def live(self) -> tuple[str, ...]:
        """The pods submitted and not yet deleted."""
        found = zip(self.spec.pods, self.pods, strict=True)
        return tuple(pod for pod, status in found if status not in (None, PodStatus.DELETED))

    @property
    def missing(self) -> tuple[str, ...]:
        """The pods not yet submitted: the group is a gang, so it waits for them."""
        return tuple(pod for pod, status in zip(self.spec.pods, self.pods, strict=True) if status is None)

    def status(self, pod: str) -> PodStatus | None:
        """The status of a pod of the group."""
        return self.pods[self.spec.pods.index(pod)]


@dataclass(frozen=True)
class Memory:
    """All records, in the order of their names."""

    groups: tuple[GroupRecord, ...]
    cells: tuple[CellRecord, ...]

    @staticmethod
    def of(cells: Iterable[str]) -> Memory:
        """No groups, and every cell Free."""
        return Memory((), tuple(CellRecord(name) for name in sorted(cells)))

    def group(self, name: str) -> GroupRecord:
        """The record of a group.

        Raises:
            Refused: no pod of such a group was ever submitted.
        """
        for group in self.groups:
            if group.spec.name == name:
                return group
        known = ", ".join(g.spec.name for g in self.groups) or "none yet"
        raise Refused(f"unknown group {name!r}; submitted groups: {known}")

    def find(self, name: str) -> GroupRecord | None:
        """The record of a group, None if it is unknown."""
        return next((g for g in self.groups if g.spec.name == name), None)

    def cell(self, name: str) -> CellRecord:
        """The record of a cell.

        Raises:
            Refused: no such cell was configured.
        """
        for cell in self.cells:
            if cell.name == name:
                return cell
        raise Refused(f"unknown cell {name!r}; cells: {', '.join(c.name for c in self.cells)}")


def cells_of(placement: Placement) -> frozenset[str]:
    """All cells of a placement."""
    return frozenset(cell for _, cells in placement for cell in cells)


def spread(cells: Iterable[str], pods: tuple[str, ...]) -> Placement:
    """Deals ``cells`` to ``pods`` in turn, in the order of their names; a pod may get none."""
    dealt: dict[str, list[str]] = {pod: [] for pod in pods}
    for i, cell in enumerate(sorted(cells)):
        dealt[pods[i % len(pods)]].append(cell)
    return tuple((pod, tuple(held)) for pod, held in dealt.items())
