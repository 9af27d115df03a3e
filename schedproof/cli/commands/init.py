"""``schedproof init``: a small working model to begin with, or one of a diagram that you have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
from schedproof.cli.workflow import LOG, Checked, systems_here
from schedproof.model.registry.errors import UserError


@click.command(
    epilog=ending(
        "init lease",
        "init job-queue -o models",
        "init orders --from docs/orders.mmd",
        "init orders --from orders.txt --kind table",
        "init lease -o . --ci github",
        "init --ci github",
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
@click.argument("name", required=False)
@click.option(
    "--from", "from_file", metavar="FILE", help="Begin with the machines of this diagram, table or configuration."
)
@click.option(
    "--kind", type=click.Choice(list(KINDS)), help="With --from: what FILE is.  [default: by its suffix or its text]"
)
@click.option("--ci", type=click.Choice(["github"]),
              help="Add a workflow that verifies the models, checks a log and uploads the reports. "
                   "Without NAME: for the manifest in the directory.")  # fmt: skip
@click.option("-o", "--output", metavar="DIRECTORY", help="Write to this directory.  [default: a new one called NAME]")
@json_option
def init(
    name: str | None,
    from_file: str | None,
    kind: str | None,
    ci: str | None,
    output: str | None,
    json_file: Destination | None,
) -> int:
    """Create a small working model with a manifest, a log and a test.

    NAME is the name of your system in all other commands. Existing files are never overwritten.
    """
    if output == "":
        raise UserError("--output: the name is empty; write a directory's name, or leave -o out")
    if from_file is None:
        refuse_idle({"--kind": kind}, "without --from", "add --from FILE")
    if name is None:
        if ci is None:
            raise click.MissingParameter(param_hint="'NAME'", param_type="argument")
        refuse_idle({"--from": from_file}, "without a system to create", "add NAME")
        folder = Path(output if output is not None else ".")
        written = starter.write(starter.github_workflow(folder, systems_here(folder)), folder)
        _report({"folder": str(folder), "files": list(map(str, written))}, json_file)
        return Exit.OK
    starter.check_name(name)
    folder = Path(output if output is not None else name)
    package = name.replace("-", "_")
    result: dict[str, object] = {"system": name, "folder": str(folder)}
    content = starter.files(name)
    if from_file is not None:
        source, sketches = read(Path(from_file), kind)
        content = starter.files_from(name, source, sketches)
    if ci is not None:
        content = {**content, **starter.github_workflow(folder, [Checked(name, f"{package}/{LOG}")])}
    result["files"] = [str(path) for path in starter.write(content, folder)]
    if from_file is not None:
        result["notes"] = _notes(source, sketches)
    commands = [f"schedproof verify {name}", f"schedproof validate {name} {package}/{LOG}", "pytest --schedproof"]
    _report(result, json_file, f"\nNow, in {folder}:\n" + "\n".join(f"    {command}" for command in commands))
    return Exit.OK


def _notes(source: Source, sketches: Iterable[Sketch]) -> list[dict[str, object]]:
    """What of a file is not in the model. Writes it to standard error, too, with the lines."""
    notes: list[dict[str, object]] = []
    for each in [each for sketch in sketches for each in sketch.notes]:
        note(f"{source.path.name}:{each.span.line}: {each.problem}; {each.remedy}", source.excerpt(each.span))
        notes.append(
            {
                "line": each.span.line,
                "problem": each.problem,
                "remedy": each.remedy,
                "text": source.text_of(each.span),
            }
        )
    return notes


def _report(result: Mapping[str, object], json_file: Destination | None, then: str = "") -> None:
    """Writes the result as JSON, and unless that takes standard output, the files line by line, with what to do ``then``."""
    if json_file is not None:
        json_file.write_json(result)
    if json_file is None or not json_file.is_stdout:
        for path in result["files"] if isinstance(result["files"], list) else ():
            click.echo(path)
        if then:
            click.echo(then)
