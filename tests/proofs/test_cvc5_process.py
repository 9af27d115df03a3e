"""cvc5 in a process of its own, which ends where cvc5 goes on after its time limit."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from schedproof.proofs.second_solver import PROGRAM, SecondSolver
from schedproof.proofs.verdict import Verdict
from tests.proofs.cvc5_programs import going_on_at

NUMBER = "(set-logic ALL)(declare-const x Int)"
PROVED, REFUTED = (f"{NUMBER}(assert {claim})(check-sat)" for claim in ("(< x x)", "(> x 0)"))


def test_verdicts_are_those_of_cvc5() -> None:
    with SecondSolver() as cvc5:
        assert [cvc5.verdict(PROVED), cvc5.verdict(REFUTED), cvc5.verdict(PROVED)] == [
            Verdict.PROVED,
            Verdict.REFUTED,
            Verdict.PROVED,
        ]


def test_several_questions_have_an_answer_each() -> None:
    given = f"{NUMBER}(declare-const a Bool)(assert (=> a (< x x)))"
    questions = "(check-sat-assuming (a))(get-model)(check-sat-assuming ((not a)))"
    with SecondSolver() as cvc5:
        assert cvc5.verdicts(given + questions) == [Verdict.PROVED, Verdict.UNDETERMINED, Verdict.REFUTED]


def test_a_script_that_is_refused_has_no_verdict() -> None:
    with SecondSolver() as cvc5:
        assert cvc5.verdicts(f"{PROVED}(assert") == []
        with pytest.raises(RuntimeError, match="assrt"):
            cvc5.verdict(f"{PROVED}(assrt x)")
        assert cvc5.verdict(PROVED) is Verdict.PROVED


def test_finite_models_are_searched_on_demand() -> None:
    text = f"{NUMBER}(declare-sort S 0)(declare-fun f (S) S)(assert (forall ((s S)) (not (= (f s) s))))(check-sat)"
    with SecondSolver() as cvc5:
        assert cvc5.verdict(text, find_models=True) is Verdict.REFUTED


def test_the_process_ends_where_cvc5_goes_on_and_another_answers() -> None:
    with SecondSolver(going_on_at("> x 0")) as cvc5:
        assert cvc5.verdict(PROVED) is Verdict.PROVED
        assert cvc5.verdict(REFUTED, 0.1) is Verdict.UNDETERMINED
        assert cvc5.verdicts(REFUTED, 0.1) == []
        assert cvc5.verdict(PROVED) is Verdict.PROVED


def test_the_time_of_a_question_is_its_own() -> None:
    """Questions that take as long as one may take together: none of them has used up the time of the next."""
    with SecondSolver(going_on_at("< x x", seconds=0.5)) as cvc5:
        questions = "(declare-const a Bool)" + "(check-sat-assuming (a))" * 5
        assert len(cvc5.verdicts(f"{NUMBER}(assert (< x x)){questions}", 0.01)) == 5
        time.sleep(1.2)  # nor does a process end that waits for a question
        assert cvc5.verdict(REFUTED) is Verdict.REFUTED


@pytest.mark.skipif(sys.platform == "win32", reason="numbers of processes")
def test_a_process_that_was_killed_is_undetermined() -> None:
    with SecondSolver() as cvc5:
        assert cvc5.verdict(PROVED) is Verdict.PROVED
        assert cvc5._process is not None
        os.kill(cvc5._process.pid, 9)
        assert cvc5.verdict(PROVED) is Verdict.UNDETERMINED
        assert cvc5.verdict(PROVED) is Verdict.PROVED


def test_no_process_is_left() -> None:
    with SecondSolver() as cvc5:
        assert cvc5._process is None  # nothing was asked
        cvc5.verdict(PROVED)
        process = cvc5._process
    assert process is not None and process.poll() is not None


def test_the_process_ends_with_its_input() -> None:
    done = subprocess.run(PROGRAM, input="", capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
