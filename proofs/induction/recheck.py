"""The obligations as SMT-LIB text, and the verdicts of a second solver (cvc5) on them."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import z3

from schedproof.proofs.second_solver import SECONDS, SecondSolver
from schedproof.proofs.verdict import Verdict

from .solve import Answer, Induction
from .time_limit import NO_LIMIT, TimeLimit

TOGETHER, SECONDS_TOGETHER = 8, 0.3
"""So many obligations of one step are in one script, with so much time for each; then those that are left are asked about by themselves."""


@dataclass(frozen=True)
class Recheck:
    """cvc5's verdict on an obligation. Its unknown never overrules z3; a contradiction is an error.

    Attributes:
        verdict: refuted if cvc5 finds a counterexample to the obligation, as z3 may.
        seconds: of a script with several obligations, each has its part.
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
    """Checks each obligation with cvc5.

    Obligations that z3 proved may be in one script with others of the same step, which share most of their text. Those that
    cvc5 does not prove there are asked about by themselves.

    Args:
        induction: the obligations with z3's answers.
        seconds: the time limit for one obligation.
        progress: called with (obligations checked, obligations).
        time_limit: the obligations that are left then are not checked.
    """
    answers = induction.answers
    groups, proved, spent = _of_one_step(answers), set[int](), Counter[int]()
    with SecondSolver() as cvc5:
        for n, answer in enumerate(answers):
            if time_limit.reached():
                return
            if progress:
                progress(n, len(answers))
            if n in groups:
                start = time.perf_counter()
                most = min(SECONDS_TOGETHER, seconds, time_limit.left / len(groups[n]))
                verdicts = cvc5.verdicts(_script(induction, [answers[each] for each in groups[n]]), most)
                if len(verdicts) == len(groups[n]):  # else an answer might be to another question
                    proved |= {each for each, v in zip(groups[n], verdicts, strict=True) if v is Verdict.PROVED}
                spent.update(dict.fromkeys(groups[n], (time.perf_counter() - start) / len(groups[n])))
                if n not in proved and time_limit.reached():
                    return
            verdict, start = Verdict.PROVED, time.perf_counter()
            if n not in proved:
                find_models = answer.verdict is not Verdict.PROVED
                verdict = cvc5.verdict(smt(induction, answer), min(seconds, time_limit.left), find_models=find_models)
            yield Recheck(answer, verdict, spent[n] + time.perf_counter() - start)


def _of_one_step(answers: Sequence[Answer]) -> Mapping[int, Sequence[int]]:
    """The positions of proved obligations of one step, by the first of them: only their goals and what they assume differ.

    They are sorted by what they assume, so that scripts share most.
    """
    by_step: dict[int, list[int]] = {}
    for n, answer in enumerate(answers):
        if answer.verdict is Verdict.PROVED and not answer.follows:
            by_step.setdefault(id(answer.obligation.context), []).append(n)
    groups = {}
    for positions in by_step.values():
        positions.sort(key=lambda n: sorted(answers[n].used))
        for first in range(0, len(positions), TOGETHER):
            group = positions[first : first + TOGETHER]
            if len(group) > 1:
                groups[min(group)] = group
    return groups


def _script(induction: Induction, answers: Sequence[Answer]) -> str:
    """A script that asks about each of some proved obligations of one step; unsat means proved.

    What all of them assume is assumed once. The rest of what one assumes, and that its goal fails, hold where it is asked about:
    none is proved from more than :func:`smt` has.
    """
    proof = induction.proof
    assumed = [each.used if each.obligation.inductive else frozenset() for each in answers]
    shared = frozenset.intersection(*assumed)
    solver = z3.Solver(ctx=proof.symbols.context)
    solver.add(*answers[0].obligation.context, *(proof.assumed[name] for name in sorted(shared)))
    asked = [f"asked!{n}" for n in range(len(answers))]  # no name of a model has this form
    for name, each, names in zip(asked, answers, assumed, strict=True):
        its = [z3.Not(each.obligation.goal), *(proof.assumed[other] for other in sorted(names - shared))]
        solver.add(*(z3.Implies(z3.Bool(name, proof.symbols.context), part) for part in its))
    formulas = solver.to_smt2().removesuffix("(check-sat)\n")
    return "\n".join(["(set-logic ALL)", formulas, *(f"(check-sat-assuming ({name}))" for name in asked)])
