"""The verdict of a second solver (cvc5) on what z3 has proved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import z3

from .verdict import Disagreement, Verdict

SECONDS = 2.0
"""cvc5's time limit for one query."""


def second_verdict(text: str, seconds: float = SECONDS, *, find_models: bool = False) -> Verdict:
    """cvc5's verdict on an SMT-LIB script: proved if it is unsatisfiable, refuted if cvc5 has a model.

    Args:
        text: the script.
        seconds: the time limit.
        find_models: also search finite models, of scripts with quantifiers.
    """
    answers = _answers(text, seconds, {"finite-model-find": "true"} if find_models else {})
    return answers[-1] if answers else Verdict.UNDETERMINED


def second_verdicts(text: str, seconds: float = SECONDS) -> list[Verdict]:
    """cvc5's verdicts on a script that asks several questions, in order; none if it refuses the script.

    Args:
        text: the script.
        seconds: the time limit of one question.
    """
    try:
        return _answers(text, seconds, {"incremental": "true"})
    except RuntimeError:  # of cvc5 itself, on a few scripts whose questions it answers one by one
        return []


def _answers(text: str, seconds: float, options: Mapping[str, str]) -> list[Verdict]:
    import cvc5  # imported here because most proofs are not checked again

    terms = cvc5.TermManager()
    solver = cvc5.Solver(terms)
    solver.setOption("tlimit-per", str(max(1, int(seconds * 1000))))
    solver.setOption("fresh-binders", "true")  # as it does anyway where z3 shares a term, with a warning on stderr
    for name, value in options.items():
        solver.setOption(name, value)
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "obligation")
    symbols = parser.getSymbolManager()
    answers = []
    while not (command := parser.nextCommand()).isNull():
        if answer := str(command.invoke(solver, symbols)).strip():
            answers.append({"unsat": Verdict.PROVED, "sat": Verdict.REFUTED}.get(answer, Verdict.UNDETERMINED))
    return answers


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
