"""``schedproof diagram``: pictures."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from schedproof.cli import choose, scopes
from schedproof.cli.errors import Exit
from schedproof.cli.help_text import ending
from schedproof.cli.options import variant_option
from schedproof.cli.output import Destination, OutputFile
from schedproof.cli.progress import exploring, progress
from schedproof.cli.renamed import Option
from schedproof.diagrams.auxiliary import auxiliary_pictures
from schedproof.diagrams.deadlock import WAIT_FOR, deadlock
from schedproof.diagrams.from_model import TRIGGERS, diagram, picture_names
from schedproof.diagrams.pairing import observed, pairing, pairing_names
from schedproof.diagrams.render import FORMATS, render
from schedproof.diagrams.representation import Diagram
from schedproof.model.lang import Model
from schedproof.model.registry.errors import UserError, require_known
from schedproof.model.registry.system import System

ENDINGS = {".svg": "svg", ".png": "png", ".dot": "dot", ".gv": "dot", ".mmd": "mermaid", ".mermaid": "mermaid"}


@click.command(
    "diagram",
    epilog=ending(
        "diagram hived PodGroup --variant repaired --compare-to as-written -o PodGroup.svg",
        "diagram beaker wait-for --property no-abba -o wait-for.mmd",
        notes="""
PICTURE is one of
  triggers         which event triggers which (default)
  SORT             the state machine of a sort, for example Recipe
  SORT.ATTRIBUTE   which states of an object and of the object that it refers to occur
                   together, and the steps between these pairs; red: pairs that a property forbids
  flows            which component sends which events to which
  locks, locks-repaired, deadlock.NAME
                   the order of locks, or the cycle of threads in a deadlock
  wait-for         who holds what and who waits for what in the first state that violates
                   --property; the cycle is red
""",
    ),
)
@click.argument("system")
@click.argument("picture", required=False)
@variant_option()
@click.option("--compare-to", cls=Option, former=["--since"], metavar="VARIANT",
              help="State machines and triggers: mark the differences from this variant.")  # fmt: skip
@click.option("--sort", "sorts", multiple=True, metavar="SORT",
              help="triggers: draw only events of this sort, and what fires them; may be repeated.")  # fmt: skip
@click.option("--action", "actions", multiple=True, metavar="ACTION",
              help="State machines and triggers: draw only this action and what it can cause; may be repeated.")  # fmt: skip
@click.option(
    "--property", "property_name", metavar="PROPERTY", help="wait-for: the property that the drawn state violates."
)
@click.option("--scope", metavar="SORT=N,...",
              help="SORT.ATTRIBUTE and wait-for: number of objects of each sort.  [default: the scope of the model]")  # fmt: skip
@click.option(
    "--every-step", is_flag=True, help="SORT.ATTRIBUTE: draw also the steps from states that violate a property."
)
@click.option(
    "--format", "format_", type=click.Choice(FORMATS), help="Format of the picture.  [default: the suffix of FILE]"
)
@click.option(
    "-o", "--output", type=OutputFile(), required=True, metavar="FILE", help="Write to FILE; - is standard output."
)
def draw(
    system: str,
    picture: str | None,
    variant: str | None,
    compare_to: str | None,
    sorts: tuple[str, ...],
    actions: tuple[str, ...],
    property_name: str | None,
    scope: str | None,
    every_step: bool,
    format_: str | None,
    output: Destination,
) -> int:
    """Draw state machines, triggers, message flows, lock orders and deadlocks.

    svg and png need the program dot of graphviz; dot and mermaid need no other program. SORT.ATTRIBUTE and wait-for
    explore the model.
    """
    chosen = choose.system(system)
    model = choose.variant(chosen, variant)
    kind = format_ or ENDINGS.get(Path(output.path).suffix.lower())
    if kind is None:
        raise UserError(
            f"--output: {output.path!r} has no suffix of a format; add --format, and choose from {', '.join(FORMATS)}"
        )
    if kind == "png" and output.is_stdout and sys.stdout.isatty():
        raise UserError("--output: a terminal cannot show a png; write -o FILE")
    if picture not in auxiliary_pictures(chosen, model):
        choose.require_model(chosen, [model])
    explored = picture == WAIT_FOR or (picture is not None and "." in picture and picture[0].isupper())
    beside = explored or picture in auxiliary_pictures(chosen, model)
    misplaced = {
        "--sort": bool(sorts) and (beside or picture not in (None, TRIGGERS)),
        "--action": bool(actions) and beside,
        "--compare-to": compare_to is not None and beside,
        "--property": property_name is not None and picture != WAIT_FOR,
        "--scope": scope is not None and not explored,
        "--every-step": every_step and (not explored or picture == WAIT_FOR),
    }
    if wrong := [name for name, is_wrong in misplaced.items() if is_wrong]:
        raise UserError(
            f"{wrong[0]}: has no effect on {picture or 'triggers'}; leave it out, or see 'schedproof diagram --help'"
        )
    if picture is not None and explored:
        drawn = _explored(chosen, model, picture, property_name, scope, every_step)
    else:
        other = choose.variant(chosen, compare_to) if compare_to is not None else None
        others = auxiliary_pictures(chosen, model)
        waits = [WAIT_FOR] if model.variant in chosen.waits else []
        known = (*picture_names(model), *pairing_names(model), *waits, *others)
        if picture is not None and picture not in known:
            raise UserError(f"{system} {model.variant}: unknown picture {picture!r}; choose from {', '.join(known)}")
        of = f"{system} {model.variant}"
        require_known("--sort", "sort", sorts, [sort.name for sort in model.sorts], of=of)
        require_known("--action", "action", actions, [action.name for action in model.actions], of=of)
        if picture is not None and picture in others:
            drawn = others[picture][1]()
        else:
            drawn = diagram(model, picture, since=other, sorts=sorts, actions=actions)
    output.write(render(drawn, kind))
    return Exit.OK


def _explored(
    chosen: System, model: Model, picture: str, property_name: str | None, scope: str | None, every_step: bool
) -> Diagram:
    """A picture that needs an exploration."""
    sizes = scopes.scope(model, scope)
    with progress("diagram") as report_progress:
        if picture != WAIT_FOR:
            return pairing(model, observed(model, picture, sizes, exploring(report_progress)), every_step=every_step)
        waiting = chosen.waits.get(model.variant)
        if waiting is None:
            choices = ", ".join(f"{each.name} {other}" for each in choose.every()[0] for other in each.waits)
            raise UserError(
                f"{chosen.name} {model.variant}: the model does not say what its objects hold and wait for; choose from {choices}"
            )
        violated = ", ".join(name for name in waiting.deadlocks if name in model.refuted)
        if property_name is None:
            raise UserError(
                f"wait-for: no --property is given; violated in {model.variant}, to choose from: {violated or 'none'}"
            )
        scopes.properties([(chosen, model)], [property_name])
        return deadlock(model, waiting, property_name, sizes, exploring(report_progress))
