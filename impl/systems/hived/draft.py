"""HiveD's algorithm over groups and cells: one operation, on a copy of the memory.

Hand-written after the sections "Events" of the document, object by object. The generated machines check that an object
may fire an event in its state. This module decides which object must fire. Line numbers are those of the document.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from .memory import CellRecord, GroupRecord, Memory, cells_of, spread
from .store import GroupSpec, Placement, PodStatus
from .tables import Machines


class Draft:
    """A copy of ``memory`` that an operation changes; :meth:`finished` returns it as the new memory.

    Every method may raise IllegalEvent of the machines. Discard a draft that raised.
    """

    def __init__(self, memory: Memory, machines: Machines) -> None:
        self.groups = {g.spec.name: g for g in memory.groups}
        self.cells = {c.name: c for c in memory.cells}
        self._machines = machines

    def finished(self) -> Memory:
        """Returns the memory as this draft leaves it."""
        groups = tuple(self.groups[name] for name in sorted(self.groups))
        return Memory(groups, tuple(self.cells[name] for name in sorted(self.cells)))

    # Pods of a group.

    def add_group(self, spec: GroupSpec) -> None:
        """Adds a Pending group, whose first pod arrives."""
        self.groups[spec.name] = GroupRecord(spec, (None,) * len(spec.pods))

    def mark(self, name: str, pods: Iterable[str], status: PodStatus) -> None:
        """Sets the status of some pods of a group."""
        group, changed = self.groups[name], set(pods)
        both = zip(group.spec.pods, group.pods, strict=True)
        self.groups[name] = replace(group, pods=tuple(status if pod in changed else old for pod, old in both))

    # Events of a group.

    def allocate(self, name: str, chosen: frozenset[str]) -> None:
        """PodGroup e0 (line 49): the group uses the chosen cells, all of them Free or Reserved."""
        self._group_fires(name, "e0")
        overwritten = self._overwritten(chosen)
        for cell in sorted(chosen):
            if self.cells[cell].state == "Free":
                self._cell_fires(cell, "e0", user=name)
            else:
                self._cell_fires(cell, "e8", user=name)
        self._bind(name, chosen)
        for preemptor in overwritten:
            self.cancel(preemptor, chosen)

    def preempt(self, name: str, chosen: frozenset[str]) -> None:
        """PodGroup e1 (line 61): the group reserves the chosen cells and preempts the groups on them."""
        self._group_fires(name, "e1")
        overwritten = self._overwritten(chosen)
        for cell in sorted(chosen):
            match self.cells[cell].state:
                case "Used":
                    self._cell_fires(cell, "e2", reserver=name)
                    victim = self.cells[cell].user
                    if victim is not None and self.groups[victim].state == "Allocated":
                        self._group_fires(victim, "e6")
                case "Reserving":
                    self._cell_fires(cell, "e3", reserver=name)
                case "Reserved":
                    self._cell_fires(cell, "e6", reserver=name)
                case _:
                    self._cell_fires(cell, "e5", reserver=name)
        self.groups[name] = replace(self.groups[name], reserved=chosen)
        for preemptor in overwritten:
            self.cancel(preemptor, chosen)

    def complete(self, name: str) -> None:
        """PodGroup e2 (line 77): the group uses the cells reserved for it, all of them vacated."""
        reserved = self.groups[name].reserved
        self._group_fires(name, "e2")
        for cell in sorted(reserved):
            self._cell_fires(cell, "e8", user=name)
        self._bind(name, reserved)

    def delete(self, name: str) -> None:
        """PodGroup e3, e4, e7 or e8: the last pod of the group is deleted."""
        match self.groups[name].state:
            case "Allocated":
                self._group_fires(name, "e3")
                self.release(name)
            case "BeingPreempted":
                self._group_fires(name, "e4")
                self.release(name)
            case "Preempting":
                self._group_fires(name, "e7")
                self.give_back(name, frozenset())
            case _:
                self._group_fires(name, "e8")

    # Consequences of these events.

    def release(self, name: str) -> None:
        """Frees the cells that a deleted group used (lines 91 and 98).

        A cell for which another group waits becomes Reserved for that group (line 247).
        """
        for cell in sorted(cells_of(self.groups[name].placement)):
            if self.cells[cell].state == "Reserving":
                self._cell_fires(cell, "e9")
            else:
                self._cell_fires(cell, "e1")
        self.groups[name] = replace(self.groups[name], placement=())

    def cancel(self, name: str, overwritten: frozenset[str]) -> None:
        """PodGroup e5 (line 100): the preemption ends because another group took some of its cells."""
        self._group_fires(name, "e5")
        self.give_back(name, overwritten)

    def give_back(self, name: str, overwritten: frozenset[str]) -> None:
        """Returns the reserved cells to the victims, or frees them (lines 106, 108, 123 and 125).

        Cells in ``overwritten`` are left out.
        """
        victims: list[str] = []
        for cell in sorted(self.groups[name].reserved - overwritten):
            if self.cells[cell].state == "Reserving":
                victim = self.cells[cell].user
                if victim is not None and victim not in victims:
                    victims.append(victim)
                self._cell_fires(cell, "e4")
            else:
                self._cell_fires(cell, "e7")
        self.groups[name] = replace(self.groups[name], reserved=frozenset())
        for victim in victims:
            self.spare(victim)

    def spare(self, victim: str) -> None:
        """PodGroup e10: a victim whose last preemptor gave up is Allocated again.

        Line 25: being preempted means that the preemption is still ongoing.
        """
        if not any(cell.state == "Reserving" and cell.user == victim for cell in self.cells.values()):
            self._group_fires(victim, "e10")

    # Recovery.

    def restore(self, spec: GroupSpec, pods: tuple[PodStatus | None, ...], placement: Placement | None) -> None:
        """Restores a group from its pods' rows as Pending, Allocated or Deleted (line 29)."""
        name = spec.name
        self.groups[name] = GroupRecord(spec, pods)
        if all(status == PodStatus.DELETED for status in pods):
            self._group_fires(name, "e8")
        elif placement is not None:
            self._group_fires(name, "e0")
            for cell in sorted(cells_of(placement)):
                self._cell_fires(cell, "e0", user=name)
            self.groups[name] = replace(self.groups[name], placement=placement)

    def _overwritten(self, chosen: frozenset[str]) -> list[str]:
        """The preemptors that lose a cell of ``chosen``."""
        reservers = {self.cells[cell].reserver for cell in chosen}
        return sorted(name for name in reservers if name is not None)

    def _bind(self, name: str, cells: frozenset[str]) -> None:
        group = self.groups[name]
        self.groups[name] = replace(group, placement=spread(cells, group.live), reserved=frozenset())
        self.mark(name, group.live, PodStatus.BOUND)

    def _group_fires(self, name: str, event: str) -> None:
        group = self.groups[name]
        self.groups[name] = replace(group, state=self._machines.fire_group(name, group.state, event))

    def _cell_fires(self, name: str, event: str, **payload: str) -> None:
        before = self.cells[name]
        after = self._machines.fire_cell(name, (before.state, before.user, before.reserver), event, **payload)
        self.cells[name] = CellRecord(name, *after)
