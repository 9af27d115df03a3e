"""cvc5 in a process of its own, which ends where cvc5 goes on after its time limit."""

from __future__ import annotations

import json
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
    with SecondSolver(going_on_at("< x x", doing="time.sleep(0.5)")) as cvc5:
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


@pytest.mark.skipif(sys.platform == "win32", reason="there is no timer")
@pytest.mark.parametrize("how", ["ignored", "blocked"])
def test_the_process_ends_though_its_signal_is_inherited(how: str) -> None:
    start = {
        "ignored": "signal.signal(signal.SIGALRM, signal.SIG_IGN)",
        "blocked": "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})",
    }
    _, *arguments = going_on_at("< x x")
    begin = f"import os, signal, sys; {start[how]}; os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    with SecondSolver((sys.executable, "-c", begin, *arguments)) as cvc5:
        assert cvc5.verdict(PROVED, 0.1) is Verdict.UNDETERMINED


def test_a_question_that_was_left_has_no_later_reply() -> None:
    """The caller gives up while cvc5 works, and asks something else."""
    with SecondSolver(going_on_at("< x x", doing="time.sleep(0.5)")) as cvc5:
        cvc5.verdict(REFUTED)
        assert cvc5._process is not None and cvc5._process.stdin is not None
        print(json.dumps([0, {"text": PROVED, "seconds": 1, "options": {}}]), file=cvc5._process.stdin, flush=True)
        assert cvc5.verdict(REFUTED) is Verdict.REFUTED


def test_a_process_that_cannot_work_is_an_error() -> None:
    with SecondSolver((sys.executable, "-c", "raise SystemExit(3)")) as cvc5:
        with pytest.raises(RuntimeError, match="exit code 3"):
            cvc5.verdict(PROVED)
        with pytest.raises(RuntimeError, match="exit code 3"):
            cvc5.verdicts(PROVED)


def test_lines_of_other_programs_are_no_replies() -> None:
    noisy = "import sys; print('hello'); print('[\"unsat\"]'); print('[7, [\"unsat\"]]'); sys.stdout.flush()"
    _, flag, path = PROGRAM
    code = f"{noisy}; import runpy; runpy.run_path({path!r}, run_name='__main__')"
    with SecondSolver((sys.executable, flag, "-c", code)) as cvc5:
        assert cvc5.verdict(REFUTED) is Verdict.REFUTED


@pytest.mark.skipif(sys.platform == "win32", reason="processes have no groups")
def test_an_interrupt_from_the_keyboard_does_not_reach_it() -> None:
    with SecondSolver() as cvc5:
        cvc5.verdict(PROVED)
        assert cvc5._process is not None
        assert os.getpgid(cvc5._process.pid) != os.getpgid(os.getpid())


def test_a_negative_time_is_no_time() -> None:
    with SecondSolver() as cvc5:
        assert cvc5.verdict(PROVED, -5.0) in (Verdict.PROVED, Verdict.UNDETERMINED)


def test_it_says_nothing_where_nobody_reads_replies() -> None:
    question = json.dumps([1, {"text": PROVED, "seconds": 1.0, "options": {}}])
    process = subprocess.Popen(
        PROGRAM, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    process.stdout.close()
    print(question, file=process.stdin, flush=True)
    assert process.wait(60) == 0 and process.stderr.read() == ""
    process.stdin.close()
    process.stderr.close()


def test_no_process_is_left() -> None:
    with SecondSolver() as cvc5:
        assert cvc5._process is None  # nothing was asked
        cvc5.verdict(PROVED)
        process = cvc5._process
    assert process is not None and process.poll() is not None


def test_the_process_ends_with_its_input() -> None:
    done = subprocess.run(PROGRAM, input="", capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
