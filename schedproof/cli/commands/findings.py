"""``schedproof findings``: what is wrong with the documents."""

from __future__ import annotations

from collections.abc import Iterator

import click

from schedproof.cli import choose
from schedproof.cli.errors import Exit
from schedproof.cli.output import Destination, json_option
from schedproof.cli.progress import progress
from schedproof.cli.tables import count
from schedproof.model.registry.system import System
from schedproof.proofs.verification.findings import findings as find
from schedproof.proofs.verification.findings import repeated
from schedproof.proofs.verification.sources import Kind, differences


@click.command()
@click.argument("system", required=False)
@json_option
def findings(system: str | None, json_file: Destination | None) -> int:
    """Tell what is wrong with the documents: each broken promise, its shortest run, and its repair.

    'explain' tells a finding's run field by field. Sentences that contradict each other in words are told too,
    and what can be read in two ways. Where text, figures and what runs have tables of their own,
    the rows in which these differ are told too.
    """
    chosen, unusable = choose.systems([system] if system is not None else [])
    with progress("findings") as say:
        found = []
        for one in chosen:
            say(f"{one.name}: looking for the shortest runs")
            found += find(one)
    if json_file is not None:
        json_file.write_json([finding.as_json() for finding in found])
    if json_file is None or not json_file.is_stdout:
        for number, finding in enumerate(found, 1):
            head, *rest = finding.text()
            click.echo("\n".join([f"{number}. {head}", *rest, ""]))
        documents = ", ".join(dict.fromkeys([one.base.document.name for one in chosen] + [f.document for f in found]))
        click.echo(f"{count(len(found), 'finding')} in {documents}")
        for one in chosen:
            for model in one.variants.values():
                if again := repeated(one, model):
                    click.echo(
                        f"left out: {count(len(again), 'promise')} that {one.name} {model.variant} breaks just as "
                        f"{model.amends} does, of which it is an amendment "
                        f"('schedproof explain {one.name} PROPERTY --variant {model.variant}' tells one)"
                    )
            for line in [*_contradictions(one), *_readings(one), *_rows(one)]:
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
        yield f"    Read as: {contradiction.reading}"


def _readings(system: System) -> Iterator[str]:
    """What can be read in two ways, and what rests on how it is read."""
    if system.readings:
        yield f"{system.name}: {count(len(system.readings), 'reading')} of ours of what can be read in two ways"
    for reading in system.readings:
        yield f"  {reading.name} (line {reading.line}): {reading.read}"
        yield f"    Or: {reading.otherwise}"
        kept = f"broken no longer: {', '.join(reading.rests)}" if reading.rests else ""
        broken = f"broken as well: {', '.join(reading.breaks)}" if reading.breaks else ""
        yield f"    Then {'; '.join(filter(None, (kept, broken))) or 'the same promises are broken'}"


def _rows(system: System) -> Iterator[str]:
    """The rows of tables in which text, figures and what runs differ."""
    for kind in Kind:
        if rows := [row for row in differences(system) if row.kind is kind]:
            yield f"{system.name}: {count(len(rows), 'row')} of tables: {kind} ({system.judged_by})"
            yield from (f"  {row.text}" for row in rows)
