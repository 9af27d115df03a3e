"""Bugs in what is written and when, by the scheduler and by its store."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from schedproof.impl.store import MemoryTransaction
from schedproof.impl.systems.hived import GroupSpec, InMemoryStore, PodRow, PodStatus, Report, Scheduler
from schedproof.impl.systems.hived.draft import Draft
from schedproof.impl.systems.hived.memory import cells_of
from schedproof.impl.systems.hived.store import Pods


class RefusesAfterWriting(Scheduler):
    """A pod's row is written before the request is looked at."""

    def submit(self, spec: GroupSpec, pod: str) -> Report:
        self._store.put(PodRow(pod, PodStatus.SUBMITTED, spec))
        return super().submit(spec, pod)


class ReportsBeforeWriting(Scheduler):
    """The scheduler reports success to its client before it writes the rows."""

    def _commit(self, draft: Draft, rows: Iterable[PodRow], report: Report) -> Report:
        super()._commit(draft, [], report)
        for row in rows:
            self._store.put(row)
        return report


class PlacementPerPod(Scheduler):
    """A bound pod's row has only the place of that pod."""

    def _binding(self, draft: Draft, name: str) -> list[PodRow]:
        rows = super()._binding(draft, name)
        return [replace(row, placement=tuple(p for p in row.placement or () if p[0] == row.pod)) for row in rows]


class LosesACell(Scheduler):
    """The rows leave the last cell of the placement out."""

    def _binding(self, draft: Draft, name: str) -> list[PodRow]:
        rows = super()._binding(draft, name)
        return [replace(row, placement=_without_last(row)) for row in rows]


def _without_last(row: PodRow) -> tuple[tuple[str, tuple[str, ...]], ...]:
    placement = row.placement or ()
    last = max(cells_of(placement))
    return tuple((pod, tuple(cell for cell in cells if cell != last)) for pod, cells in placement)


class BindsOnePod(Scheduler):
    """Only the first pod's row is written."""

    def _binding(self, draft: Draft, name: str) -> list[PodRow]:
        return super()._binding(draft, name)[:1]


class StatusBeforePlacement(Scheduler):
    """Rows are first marked bound and get their placement with a second write."""

    def _binding(self, draft: Draft, name: str) -> list[PodRow]:
        rows = super()._binding(draft, name)
        return [*(replace(row, placement=None) for row in rows), *rows]


class MemoryBeforeRows(Scheduler):
    """The memory is updated first, then the rows are written."""

    def _commit(self, draft: Draft, rows: Iterable[PodRow], report: Report) -> Report:
        self._memory = draft.finished()
        for row in rows:
            self._store.put(row)
        if self._observer is not None:
            self._observer(report)
        return report


class DeletesInMemoryOnly(Scheduler):
    def _commit(self, draft: Draft, rows: Iterable[PodRow], report: Report) -> Report:
        kept = [row for row in rows if row.status != PodStatus.DELETED]
        return super()._commit(draft, kept, report)


class WritesDeletionTooEarly(Scheduler):
    """A completion marks the pods deleted and then bound, in place of one write for each."""

    def _binding(self, draft: Draft, name: str) -> list[PodRow]:
        rows = super()._binding(draft, name)
        return [*(replace(row, status=PodStatus.DELETED, placement=None) for row in rows), *rows]


class LostWrite(InMemoryStore):
    """The store forgets to write the deletion of a group's last pod."""

    def _commit(self, transaction: MemoryTransaction) -> None:
        (row,) = transaction.written
        others = [r for r in self.rows() if r.group == row.group and r.pod != row.pod]
        if row.status != PodStatus.DELETED or any(r.status != PodStatus.DELETED for r in others):
            super()._commit(transaction)


@dataclass(frozen=True)
class Buffered(Pods):
    """All rows, and those of them that survive a crash."""

    durable: tuple[PodRow, ...] = ()


class LazyStore(InMemoryStore):
    """The latest row waits in a buffer until the next one comes; a crash loses it."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._durable = Pods()

    def _commit(self, transaction: MemoryTransaction) -> None:
        self._durable = super().snapshot()
        super()._commit(transaction)

    def crash(self) -> None:
        super().restore(self._durable)

    def snapshot(self) -> Pods:
        return Buffered(super().snapshot().pods, self._durable.pods)

    def restore(self, snapshot: Pods) -> None:
        assert isinstance(snapshot, Buffered)
        self._durable = Pods(snapshot.durable)
        super().restore(Pods(snapshot.pods))


class NotEmpty(InMemoryStore):
    """A store in which an earlier life has left a group's placement."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        spec = GroupSpec("g0", 0, ("p0", "p1"))
        self.put(PodRow("p0", PodStatus.BOUND, spec, (("p0", ("c0",)), ("p1", ()))))


class Contradicting(NotEmpty):
    """And another group's, on the same cell."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        spec = GroupSpec("g1", 1, ("p0", "p1"))
        self.put(PodRow("p1", PodStatus.BOUND, spec, (("p0", ()), ("p1", ("c0",)))))
