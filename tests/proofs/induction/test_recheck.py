"""cvc5 is asked about several obligations of a step at once: with the same verdicts, and from no more assumptions."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
import z3

from schedproof.proofs.induction import Answer, Induction, TimeLimit, prove, recheck
from schedproof.proofs.second_solver import SecondSolver
from schedproof.proofs.strengthen import strengthen
from schedproof.proofs.verdict import Verdict
from tests.proofs.cvc5_programs import going_on_at
from tests.proofs.strengthen.protocols import LOCK_SERVER

MODULE = sys.modules["schedproof.proofs.induction.recheck"]  # its package has a function of that name


@pytest.fixture(scope="module")
def proof() -> Induction:
    return prove(strengthen(LOCK_SERVER, "mutex").model)


@pytest.fixture
def texts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The scripts that cvc5 is asked about."""
    asked: list[str] = []

    def noting(verdict: Any) -> Any:
        def noted(cvc5: SecondSolver, text: str, *arguments: float, **more: bool) -> Any:
            asked.append(text)
            return verdict(cvc5, text, *arguments, **more)

        return noted

    for name in ("verdict", "verdicts"):
        monkeypatch.setattr(SecondSolver, name, noting(getattr(SecondSolver, name)))
    return asked


def contexts(proof: Induction) -> list[int]:
    """For each obligation what it shares with others: those of one step, or the guards."""
    return [id(each.obligation.context) for each in proof.answers]


def eight_of_one_step(proof: Induction) -> list[Answer]:
    """The obligations of a step that has eight."""
    alike, number = Counter(contexts(proof)).most_common(1)[0]
    assert number == 8
    return [each for each in proof.answers if id(each.obligation.context) == alike]


def test_a_question_for_each_step_is_enough(proof: Induction, texts: list[str]) -> None:
    checks = list(recheck(proof))
    assert [each.answer for each in checks] == list(proof.answers)
    assert all(each.agrees and each.seconds > 0 for each in checks)
    assert len(texts) == len(set(contexts(proof))) < len(proof.answers)


def test_groups_have_a_largest_size(proof: Induction, texts: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MODULE, "TOGETHER", 3)
    sizes = Counter(contexts(proof)).values()
    assert all(each.agrees for each in recheck(proof))
    assert len(texts) == sum(-(-size // 3) for size in sizes)


@pytest.mark.parametrize(
    "script", ["(check-sat)" * 8, "(assert false)(check-sat)", "(assert false)" + "(check-sat)" * 9]
)
def test_what_is_not_proved_together_is_asked_one_by_one(
    proof: Induction, texts: list[str], script: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MODULE, "_script", lambda induction, answers: script)
    assert all(each.agrees for each in recheck(proof))
    assert len(texts) == len(proof.answers) + len(set(contexts(proof)))


def test_no_obligation_is_proved_from_what_another_assumes(proof: Induction) -> None:
    """Others of the step assume the invariant that the proof of mutual exclusion needs here."""
    (at,) = [n for n, each in enumerate(proof.answers) if each.obligation.name == "mutex / enter"]
    enter = proof.answers[at]
    (lemma,) = enter.used - {"mutex"}
    beside = [each for each in proof.answers if each.obligation.context is enter.obligation.context]
    assert sum(lemma in each.used for each in beside) > 1
    answers = list(proof.answers)
    answers[at] = replace(enter, used=frozenset({"mutex"}))
    checks = list(recheck(replace(proof, answers=tuple(answers))))
    assert [n for n, each in enumerate(checks) if each.verdict is not Verdict.PROVED] == [at]


@pytest.mark.parametrize("at", range(0, 30, 3))
def test_a_wrong_proof_is_seen_among_right_ones(proof: Induction, at: int) -> None:
    answers = list(proof.answers)
    wrong = replace(answers[at].obligation, goal=z3.BoolVal(False, proof.proof.symbols.context))
    answers[at] = replace(answers[at], obligation=wrong)
    checks = list(recheck(replace(proof, answers=tuple(answers))))
    assert [n for n, each in enumerate(checks) if each.verdict is not Verdict.PROVED] == [at]


def test_scripts_have_proved_obligations_of_one_step(proof: Induction) -> None:
    unproved, following = 4, 21
    answers = list(proof.answers)
    answers[unproved] = replace(answers[unproved], verdict=Verdict.UNDETERMINED)
    answers[following] = replace(answers[following], follows=True)
    groups = MODULE._of_one_step(answers)
    assert sorted(n for group in groups.values() for n in group) == [
        n for n in range(len(answers)) if n not in (unproved, following)
    ]
    for first, group in groups.items():
        assert first == min(group)
        assert len({id(answers[n].obligation.context) for n in group}) == 1


def test_the_time_of_a_script_is_shared(proof: Induction, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of eight obligations, cvc5 proves one in the script; the clock goes on by one at each question."""
    clock = [0.0]

    def ticking(answer: Any) -> Any:
        def ticked(*arguments: Any, **more: Any) -> Any:
            clock[0] += 1
            return answer

        return ticked

    monkeypatch.setattr(SecondSolver, "verdicts", ticking([Verdict.PROVED, *[Verdict.UNDETERMINED] * 7]))
    monkeypatch.setattr(SecondSolver, "verdict", ticking(Verdict.PROVED))
    monkeypatch.setattr(MODULE.time, "perf_counter", lambda: clock[0])
    checks = list(recheck(replace(proof, answers=tuple(eight_of_one_step(proof)))))
    assert sorted(each.seconds for each in checks) == [1 / 8, *[9 / 8] * 7]


def test_nothing_is_checked_in_time_that_a_script_used_up(proof: Induction, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a script leaves undetermined is not reported as such if there was no time to ask about it by itself."""
    limit = TimeLimit(1.0)
    given: list[float] = []

    def late(cvc5: SecondSolver, text: str, seconds: float) -> list[Verdict]:
        given.append(seconds)
        monkeypatch.setattr(TimeLimit, "reached", lambda self: "late")
        return [Verdict.UNDETERMINED] * text.count("(check-sat-assuming")

    monkeypatch.setattr(SecondSolver, "verdicts", late)
    assert list(recheck(proof, time_limit=limit)) == []
    assert len(given) == 1 and 0 < given[0] <= 1.0 / 8


def test_where_cvc5_does_not_end_is_undetermined(proof: Induction, monkeypatch: pytest.MonkeyPatch) -> None:
    """It goes on where a script has several questions, and where it has the goal that is false."""
    goal = "false_in_vain"
    answers = eight_of_one_step(proof)
    wrong = replace(answers[5].obligation, goal=z3.Bool(goal, proof.proof.symbols.context))
    answers[5] = replace(answers[5], obligation=wrong)
    monkeypatch.setattr(SecondSolver.__init__, "__defaults__", (going_on_at("check-sat-assuming", goal),))
    checks = list(recheck(replace(proof, answers=tuple(answers)), seconds=0.1))
    assert [n for n, each in enumerate(checks) if each.verdict is Verdict.UNDETERMINED] == [5]
    assert all(each.verdict is Verdict.PROVED for n, each in enumerate(checks) if n != 5)
