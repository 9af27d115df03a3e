"""Schedulers and stores with a bug each, for the exploration to catch.

Each is the reference scheduler with one method spoilt, as a programmer might by mistake.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from schedproof.impl.hived import (
    CellChoice,
    CellRecord,
    GroupRecord,
    GroupSpec,
    InMemoryStore,
    Memory,
    PodRow,
    PodStatus,
    Refused,
    Report,
    Scheduler,
    What,
)
from schedproof.impl.hived.draft import Draft
from schedproof.impl.hived.memory import cells_of
from schedproof.impl.hived.recovery import RecoveredGroup

# Cascades between groups and cells.


class ForgottenCancellation(Draft):
    def cancel(self, name: str, overwritten: frozenset[str]) -> None:
        pass


class HalfCancellation(Draft):
    """The cancelled group keeps the cells that were not overwritten."""

    def cancel(self, name: str, overwritten: frozenset[str]) -> None:
        self._group_fires(name, "e5")
        self.groups[name] = replace(self.groups[name], reserved=self.groups[name].reserved - overwritten)


class VictimNotSpared(Draft):
    def spare(self, victim: str) -> None:
        pass


class VictimSparedTooEarly(Draft):
    """The victim is Allocated again though another group still preempts it."""

    def spare(self, victim: str) -> None:
        if self.groups[victim].state == "BeingPreempted":
            self._group_fires(victim, "e10")


class VictimWaitsForOthers(Draft):
    """A victim is Allocated again only when no group at all is being preempted any more."""

    def spare(self, victim: str) -> None:
        if not any(cell.state == "Reserving" for cell in self.cells.values()):
            super().spare(victim)


class PreemptorNotFound(Draft):
    """An error that nobody thought of: a cell that is not reserved has no preemptor to cancel."""

    def _overwritten(self, chosen: frozenset[str]) -> list[str]:
        return sorted({self.groups[self.cells[cell].reserver or ""].spec.name for cell in chosen})


class CellToFreeInsteadOfReserver(Draft):
    """A deleted victim's cells become Free, also those that its preemptor waits for."""

    def release(self, name: str) -> None:
        for cell in sorted(cells_of(self.groups[name].placement)):
            reserver = self.cells[cell].reserver
            if reserver is not None:
                self._cell_fires(cell, "e4")
                group = self.groups[reserver]
                self.groups[reserver] = replace(group, reserved=group.reserved - {cell})
        super().release(name)


class VictimNotTold(Draft):
    """Preemption leaves its victim Allocated."""

    def _group_fires(self, name: str, event: str) -> None:
        if event != "e6":
            super()._group_fires(name, event)


class CompletesTooEarly(Draft):
    def complete(self, name: str) -> None:
        for cell in sorted(self.groups[name].reserved):
            if self.cells[cell].state == "Reserving":
                self._cell_fires(cell, "e9")
        super().complete(name)


class DealsACellTwice(Draft):
    """Every pod is placed on the group's first cell."""

    def _bind(self, name: str, cells: frozenset[str]) -> None:
        super()._bind(name, cells)
        group = self.groups[name]
        first = min(cells)
        twice = tuple((pod, tuple(sorted({first, *held}))) for pod, held in group.placement)
        self.groups[name] = replace(group, placement=twice)


class ForgetsReservation(Draft):
    """The group's record does not tell which cells are reserved for it."""

    def preempt(self, name: str, chosen: frozenset[str]) -> None:
        super().preempt(name, chosen)
        self.groups[name] = replace(self.groups[name], reserved=frozenset())


# Conditions.


class OutranksEquals(Scheduler):
    def _outranks(self, group: GroupRecord, other: GroupRecord) -> bool:
        return group.spec.priority >= other.spec.priority


class IgnoresPriority(Scheduler):
    def _outranks(self, group: GroupRecord, other: GroupRecord) -> bool:
        return True


