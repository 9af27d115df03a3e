"""Runs operations of the implementation, and kills the process at every point of each.

An operation is one transaction. So the process can die at three points:

- while the transaction is open;
- just after its commit;
- after the process has recorded the outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from schedproof.impl.store import Crash
from schedproof.impl.systems.beaker import (
    BeakerStore,
    Consistency,
    Draft,
    InHand,
    Lab,
    NewJobs,
    Observer,
    PendingSystems,
    Provisioning,
    Refused,
    Report,
    UsageEntry,
    Web,
    World,
)
from schedproof.proofs.refinement.mismatch import Broken

BEFORE, AFTER = "before the transaction is committed", "after the transaction is committed"


class Sides:
    """All components that use the store: the loops of one process, the users and the labs.

    A test replaces the types to seed a fault.
    """

    new_jobs_type: type[NewJobs] = NewJobs
    pending_type: type[PendingSystems] = PendingSystems
    provisioning_type: type[Provisioning] = Provisioning
    consistency_type: type[Consistency] = Consistency
    web_type: type[Web] = Web
    lab_type: type[Lab] = Lab
    draft_type: type[Draft] = Draft

    def __init__(self, store: BeakerStore, observer: Observer) -> None:
        self.new_jobs = self.new_jobs_type(store, observer=observer)
        self.pending = self.pending_type(store, observer=observer)
        self.provisioning = self.provisioning_type(store, observer=observer)
        self.consistency = self.consistency_type(store, observer=observer)
        self.web = self.web_type(store, observer=observer)
        self.lab = self.lab_type(store, observer=observer)
        for side in (self.new_jobs, self.pending, self.provisioning, self.consistency, self.web, self.lab):
            side.draft_type = self.draft_type


class SidesFactory(Protocol):
    """Called as :class:`Sides` is."""

    def __call__(self, store: BeakerStore, observer: Observer) -> Sides: ...


@dataclass(frozen=True)
class Operation:
    """An operation of a loop, a user or a lab.

    Attributes:
        description: its description.
        call: executes it.
        instead_of: the number of operations just before it that name the options among which it chooses itself. It must
            not be refused where one of them is allowed.
    """

    description: str
    call: Callable[[Sides], Report]
    instead_of: int = 0


@dataclass(frozen=True)
class Snapshot:
    """The complete implementation: the content of the database, and the memory of the process.

    Places are 1, 2, ... here; the database may have gaps between them.
    """

    world: World
    in_hand: InHand | None


class Runner:
    """All components on one store, restored to a snapshot before each run."""

    def __init__(self, sides: SidesFactory, store: BeakerStore, fill: Callable[[Web], object]) -> None:
        self._store = store
        self._commits = 0
        self._kill_at: str | None = None
        store.before, store.after = self._before_commit, self._after_commit
        self._reports: list[Report] = []
        self._stands_at: Snapshot | None = None
        self._sides = sides(self._store, self._reports.append)
        fill(self._sides.web)

    def now(self) -> Snapshot:
        """Returns a snapshot of the current implementation."""
        return Snapshot(ranked(self._store.snapshot()), self._sides.new_jobs.in_hand)

    def run(self, at: Snapshot, operation: Operation) -> tuple[Report, Snapshot] | None:
        """Runs an operation from ``at``.

        Returns:
            Its report and the state at its end; None if it is refused.

        Raises:
            Broken: it fails, changes something though it was refused, is not one transaction, or writes no entry of
                system usage.
        """
        self._restore(at)
        try:
            report = operation.call(self._sides)
        except Refused as error:
            if self.now() != at or self._reports:
                raise Broken(f"the request was refused, but it changed something: {error}") from error
            self._stands_at = at
            return None
        except Exception as error:  # any exception is a bug
            raise Broken(f"the operation fails: {type(error).__name__}: {error}") from error
        end = self.now()
        if self._commits != 1:
            raise Broken(f"the operation is not one transaction but {self._commits}")
        if self._reports != [report]:
            raise Broken("the operation does not report what it did", expected=f"{report}", actual=f"{self._reports}")
        self._check_usage(at, end)
        return report, end

    def killed(self, at: Snapshot, operation: Operation, point: str) -> Snapshot:
        """Returns the state that an operation leaves when the process dies at ``point``.

        The operation must not be refused at ``at``.

        Raises:
            Broken: the operation continues after the crash, or reports before it is done.
        """
        self._restore(at)
        self._kill_at = point
        try:
            operation.call(self._sides)
        except Crash:
            if self._reports:
                raise Broken(f"the operation reports what it did {point}", actual=f"{self._reports[0]}") from None
            self._kill_at = None
            return self.crash(self.now())
        raise Broken(f"the operation goes on where the process died ({point})")

    def crash(self, at: Snapshot) -> Snapshot:
        """Returns the implementation after the process died at ``at`` and was started again."""
        self._restore(at)
        self._sides.new_jobs.crash()
        return self.now()

    def _restore(self, at: Snapshot) -> None:
        if self._stands_at is not at:  # most requests are refused and change nothing
            self._store.restore(at.world)
        self._stands_at = None
        self._commits = 0
        self._kill_at = None
        self._reports.clear()
        self._sides.new_jobs.in_hand = at.in_hand

    def _before_commit(self, written: Sequence[object]) -> None:
        if self._kill_at == BEFORE:
            raise Crash

    def _after_commit(self, written: Sequence[object]) -> None:
        self._commits += 1
        if self._kill_at == AFTER:
            raise Crash

    def _check_usage(self, before: Snapshot, after: Snapshot) -> None:
        """Checks that usage entries are written exactly when usage or condition change (lines 252-255)."""
        entries: dict[str, list[UsageEntry]] = {}
        for entry in self._store.usage():
            entries.setdefault(entry.system, []).append(entry)
        for old, new in zip(before.world.systems, after.world.systems, strict=True):
            # Restoring started each system's usage again, with one entry.
            expected = [(old.usage, old.condition), (new.usage, new.condition)][: 1 + (old != new)]
            recorded = entries.get(new.name, [])
            if [(e.usage, e.condition) for e in recorded] != expected or recorded[-1].finished is not None:
                shown = "; ".join(f"{e.usage} {e.condition}" for e in recorded)
                raise Broken(
                    f"the system usage of {new.name} does not show what happened",
                    expected="; ".join(f"{usage} {condition}" for usage, condition in expected),
                    actual=shown,
                )


def ranked(world: World) -> World:
    """Returns ``world`` with the places of the assigned sets as 1, 2, ...: only their order matters."""
    places = sorted(s.place for s in world.recipe_sets if s.place is not None)
    if places == list(range(1, len(places) + 1)):
        return world
    sets = (s if s.place is None else replace(s, place=1 + places.index(s.place)) for s in world.recipe_sets)
    return replace(world, recipe_sets=tuple(sets))
