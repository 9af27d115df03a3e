"""``schedproof table``: what each event does in each state of a machine."""

from __future__ import annotations

import click

from schedproof.cli import choose
from schedproof.cli.errors import Exit
from schedproof.cli.help_text import ending
from schedproof.cli.matrix import matrix
from schedproof.cli.options import json_option, variant_option
from schedproof.cli.output import Destination
from schedproof.cli.tables import count, table
from schedproof.model.registry.errors import UserError, unknown


@click.command("table", epilog=ending("table yunikorn Application --variant v0.12.2"))
@click.argument("system")
@click.argument("sort")
@variant_option()
@json_option
def outcomes(system: str, sort: str, variant: str | None, json_file: Destination | None) -> int:
    """Print the state x event matrix of a machine.

    SORT names the machine. A cell is the state after the event, no-op if the event changes nothing, or - if the table has
    no row for it.
    """
    chosen = choose.system(system)
    model = choose.model(chosen, variant)
    sorts = [s.name for s in model.sorts]
    if sort not in sorts:
        raise unknown(f"machine of {system} {model.variant}", sort, sorts)
    if not model.machine(sort).states:
        able = [m.sort.name for m in model.machines if m.states]
        raise UserError(
            f"{system} {model.variant}: {sort} has attributes but no states, and so no table; choose from {', '.join(able)}"
        )
    outcome_matrix = matrix(model, sort)
    if json_file is not None:
        json_file.write_json({"system": system, "variant": model.variant, **outcome_matrix.as_json()})
    if json_file is None or not json_file.is_stdout:
        rows = [[state, *outcome_matrix.row(state)] for state in outcome_matrix.states]
        table(f"{sort} of {system} {model.variant}", ["state", *outcome_matrix.events], rows)
        click.echo()
        numbers = [
            count(outcome_matrix.moves, "move"),
            count(outcome_matrix.no_ops, "no-op"),
            count(outcome_matrix.errors, "error"),
        ]
        click.echo(f"{len(outcome_matrix.states)} x {len(outcome_matrix.events)}: {', '.join(numbers)}")
        if outcome_matrix.bookkeeping:
            listed = ", ".join(f"{event} ({', '.join(states)})" for event, states in outcome_matrix.bookkeeping.items())
            click.echo(f"Events that only write attributes, with the states in which they may come: {listed}")
    return Exit.OK
