"""``schedproof prove``: induction, obligation by obligation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from schedproof.cli import choose, scopes
from schedproof.cli.errors import Exit
from schedproof.cli.help_text import ending
from schedproof.cli.options import json_option, properties_option, variants_option
from schedproof.cli.output import Destination
from schedproof.cli.progress import ReportProgress, progress
from schedproof.cli.scripts import ScriptFolder
from schedproof.cli.tables import count, seconds, table
from schedproof.cli.verdict_status import EXPECTED, code, standing
from schedproof.model.lang import ByConstruction, Model
from schedproof.proofs.exploration.counterexample_text import counterexample_lines, indented
from schedproof.proofs.induction import Answer, Induction, Recheck, provable, recheck
from schedproof.proofs.induction import prove as induce
from schedproof.proofs.verdict import Disagreement, Verdict
from schedproof.proofs.verification.properties import expected_of_model


@dataclass(frozen=True)
class Proved:
    """The induction of one variant, and what a second solver says of each obligation, by name."""

    model: Model
    by_construction: Sequence[ByConstruction]
    induction: Induction
    rechecks: Mapping[str, Recheck]

    @property
    def verdicts(self) -> Mapping[str, Verdict]:
        """What induction says of each property: proved if every obligation is, refuted if one is."""
        by_property = {}
        for name in dict.fromkeys(a.obligation.invariant for a in self.induction.answers):
            verdicts = {a.verdict for a in self.induction.of(name)}
            order = (Verdict.REFUTED, Verdict.UNDETERMINED, Verdict.PROVED)
            by_property[name] = next(v for v in order if v in verdicts)
        return by_property

    @property
    def standings(self) -> Mapping[str, str]:
        """How each property's verdict stands to the manifest."""
        return {name: standing(verdict, expected_of_model(self.model, name)) for name, verdict in self.verdicts.items()}

    def as_json(self) -> list[dict[str, Any]]:
        """The entries of ``obligations``."""
        entries = []
        for answer in self.induction.answers:
            obligation = answer.obligation
            entry: dict[str, Any] = {
                "variant": self.model.variant,
                **answer.as_json(),
                "expected": str(expected_of_model(self.model, obligation.invariant)),
            }
            if obligation.name in self.rechecks:
                cvc5_answer = self.rechecks[obligation.name]
                entry["cvc5"] = {"verdict": str(cvc5_answer.verdict), "seconds": round(cvc5_answer.seconds, 4)}
            entries.append(entry)
        for prop in self.by_construction:
            entries.append(
                {
                    "variant": self.model.variant,
                    "invariant": prop.name,
                    "action": "(every)",
                    "detail": "",
                    "verdict": "proved",
                    "expected": "proved",
                    "method": "construction",
                    "scope": None,
                    "seconds": 0.0,
                    "note": prop.because,
                }
            )
        return entries


@click.command(
    epilog=ending(
        "prove hived --variant repaired",
        ok="every verdict is the expected one",
        different="a verdict is not the expected one, or two solvers disagree",
        undetermined="a verdict is undetermined",
    )
)
@click.argument("system")
@variants_option()
@properties_option("Prove", "all that induction can prove")
@click.option("--solver", type=click.Choice(["z3", "cvc5"]), default="z3", show_default=True,
              help="With cvc5, z3 proves and cvc5 checks each of its answers.")  # fmt: skip
