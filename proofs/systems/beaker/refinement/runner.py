"""The implementation's side: runs operations, and kills the process at every point of each.

An operation is one transaction. The points at which a process can die are therefore three: while
the transaction is open, just after it was committed, and after the process has noted what it did.
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
    """Everything that works on the store: the loops of one process, people and labs.

    The types are what a test replaces to plant a bug.
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
    """Something that a loop, a person or a lab may do, in words and as a call.

    ``instead_of`` is the number of operations just before it that name what it chooses by itself: it
    may not be refused where one of them is not.
    """

    said: str
    call: Callable[[Sides], Report]
    instead_of: int = 0


@dataclass(frozen=True)
class Snapshot:
    """All of the implementation: what the database holds, and what the process remembers.

    Places are 1, 2, ... here; in the database there may be gaps between them.
    """

    world: World
    in_hand: InHand | None


class Runner:
    """All sides on one store, put back to any earlier snapshot before each run."""

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
        """The implementation as it is."""
        return Snapshot(ranked(self._store.snapshot()), self._sides.new_jobs.in_hand)

    def run(self, at: Snapshot, operation: Operation) -> tuple[Report, Snapshot] | None:
        """An operation from ``at`` to its end; None if it is refused.

        Raises:
            Broken: it fails, changes something though it was refused, is not one transaction, or
                keeps no record of the systems' usage.
        """
        self._restore(at)
        try:
            report = operation.call(self._sides)
        except Refused as error:
            if self.now() != at or self._reports:
                raise Broken(f"the request was refused, but it changed something: {error}") from error
            self._stands_at = at
            return None
        except Exception as error:  # whatever a bug raises
            raise Broken(f"the operation fails: {type(error).__name__}: {error}") from error
        end = self.now()
        if self._commits != 1:
            raise Broken(f"the operation is not one transaction but {self._commits}")
        if self._reports != [report]:
            raise Broken("the operation does not tell what it did", expected=f"{report}", found=f"{self._reports}")
        self._check_usage(at, end)
        return report, end

    def killed(self, at: Snapshot, operation: Operation, point: str) -> Snapshot:
        """What is left of an operation, which is not refused at ``at``, when the process dies at ``point``.

        Raises:
            Broken: the operation goes on, or told what it did before it was done.
        """
        self._restore(at)
        self._kill_at = point
        try:
            operation.call(self._sides)
        except Crash:
            if self._reports:
                raise Broken(f"the operation tells what it did {point}", found=f"{self._reports[0]}") from None
            self._kill_at = None
            return self.crash(self.now())
        raise Broken(f"the operation goes on where the process died ({point})")

    def crash(self, at: Snapshot) -> Snapshot:
        """The implementation after the process died at ``at`` and was started again."""
        self._restore(at)
        self._sides.new_jobs.crash()
        return self.now()

    def _restore(self, at: Snapshot) -> None:
        if self._stands_at is not at:  # most requests are refused, and leave everything as it is
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
        """An entry whenever usage or condition change, and only then (lines 252-255)."""
        entries: dict[str, list[UsageEntry]] = {}
        for entry in self._store.usage():
            entries.setdefault(entry.system, []).append(entry)
        for old, new in zip(before.world.systems, after.world.systems, strict=True):
            # Restoring began each system's usage anew, with one entry.
            expected = [(old.usage, old.condition), (new.usage, new.condition)][: 1 + (old != new)]
            found = entries.get(new.name, [])
            if [(e.usage, e.condition) for e in found] != expected or found[-1].finished is not None:
                said = "; ".join(f"{e.usage} {e.condition}" for e in found)
                raise Broken(
                    f"the system usage of {new.name} does not tell what happened",
                    expected="; ".join(f"{usage} {condition}" for usage, condition in expected),
                    found=said,
                )


def ranked(world: World) -> World:
    """``world`` with the places of the assigned sets as 1, 2, ...: only their order means anything."""
    places = sorted(s.place for s in world.recipe_sets if s.place is not None)
    if places == list(range(1, len(places) + 1)):
        return world
    sets = (s if s.place is None else replace(s, place=1 + places.index(s.place)) for s in world.recipe_sets)
    return replace(world, recipe_sets=tuple(sets))
