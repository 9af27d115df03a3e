"""``schedproof prove``: induction, obligation by obligation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import click

from schedproof.cli import choose, scopes
from schedproof.cli.axioms import axiom_lines, axiom_texts
from schedproof.cli.errors import Exit
from schedproof.cli.help_text import ending
from schedproof.cli.options import json_option, properties_option, variants_option
from schedproof.cli.output import Destination
from schedproof.cli.progress import ReportProgress, progress
from schedproof.cli.scripts import ScriptFolder
from schedproof.cli.tables import count, seconds, table
from schedproof.cli.verdict_rows import lemma_hint
from schedproof.cli.verdict_status import EXPECTED, code, of_manifests, standing
from schedproof.model.lang import ByConstruction, Model
from schedproof.proofs.exploration.counterexample_text import counterexample_lines, indented
from schedproof.proofs.induction import INITIAL, Answer, Induction, Recheck, provable, recheck
from schedproof.proofs.induction import prove as induce
from schedproof.proofs.verdict import NOT_INDUCTIVE, NOT_WELL_FORMED, Disagreement, Verdict, any_number, assuming
from schedproof.proofs.verification.properties import expected_of_model


@dataclass(frozen=True)
class Proved:
    """The induction of one variant, and what a second solver says of each obligation, by name."""

    model: Model
    by_construction: Sequence[ByConstruction]
    induction: Induction
    rechecks: Mapping[str, Recheck]

    @cached_property
    def verdicts(self) -> Mapping[str, tuple[Verdict, str]]:
        """The verdict of induction on each property, and why it is not proved."""
        verdicts = {}
        for name in dict.fromkeys(a.obligation.invariant for a in self.induction.answers):
            why = self.induction.why_not(name)
            if why is None:
                verdicts[name] = Verdict.PROVED, ""
            elif self.induction.kept(name):
                verdicts[name] = Verdict.UNDETERMINED, NOT_WELL_FORMED
            else:
                verdicts[name] = why.verdict, why.note
        return verdicts

    @cached_property
    def standings(self) -> Mapping[str, str]:
        """How each property's verdict compares to the manifest.

        A property that the manifest expects to be violated is as expected if it is not inductive: induction cannot refute.
        """
        standings = {}
        for name, (verdict, note) in self.verdicts.items():
            expected = expected_of_model(self.model, name)
            as_expected = expected is Verdict.REFUTED and note == NOT_INDUCTIVE
            standings[name] = EXPECTED if as_expected else standing(verdict, expected)
        return standings

    def properties_as_json(self) -> list[dict[str, Any]]:
        """The entries of ``properties``."""
        return [
            {
                "variant": self.model.variant,
                "name": name,
                "verdict": str(verdict),
                "expected": str(expected_of_model(self.model, name)),
                **({"note": note} if note else {}),
                **({"lemmas": self.induction.lemmas(name)} if verdict is Verdict.PROVED else {}),
            }
            for name, (verdict, note) in self.verdicts.items()
        ]

    def variant_as_json(self) -> dict[str, Any]:
        """The entry of ``variants``: what all its proofs rest on."""
        return {
            "variant": self.model.variant,
            "axioms": axiom_texts(self.model),
            **({"assuming": list(self.model.assuming)} if self.model.assuming else {}),
            "bounds": dict(self.induction.bounds),
        }

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
                known = Verdict.UNDETERMINED if _fails(cvc5_answer) else cvc5_answer.verdict
                entry["cvc5"] = {"verdict": str(known), "seconds": round(cvc5_answer.seconds, 4)}
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
        ok="every property is proved, or expected to be violated and not inductive",
        different="an expected violation is proved, an initial state violates one, or two solvers disagree",
        undetermined="a property is not inductive, or steps may be ill-formed, or the solver does not know",
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

    There is an obligation for each pair of an invariant and an action. A step that fails is no violation: the state before
    may be unreachable. The property is then not inductive, which is as expected if the manifest expects a violation.
    With --property, prove also asks for well-formedness and for the invariants that the proof assumes.
    """
    chosen = choose.system(system)
    models = choose.variants(chosen, variants)
    choose.require_model(chosen, models)
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
        property_entries = [entry for one in proved for entry in one.properties_as_json()]
        variant_entries = [one.variant_as_json() for one in proved]
        json_file.write_json({"system": system, "variants": variant_entries, "obligations": entries,
                              "properties": property_entries, "ok": exit_code is Exit.OK})  # fmt: skip
    if json_file is None or not json_file.is_stdout:
        for one in proved:
            _print(one)
        marks = [mark for one in proved for mark in one.standings.values()]
        says, how_many = of_manifests(marks)
        verdicts = [_verdict_text(verdict, note) for one in proved for verdict, note in one.verdicts.values()]
        counts = ", ".join(f"{n} {verdict}" for verdict, n in Counter(verdicts).items())
        of_all = "" if says == EXPECTED else f"; all {count(len(marks), 'verdict')}"
        click.echo(f"{says}: {how_many}{of_all}: {counts}")
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
            z3_verdict = _verdict_text(cvc5_answer.answer.verdict, cvc5_answer.answer.note)
            raise Disagreement(f"{name}: z3 says {z3_verdict}, cvc5 {cvc5_answer.verdict}; --emit-smt writes it out")
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
            cvc5_answer = one.rechecks[answer.obligation.name]
            row.append(NOT_INDUCTIVE if _fails(cvc5_answer) else str(cvc5_answer.verdict))
    number = any_number(one.induction.bounds, "any number of objects")
    assumed = assuming(tuple(model.assuming))
    table(f"{model.system} {model.variant}: induction, {number}{assumed}", columns, rows, right=["seconds"])
    verdicts = [_verdict_text(answer.verdict, answer.note) for answer in one.induction.answers]
    counts = ", ".join(f"{n} {verdict}" for verdict, n in Counter(verdicts).items())
    took = sum(a.seconds for a in one.induction.answers)
    click.echo(
        f"{model.system} {model.variant}: {count(len(one.induction.answers), 'obligation')}: {counts} ({took:.1f} s)"
    )
    if one.rechecks:
        agree = [cvc5_answer.agrees for cvc5_answer in one.rechecks.values()]
        click.echo(
            f"{model.system} {model.variant}: cvc5 agrees on {agree.count(True)}; on {agree.count(None)} one solver does not know"
        )
    for name, (_, note) in one.verdicts.items():
        if note == NOT_WELL_FORMED:
            click.echo(f"{model.system} {model.variant} {name}: undetermined: {note}")
    click.echo()
    using = {
        name: one.induction.lemmas(name) for name, (verdict, _) in one.verdicts.items() if verdict is Verdict.PROVED
    }
    if rows := [[name, ", ".join(lemmas)] for name, lemmas in using.items() if lemmas]:
        table(f"{model.system} {model.variant}: lemmas of the proofs", ["property", "uses"], rows)
        click.echo()
    if lines := axiom_lines(model):
        click.echo("\n".join([f"{model.system} {model.variant}: {lines[0]}", *lines[1:], ""]))
    for answer in one.induction.answers:
        if marks[answer.obligation.invariant] != EXPECTED and answer.counterexample is not None:
            click.echo(f"{answer.obligation.name}: {answer.note}")
            click.echo(indented(counterexample_lines(model, answer.counterexample)))
            click.echo()
    open_ones = {name: note for name, (_, note) in one.verdicts.items() if marks[name] != EXPECTED}
    not_well_formed = {name: NOT_INDUCTIVE for name, note in open_ones.items() if note == NOT_WELL_FORMED}
    for line in lemma_hint(model, {**open_ones, **not_well_formed}):
        click.echo(f"{line}\n")


def _verdict_text(verdict: Verdict, note: str) -> str:
    """The verdict on an obligation or a property, in the words of the table."""
    return NOT_INDUCTIVE if note == NOT_INDUCTIVE else str(verdict)


def _fails(cvc5_answer: Recheck) -> bool:
    """Whether cvc5 finds a counterexample to a step, which is no violation."""
    return cvc5_answer.verdict is Verdict.REFUTED and cvc5_answer.answer.obligation.action != INITIAL


def _row(answer: Answer, model: Model, mark: str) -> list[str]:
    obligation = answer.obligation
    what = obligation.action + (f": {obligation.detail}" if obligation.detail else "")
    verdict = _verdict_text(answer.verdict, answer.note)
    verdict += f": {answer.note}" if answer.note and answer.note != verdict else ""
    return [
        obligation.invariant,
        what,
        verdict,
        str(expected_of_model(model, obligation.invariant)),
        mark,
        seconds(answer.seconds),
    ]
