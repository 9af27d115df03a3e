"""Bugs in recovery."""

from __future__ import annotations

from dataclasses import replace

from schedproof.impl.systems.hived import Memory, PodStatus, Scheduler
from schedproof.impl.systems.hived.recovery import RecoveredGroup


class RecoversFromMemory(Scheduler):
    """Where the rows do not contradict it, a crash is survived by what the process remembered."""

    def crash(self) -> None:
        remembered, self._memory = self._memory, None
        if remembered is not None:
            stored = {(row.group, row.pod): row.status for row in self._store.rows()}
            known = {
                (g.spec.name, pod): status
                for g in remembered.groups
                for pod, status in zip(g.spec.pods, g.pods, strict=True)
                if status is not None
            }
            self._memory = remembered if stored == known else None

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
        groups = super()._recovered()
        return [replace(group, placement=None, unfinished=()) if group.unfinished else group for group in groups]


class RevivesDeleted(Scheduler):
    """Recovery skips deleted pods, so a group that is all deleted comes back waiting for them."""

    def _recovered(self) -> list[RecoveredGroup]:
        groups = []
        for group in super()._recovered():
            pods = tuple(None if status == PodStatus.DELETED else status for status in group.pods)
            groups.append(replace(group, pods=pods))
        return groups


class RecoveryReleasesPartly(Scheduler):
    """Recovery gives a group only the cells of the pods that still live."""

    def _recovered(self) -> list[RecoveredGroup]:
        groups = []
        for group in super()._recovered():
            live = {p for p, status in zip(group.spec.pods, group.pods, strict=True) if status == PodStatus.BOUND}
            kept = tuple((pod, cells if pod in live else ()) for pod, cells in group.placement or ())
            groups.append(replace(group, placement=kept if group.placement is not None else None))
        return groups


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
