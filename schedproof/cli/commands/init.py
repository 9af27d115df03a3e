"""``schedproof init``: a small working model to begin with."""

from __future__ import annotations

from pathlib import Path

import click

from schedproof.cli import starter
from schedproof.cli.errors import Exit
from schedproof.cli.help_text import ending
from schedproof.cli.options import json_option
from schedproof.cli.output import Destination
from schedproof.model.registry.errors import UserError


@click.command(epilog=ending("init lease", "init job-queue -o models", ok="the files were written"))
@click.argument("name")
@click.option("-o", "--output", metavar="DIRECTORY", help="Write to this directory.  [default: a new one called NAME]")
@json_option
def init(name: str, output: str | None, json_file: Destination | None) -> int:
    """Create a small working model with a manifest, a log and a test.

    NAME is the name of your system in all other commands. Existing files are never overwritten.
    """
    if output == "":
        raise UserError("--output: the name is empty; write a directory's name, or leave -o out")
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
        click.echo(f"    schedproof validate {name} {package}/log.jsonl")
        click.echo("    pytest --schedproof")
    return Exit.OK
