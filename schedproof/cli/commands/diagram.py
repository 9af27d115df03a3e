"""``schedproof diagram``: pictures."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from schedproof.cli import choose, scopes
from schedproof.cli.errors import Exit
from schedproof.cli.output import Destination, OutputFile
from schedproof.cli.progress import exploring, progress
from schedproof.diagrams.auxiliary import auxiliary_pictures
from schedproof.diagrams.deadlock import WAIT_FOR, deadlock
from schedproof.diagrams.from_model import diagram, picture_names
from schedproof.diagrams.pairing import observed, pairing, pairing_names
from schedproof.diagrams.render import FORMATS, render
from schedproof.diagrams.representation import Diagram
from schedproof.model.lang import Model
from schedproof.model.registry.errors import UserError
from schedproof.model.registry.system import System

ENDINGS = {".svg": "svg", ".png": "png", ".dot": "dot", ".gv": "dot", ".mmd": "mermaid", ".mermaid": "mermaid"}


@click.command("diagram")
@click.argument("system")
@click.argument("picture", required=False)
@click.option("--format", "format_", type=click.Choice(FORMATS), help="By default what FILE ends in.")
@click.option(
    "-o", "--output", type=OutputFile(), required=True, metavar="FILE", help="Where to; - for standard output."
)
@click.option("--variant", metavar="V", help="By default the document as written.")
@click.option("--since", metavar="V", help="Machines and triggers: mark what is different from this variant.")
@click.option("--property", "property_name", metavar="P", help="wait-for: the property whose broken state is drawn.")
@click.option("--scope", metavar="Sort=n,...", help="Pairs and wait-for: how many objects to explore.")
@click.option("--every-step", is_flag=True, help="Pairs: also the steps from where a promise is broken already.")
def draw(
    system: str,
    picture: str | None,
    format_: str | None,
    output: Destination,
    variant: str | None,
    since: str | None,
    property_name: str | None,
    scope: str | None,
    every_step: bool,
) -> int:
    """Draw a state machine, or without PICTURE which event triggers which.

    \b
    PICTURE is one of
      a sort, say Recipe: the states of its machine;
      triggers: which event triggers which;
      Sort.attribute, say Recipe.system: which states of an object and of what
        it refers to occur together, the steps between these pairs, and in red
        the pairs that a promise forbids;
      flows: which party sends which events to which;
      locks, locks-repaired, deadlock.NAME: the order of locks, and a deadlock
        as a circle of who waits for whom;
      wait-for: who holds what and waits for what where --property is broken
        first; the circle is red.

    Sort.attribute and wait-for explore the variant, by default at the scope of 'verify'. svg and png need graphviz's 'dot'
    program; dot and mermaid need nothing.
    """
    chosen = choose.system(system)
    model = choose.variant(chosen, variant)
    kind = format_ or ENDINGS.get(Path(output.path).suffix.lower())
    if kind is None:
        raise UserError(
            f"the format of {output.path!r} is unknown; write --format and choose from {', '.join(FORMATS)}"
        )
    if kind == "png" and output.is_stdout and sys.stdout.isatty():
        raise UserError("a png cannot be shown in a terminal; write -o FILE")
    explored = picture == WAIT_FOR or (picture is not None and "." in picture and picture[0].isupper())
    misplaced = {
        "--since": since is not None and (explored or picture in auxiliary_pictures(chosen, model)),
        "--property": property_name is not None and picture != WAIT_FOR,
        "--scope": scope is not None and not explored,
        "--every-step": every_step and (not explored or picture == WAIT_FOR),
    }
    if wrong := [name for name, is_wrong in misplaced.items() if is_wrong]:
        raise UserError(
            f"{wrong[0]} cannot be used with {picture or 'triggers'}; 'schedproof diagram --help' says with what"
        )
    if picture is not None and explored:
        drawn = _explored(chosen, model, picture, property_name, scope, every_step)
    else:
        other = choose.variant(chosen, since) if since is not None else None
        others = auxiliary_pictures(chosen, model)
        waits = [WAIT_FOR] if model.variant in chosen.waits else []
        known = (*picture_names(model), *pairing_names(model), *waits, *others)
        if picture is not None and picture not in known:
            raise UserError(f"{system} ({model.variant}): unknown picture {picture!r}; choose from {', '.join(known)}")
        drawn = (
            others[picture][1]() if picture is not None and picture in others else diagram(model, picture, since=other)
        )
    output.write(render(drawn, kind))
    return Exit.OK


def _explored(
    chosen: System, model: Model, picture: str, property_name: str | None, scope: str | None, every_step: bool
) -> Diagram:
    """A picture that needs an exploration."""
    sizes = scopes.scope(model, scope)
    with progress("diagram") as say:
        if picture != WAIT_FOR:
            return pairing(model, observed(model, picture, sizes, exploring(say)), every_step=every_step)
        waiting = chosen.waits.get(model.variant)
        if waiting is None:
            there = ", ".join(f"{each.name} {other}" for each in choose.every()[0] for other in each.waits)
            raise UserError(
                f"{chosen.name} ({model.variant}) does not define what its objects hold and wait for; choose from {there}"
            )
        promised = ", ".join(name for name in waiting.deadlocks if name in model.refuted)
        if property_name is None:
            raise UserError(f"wait-for needs a --property; broken in {model.variant}: {promised or 'none'}")
        scopes.properties([(chosen, model)], [property_name])
        return deadlock(model, waiting, property_name, sizes, exploring(say))