class DoesNotWaitForPods(Scheduler):
    draft_type = CompletesTooEarly

    def _is_vacated(self, cell: str) -> bool:
        return True


class PreemptsReservations(Scheduler):
    """Reserved cells, which no pod is on, are preempted instead of taken."""

    def _is_allocation(self, chosen: Iterable[CellRecord]) -> bool:
        return all(cell.state == "Free" for cell in chosen)


class NeverPreempts(Scheduler):
    def schedule(self, name: str, choose: CellChoice | None = None) -> Report:
        def only_free(memory: Memory, group: GroupRecord) -> Sequence[str]:
            wanted = (choose or self._choose)(memory, group)
            return list(wanted) if all(memory.cell(cell).state == "Free" for cell in wanted) else []

        return super().schedule(name, only_free)


class GroupGoesWithItsFirstPod(Scheduler):
    """The cells are released when the first pod is deleted, not the last."""

    def delete_pod(self, name: str, pod: str) -> Report:
        group = self.memory.group(name)
        if pod not in group.live or group.missing:
            return super().delete_pod(name, pod)
        draft = self._draft()
        draft.mark(name, [pod], PodStatus.DELETED)
        if draft.groups[name].state == "Deleted":
            what = What.POD_DELETED
        else:
            draft.delete(name)
            what = What.GROUP_DELETED
        rows = [PodRow(pod, PodStatus.DELETED, group.spec)]
        return self._commit(draft, rows, Report(what, name, group.state, pod=pod))


class RefusesTooLate(Scheduler):
    """A completion that has to wait gives the reservation up before it is refused."""

    def complete(self, name: str) -> Report:
        try:
            return super().complete(name)
        except Refused:
            if self.memory.group(name).state == "Preempting":
                draft = self._draft()
                draft.cancel(name, frozenset())
                self._memory = draft.finished()
            raise


class PodsComeBack(Scheduler):
    """A deleted pod of a live group may be submitted again, for ever."""

    def submit(self, spec: GroupSpec, pod: str) -> Report:
        known = self.memory.find(spec.name)
        if known is None or known.state != "Pending" or known.status(pod) != PodStatus.DELETED:
            return super().submit(spec, pod)
        draft = self._draft()
        draft.mark(spec.name, [pod], PodStatus.SUBMITTED)
        report = Report(What.SUBMITTED, spec.name, known.state, pod=pod)
        return self._commit(draft, [PodRow(pod, PodStatus.SUBMITTED, spec)], report)


class AnotherReport(Scheduler):
    """Begins a preemption, but reports an allocation."""

    def _commit(self, draft: Draft, rows: Iterable[PodRow], report: Report) -> Report:
        what = What.ALLOCATED if report.what == What.PREEMPTING else report.what
        return super()._commit(draft, rows, replace(report, what=what))


class ReportsGroupAsPod(Scheduler):
    """The deletion of a group is reported as that of its last pod."""

    def _commit(self, draft: Draft, rows: Iterable[PodRow], report: Report) -> Report:
        what = What.POD_DELETED if report.what == What.GROUP_DELETED else report.what
        return super()._commit(draft, rows, replace(report, what=what))


class ReportsStateAfter(Scheduler):
    """A report tells the group's state after the operation, not before."""

    def _commit(self, draft: Draft, rows: Iterable[PodRow], report: Report) -> Report:
        return super()._commit(draft, rows, replace(report, before=draft.groups[report.group].state))


class ReportsWithoutDoing(Scheduler):
    """A completion is reported, but left for later."""

    def complete(self, name: str) -> Report:
        group = self._in_state(name, "Preempting")
        report = Report(What.COMPLETED, name, group.state, group.reserved)
        return self._commit(self._draft(), [], report)


class DoesWithoutReporting(Scheduler):
    def _commit(self, draft: Draft, rows: Iterable[PodRow], report: Report) -> Report:
        if report.what != What.PREEMPTING:
            return super()._commit(draft, rows, report)
        self._memory = draft.finished()
        return report


