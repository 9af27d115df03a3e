"""``schedproof list``: what there is, by its stable names."""

from __future__ import annotations

from pathlib import Path

import click

from schedproof.cli import choose
from schedproof.cli.errors import Exit, fail
from schedproof.cli.help_text import ending
from schedproof.cli.options import json_option, variants_option
from schedproof.cli.output import Destination
from schedproof.cli.tables import table
from schedproof.model.registry import discovery
from schedproof.model.registry.errors import UserError
from schedproof.model.registry.manifest import Entry


@click.command("list", epilog=ending("list", "list hived --variant repaired"))
@click.argument("system", required=False)
@variants_option()
@json_option
def listing(system: str | None, variants: tuple[str, ...], json_file: Destination | None) -> int:
    """List the systems, or what the variants of one system consist of.

    Without SYSTEM, the list has your systems and those that are installed. With SYSTEM, it has the machines, actions and
    properties of each variant.
    """
    if variants and system is None:
        raise UserError("--variant: has no effect without SYSTEM; write the system's name, or leave it out")
    unusable = 0
    if json_file is not None:
        from schedproof.cli.system_details import details  # it needs all models, a list of systems needs none

        chosen, unusable = ([choose.system(system)], 0) if system is not None else choose.every()
        json_file.write_json({"systems": [details(each, choose.variants(each, variants)) for each in chosen]})
    if json_file is not None and json_file.is_stdout:
        pass
    elif system is not None:
        from schedproof.cli.system_details import print_details

        chosen_system = choose.system(system)
        print_details(chosen_system, choose.variants(chosen_system, variants))
    else:
        unusable = _print_systems()
    return Exit.USAGE if unusable else Exit.OK


def _print_systems() -> int:
    """Prints all systems, and returns how many manifests and systems cannot be used; each has a line that says why."""
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