@click.option(
    "--emit-smt", "directory", metavar="DIRECTORY", help="Write each obligation as SMT-LIB to DIRECTORY/VARIANT/."
)
@json_option
def prove(
    system: str,
    variants: tuple[str, ...],
    properties: tuple[str, ...],
    solver: str,
    directory: str | None,
    json_file: Destination | None,
) -> int:
    """Prove properties by induction, for any number of objects.

    There is an obligation for each pair of an invariant and an action. An obligation that fails is as expected where the
    manifest expects that the property is violated. With --property, the invariants that its proof assumes are proved too.
    """
    chosen = choose.system(system)
    models = choose.variants(chosen, variants)
    scopes.properties([(chosen, model) for model in models], properties)
    able = {name for model in models for name in provable(model)}
    scopes.checkable(properties, able, "prove", f"schedproof verify {system}")
    scripts = ScriptFolder(directory) if directory is not None else None
    with progress("prove") as report_progress:
        proved = [
            _proved(model, only, solver, report_progress)
            for model in models
            if (only := [name for name in properties if name in provable(model)]) or not properties
        ]
    if scripts is not None:
        scripts.write({one.model.variant: one.induction for one in proved})
    exit_code = code(mark for one in proved for mark in one.standings.values())
    if json_file is not None:
        entries = [entry for one in proved for entry in one.as_json()]
        json_file.write_json({"system": system, "obligations": entries, "ok": exit_code is Exit.OK})
    if json_file is None or not json_file.is_stdout:
        for one in proved:
            _print(one)
        marks = [mark for one in proved for mark in one.standings.values()]
        good = sum(mark == EXPECTED for mark in marks)
        says = "as expected" if good == len(marks) else "NOT as expected"
        click.echo(f"{says}: induction checks {good} of {count(len(marks), 'property')} as the manifests say")
    return exit_code


def _proved(model: Model, properties: Sequence[str], solver: str, report_progress: ReportProgress) -> Proved:
    """The induction, with the second solver's answers if they are wanted.

    Raises:
        Disagreement: the solvers contradict each other.
    """

    def progress_of(what: str) -> Callable[[int, int], None]:
        return lambda done, total: report_progress(
            f"{model.system} {model.variant}: {what}, {done} of {total} obligations"
        )

    induction = induce(model, only=properties, progress=progress_of("induction"))
    rechecks = {}
    for cvc5_answer in recheck(induction, progress=progress_of("cvc5")) if solver == "cvc5" else ():
        name = cvc5_answer.answer.obligation.name
        if cvc5_answer.agrees is False:
            raise Disagreement(
                f"{name}: z3 says {cvc5_answer.answer.verdict}, cvc5 {cvc5_answer.verdict}; --emit-smt writes it out"
            )
        rechecks[name] = cvc5_answer
    constructed = [p for p in model.properties if isinstance(p, ByConstruction) and not properties]
    return Proved(model, constructed, induction, rechecks)


def _print(one: Proved) -> None:
    model, marks = one.model, one.standings
    rows = [_row(answer, model, marks[answer.obligation.invariant]) for answer in one.induction.answers]
    rows += [[p.name, "(every)", "by construction", "proved", EXPECTED, seconds(0)] for p in one.by_construction]
    columns = ["invariant", "action", "verdict", "property expected", "", "seconds"]
    if one.rechecks:
        columns.append("cvc5")
        for row, answer in zip(rows, one.induction.answers, strict=False):  # what holds by construction is not asked
            row.append(str(one.rechecks[answer.obligation.name].verdict))
    table(f"{model.system} {model.variant}: induction, any number of objects", columns, rows, right=["seconds"])
    verdicts = [a.verdict for a in one.induction.answers]
    counts = ", ".join(f"{verdicts.count(v)} {v}" for v in Verdict if v in verdicts)
    took = sum(a.seconds for a in one.induction.answers)
    click.echo(f"{model.system} {model.variant}: {count(len(verdicts), 'obligation')}: {counts} ({took:.1f} s)")
    if one.rechecks:
        agree = [cvc5_answer.agrees for cvc5_answer in one.rechecks.values()]
        click.echo(
            f"{model.system} {model.variant}: cvc5 agrees on {agree.count(True)}; on {agree.count(None)} one solver does not know"
        )
    click.echo()
    for answer in one.induction.answers:
        if marks[answer.obligation.invariant] != EXPECTED and answer.counterexample is not None:
            click.echo(f"{answer.obligation.name}: not inductive")
            click.echo(indented(counterexample_lines(model, answer.counterexample)))
            click.echo()


def _row(answer: Answer, model: Model, mark: str) -> list[str]:
    obligation = answer.obligation
    what = obligation.action + (f": {obligation.detail}" if obligation.detail else "")
    verdict = f"{answer.verdict}: {answer.note}" if answer.note else str(answer.verdict)
    return [
        obligation.invariant,
        what,
        verdict,
        str(expected_of_model(model, obligation.invariant)),
        mark,
        seconds(answer.seconds),
    ]
