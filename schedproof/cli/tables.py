"""Tables: drawn on a terminal, plain columns in a pipe. Names are never truncated."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence

import click
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

STYLES = {
    "as expected": "green",
    "proved": "green",
    "conforms": "green",
    "NOT EXPECTED": "bold red",
    "violates": "bold red",
    "undetermined": "yellow",
    "UNDETERMINED": "bold yellow",
}
"""The styles of some cells on a terminal."""

WIDE = 100_000
"""The width in a pipe, which has no margin: lines are as long as necessary."""


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]], *, right: Sequence[str] = ()) -> None:
    """Prints a table on standard output.

    The columns ``right`` are right-aligned. The title is a line of its own: in a table it would wrap at the table's width.
    """
    terminal = sys.stdout.isatty()
    if title:
        click.echo(click.style(title, italic=True) if terminal else title)
    drawn = Table(box=box.SIMPLE_HEAD if terminal else None, pad_edge=False)
    for column in columns:
        drawn.add_column(
            Text(column), justify="right" if column in right else "left", overflow="fold", no_wrap=not terminal
        )
    for row in rows:
        drawn.add_row(*[Text(str(cell), style=STYLES.get(str(cell), "")) for cell in row])
    if terminal:
        Console(file=sys.stdout, highlight=False, markup=False).print(drawn)
        return
    page = io.StringIO()
    Console(file=page, width=WIDE, color_system=None, force_terminal=False, highlight=False, markup=False).print(drawn)
    click.echo("\n".join(line.rstrip() for line in page.getvalue().rstrip().splitlines()))


def seconds(value: float) -> str:
    """A time as tables show it."""
    return f"{value:.2f}"


def count(number: int, noun: str) -> str:
    """``1 step``, ``2 steps``; ``1 property``, ``2 properties``."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun[:-1]}ies" if noun.endswith("y") else f"{number} {noun}s"