# What is written, and when.


class RefusesAfterWriting(Scheduler):
    """A pod's row is written before the request is looked at."""

    def submit(self, spec: GroupSpec, pod: str) -> Report:
        self._store.put(PodRow(pod, PodStatus.SUBMITTED, spec))
        return super().submit(spec, pod)


class ReportsBeforeWriting(Scheduler):
    """The client is told of its request's success before the rows are written."""

    def _commit(self, draft: Draft, rows: Iterable[PodRow], report: Report) -> Report:
        super()._commit(draft, [], report)
        for row in rows:
            self._store.put(row)
        return report


class PlacementPerPod(Scheduler):
    """A bound pod's row tells only where that pod is."""

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

    def _write(self, row: PodRow) -> None:
        others = [r for r in self.rows() if r.group == row.group and r.pod != row.pod]
        if row.status != PodStatus.DELETED or any(r.status != PodStatus.DELETED for r in others):
            super()._write(row)


class LazyStore(InMemoryStore):
    """The latest row waits in a buffer until the next one comes; a crash loses it."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._buffer: PodRow | None = None

    def rows(self) -> Sequence[PodRow]:
        found = {(row.group, row.pod): row for row in super().rows()}
        if self._buffer is not None:
            found[self._buffer.group, self._buffer.pod] = self._buffer
        return list(found.values())

    def _write(self, row: PodRow) -> None:
        if self._buffer is not None:
            super()._write(self._buffer)
        self._buffer = row

    def crash(self) -> None:
        self._buffer = None

    def snapshot(self) -> Any:
        return super().snapshot(), self._buffer

    def restore(self, snapshot: Any) -> None:
        rows, self._buffer = snapshot
        super().restore(rows)


# Recovery.


class RecoversFromMemory(Scheduler):
    """Where the rows do not contradict it, a crash is survived by what the process remembered."""

    def crash(self) -> None:
        remembered, self._memory = self._memory, None
        if remembered is not None:
            told = {(row.group, row.pod): row.status for row in self._store.rows()}
            known = {
                (g.spec.name, pod): status
                for g in remembered.groups
                for pod, status in zip(g.spec.pods, g.pods, strict=True)
                if status is not None
            }
            self._memory = remembered if told == known else None

    def recover(self) -> None:
        if self._memory is None:
            super().recover()


class ForgetsToFinishBinding(Scheduler):
    """Recovery sees that a group is bound, but leaves the rows of its other pods as they are."""

    def _recovered(self) -> list[RecoveredGroup]:
        return [replace(group, unfinished=()) for group in super()._recovered()]


class RecoversHalfBoundAsPending(Scheduler):
    """Recovery takes a group for bound only when all of its pods are."""

    def _recovered(self) -> list[RecoveredGroup]:
        found = super()._recovered()
        return [replace(group, placement=None, unfinished=()) if group.unfinished else group for group in found]


class RevivesDeleted(Scheduler):
    """Recovery skips deleted pods, so a group that is all deleted comes back waiting for them."""

    def _recovered(self) -> list[RecoveredGroup]:
        found = []
        for group in super()._recovered():
            pods = tuple(None if status == PodStatus.DELETED else status for status in group.pods)
            found.append(replace(group, pods=pods))
        return found


class RecoveryReleasesPartly(Scheduler):
    """Recovery gives a group only the cells of the pods that still live."""

    def _recovered(self) -> list[RecoveredGroup]:
        found = []
        for group in super()._recovered():
            live = {p for p, status in zip(group.spec.pods, group.pods, strict=True) if status == PodStatus.BOUND}
            kept = tuple((pod, cells if pod in live else ()) for pod, cells in group.placement or ())
            found.append(replace(group, placement=kept if group.placement is not None else None))
        return found


class RecoveryWorksBeforeItIsDone(Scheduler):
    """Recovery installs the memory before it has finished the bindings."""

    def recover(self) -> None:
        groups = self._recovered()
        draft = self.draft_type(Memory.of(self._cells), self._machines)
        for group in groups:
            draft.restore(group.spec, group.pods, group.placement)
        self._memory = draft.finished()
        for group in groups:
            for row in group.unfinished:
                self._store.put(row)


class RecoveryBindsAnew(Scheduler):
    """Recovery takes a half-made binding back before it makes it again."""

    def recover(self) -> None:
        for group in self._recovered():
            if group.unfinished:
                made = [row for row in self._store.rows() if row.group == group.spec.name and row.placement]
                for row in made:
                    self._store.put(replace(row, status=PodStatus.SUBMITTED, placement=None))
                for row in made:
                    self._store.put(row)
        super().recover()


class NotEmpty(InMemoryStore):
    """A store in which an earlier life has left a group's placement."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        spec = GroupSpec("g0", 0, ("p0", "p1"))
        self._write(PodRow("p0", PodStatus.BOUND, spec, (("p0", ("c0",)), ("p1", ()))))


