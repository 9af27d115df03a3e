"""``schedproof diagram``: pictures."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from schedproof.diagrams import FORMATS, diagram
from schedproof.diagrams.render import render

from .. import choose
from ..errors import Exit, UserError
from ..output import Destination, OutputFile

ENDINGS = {".svg": "svg", ".png": "png", ".dot": "dot", ".gv": "dot", ".mmd": "mermaid", ".mermaid": "mermaid"}


@click.command("diagram")
@click.argument("system")
@click.argument("machine", required=False)
@click.option("--format", "format_", type=click.Choice(FORMATS), help="By default what FILE ends in.")
@click.option(
    "-o", "--output", type=OutputFile(), required=True, metavar="FILE", help="Where to; - for standard output."
)
@click.option("--variant", metavar="V", help="By default the document as written.")
@click.option("--since", metavar="V", help="Mark what is different from this variant.")
def draw(
    system: str, machine: str | None, format_: str | None, output: Destination, variant: str | None, since: str | None
) -> int:
    """Draw a state machine, or without MACHINE which event triggers which.

    svg and png need graphviz's 'dot' program; dot and mermaid need nothing.
    """
    chosen = choose.system(system)
    model = choose.variant(chosen, variant)
    other = choose.variant(chosen, since) if since is not None else None
    kind = format_ or ENDINGS.get(Path(output.path).suffix.lower())
    if kind is None:
        raise UserError(f"no --format given, and {output.path!r} does not tell; choose one of: {', '.join(FORMATS)}")
    if kind == "png" and output.is_stdout and sys.stdout.isatty():
        raise UserError("a png would only confuse a terminal; give -o a file name")
    output.write(render(diagram(model, machine, since=other), kind))
    return Exit.OK
