"""``schedproof table``: what each event does in each state of a machine."""

from __future__ import annotations

import click

from schedproof.cli import choose
from schedproof.cli.errors import Exit
from schedproof.cli.matrix import matrix
from schedproof.cli.output import Destination, json_option
from schedproof.cli.tables import count, table
from schedproof.model.registry.errors import UserError, unknown


@click.command("table")
@click.argument("system")
@click.argument("sort")
@click.option("--variant", metavar="V", help="By default the first.")
@json_option
def outcomes(system: str, sort: str, variant: str | None, json_file: Destination | None) -> int:
    """Print the state x event outcome matrix of the machine of SORT.

    A cell is the state after the event, 'no-op' for a row that stays and writes nothing, or '-' where
    the table has no row.
    """
    chosen = choose.system(system)
    model = choose.variant(chosen, variant)
    sorts = [s.name for s in model.sorts]
    if sort not in sorts:
        raise unknown(f"machine of {system} {model.variant}", sort, sorts)
    if not model.machine(sort).states:
        raise UserError(
            f"{sort} of {system} {model.variant} has only attributes, and a table of events needs states; choose another machine"
        )
    found = matrix(model, sort)
    if json_file is not None:
        json_file.write_json({"system": system, "variant": model.variant, **found.as_json()})
    if json_file is None or not json_file.is_stdout:
        rows = [[state, *found.row(state)] for state in found.states]
        table(f"{sort} of {system} {model.variant}", ["state", *found.events], rows)
        click.echo()
        numbers = [count(found.moves, "move"), count(found.no_ops, "no-op"), count(found.errors, "error")]
        click.echo(f"{len(found.states)} x {len(found.events)}: {', '.join(numbers)}")
        if found.bookkeeping:
            listed = ", ".join(f"{event} ({', '.join(states)})" for event, states in found.bookkeeping.items())
            click.echo(f"Events that only write attributes, with the states in which they may come: {listed}")
    return Exit.OK
