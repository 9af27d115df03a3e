"""Schedulers and stores with a bug each, for the exploration to catch.

Each is the reference scheduler or its store with one method spoilt, as a programmer might by
mistake; the modules ``seeded_*`` hold them, this one says how each shows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schedproof.impl.systems.hived import InMemoryStore, Scheduler
from tests.systems.hived.seeded import cascades, recovery, requests, writes


@dataclass(frozen=True)
class Seeded:
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
    Seeded(
        "an overwritten preemptor is not cancelled",
        "disagree on whether g1 reserves it",
        cascades.spoilt_by(cascades.ForgottenCancellation),
        groups=3,
        pods=1,
    ),
    Seeded(
        "a cancelled preemptor keeps the cells that were not overwritten",
        r"preempt\(g2.*expected: .*c1 Free.*found: .*c1 Reserved \(reserver g1\)",
        cascades.spoilt_by(cascades.HalfCancellation),
        groups=3,
        pods=1,
    ),
    Seeded(
        "a victim stays preempted when its preemptor is deleted",
        "delete_preempting.*expected: g0 Allocated .*found:    g0 BeingPreempted",
        cascades.spoilt_by(cascades.VictimNotSpared),
    ),
    Seeded(
        "a victim is freed while another group still preempts it",
        "expected: g0 BeingPreempted .*found:    g0 Allocated",
        cascades.spoilt_by(cascades.VictimSparedTooEarly),
        groups=3,
        pods=1,
    ),
    Seeded(
        "a victim waits until nobody is preempted",
        "expected: .*g1 Allocated .*found: .*g1 BeingPreempted",
        cascades.spoilt_by(cascades.VictimWaitsForOthers),
        groups=4,
        pods=1,
    ),
    Seeded("an operation fails", "the operation fails: KeyError", cascades.spoilt_by(cascades.PreemptorNotFound)),
    Seeded(
        "a deleted victim's cell becomes Free instead of Reserved",
        "delete_preempted.*expected: .*c0 Reserved .*found: .*c0 Free",
        cascades.spoilt_by(cascades.CellToFreeInsteadOfReserver),
    ),
    Seeded(
        "the victim stays Allocated while it is being preempted",
        "preempt.*expected: g0 BeingPreempted .*found:    g0 Allocated",
        cascades.spoilt_by(cascades.VictimStaysAllocated),
    ),
    Seeded(
        "all pods are placed on one cell",
        "rows place both g0/p0 and g0/p1 on c0",
        cascades.spoilt_by(cascades.DealsACellTwice),
    ),
    Seeded(
        "a preemptor's record lacks its cells",
        "disagree on whether g1 reserves it",
        cascades.spoilt_by(cascades.ForgetsReservation),
    ),
]

CONDITIONS = [
    Seeded(
        "a group preempts another of equal priority",
        r"the model cannot take preempt\(g\d",
        requests.OutranksEquals,
        priorities=(0, 0),
    ),
    Seeded("priorities are not looked at", r"the model cannot take preempt\(g0", requests.IgnoresPriority),
    Seeded(
        "a preemption completes while the victim's pods run",
        "rows place both g0/p. and g1/p.",
        requests.DoesNotWaitForPods,
    ),
    Seeded(
        "a group preempts where all cells are Free or Reserved",
        r"the model cannot take preempt\(",
        requests.PreemptsReservations,
        groups=3,
        pods=1,
    ),
    Seeded("nobody is ever preempted", r"can no longer take preempt\(g1", requests.NeverPreempts),
    Seeded(
        "cells are released with a group's first pod",
        r"delete_\w+\(g0\) leads to another state",
        requests.GroupGoesWithItsFirstPod,
    ),
    Seeded("a refused completion gives the cells up", "was refused, but it changed something", requests.RefusesTooLate),
    Seeded("a deleted pod can come back for ever", "repeated for ever", requests.PodsComeBack),
]

REPORTS = [
    Seeded("a preemption is reported as an allocation", r"the model cannot take allocate\(", requests.AnotherReport),
    Seeded(
        "a group's deletion is reported as a pod's",
        "reports 'pod deleted', which is no step",
        requests.ReportsGroupAsPod,
    ),
    Seeded("the state after is reported", "reports that a Deleted group is deleted", requests.ReportsStateAfter),
    Seeded(
        "a completion is reported but not made", "reports 'completed', which is one step", requests.ReportsWithoutDoing
    ),
    Seeded("a preemption is not reported", "changes the memory without reporting it", requests.DoesWithoutReporting),
]

WRITES = [
    Seeded(
        "a row is written and the request refused", "was refused, but it changed something", writes.RefusesAfterWriting
    ),
    Seeded(
        "success is reported before it is written", "writes rows after it was installed", writes.ReportsBeforeWriting
    ),
    Seeded("a pod's row has only its own placement", "rows of g0 carry different placements", writes.PlacementPerPod),
    Seeded(
        "the rows leave a cell of the placement out", "memory and durable rows place g0 differently", writes.LosesACell
    ),
    Seeded("only one pod of a group is bound", "memory and durable rows disagree on pod g0/p1", writes.BindsOnePod),
    Seeded("a pod is marked bound before its placement", "between two durable writes", writes.StatusBeforePlacement),
    Seeded("binding passes through deleted rows", "between two durable writes", writes.WritesDeletionTooEarly),
    Seeded(
        "the memory is updated before the rows", "memory changes before the durable writes", writes.MemoryBeforeRows
    ),
    Seeded("deletions are never written", "memory and durable rows disagree on pod g0/p0", writes.DeletesInMemoryOnly),
    Seeded(
        "the store loses the last deletion", "memory and durable rows disagree on pod g0/p.", store=writes.LostWrite
    ),
    Seeded("the store loses its buffer in a crash", r"crash\(\) leads to another state", store=writes.LazyStore),
]

RECOVERY = [
    Seeded(
        "recovery ends before its writes",
        "memory changes before recovery's durable",
        recovery.RecoveryWorksBeforeItIsDone,
    ),
    Seeded("recovery binds anew", "a write of recovery changes what the rows say", recovery.RecoveryBindsAnew),
    Seeded("the store is not empty at first", "does not begin where the model does", store=writes.NotEmpty),
    Seeded(
        "the store contradicts itself at first", "rows place both g0/p0 and g1/p1 on c0", store=writes.Contradicting
    ),
    Seeded("recovery trusts the memory", "recovery ends in another state than a crash", recovery.RecoversFromMemory),
    Seeded("recovery does not finish a binding", "disagree on pod g0/p1", recovery.ForgetsToFinishBinding),
    Seeded("recovery undoes a half-made binding", "place g0 differently", recovery.RecoversHalfBoundAsPending),
    Seeded("recovery forgets deleted pods", "disagree on pod g0/p0", recovery.RevivesDeleted),
    Seeded("recovery gives a group only its live pods' cells", "place g0 differently", recovery.RecoveryReleasesPartly),
]

SEEDED = [*ALGORITHM, *CONDITIONS, *REPORTS, *WRITES, *RECOVERY]
