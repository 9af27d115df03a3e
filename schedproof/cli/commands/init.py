"""``schedproof init``: a small working model to begin with."""

from __future__ import annotations

from pathlib import Path

import click

from schedproof.cli import starter
from schedproof.cli.errors import Exit
from schedproof.cli.output import Destination, json_option
from schedproof.model.registry.errors import UserError


@click.command()
@click.argument("name")
@click.option("-o", "--output", metavar="FOLDER", help="Where to; by default a new folder of that name.")
@json_option
def init(name: str, output: str | None, json_file: Destination | None) -> int:
    """Write a small working model, its manifest, a log that conforms, and a test.

    NAME is what your system is called from then on. What is there already is never overwritten.
    """
    if output == "":
        raise UserError("-o: the folder's name is empty; give a folder, or leave -o out")
    starter.check_name(name)
    content = starter.files(name)
    folder = Path(output if output is not None else name)
    written = [str(path) for path in starter.write(content, folder)]
    if json_file is not None:
        json_file.write_json({"system": name, "folder": str(folder), "files": written})
    if json_file is None or not json_file.is_stdout:
        for path in written:
            click.echo(path)
        package = name.replace("-", "_")
        click.echo(f"\nNow, in {folder}:")
        click.echo(f"    schedproof verify {name}")
        click.echo(f"    schedproof check {name} {package}/log.jsonl")
        click.echo("    pytest --schedproof")
    return Exit.OK
