"""The reference scheduler: requests, durable writes, crash and recovery.

Every operation has four steps:

1. Check the request; Refused changes nothing.
2. Apply the operation to a draft of the memory.
3. Write the pods' rows one by one.
4. Install the draft.

If the process dies between two writes, recovery decides from the rows. The operation takes effect completely with the
first row that changes the recorded state of the group as a whole. Before that row, nothing of it has happened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from threading import RLock

from schedproof.impl.errors import Refused

from .choice import CellChoice, fewest_victims
from .draft import Draft
from .memory import CellRecord, GroupRecord, Memory
from .recovery import RecoveredGroup, recovered_groups
from .store import GroupSpec, PodRow, PodStatus, PodStore
from .tables import Machines


class What(StrEnum):
    """The outcome of an operation."""

    SUBMITTED = "submitted"
    ALLOCATED = "allocated"
    PREEMPTING = "preempting"
    COMPLETED = "completed"
    POD_DELETED = "pod deleted"
    GROUP_DELETED = "group deleted"


@dataclass(frozen=True)
class Report:
    """The outcome of an operation on a group.

    Attributes:
        before: the state of the group before the operation.
        cells: the cells that the group was allocated or has reserved.
        pod: the pod that was submitted or deleted.
    """

    what: What
    group: str
    before: str
    cells: frozenset[str] = frozenset()
    pod: str | None = None


Observer = Callable[[Report], None]


class Scheduler:
    """HiveD's scheduling of pod groups on ``cells``, with pod objects in ``store``.

    A new scheduler is down. :meth:`recover` starts it from the content of the store, which may be empty. Calls from
    several threads are executed one at a time.

    Args:
        store: keeps the pods' rows.
        cells: the names of the cells.
        choose: the cell allocation algorithm.
        observer: is called with the report of each operation as soon as it is installed.

    Raises:
        Refused: there are no cells, or a cell is named twice.
    """

    draft_type: type[Draft] = Draft

    def __init__(
        self,
        store: PodStore,
        cells: Sequence[str],
        *,
        choose: CellChoice = fewest_victims,
        observer: Observer | None = None,
    ) -> None:
        if not cells or len(set(cells)) != len(cells):
            raise Refused(f"cells must be one or more different names, not {list(cells)}")
        self._store = store
        self._cells = tuple(cells)
        self._choose = choose
        self._observer = observer
        self._machines = Machines(self._cells)
        self._memory: Memory | None = None
        self._lock = RLock()

    @property
    def memory(self) -> Memory:
        """The current records; later operations do not change this value.

        Raises:
            Refused: the scheduler is down.
        """
        if self._memory is None:
            raise Refused("the scheduler is down; call recover() first")
        return self._memory

    def group(self, name: str) -> GroupRecord:
        """Returns the record of a group.

        Raises:
            Refused: the group is unknown, or the scheduler is down.
        """
        return self.memory.group(name)

    def cell(self, name: str) -> CellRecord:
        """Returns the record of a cell.

        Raises:
            Refused: the cell is unknown, or the scheduler is down.
        """
        return self.memory.cell(name)

    # Requests of clients.

    def submit(self, spec: GroupSpec, pod: str) -> Report:
        """Adds a pod of a group. The group can be scheduled when all of its pods have arrived.

        Raises:
            Refused: the group has no such pod, the pod was submitted before, or the group was described differently.
        """
        with self._lock:
            known = self.memory.find(spec.name)
            if known is not None and known.spec != spec:
                raise Refused(f"group {spec.name} was submitted as {known.spec}; every pod must say the same of it")
            if pod not in spec.pods:
                raise Refused(f"group {spec.name} has no pod {pod!r}; it has {', '.join(spec.pods)}")
            if known is not None and known.status(pod) is not None:
                raise Refused(f"pod {spec.name}/{pod} was submitted before; a new pod needs a new name")
            draft = self._draft()
            if known is None:
                draft.add_group(spec)
            draft.mark(spec.name, [pod], PodStatus.SUBMITTED)
            before = known.state if known is not None else "Pending"
            return self._commit(
                draft,
                [PodRow(pod, PodStatus.SUBMITTED, spec)],
                Report(What.SUBMITTED, spec.name, before, pod=pod),
            )

    def schedule(self, name: str, choose: CellChoice | None = None) -> Report:
        """Allocates the chosen cells to a Pending group (e0), or begins to preempt the groups on them (e1).

        Raises:
            Refused: the group is unknown, not Pending or not complete. Or no cell was chosen, an unknown cell, or one
                whose holder the group does not outrank.
        """
        with self._lock:
            group = self._in_state(name, "Pending")
            if group.missing:
                raise Refused(f"group {name} is not complete: submit {', '.join(group.missing)} first")
            cells = frozenset((choose or self._choose)(self.memory, group))
            if not cells:
                raise Refused(f"no cells were chosen for group {name}; it stays Pending")
            records = [self.cell(cell) for cell in sorted(cells)]
            for cell in records:
                if cell.holder is not None and not self._outranks(group, self.memory.group(cell.holder)):
                    raise Refused(
                        f"cell {cell.name} is held by group {cell.holder}, which group {name} does not outrank; "
                        "choose cells that are free or held by groups of lower priority"
                    )
            draft = self._draft()
            if self._is_allocation(records):
                draft.allocate(name, cells)
                return self._commit(draft, self._binding(draft, name), Report(What.ALLOCATED, name, group.state, cells))
            draft.preempt(name, cells)
            return self._commit(draft, [], Report(What.PREEMPTING, name, group.state, cells))

    def complete(self, name: str) -> Report:
        """Gives a Preempting group its cells when all of them are vacated (e2).

        Raises:
            Refused: the group is unknown, not Preempting, or some of its cells are still used.
        """
        with self._lock:
            group = self._in_state(name, "Preempting")
            used = [cell for cell in sorted(group.reserved) if not self._is_vacated(cell)]
            if used:
                raise Refused(f"group {name} waits for the pods on {', '.join(used)} to be deleted")
            draft = self._draft()
            draft.complete(name)
            return self._commit(
                draft, self._binding(draft, name), Report(What.COMPLETED, name, group.state, group.reserved)
            )

    def delete_pod(self, name: str, pod: str) -> Report:
        """Deletes a pod. With the last pod of a group its cells are released (e3, e4, e7, e8).

        Raises:
            Refused: no such pod is submitted, or it is deleted already.
        """
        with self._lock:
            group = self.memory.group(name)
            if pod not in group.live:
                live = ", ".join(group.live) or "none"
                raise Refused(f"group {name} has no pod {pod!r} to delete; its live pods: {live}")
            draft = self._draft()
            draft.mark(name, [pod], PodStatus.DELETED)
            what = What.POD_DELETED
            if all(status == PodStatus.DELETED for status in draft.groups[name].pods):
                draft.delete(name)
                what = What.GROUP_DELETED
            return self._commit(
                draft, [PodRow(pod, PodStatus.DELETED, group.spec)], Report(what, name, group.state, pod=pod)
            )

    def delete_group(self, name: str) -> list[Report]:
        """Deletes the group's live pods one after another, as :meth:`delete_pod` does.

        This is not one transaction: other requests may come between two pods. A group with pods that were never
        submitted stays Pending and waits for them.

        Raises:
            Refused: the group is unknown, or has no live pods.
        """
        live = self.group(name).live
        if not live:
            raise Refused(f"group {name} has no live pods to delete")
        return [self.delete_pod(name, pod) for pod in live]

    # The process.

    def crash(self) -> None:
        """Ends the process: everything outside the store is lost."""
        self._memory = None

    def recover(self) -> None:
        """Starts the process: computes the memory from the store and finishes incomplete bindings.

        Raises:
            Refused: the scheduler is up.
            Unrecoverable: the rows contradict each other.
        """
        with self._lock:
            if self._memory is not None:
                raise Refused("the scheduler is up; only a new or crashed one recovers")
            draft = self.draft_type(Memory.of(self._cells), self._machines)
            unfinished: list[PodRow] = []
            for group in self._recovered():
                draft.restore(group.spec, group.pods, group.placement)
                unfinished += group.unfinished
            memory = draft.finished()
            for row in unfinished:
                self._store.put(row)
            self._memory = memory

    # For explorations, which go back to earlier states.

    def snapshot(self) -> Memory | None:
        """Returns the memory of the process, or None when it is down."""
        return self._memory

    def restore(self, snapshot: Memory | None) -> None:
        """Sets the memory of the process to a snapshot; the store does not change."""
        self._memory = snapshot

    # Steps that operations share.

    def _draft(self) -> Draft:
        return self.draft_type(self.memory, self._machines)

    def _in_state(self, name: str, state: str) -> GroupRecord:
        group = self.memory.group(name)
        if group.state != state:
            raise Refused(f"group {name} is {group.state}; only a {state} group can do this")
        return group

    def _outranks(self, group: GroupRecord, other: GroupRecord) -> bool:
        return group.spec.priority > other.spec.priority

    def _recovered(self) -> list[RecoveredGroup]:
        return recovered_groups(self._store.rows(), self._cells)

    def _is_allocation(self, chosen: Iterable[CellRecord]) -> bool:
        """The condition of e0 (line 51). The condition of e1 is that some cell is Used or Reserving (line 63)."""
        return all(cell.state in ("Free", "Reserved") for cell in chosen)

    def _is_vacated(self, cell: str) -> bool:
        return self.memory.cell(cell).state == "Reserved"

    def _binding(self, draft: Draft, name: str) -> list[PodRow]:
        """The rows that bind the live pods of a group, each with the placement of the whole group."""
        group = draft.groups[name]
        return [PodRow(pod, PodStatus.BOUND, group.spec, group.placement) for pod in group.live]

    def _commit(self, draft: Draft, rows: Iterable[PodRow], report: Report) -> Report:
        """Writes the rows, then installs the draft.

        After a failed write, rows and memory may differ. So the scheduler goes down, and recovery decides from the rows
        that were written.
        """
        memory = draft.finished()
        try:
            for row in rows:
                self._store.put(row)
        except Exception:
            self.crash()
            raise
        self._memory = memory
        if self._observer is not None:
            self._observer(report)
        return report
