"""Interpretations of a document's locks, tried as a change of a lock file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from schedproof.model.lang import ModelError, Reading
from schedproof.model.registry.errors import UserError
from schedproof.model.registry.system import System
from schedproof.proofs.verdict import Verdict
from schedproof.proofs.verification.ambiguities import ambiguities
from schedproof.proofs.verification.findings import findings
from schedproof.proofs.verification.interpreted import differences
from schedproof.proofs.verification.interpreted_locks import lock_file
from schedproof.proofs.verification.verify import verify_variant
from tests.proofs.verification.test_lock_repairs import NEWS, doors

ROOM = "channels: {news: unbounded}"
RESTS = ("as-written.nothing-is-held-while-waiting", "as-written.no-deadlock")


def with_one(folder: Path, reading: Reading) -> System:
    """The doors of ``test_lock_repairs``, with an interpretation of their locks."""
    system = doors(folder, "")
    parts = {"interpretations": (reading,)}
    return replace(system, load=lambda key, default: parts.get(key, default))  # type: ignore[arg-type, return-value]


def test_what_rests_on_it_passes_in_the_other_lock_file(tmp_path: Path) -> None:
    """With room for all news nobody waits: for a lock, the reporter and the painter only take turns."""
    reading = replace(NEWS, locks=ROOM, rests=RESTS)
    system = with_one(tmp_path, reading)
    assert reading.is_tried
    assert differences(system.base, reading, lock_file(system, system.base)) == ({*RESTS}, frozenset())
    results = verify_variant(system, system.base, only=["interpretation.news-can-wait"]).properties
    assert [each.result.verdict for each in results] == [Verdict.PROVED]
    resting = [each.property for each in findings(system) if reading in each.interpretations]
    assert sorted(resting) == sorted(RESTS)


def test_what_it_breaks_fails_in_the_other_lock_file(tmp_path: Path) -> None:
    """A circle of the order, of which the lock file has none."""
    reading = replace(NEWS, locks="order: [Shed > House]", breaks=["as-written.order-is-acyclic"])
    system = with_one(tmp_path, reading)
    assert differences(system.base, reading, lock_file(system, system.base)) == (frozenset(), {*reading.breaks})


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"locks": "about: x\norder: [House > Barn]"}, "locks: line 2: unknown class 'Barn'"),
        ({"locks": ROOM, "rests": ["as-written.order-is-acyclic"]}, "rests: unknown violated property"),
        ({"locks": ROOM, "breaks": ["order-is-acyclic"]}, "breaks: unknown property that holds"),
    ],
)
def test_a_wrong_one_is_refused(tmp_path: Path, changed: dict[str, str], says: str) -> None:
    with pytest.raises((ModelError, UserError)) as caught:
        ambiguities(with_one(tmp_path, replace(NEWS, **changed)))
    assert "interpretation news-can-wait" in str(caught.value) and says in str(caught.value)


def test_without_a_lock_file_it_is_refused(tmp_path: Path) -> None:
    system = replace(with_one(tmp_path, replace(NEWS, locks=ROOM)), locks={})
    with pytest.raises(ModelError, match="locks amends a lock file, and as-written has none; name one in the manifest"):
        ambiguities(system)
