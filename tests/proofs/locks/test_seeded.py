"""Each seeded fault of the engines for locks is caught by the tests; without one, their gates pass."""

from __future__ import annotations

import pytest
from _pytest.outcomes import Failed

from schedproof.model.locks import LocksError
from schedproof.proofs.verdict import Disagreement
from tests.proofs.locks.seeded import BUGS
from tests.support.sample import thinned


@pytest.mark.parametrize("name", thinned(BUGS, 12))
def test_a_seeded_bug_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bug = BUGS[name]
    monkeypatch.setattr(bug.of, bug.name, bug.bug)
    with pytest.raises((AssertionError, Disagreement, LocksError, KeyError, Failed)):
        bug.gate()


@pytest.mark.long
def test_the_gates_pass_without_a_bug() -> None:
    for gate in dict.fromkeys(bug.gate for bug in BUGS.values()):
        gate()
