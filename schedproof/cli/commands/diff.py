"""``schedproof diff``: two variants, row by row."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

import click

from schedproof.cli import choose
from schedproof.cli.differences import Difference, differences, related
from schedproof.cli.errors import Exit
from schedproof.cli.help_text import ending
from schedproof.cli.options import json_option
from schedproof.cli.output import Destination
from schedproof.cli.tables import count

HEADINGS = {
    "machine": "Machines",
    "row": "Rows of the transition tables",
    "rule": "Trigger rules",
    "action": "Actions",
    "property": "Properties",
    "verdict": "Expected verdicts",
}


@click.command(epilog=ending("diff hived as-written repaired"))
@click.argument("system")
@click.argument("before", metavar="FROM_VARIANT")
@click.argument("after", metavar="TO_VARIANT")
@json_option
def diff(system: str, before: str, after: str, json_file: Destination | None) -> int:
    """Compare two variants of a system, element by element.

    The elements are machines, rows of transition tables, rules, actions, properties and expected verdicts. Each
    difference has the reasons that the changes of the variants give.
    """
    chosen = choose.system(system)
    one, other = choose.variant(chosen, before), choose.variant(chosen, after)
    listed = differences(chosen, one, other)
    if json_file is not None:
        json_file.write_json(
            {"system": system, "from": before, "to": after, "differences": [d.as_json() for d in listed]}
        )
    if json_file is None or not json_file.is_stdout:
        if not related(chosen, one, other):
            click.echo(
                f"{before} and {after} amend no common variant: elements of the same name may differ in meaning\n"
            )
        _print(listed)
        click.echo(f"{system}: {count(len(listed), 'difference')} from {before} to {after}")
    return Exit.OK


def _print(listed: list[Difference]) -> None:
    reasons = {change.why: change for difference in listed for change in difference.changes}
    for kind, heading in HEADINGS.items():
        of_kind = [d for d in listed if d.kind == kind]
        if of_kind:
            click.echo(f"{heading}: {', '.join(_counts(of_kind))}")
            for difference in of_kind:
                click.echo("\n".join(_difference_lines(difference, list(reasons))))
            click.echo()
    if reasons:
        click.echo("Reasons")
        for number, change in enumerate(reasons.values(), 1):
            click.echo(f"  [{number}] {change.why}")
            if change.repairs:
                click.echo(f"      repairs {', '.join(change.repairs)}")
            for name, kept in change.weakens.items():
                click.echo(f"      weakens {name} to {', '.join(kept)}")
        click.echo()


def _counts(listed: list[Difference]) -> Iterator[str]:
    for change in ("added", "removed", "changed"):
        number = sum(d.change == change for d in listed)
        if number:
            yield f"{number} {change}"


def _difference_lines(difference: Difference, reasons: Sequence[str]) -> Iterator[str]:
    numbers = sorted(reasons.index(change.why) + 1 for change in difference.changes)
    reason = "  " + " ".join(f"[{number}]" for number in numbers) if numbers else ""
    if difference.kind == "verdict":
        yield f"  ~ {difference.name}: {difference.before[0]} -> {difference.after[0]}{reason}"
        return
    mark = {"added": "+", "removed": "-", "changed": "~"}[difference.change]
    yield f"  {mark} {difference.name}{reason}"
    for line in difflib.ndiff(list(difference.before), list(difference.after)):
        if not line.startswith("?"):
            yield f"      {line}"
