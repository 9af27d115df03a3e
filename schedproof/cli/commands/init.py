"""``schedproof init``: a small working model to begin with, or one of a diagram that you have."""

from __future__ import annotations

from pathlib import Path

import click

from schedproof.cli import starter
from schedproof.cli.errors import Exit, note
from schedproof.cli.help_text import ending
from schedproof.cli.options import json_option, refuse_idle
from schedproof.cli.output import Destination
from schedproof.cli.sketches.reading import KINDS, read
from schedproof.cli.sketches.sketch import Sketch
from schedproof.cli.sketches.source import Source
from schedproof.model.registry.errors import UserError


@click.command(
    epilog=ending(
        "init lease",
        "init job-queue -o models",
        "init orders --from docs/orders.mmd",
        "init orders --from orders.txt --kind table",
        ok="the files were written",
        notes="""
FILE is one of
  mermaid      a state diagram of Mermaid: a file .mmd, or the code blocks of a file .md
  table        a CSV file with the columns from, event and to; and perhaps machine and guard
  transitions  the configuration of a machine of the library transitions: a file .yaml or .json,
               or a file .py that makes the machine, which is not run
Whatever of the file is not in the model is listed, and marked with DECIDE in the model.
""",
    )
)
@click.argument("name")
@click.option(
    "--from", "from_file", metavar="FILE", help="Begin with the machines of this diagram, table or configuration."
)
@click.option(
    "--kind", type=click.Choice(list(KINDS)), help="With --from: what FILE is.  [default: by its suffix or its text]"
)
@click.option("-o", "--output", metavar="DIRECTORY", help="Write to this directory.  [default: a new one called NAME]")
@json_option
def init(name: str, from_file: str | None, kind: str | None, output: str | None, json_file: Destination | None) -> int:
    """Create a small working model with a manifest, a log and a test.

    NAME is the name of your system in all other commands. Existing files are never overwritten.
    """
    if output == "":
        raise UserError("--output: the name is empty; write a directory's name, or leave -o out")
    if from_file is None:
        refuse_idle({"--kind": kind}, "without --from", "add --from FILE")
    starter.check_name(name)
    source, sketches = read(Path(from_file), kind) if from_file is not None else (None, [])
    content = starter.files_from(name, source, sketches) if source is not None else starter.files(name)
    folder = Path(output if output is not None else name)
    written = [str(path) for path in starter.write(content, folder)]
    if source is not None:
        _list_notes(source, sketches)
    if json_file is not None:
        notes = [
            {"line": each.span.line, "problem": each.problem, "remedy": each.remedy, "text": source.text_of(each.span)}
            for sketch in sketches
            for each in sketch.notes
            if source is not None
        ]
        read_notes = {"notes": notes} if source is not None else {}
        json_file.write_json({"system": name, "folder": str(folder), "files": written, **read_notes})
    if json_file is None or not json_file.is_stdout:
        for path in written:
            click.echo(path)
        package = name.replace("-", "_")
        click.echo(f"\nNow, in {folder}:")
        click.echo(f"    schedproof verify {name}")
        click.echo(f"    schedproof validate {name} {package}/log.jsonl")
        click.echo("    pytest --schedproof")
    return Exit.OK


def _list_notes(source: Source, sketches: list[Sketch]) -> None:
    """Writes to standard error what of a file is not in the model, each with its line."""
    for sketch in sketches:
        for each in sketch.notes:
            note(f"{source.path.name}:{each.span.line}: {each.problem}; {each.remedy}", source.excerpt(each.span))
