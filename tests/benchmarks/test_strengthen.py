"""The number of clauses of an invariant, which is compared with what is inferred: one clause each."""

from __future__ import annotations

import pytest

from benchmarks.strengthen import clauses
from schedproof.model.lang import NONE, Invariant, exists, forall, iff, implies
from schedproof.model.lang import terms as t
from tests.proofs.strengthen.protocols import LEASES

w, lease = LEASES.actions[0].parameters
FREE, NOBODY, ITS = lease.is_("Free"), lease.holder == NONE, lease.holder == w
CALM = lease.mood == "calm"


@pytest.mark.parametrize(
    ("given", "then", "count"),
    [
        (None, FREE, 1),
        (FREE, NOBODY, 1),
        (FREE & ITS, NOBODY | w.is_("Idle"), 1),
        (FREE, NOBODY & w.is_("Idle"), 2),
        (FREE | ITS, NOBODY & w.is_("Idle"), 4),
        (None, implies(FREE, NOBODY) & implies(~FREE, ~NOBODY), 2),
        (None, iff(FREE, NOBODY), 2),
        (ITS, implies(FREE, NOBODY) & implies(CALM, w.is_("Idle")), 2),
        (CALM | (lease.mood == "busy"), NOBODY, 1),
        (CALM | ITS, NOBODY, 2),
        (None, (lease.mood != "calm") & (lease.mood != "busy"), 1),
        (None, (lease.count >= 1) & (lease.count <= 2), 1),
        (None, (lease.count >= 1) & (lease.count <= lease.most), 2),
        (None, FREE & CALM, 2),
        (None, (CALM & NOBODY) | FREE, 2),
        (None, exists(w, ITS & w.is_("Idle")), 1),
        (None, forall(w, ~ITS & w.is_("Idle")), 2),
        (exists(w, ITS | w.is_("Idle")), FREE, 2),
        (~(FREE & ITS), NOBODY, 2),
    ],
)
def test_clauses_of_an_invariant(given: t.Term | None, then: t.Term, count: int) -> None:
    assert clauses(Invariant(name="some", says="some", over=[w, lease], given=given, then=then)) == count
