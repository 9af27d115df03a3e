"""``schedproof findings``: what is wrong with the documents."""

from __future__ import annotations

import click

from schedproof.proofs.findings import findings as find
from schedproof.proofs.findings import repeated
from schedproof.proofs.sources import Kind, differences

from .. import choose
from ..errors import Exit
from ..output import Destination, json_option
from ..progress import progress
from ..tables import count


@click.command()
@click.argument("system", required=False)
@json_option
def findings(system: str | None, json_file: Destination | None) -> int:
    """Tell what is wrong with the documents: each broken promise, its shortest run, and its repair.

    'explain' tells a finding's run field by field. Sentences that contradict each other in words are told too. Where text, figures and what runs have tables of their own,
    the rows in which these differ are told too.
    """
    chosen = choose.systems([system] if system is not None else [])
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
            if one.contradictions:
                many = count(len(one.contradictions), "contradiction")
                click.echo(f"{one.name}: {many} in the words of {one.base.document.name}")
                for contradiction in one.contradictions:
                    click.echo(f"  {contradiction.name}: {contradiction.problem}")
                    click.echo("\n".join(f'    line {line}: "{words.strip()}"' for line, words in contradiction.quotes))
                    click.echo(f"    Read as: {contradiction.reading}")
            for kind in Kind:
                if rows := [row for row in differences(one) if row.kind is kind]:
                    click.echo(f"{one.name}: {count(len(rows), 'row')} of tables: {kind} ({one.judged_by})")
                    for row in rows:
                        click.echo(f"  {row.text}")
    return Exit.OK
