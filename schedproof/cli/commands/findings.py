"""``schedproof findings``: what is wrong with the documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import click

from schedproof.cli import choose, scopes
from schedproof.cli.errors import Exit
from schedproof.cli.help_text import ending
from schedproof.cli.options import json_option, variants_option
from schedproof.cli.output import Destination
from schedproof.cli.progress import progress
from schedproof.cli.tables import count
from schedproof.model.quotes import footnotes
from schedproof.model.registry.system import System
from schedproof.proofs.verification.defects import defects
from schedproof.proofs.verification.findings import Finding, repeated, unviolated
from schedproof.proofs.verification.findings import findings as find
from schedproof.proofs.verification.interpreted import effect
from schedproof.proofs.verification.sources import Kind, differences


@click.command(epilog=ending("findings hived", "findings beaker --variant as-written --all"))
@click.argument("system", required=False)
@variants_option()
@click.option(
    "--all", "every", is_flag=True, help="Show a run of every property, not only the clearest of each defect."
)
@json_option
def findings(system: str | None, variants: tuple[str, ...], every: bool, json_file: Destination | None) -> int:
    """List what documents get wrong: each defect, its clearest run, its repair.

    A defect is one mistake with all the properties that it violates. Its run is a shortest one that shows this mistake;
    --all shows one for each property. Without SYSTEM, findings are of the systems of your schedproof.toml;
    without a schedproof.toml, of all systems. Without --variant, the list ends with contradictions between sentences, with
    the interpretations that change a verdict, and with rows in which tables of text, figures and implementation differ.
    Cited lines are quoted at its end. 'schedproof explain' shows a counterexample field by field.

    Only properties that are expected to be violated are looked at: 'schedproof verify' checks what is expected.
    """
    chosen, unusable = choose.systems([system] if system is not None else [])
    among = [(one, model) for one in chosen for model in one.variants.values()]
    shown = scopes.variants(among, variants) if variants else among
    with progress("findings") as report_progress:
        originals = {one.name: _originals(one, variants, report_progress) for one in chosen}
        by_system = {
            one.name: defects(one, variants=variants, progress=report_progress, originals=originals[one.name])
            for one in chosen
        }
    all_defects = [defect for some in by_system.values() for defect in some]
    if json_file is not None:
        json_file.write_json([defect.as_json() for defect in all_defects])
    if json_file is None or not json_file.is_stdout:
        texts: dict[str, list[str]] = {one.name: [] for one in chosen}
        for number, defect in enumerate(all_defects, 1):
            head, *rest = defect.text(every=every)
            texts[defect.system] += [f"{number}. {head}", *rest, ""]
        for one in chosen:
            click.echo("\n".join(texts[one.name]))
        documents = ", ".join(
            dict.fromkeys([one.base.document.name for one, _ in shown] + [d.shown.document for d in all_defects])
        )
        violated = {(f.system, f.variant, f.property) for defect in all_defects for f in defect.findings}
        violates = f", {_properties(len(violated))} violated" if violated else ""
        click.echo(f"{count(len(all_defects), 'defect')} in {documents}{violates}")
        for one in chosen:
            for name, properties in unviolated(one, originals[one.name], variants=variants).items():
                click.echo(
                    f"no violation in {one.name} {name}, though expected: {', '.join(properties)} "
                    f"('schedproof verify {one.name} --variant {name}' checks what is expected)"
                )
            for model in (model for each, model in shown if each is one):
                if repeats := repeated(one, model):
                    click.echo(
                        f"left out: {_properties(len(repeats))} that {one.name} {model.variant} violates just as {model.amends} does, "
                        f"which it amends ('schedproof explain {one.name} PROPERTY --variant {model.variant}' shows one)"
                    )
            # Without --variant, what follows is of the system's documents.
            ambiguous = [] if variants else [*_readings(one), *_rows(one)]
            contradictions = [] if variants else _contradictions(one)
            quoted = footnotes(one.base.document, [*texts[one.name], *ambiguous])
            for line in [*contradictions, *ambiguous, *quoted]:
                click.echo(line)
    return Exit.USAGE if unusable else Exit.OK


def _originals(system: System, variants: tuple[str, ...], report_progress: Callable[[str], None]) -> list[Finding]:
    """The violations of a system's variants themselves."""
    report_progress(f"{system.name}: looking for violations")
    return find(system, variants=variants)


def _properties(many: int) -> str:
    return f"{many} {'property' if many == 1 else 'properties'}"


def _contradictions(system: System) -> Iterator[str]:
    """Where the words contradict each other."""
    if system.contradictions:
        many = count(len(system.contradictions), "contradiction")
        yield f"{system.name}: {many} in the words of {system.base.document.name}"
    for contradiction in system.contradictions:
        yield f"  {contradiction.name}: {contradiction.problem}"
        yield from (f'    line {line}: "{words.strip()}"' for line, words in contradiction.quotes)
        yield f"    The model's interpretation: {contradiction.reading}"


def _readings(system: System) -> Iterator[str]:
    """The interpretations that change a verdict, those that change most first."""
    ranked = sorted(system.interpretations, key=lambda each: -len([*each.rests, *each.breaks]))
    decisive = [each for each in ranked if each.rests or each.breaks]
    if decisive:
        yield f"{system.name}: {count(len(decisive), 'interpretation')} on which verdicts rest (verify --interpretations checks that)"
    for reading in decisive:
        yield f"  {reading.name} (line {reading.line}): {reading.read}"
        yield f"    The other interpretation: {reading.otherwise}"
        yield f"    With it: {effect(reading)}"
    if ranked and not decisive:
        yield f"{system.name}: no verdict rests on an interpretation"
    tried = [each for each in ranked if each.adds or each.drops]
    if others := len(tried) - len(decisive):
        yield f"  {others} more {'changes' if others == 1 else 'change'} no verdict when tried the other way"
    if untried := len(ranked) - len(tried):
        yield f"  {untried} cannot be tried the other way; coverage {system.name} --names lists all"


def _rows(system: System) -> Iterator[str]:
    """The rows in which the tables of the text, of the figures and of the implementation differ."""
    for kind in Kind:
        if rows := [row for row in differences(system) if row.kind is kind]:
            yield f"{system.name}: {count(len(rows), 'row')} of tables: {kind} ({system.validated_by})"
            yield from (f"  {row.text}" for row in rows)
