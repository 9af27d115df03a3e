"""The abstraction function: maps the implementation's memory and rows to states of the model.

It shares no code with the scheduler's recovery, so that the two can be compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from schedproof.impl.systems.hived import GroupSpec, Memory, Placement, PodRow, PodStatus
from schedproof.model.semantics import Instance, State
from schedproof.proofs.refinement.mismatch import Broken


@dataclass(frozen=True)
class Records:
    """The content of the durable rows for each group, in the order of the model's groups.

    Attributes:
        says: submitted, bound or deleted.
        placements: the placement in the rows of bound pods.
    """

    says: tuple[str, ...]
    placements: tuple[Placement, ...]


class Abstraction:
    """Maps states of a scheduler to model states.

    Args:
        instance: the model at a scope. It must have history, so that the durable records are compared too.
        specs: one for each group of ``instance``.
    """

    def __init__(self, instance: Instance, specs: Sequence[GroupSpec]) -> None:
        self.instance = instance
        self._specs = specs
        self._initial = instance.initial()
        self._groups = {spec.name: i for i, spec in enumerate(specs)}
        self._cells = {name: i for i, name in enumerate(instance.object_names("Cell"))}
        self._states = {
            sort: {s.name: i for i, s in enumerate(instance.model.machine(sort).states)}
            for sort in ("PodGroup", "Cell")
        }

    def group_number(self, name: str) -> int:
        """Returns the model's number of a group."""
        return self._groups[name]

    def cell_mask(self, names: Iterable[str]) -> int:
        """Returns a set of cells as the model encodes it."""
        return sum(1 << self._cells[name] for name in names)

    def records(self, rows: Iterable[PodRow]) -> Records:
        """Returns the content of ``rows`` for each group as a whole.

        Raises:
            Broken: rows of a group disagree, or two pods are placed on one cell.
        """
        of_group: dict[str, dict[str, PodRow]] = {spec.name: {} for spec in self._specs}
        for row in rows:
            of_group[row.group][row.pod] = row
        placed = [self._record(spec, of_group[spec.name]) for spec in self._specs]
        placements = tuple(placement for _, placement in placed)
        self._disjoint(placements, "durable rows")
        return Records(tuple(says for says, _ in placed), placements)

    def _record(self, spec: GroupSpec, rows: Mapping[str, PodRow]) -> tuple[str, Placement]:
        bound = [row for row in rows.values() if row.status == PodStatus.BOUND]
        if len(rows) == len(spec.pods) and all(row.status == PodStatus.DELETED for row in rows.values()):
            return "deleted", ()
        if not bound:
            return "submitted", ()
        placements = {row.placement or () for row in bound}
        if len(placements) > 1:
            raise Broken(f"the durable rows of {spec.name} carry different placements", actual=_many(placements))
        return "bound", next(iter(placements))

    def recovered(self, records: Records) -> State:
        """Returns the model state right after a crash: only the durable records are left."""
        state = self._recorded(records)
        groups, cells = self.instance.slot("PodGroup"), self.instance.slot("Cell")
        recovery_point = {"submitted": "Pending", "bound": "Allocated", "deleted": "Deleted"}
        users = self.instance.slot("Cell", "user")
        for g, (says, placement) in enumerate(zip(records.says, records.placements, strict=True)):
            state[groups + g] = self._states["PodGroup"][recovery_point[says]]
            for cell in self._placed(placement):
                state[cells + cell] = self._states["Cell"]["Used"]
                state[users + cell] = g
        return tuple(state)

    def running(self, memory: Memory, rows: Iterable[PodRow], records: Records) -> State:
        """Returns the model state of a scheduler between two operations.

        Raises:
            Broken: group records, cells and durable rows do not agree.
        """
        self._agree(memory, rows, records)
        state = self._recorded(records)
        for group in memory.groups:
            slot = self.instance.slot("PodGroup") + self._groups[group.spec.name]
            state[slot] = self._states["PodGroup"][group.state]
        for cell in memory.cells:
            number = self._cells[cell.name]
            state[self.instance.slot("Cell") + number] = self._states["Cell"][cell.state]
            for attribute, name in (("user", cell.user), ("reserver", cell.reserver)):
                if name is not None:
                    state[self.instance.slot("Cell", attribute) + number] = self._groups[name]
        return tuple(state)

    def _recorded(self, records: Records) -> list[int]:
        """The initial state, with the durable records filled in."""
        state = list(self._initial)
        says, placed = self.instance.slot("PodGroup", "record"), self.instance.slot("PodGroup", "placement")
        for g, (record, placement) in enumerate(zip(records.says, records.placements, strict=True)):
            state[says + g] = ("submitted", "bound", "deleted").index(record)
            state[placed + g] = sum(1 << cell for cell in self._placed(placement))
        return state

    def _placed(self, placement: Placement) -> set[int]:
        return {self._cells[cell] for _, cells in placement for cell in cells}

    def _disjoint(self, placements: Sequence[Placement], where: str) -> None:
        """Checks the property one-user-per-cell where an implementation can violate it: no cell is placed twice."""
        holder: dict[str, str] = {}
        for spec, placement in zip(self._specs, placements, strict=True):
            for pod, cells in placement:
                for cell in cells:
                    pod_name = f"{spec.name}/{pod}"
                    if cell in holder:
                        raise Broken(f"the {where} place both {holder[cell]} and {pod_name} on {cell}")
                    holder[cell] = pod_name

    def _agree(self, memory: Memory, rows: Iterable[PodRow], records: Records) -> None:
        placements = [memory.find(spec.name) for spec in self._specs]
        self._disjoint([g.placement if g else () for g in placements], "group records in memory")
        durable = {(row.group, row.pod): row.status for row in rows}
        for spec, group, placement in zip(self._specs, placements, records.placements, strict=True):
            held = {cell for _, cells in (group.placement if group else ()) for cell in cells}
            reserved = group.reserved if group else frozenset()
            if group and group.placement != placement:
                raise Broken(
                    f"memory and durable rows place {spec.name} differently",
                    expected=f"{_places(placement)} (durable rows)",
                    actual=f"{_places(group.placement)} (memory)",
                )
            for cell in memory.cells:
                for what, has, says in (
                    ("uses", cell.user == spec.name, cell.name in held),
                    ("reserves", cell.reserver == spec.name, cell.name in reserved),
                ):
                    if has != says:
                        raise Broken(
                            f"the record of {spec.name} and cell {cell.name} disagree on whether {spec.name} {what} it",
                            expected=f"cell {cell.name}: {cell.state}, user {cell.user}, reserver {cell.reserver}",
                            actual=f"record of {spec.name}: uses {sorted(held)}, reserves {sorted(reserved)}",
                        )
            for i, pod in enumerate(spec.pods):
                in_memory = group.pods[i] if group else None
                if in_memory != durable.get((spec.name, pod)):
                    raise Broken(
                        f"memory and durable rows disagree on pod {spec.name}/{pod}",
                        expected=f"{durable.get((spec.name, pod), 'no row')} (durable row)",
                        actual=f"{in_memory or 'unknown'} (memory)",
                    )


def _places(placement: Placement) -> str:
    return "; ".join(f"{pod} on {', '.join(cells) or 'no cell'}" for pod, cells in placement) or "nowhere"


def _many(placements: Iterable[Placement]) -> str:
    return " | ".join(sorted(_places(p) for p in placements))
