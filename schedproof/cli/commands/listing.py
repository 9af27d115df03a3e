"""``schedproof list``: what there is, by its stable names."""

from __future__ import annotations

from pathlib import Path

import click

from schedproof.cli import choose
from schedproof.cli.errors import Exit, fail
from schedproof.cli.output import Destination, json_option
from schedproof.cli.tables import table
from schedproof.model.registry import discovery
from schedproof.model.registry.errors import UserError
from schedproof.model.registry.manifest import Entry


@click.command("list")
@click.argument("system", required=False)
@json_option
def listing(system: str | None, json_file: Destination | None) -> int:
    """List systems; of one system its variants, machines, actions and properties."""
    unusable = 0
    if json_file is not None:
        from schedproof.cli.system_details import details  # it needs all models, a list of systems needs none

        chosen, unusable = ([choose.system(system)], 0) if system is not None else choose.every()
        json_file.write_json({"systems": [details(each) for each in chosen]})
    if json_file is not None and json_file.is_stdout:
        pass
    elif system is not None:
        from schedproof.cli.system_details import print_details

        print_details(choose.system(system))
    else:
        unusable = _print_systems()
    return Exit.USAGE if unusable else Exit.OK


def _print_systems() -> int:
    """Prints all systems, and returns how many manifests and systems cannot be used, each told in a line."""
    unusable = choose.problems()
    rows = []
    for entry in discovery.every(Path.cwd()).entries.values():
        try:
            rows.append(_row(entry))
        except UserError as error:  # the other systems go on working
            unusable += 1
            fail(str(error), Exit.USAGE)
    table("Systems", ["name", "variants", "document", "what it is"], rows)
    return unusable


def _row(entry: Entry) -> list[str]:
    """A system in one line; its models are loaded only where the manifest does not say what they are."""
    if entry.listed:
        return [entry.name, ", ".join(entry.variants), entry.table.document or "", entry.title]
    system = choose.system(entry.name)
    return [system.name, ", ".join(system.variants), system.document, system.title]
