"""``schedproof findings``: what is wrong with the documents."""

from __future__ import annotations

from collections.abc import Iterator

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
from schedproof.proofs.verification.findings import findings as find
from schedproof.proofs.verification.findings import repeated
from schedproof.proofs.verification.interpreted import effect
from schedproof.proofs.verification.sources import Kind, differences


@click.command(epilog=ending("findings hived", "findings beaker --variant as-written --json findings.json"))
@click.argument("system", required=False)
@variants_option()
@json_option
def findings(system: str | None, variants: tuple[str, ...], json_file: Destination | None) -> int:
    """List what documents get wrong: property, counterexample, repair.

    Without SYSTEM, findings are of the systems of your schedproof.toml; without a schedproof.toml, of all systems. Without
    --variant, the list ends with contradictions between sentences, with sentences that have two interpretations, and with
    rows in which tables of text, figures and implementation differ. Cited lines are quoted at its end.
    'schedproof explain' shows a counterexample field by field.
    """
    chosen, unusable = choose.systems([system] if system is not None else [])
    among = [(one, model) for one in chosen for model in one.variants.values()]
    shown = scopes.variants(among, variants) if variants else among
    with progress("findings") as report_progress:
        all_findings = []
        for one in chosen:
            report_progress(f"{one.name}: looking for the shortest runs")
            all_findings += find(one, variants=variants)
    if json_file is not None:
        json_file.write_json([finding.as_json() for finding in all_findings])
    if json_file is None or not json_file.is_stdout:
        texts: dict[str, list[str]] = {one.name: [] for one in chosen}
        for number, finding in enumerate(all_findings, 1):
            head, *rest = finding.text()
            texts[finding.system] += [f"{number}. {head}", *rest, ""]
        for one in chosen:
            click.echo("\n".join(texts[one.name]))
        documents = ", ".join(
            dict.fromkeys([one.base.document.name for one, _ in shown] + [f.document for f in all_findings])
        )
        click.echo(f"{count(len(all_findings), 'finding')} in {documents}")
        for one in chosen:
            for model in (model for each, model in shown if each is one):
                if repeats := repeated(one, model):
                    properties = "1 property" if len(repeats) == 1 else f"{len(repeats)} properties"
                    click.echo(
                        f"left out: {properties} that {one.name} {model.variant} violates just as {model.amends} does, "
                        f"which it amends ('schedproof explain {one.name} PROPERTY --variant {model.variant}' shows one)"
                    )
            # Without --variant, what follows is of the system's documents.
            ambiguous = [] if variants else [*_readings(one), *_rows(one)]
            contradictions = [] if variants else _contradictions(one)
            quoted = footnotes(one.base.document, [*texts[one.name], *ambiguous])
            for line in [*contradictions, *ambiguous, *quoted]:
                click.echo(line)
    return Exit.USAGE if unusable else Exit.OK


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
    """Sentences with two interpretations, and what depends on which is chosen."""
    if system.interpretations:
        yield f"{system.name}: {count(len(system.interpretations), 'sentence')} with two interpretations"
    for reading in system.interpretations:
        yield f"  {reading.name} (line {reading.line}): {reading.read}"
        yield f"    The other interpretation: {reading.otherwise}"
        if reading.adds or reading.drops:
            yield f"    With it: {effect(reading)}"


def _rows(system: System) -> Iterator[str]:
    """The rows in which the tables of the text, of the figures and of the implementation differ."""
    for kind in Kind:
        if rows := [row for row in differences(system) if row.kind is kind]:
            yield f"{system.name}: {count(len(rows), 'row')} of tables: {kind} ({system.validated_by})"
            yield from (f"  {row.text}" for row in rows)
