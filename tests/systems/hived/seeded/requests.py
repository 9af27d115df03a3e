"""Bugs in what the scheduler accepts, and in what it reports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from schedproof.impl.systems.hived import (
    CellChoice,
    CellRecord,
    GroupRecord,
    GroupSpec,
    Memory,
    PodRow,
    PodStatus,
    Refused,
    Report,
    Scheduler,
    What,
)
from schedproof.impl.systems.hived.draft import Draft
from tests.systems.hived.seeded.cascades import CompletesTooEarly


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
            chosen = (choose or self._choose)(memory, group)
            return list(chosen) if all(memory.cell(cell).state == "Free" for cell in chosen) else []

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
    """A report has the group's state after the operation, not before."""

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
