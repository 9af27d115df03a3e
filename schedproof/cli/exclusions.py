"""What ``explain`` offers for a counterexample to induction: a clause that excludes it, or the run that reaches it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schedproof.cli.progress import progress
from schedproof.model.lang import Model
from schedproof.proofs.exploration.counterexample_text import counterexample_lines, indented
from schedproof.proofs.verdict import NOT_INDUCTIVE, Result, Verdict

if TYPE_CHECKING:  # with it comes z3, and most explanations need none
    from schedproof.proofs.strengthen.exclusion import Exclusion

SECONDS = 5.0
"""The time to look for a clause, unless the user sets it."""

HEADING = "# Excludes a counterexample to induction; `schedproof prove` checks it."


def exclusion_of(model: Model, result: Result, seconds: float) -> Exclusion | None:
    """The clause that excludes the state from which induction fails; None if the result has no such state."""
    run = result.counterexample
    if result.verdict is not Verdict.UNDETERMINED or NOT_INDUCTIVE not in result.note or run is None:
        return None
    if run.start is None:
        return None
    from schedproof.proofs.strengthen.exclusion import exclude

    with progress("explain") as report:
        return exclude(
            model,
            result.name,
            run,
            seconds=seconds,
            report=lambda doing: report(f"{model.system} {model.variant} {result.name}: {doing}"),
        )


def exclusion_lines(model: Model, name: str, exclusion: Exclusion) -> list[str]:
    """The clause as a sentence and as text of the model, or why there is none."""
    where = "; ".join(f"{scope}: {number}" for scope, number in exclusion.scopes.items())
    explored = f"{'every' if exclusion.complete else 'each explored'} reachable state at {where}"
    if (violation := exclusion.violation) is not None:
        lines = [f"The model reaches such a state: {violation.prop} is violated at {violation.scope}:", ""]
        return [*lines, indented(counterexample_lines(model, violation.counterexample))]
    if exclusion.prop is None:
        more = "; --max-seconds sets it" if "time limit" in exclusion.why else ""
        return [f"No clause is offered: {exclusion.why}{more}. Looked at {explored}."]
    lines = [
        f"A clause that excludes this state, and is true in {explored}:",
        f"  {exclusion.prop.name}: {exclusion.prop.says}",
        f"  {_with_it(name, exclusion)}",
    ]
    from schedproof.proofs.strengthen.source import Names, text

    names = Names.of(model)
    written = ["", text(names, [exclusion.prop], HEADING).rstrip()] if names is not None else []
    return [*lines, *written]


def _with_it(name: str, exclusion: Exclusion) -> str:
    if exclusion.proves:
        return f"with it, induction proves {name}"
    if exclusion.why:
        return f"not known whether induction proves {name} with it: {exclusion.why}"
    if exclusion.inductive:
        return f"it is inductive; with it, induction fails at another state: add it, and explain {name} again"
    return "it is not inductive itself: add it, and explain it, or let 'schedproof strengthen' look for the rest"


def exclusion_as_json(exclusion: Exclusion) -> dict[str, Any]:
    """The entry of ``--json``."""
    entry: dict[str, Any] = {"scopes": dict(exclusion.scopes), "complete": exclusion.complete}
    if exclusion.prop is not None:
        entry |= {
            "name": exclusion.prop.name,
            "says": exclusion.prop.says,
            "inductive": exclusion.inductive,
            "proves": exclusion.proves,
        }
    if exclusion.violation is not None:
        violation = exclusion.violation
        entry |= {
            "violated": violation.prop,
            "scope": violation.scope,
            "counterexample": violation.counterexample.as_json(),
        }
    return {**entry, "note": exclusion.why} if exclusion.why else entry
