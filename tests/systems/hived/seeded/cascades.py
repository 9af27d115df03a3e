"""Bugs in who must fire when something happens to a group: drafts with one method spoilt."""

from __future__ import annotations

from dataclasses import replace

from schedproof.impl.systems.hived import Scheduler
from schedproof.impl.systems.hived.draft import Draft
from schedproof.impl.systems.hived.memory import cells_of


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


class VictimStaysAllocated(Draft):
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
    """The group's record does not have the cells that are reserved for it."""

    def preempt(self, name: str, chosen: frozenset[str]) -> None:
        super().preempt(name, chosen)
        self.groups[name] = replace(self.groups[name], reserved=frozenset())


def spoilt_by(draft: type[Draft]) -> type[Scheduler]:
    """The scheduler with such a draft."""
    return type(f"With{draft.__name__}", (Scheduler,), {"draft_type": draft})
