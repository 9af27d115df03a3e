"""cvc5 checks what z3 proves of lock files for any number of objects."""

from __future__ import annotations

from typing import Any

import pytest
import z3

from schedproof.model.locks import Locks, parse
from schedproof.proofs import second_solver
from schedproof.proofs.locks import rank, symbolic
from schedproof.proofs.locks.model_check import model_check
from schedproof.proofs.second_solver import confirm, second_verdict
from schedproof.proofs.verdict import Disagreement, Verdict

SHARDS = """\
classes: {Shard: {lock: mutex}}
order: [Shard > Shard after it]
operations:
  move(Shard from, Shard to):
    - if from before to: [lock from: [lock to: []]]
    - if from after to: [lock to: [lock from: []]]
"""
WRONG = SHARDS.replace("if from after to: [lock to: [lock from: []]]", "if from after to: [lock from: [lock to: []]]")


def shards(text: str = SHARDS) -> Locks:
    return parse(text, "made.yaml")


def test_cvc5_confirms_the_lower_key_first() -> None:
    notes = {answer.check.name: answer.note for answer in model_check(shards()).answers}
    assert notes["move-follows-the-order"].endswith("by z3 and cvc5")


def test_the_wrong_way_round_is_proved_by_neither() -> None:
    verdicts = {answer.check.name: answer.verdict for answer in model_check(shards(WRONG)).answers}
    assert verdicts["move-follows-the-order"] is Verdict.REFUTED


def _proves_all(self: Any, facts: Any, claim: z3.BoolRef, *objects: Any) -> bool:
    """z3 finds no counterexample to anything."""
    self.refuted.append(z3.And(*facts.known, z3.Not(claim)))
    return True


def test_a_wrong_proof_of_a_step_is_a_disagreement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(symbolic._Checker, "follows", _proves_all)
    with pytest.raises(Disagreement, match="made: move: z3 proves it, and cvc5 refutes it"):
        model_check(shards(WRONG))


class _NeverSat:
    """A solver that has a solution of nothing."""

    def add(self, *formulas: object) -> None:
        """Takes no notice of them."""

    def check(self) -> z3.CheckSatResult:
        return z3.unsat


def test_a_wrong_rank_is_a_disagreement(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rank says that the higher key is first; z3 sees no row that contradicts it."""
    wrong = rank.Rank({"Shard": 0}, {"Shard": -1}, frozenset(["Shard"]))
    monkeypatch.setattr(rank, "find_rank", lambda locks: wrong)
    with pytest.raises(Disagreement, match="contradicts"):
        rank.check_order(shards())
    monkeypatch.setattr(rank, "solver_in", lambda context=None: _NeverSat())
    with pytest.raises(Disagreement, match=r"the rank Shard .* cvc5 refutes it"):
        rank.check_order(shards())


def test_what_cvc5_has_no_time_for_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_solver, "second_verdict", lambda text: Verdict.UNDETERMINED)
    answers = {answer.check.name: answer for answer in model_check(shards()).answers}
    assert "cvc5 had no time for" in answers["move-follows-the-order"].note
    assert answers["move-follows-the-order"].verdict is Verdict.PROVED


def test_one_wrong_formula_among_others_is_seen() -> None:
    x = z3.Int("x")
    right, wrong = z3.And(x > 0, x < 0), z3.And(x > 0, x < 2)
    assert confirm([right, right], "two") == 0 and confirm([], "none") == 0
    with pytest.raises(Disagreement, match="some: z3 proves it"):
        confirm([right, wrong, right], "some")


@pytest.mark.parametrize(("claim", "verdict"), [("(> x 0)", Verdict.REFUTED), ("(< x x)", Verdict.PROVED)])
def test_unsatisfiable_is_proved(claim: str, verdict: Verdict) -> None:
    assert second_verdict(f"(set-logic ALL)(declare-const x Int)(assert {claim})(check-sat)") is verdict


@pytest.mark.parametrize("name", ["Table", "Set", "Bool", "Zähler"])
def test_names_of_classes_are_no_words_of_a_solver(name: str) -> None:
    checked = model_check(shards(SHARDS.replace("Shard", name)))
    assert checked.ok


def test_cvc5_does_not_warn_of_names_that_z3_uses_again(capfd: pytest.CaptureFixture[str]) -> None:
    inner = "(forall ((x Int)) (or positive (< x 1)))"
    text = f"(set-logic ALL)(assert (forall ((x Int)) (let ((positive (> x 0))) {inner})))(check-sat)"
    assert second_verdict(text) is Verdict.PROVED  # 0 is not positive, and 1 is not below 1
    assert capfd.readouterr().err == ""
