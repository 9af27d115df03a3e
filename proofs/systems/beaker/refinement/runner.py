"""Runs operations of the implementation, and kills the process at every point of each.

An operation is one transaction. So the process can die at three points:

- while the transaction is open;
- just after its commit;
- after the process has recorded the outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from schedproof.impl.hashed import hashed_once
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

HIDDEN: Any = object()
"""No memory of the process, for operations that do not read it: they fail if they do."""

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


@dataclass(frozen=True, eq=False)
class Operation:
    """An operation of a loop, a user or a lab.

    Attributes:
        description: its description.
        call: executes it.
        instead_of: the number of operations just before it that name the options among which it chooses itself. It must
            not be refused where one of them is allowed.
        reads_memory: whether its component keeps something in memory; if not, the database alone decides its outcome.
    """

    description: str
    call: Callable[[Sides], Report]
    instead_of: int = 0
    reads_memory: bool = False


@hashed_once
@dataclass(frozen=True)
class Snapshot:
    """The complete implementation: the content of the database, and the memory of the process.

    Places are 1, 2, ... here; the database may have gaps between them.
    """

    world: World
    in_hand: InHand | None


Done = tuple[Report, Snapshot]
"""The report of an operation that was not refused, and the state at its end."""


class Runner:
    """All components on one store, restored to a snapshot before each run.

    An operation that does not read the memory of the process runs once for each content of the database.
    """

    def __init__(self, sides: SidesFactory, store: BeakerStore, fill: Callable[[Web], object]) -> None:
        self._store = store
        self._commits = 0
        self._kill_at: str | None = None
        store.before, store.after = self._before_commit, self._after_commit
        self._reports: list[Report] = []
        self._restored: World | None = None
        self._stands = False
        self._worlds: dict[World, World] = {}
        self._runs: dict[tuple[World, Operation], Done | None] = {}
        self._deaths: dict[tuple[World, Operation, str], Snapshot] = {}
        self._crashes: dict[Snapshot, Snapshot] = {}
        self._sides = sides(self._store, self._reports.append)
        fill(self._sides.web)

    def now(self) -> Snapshot:
        """Returns a snapshot of the current implementation. Equal worlds are one object, so they compare fast."""
        world = self._store.snapshot()
        if world is not self._restored:
            world = ranked(world)
            world = self._worlds.setdefault(world, world)
        return Snapshot(world, vars(self._sides.new_jobs).get("in_hand", HIDDEN))

    def run(self, at: Snapshot, operation: Operation) -> Done | None:
        """Runs an operation from ``at``.

        Returns:
            Its report and the state at its end; None if it is refused.

        Raises:
            Broken: it fails, changes something though it was refused, is not one transaction, or writes no entry of
                system usage.
        """
        if operation.reads_memory:
            return self._run(at, operation)
        key = at.world, operation
        if key not in self._runs:
            self._runs[key] = self._run(Snapshot(at.world, HIDDEN), operation)
        done = self._runs[key]
        return None if done is None else (done[0], _with_memory(done[1], at))

    def killed(self, at: Snapshot, operation: Operation, point: str) -> Snapshot:
        """Returns the state after the process died at ``point`` of an operation and was started again.

        The operation must not be refused at ``at``.

        Raises:
            Broken: the operation continues after the crash, or reports before it is done.
        """
        if operation.reads_memory:
            return self.crash(self._killed(at, operation, point))
        key = at.world, operation, point
        if key not in self._deaths:
            self._deaths[key] = self._killed(Snapshot(at.world, HIDDEN), operation, point)
        return self.crash(_with_memory(self._deaths[key], at))

    def crash(self, at: Snapshot) -> Snapshot:
        """Returns the implementation after the process died at ``at`` and was started again."""
        if at not in self._crashes:
            self._restore(at)
            self._sides.new_jobs.crash()
            self._crashes[at] = self.now()
        return self._crashes[at]

    def _run(self, at: Snapshot, operation: Operation) -> Done | None:
        self._restore(at)
        try:
            report = operation.call(self._sides)
        except Refused as error:
            if self.now() != at or self._reports:
                raise Broken(f"the request was refused, but it changed something: {error}") from error
            self._stands = True
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

    def _killed(self, at: Snapshot, operation: Operation, point: str) -> Snapshot:
        """The state in which an operation leaves a process that dies at ``point``."""
        self._restore(at)
        self._kill_at = point
        try:
            operation.call(self._sides)
        except Crash:
            if self._reports:
                raise Broken(f"the operation reports what it did {point}", actual=f"{self._reports[0]}") from None
            return self.now()
        raise Broken(f"the operation goes on where the process died ({point})")

    def _restore(self, at: Snapshot) -> None:
        self._kill_at = None
        if not (self._stands and self._restored is at.world):  # most requests are refused and change nothing
            self._store.restore(at.world)
            self._restored = at.world
        self._stands = False
        self._commits = 0
        self._reports.clear()
        memory = vars(self._sides.new_jobs)
        memory.pop("in_hand", None)
        if at.in_hand is not HIDDEN:
            memory["in_hand"] = at.in_hand

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


def _with_memory(after: Snapshot, before: Snapshot) -> Snapshot:
    """The state after an operation that does not read the memory of the process: it is that of ``before``."""
    return Snapshot(after.world, before.in_hand) if after.in_hand is HIDDEN else after


def ranked(world: World) -> World:
    """Returns ``world`` with the places of the assigned sets as 1, 2, ...: only their order matters."""
    places = sorted(s.place for s in world.recipe_sets if s.place is not None)
    if places == list(range(1, len(places) + 1)):
        return world
    sets = (s if s.place is None else replace(s, place=1 + places.index(s.place)) for s in world.recipe_sets)
    return replace(world, recipe_sets=tuple(sets))