class Contradicting(NotEmpty):
    """And another group's, on the same cell."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        spec = GroupSpec("g1", 1, ("p0", "p1"))
        self._write(PodRow("p1", PodStatus.BOUND, spec, (("p0", ()), ("p1", ("c0",)))))


def _with(draft: type[Draft]) -> type[Scheduler]:
    return type(f"With{draft.__name__}", (Scheduler,), {"draft_type": draft})


@dataclass(frozen=True)
class Planted:
    """A bug, the smallest exploration that shows it, and what its mismatch must speak of."""

    bug: str
    shows: str
    scheduler: Callable[..., Scheduler] = Scheduler
    store: Callable[[], InMemoryStore] = InMemoryStore
    groups: int = 2
    cells: int = 2
    pods: int = 2
    priorities: Sequence[int] | None = None

    @property
    def exploration(self) -> Mapping[str, Any]:
        """The arguments of ``check_refinement`` but for scheduler and store."""
        return {
            "scope": {"PodGroup": self.groups, "Cell": self.cells},
            "pods_per_group": self.pods,
            "priorities": self.priorities,
        }


ALGORITHM = [
    Planted(
        "an overwritten preemptor is not cancelled",
        "disagree on whether g1 reserves it",
        _with(ForgottenCancellation),
        groups=3,
        pods=1,
    ),
    Planted(
        "a cancelled preemptor keeps the cells that were not overwritten",
        r"preempt\(g2.*expected: .*c1 Free.*found: .*c1 Reserved \(reserver g1\)",
        _with(HalfCancellation),
        groups=3,
        pods=1,
    ),
    Planted(
        "a victim stays preempted when its preemptor is deleted",
        "delete_preempting.*expected: g0 Allocated .*found:    g0 BeingPreempted",
        _with(VictimNotSpared),
    ),
    Planted(
        "a victim is freed while another group still preempts it",
        "expected: g0 BeingPreempted .*found:    g0 Allocated",
        _with(VictimSparedTooEarly),
        groups=3,
        pods=1,
    ),
    Planted(
        "a victim waits until nobody is preempted",
        "expected: .*g1 Allocated .*found: .*g1 BeingPreempted",
        _with(VictimWaitsForOthers),
        groups=4,
        pods=1,
    ),
    Planted("an operation fails", "the operation fails: KeyError", _with(PreemptorNotFound)),
    Planted(
        "a deleted victim's cell becomes Free instead of Reserved",
        "delete_preempted.*expected: .*c0 Reserved .*found: .*c0 Free",
        _with(CellToFreeInsteadOfReserver),
    ),
    Planted(
        "the victim is not told that it is being preempted",
        "preempt.*expected: g0 BeingPreempted .*found:    g0 Allocated",
        _with(VictimNotTold),
    ),
    Planted("all pods are placed on one cell", "rows place both g0/p0 and g0/p1 on c0", _with(DealsACellTwice)),
    Planted("a preemptor's record lacks its cells", "disagree on whether g1 reserves it", _with(ForgetsReservation)),
]

CONDITIONS = [
    Planted(
        "a group preempts another of equal priority",
        r"the model cannot take preempt\(g\d",
        OutranksEquals,
        priorities=(0, 0),
    ),
    Planted("priorities are not looked at", r"the model cannot take preempt\(g0", IgnoresPriority),
    Planted(
        "a preemption completes while the victim's pods run", "rows place both g0/p. and g1/p.", DoesNotWaitForPods
    ),
    Planted(
        "a group preempts where all cells are Free or Reserved",
        r"the model cannot take preempt\(",
        PreemptsReservations,
        groups=3,
        pods=1,
    ),
    Planted("nobody is ever preempted", r"can no longer take preempt\(g1", NeverPreempts),
    Planted(
        "cells are released with a group's first pod",
        r"delete_\w+\(g0\) leads to another state",
        GroupGoesWithItsFirstPod,
    ),
    Planted("a refused completion gives the cells up", "was refused, but it changed something", RefusesTooLate),
    Planted("a deleted pod can come back for ever", "repeated for ever", PodsComeBack),
]

REPORTS = [
    Planted("a preemption is reported as an allocation", r"the model cannot take allocate\(", AnotherReport),
    Planted("a group's deletion is reported as a pod's", "reports 'pod deleted', which is no step", ReportsGroupAsPod),
    Planted("the state after is reported", "reports that a Deleted group is deleted", ReportsStateAfter),
    Planted("a completion is reported but not made", "reports 'completed', which is one step", ReportsWithoutDoing),
    Planted("a preemption is not reported", "changes the memory without reporting it", DoesWithoutReporting),
]

WRITES = [
    Planted("a row is written and the request refused", "was refused, but it changed something", RefusesAfterWriting),
    Planted("success is reported before it is written", "writes rows after it was installed", ReportsBeforeWriting),
    Planted("a pod's row has only its own placement", "rows of g0 carry different placements", PlacementPerPod),
    Planted("the rows leave a cell of the placement out", "memory and durable rows place g0 differently", LosesACell),
    Planted("only one pod of a group is bound", "memory and durable rows disagree on pod g0/p1", BindsOnePod),
    Planted("a pod is marked bound before its placement", "between two durable writes", StatusBeforePlacement),
    Planted("binding passes through deleted rows", "between two durable writes", WritesDeletionTooEarly),
    Planted("the memory is updated before the rows", "memory changes before the durable writes", MemoryBeforeRows),
    Planted("deletions are never written", "memory and durable rows disagree on pod g0/p0", DeletesInMemoryOnly),
    Planted("the store loses the last deletion", "memory and durable rows disagree on pod g0/p.", store=LostWrite),
    Planted("the store loses its buffer in a crash", r"crash\(\) leads to another state", store=LazyStore),
]

RECOVERY = [
    Planted("recovery ends before its writes", "memory changes before recovery's durable", RecoveryWorksBeforeItIsDone),
    Planted("recovery binds anew", "a write of recovery changes what the rows say", RecoveryBindsAnew),
    Planted("the store is not empty at first", "does not begin where the model does", store=NotEmpty),
    Planted("the store contradicts itself at first", "rows place both g0/p0 and g1/p1 on c0", store=Contradicting),
    Planted("recovery trusts the memory", "recovery ends in another state than a crash", RecoversFromMemory),
    Planted("recovery does not finish a binding", "disagree on pod g0/p1", ForgetsToFinishBinding),
    Planted("recovery undoes a half-made binding", "place g0 differently", RecoversHalfBoundAsPending),
    Planted("recovery forgets deleted pods", "disagree on pod g0/p0", RevivesDeleted),
    Planted("recovery gives a group only its live pods' cells", "place g0 differently", RecoveryReleasesPartly),
]

PLANTED = [*ALGORITHM, *CONDITIONS, *REPORTS, *WRITES, *RECOVERY]
