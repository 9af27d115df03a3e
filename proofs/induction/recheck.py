"""The obligations as SMT-LIB text, and the verdicts of a second solver (cvc5) on them."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import z3

from schedproof.proofs.second_solver import SECONDS, second_verdict
from schedproof.proofs.verdict import Verdict

from .solve import Answer, Induction
from .time_limit import NO_LIMIT, TimeLimit


@dataclass(frozen=True)
class Recheck:
    """cvc5's verdict on an obligation. Its unknown never overrules z3; a contradiction is an error.

    Attributes:
        verdict: refuted if cvc5 finds a counterexample to the obligation, as z3 may.
    """

    answer: Answer
    verdict: Verdict
    seconds: float = field(compare=False)

    @property
    def agrees(self) -> bool | None:
        """Whether both solvers have the same verdict; None if one of them does not know."""
        z3_says = Verdict.REFUTED if self.answer.counterexample is not None else self.answer.verdict
        if Verdict.UNDETERMINED in (self.verdict, z3_says):
            return None
        return self.verdict is z3_says


def smt(induction: Induction, answer: Answer) -> str:
    """The obligation as an SMT-LIB script: unsat means proved.

    A proved obligation assumes the invariants that its proof used; any other assumes all that are inductive.
    The script has no step if the invariant follows from other invariants in any one state.
    """
    obligation, proof = answer.obligation, induction.proof
    names = sorted(answer.used if answer.verdict is Verdict.PROVED else induction.inductive)
    solver = z3.Solver(ctx=proof.symbols.context)
    if answer.follows:
        solver.add(*proof.axioms, z3.Not(proof.stated[obligation.invariant]))
    else:
        solver.add(*obligation.context, z3.Not(obligation.goal))
    if obligation.inductive:
        solver.add(*[proof.assumed[name] for name in names])
    heading = [f"; {obligation.name}", f"; assuming {', '.join(names) or 'nothing'}", "; unsat: proved"]
    if answer.follows:
        heading.append("; in the state after the step, where they are proved to hold")
    return "\n".join([*heading, "(set-logic ALL)", solver.to_smt2()])


def emit_smt(induction: Induction, directory: Path) -> list[Path]:
    """Writes one script for each obligation into ``directory``, and creates it if it is missing.

    Returns:
        The paths of the scripts, in the order of the obligations.

    Raises:
        OSError: the directory or a file cannot be written.
    """
    directory.mkdir(parents=True, exist_ok=True)
    paths = []
    for n, answer in enumerate(induction.answers):
        name = re.sub(r"[^\w.-]+", "_", answer.obligation.name)
        path = directory / f"{n:03}-{name}.smt2"
        path.write_text(smt(induction, answer))
        paths.append(path)
    return paths


def recheck(
    induction: Induction,
    *,
    seconds: float = SECONDS,
    progress: Callable[[int, int], None] | None = None,
    time_limit: TimeLimit = NO_LIMIT,
) -> Iterator[Recheck]:
    """Checks each obligation with cvc5, from its SMT-LIB text.

    Args:
        induction: the obligations with z3's answers.
        seconds: the time limit for one obligation.
        progress: called with (obligations checked, obligations).
        time_limit: the obligations that are left then are not checked.
    """
    for n, answer in enumerate(induction.answers):
        if time_limit.reached():
            return
        if progress:
            progress(n, len(induction.answers))
        start = time.perf_counter()
        verdict = second_verdict(
            smt(induction, answer), min(seconds, time_limit.left), find_models=answer.verdict is not Verdict.PROVED
        )
        yield Recheck(answer, verdict, time.perf_counter() - start)
