"""What is not answered in time is unproved, and nothing else changes."""

from __future__ import annotations

import time

import pytest

from schedproof.proofs.induction import NO_LIMIT, TimeLimit, prove, recheck
from schedproof.proofs.induction.bounds import BEYOND
from schedproof.proofs.induction.expressions import Solver
from schedproof.proofs.strengthen import strengthen
from schedproof.proofs.verdict import Verdict
from tests.proofs.strengthen.protocols import LEASES, LOCK_SERVER


def test_the_time_that_is_left() -> None:
    limit = TimeLimit(100.0, began=time.monotonic() - 60.0)
    assert 39.0 < limit.left <= 40.0
    assert 39_000 < limit.milliseconds() <= 40_000
    assert limit.reached() == ""
    assert limit.share(0.5).left < 0
    assert limit.share(0.5).reached() == "the time limit of 100 s"
    assert limit.share(0.5).milliseconds() == 0
    assert NO_LIMIT.reached() == ""


def test_a_halt_ends_the_time() -> None:
    limit = TimeLimit(100.0, lambda: "interrupted")
    assert limit.reached() == "interrupted"
    assert limit.milliseconds() == 0


def test_nothing_is_proved_after_the_limit() -> None:
    result = strengthen(LEASES, "one-lease-each")
    assert prove(result.model).proved("one-lease-each")
    late = prove(result.model, time_limit=TimeLimit(0.0))
    assert not late.proved("one-lease-each")
    why = late.why_not("one-lease-each")
    assert why is not None
    assert (why.verdict, why.note) == (Verdict.UNDETERMINED, "the time limit of 0 s")


def test_a_limit_in_the_middle_keeps_what_is_proved_without_it() -> None:
    """An invariant whose proof was finished stays only if the invariants that it uses were proved, too."""
    result = strengthen(LEASES, "one-lease-each")
    whole = prove(result.model)
    kept = []
    for questions in range(0, 60, 6):
        left = iter([True] * questions)
        limit = TimeLimit(halt=lambda left=left: "" if next(left, False) else "halted")  # type: ignore[misc]
        halted = prove(result.model, time_limit=limit)
        for name in halted.inductive:
            assert whole.kept(name)
            assert {used for answer in halted.of(name) for used in answer.used} <= halted.inductive
        kept.append(len(halted.inductive))
    assert kept[0] == 0
    assert kept[-1] == len(whole.inductive)


def test_a_limit_in_the_middle_leaves_a_larger_bound() -> None:
    (bound,) = prove(LOCK_SERVER).bounds.items()
    seen = set()
    for questions in range(12):
        left = iter([True] * questions)
        limit = TimeLimit(halt=lambda left=left: "" if next(left, False) else "halted")  # type: ignore[misc]
        bounds = prove(LOCK_SERVER, every=False, time_limit=limit).bounds
        assert all(sort == bound[0] and most >= bound[1] for sort, most in bounds.items())
        seen.add(bounds.get(bound[0]))
    assert {None, bound[1], BEYOND - 1} <= seen


def test_cvc5_is_asked_until_the_limit() -> None:
    proof = prove(strengthen(LEASES, "one-lease-each").model)
    assert len(list(recheck(proof))) == len(proof.answers)
    assert list(recheck(proof, time_limit=TimeLimit(0.0))) == []
    left = iter([True, True])
    some = list(recheck(proof, time_limit=TimeLimit(halt=lambda: "" if next(left, False) else "halted")))
    assert [each.answer for each in some] == list(proof.answers[:2])


def test_z3_stops_within_a_question(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each question gets the time that is left as z3's own limit."""
    limits: list[int] = []
    set_parameter = Solver.set

    def record(self: Solver, name: str, value: object) -> None:
        if name == "timeout":
            assert isinstance(value, int)
            limits.append(value)
        set_parameter(self, name, value)

    monkeypatch.setattr(Solver, "set", record)
    prove(LEASES)
    assert limits == []
    prove(LEASES, time_limit=TimeLimit(50.0))
    assert limits
    assert max(limits) <= 50_000
