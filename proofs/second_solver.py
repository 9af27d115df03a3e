"""The verdict of a second solver (cvc5) on what z3 has proved."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import z3

from .verdict import Disagreement, Verdict

SECONDS = 2.0
"""cvc5's time limit for one query."""

PROGRAM = (sys.executable, "-I" if sys.flags.isolated else "-P", str(Path(__file__).with_name("cvc5_process.py")))
"""The arguments of a process with cvc5."""


def second_verdict(text: str, seconds: float = SECONDS) -> Verdict:
    """cvc5's verdict on an SMT-LIB script: proved if it is unsatisfiable, refuted if cvc5 has a model.

    Args:
        text: the script.
        seconds: the time limit. cvc5 does not always heed it: see :class:`SecondSolver`.
    """
    from .cvc5_process import answers  # imported here because most proofs are not checked again

    return _last(_verdicts(answers(text, seconds, {})))


class SecondSolver:
    """cvc5 in a process of its own, which ends if it goes on after a time limit; it starts again for the next question.

    Attributes:
        program: the arguments of the process.
    """

    def __init__(self, program: Sequence[str] = PROGRAM) -> None:
        self.program = program
        self._process: subprocess.Popen[str] | None = None
        self._asked = 0

    def __enter__(self) -> SecondSolver:
        return self

    def __exit__(self, *error: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def verdict(self, text: str, seconds: float = SECONDS, *, find_models: bool = False) -> Verdict:
        """As :func:`second_verdict`; undetermined where the process ended.

        Args:
            find_models: also search finite models, of scripts with quantifiers.
        """
        reply = self._reply(text, seconds, {"finite-model-find": "true"} if find_models else {})
        if isinstance(reply, str):
            raise RuntimeError(reply)
        return _last(_verdicts(reply))

    def verdicts(self, text: str, seconds: float = SECONDS) -> list[Verdict]:
        """cvc5's verdicts on a script that asks several questions, in order; none if it refuses the script, or the process ended.

        Args:
            text: the script.
            seconds: the time limit of one question.
        """
        reply = self._reply(text, seconds, {"incremental": "true"})
        # cvc5 refuses a few scripts by an error of its own, whose questions it answers one by one
        return [] if isinstance(reply, str) else _verdicts(reply)

    def _reply(self, text: str, seconds: float, options: Mapping[str, str]) -> list[str] | str:
        """What cvc5 prints, which is nothing if the process ended; or why it refuses the script.

        Raises:
            RuntimeError: the process did not end by a signal, but because it cannot work.
        """
        if self._process is None:
            # An interrupt from the keyboard is for this process, which ends the other one if need be.
            group = 0 if os.name == "posix" else None
            self._process = subprocess.Popen(
                self.program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, process_group=group
            )
        self._asked += 1
        question = {"text": text, "seconds": seconds, "options": options}
        try:
            if (reply := _exchanged(self._process, self._asked, question)) is not None:
                return reply
            code = self._process.wait()
        except BaseException:
            self.__exit__()
            raise
        self.__exit__()
        if os.name == "posix" and code > 0:
            raise RuntimeError(f"the process of cvc5 ended with exit code {code}; what it says is above")
        return []


def _exchanged(process: subprocess.Popen[str], number: int, question: Mapping[str, object]) -> list[str] | str | None:
    """The reply to a question; None if the process ends. Lines that are no reply to it may be of other programs: they are skipped."""
    assert process.stdin is not None and process.stdout is not None
    with suppress(OSError):  # it has ended
        print(json.dumps([number, question]), file=process.stdin, flush=True)
    for line in process.stdout:
        with suppress(ValueError):
            match json.loads(line):
                case [int(replied), list() | str() as reply] if replied == number:
                    return reply
    return None


def _verdicts(printed: Sequence[str]) -> list[Verdict]:
    return [{"unsat": Verdict.PROVED, "sat": Verdict.REFUTED}.get(answer, Verdict.UNDETERMINED) for answer in printed]


def _last(verdicts: Sequence[Verdict]) -> Verdict:
    return verdicts[-1] if verdicts else Verdict.UNDETERMINED


def confirm(refuted: Sequence[z3.BoolRef], what: str) -> int:
    """Asks cvc5 about formulas that z3 has found unsatisfiable: about all at once, then about each if need be.

    Args:
        refuted: the formulas.
        what: what they prove, for the error.

    Returns:
        The number of formulas that cvc5 cannot decide in time.

    Raises:
        Disagreement: cvc5 has a model of one of them.
    """
    if not refuted or _verdict(refuted) is Verdict.PROVED:
        return 0
    verdicts = [_verdict([each]) for each in refuted]
    if Verdict.REFUTED in verdicts:
        raise Disagreement(f"{what}: z3 proves it, and cvc5 refutes it; one of the two solvers is wrong")
    return verdicts.count(Verdict.UNDETERMINED)


def _verdict(formulas: Sequence[z3.BoolRef]) -> Verdict:
    """cvc5's verdict that none of some formulas can be satisfied."""
    solver = z3.Solver()
    solver.add(z3.Or(*formulas))
    return second_verdict(f"(set-logic ALL)\n{solver.to_smt2()}")
