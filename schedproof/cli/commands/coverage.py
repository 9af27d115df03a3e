"""``schedproof coverage``: what became of each sentence of a document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from schedproof.cli import choose, scopes
from schedproof.cli.errors import Exit
from schedproof.cli.help_text import ending
from schedproof.cli.options import json_option, refuse_idle, scope_option, variants_option
from schedproof.cli.output import Destination, OutputFile, spare
from schedproof.cli.progress import progress
from schedproof.cli.tables import count, table
from schedproof.model.ledger.draft import draft
from schedproof.model.ledger.gaps import gaps, names, of_system, unlike, unnamed
from schedproof.model.ledger.ledger import DISPOSITIONS, Ledger
from schedproof.model.ledger.page import as_json, html, markdown
from schedproof.model.ledger.quotations import misquoted
from schedproof.model.ledger.words import undefined
from schedproof.model.registry.errors import UserError
from schedproof.model.registry.system import System
from schedproof.proofs.verification.races import Race, races
from schedproof.proofs.verification.silences import Silence, loose_ends, silences


@click.command(
    epilog=ending("coverage hived", "coverage hived --html hived.html", different="something is missing in the ledger")
)
@click.argument("system")
@click.option("--document", metavar="FILE", help="Compare the ledger with this text of the document.")
@click.option(
    "--markdown",
    "markdown_file",
    type=OutputFile(),
    metavar="FILE",
    help="Write the document with what became of it, as Markdown.",
)
@click.option("--html", "html_file", type=OutputFile(), metavar="FILE", help="Write the same as a page of HTML.")
@click.option(
    "--draft", "is_draft", is_flag=True, help="Print the ledger with an entry for whatever it lacks; needs --document."
)
@click.option(
    "--silences",
    "is_silences",
    is_flag=True,
    help="Also search for what the document leaves open: states without a row, orders of actions, undefined names.",
)
@variants_option("those of the ledger")
@scope_option
@click.option("--names", "is_names", is_flag=True, help="List the names that a ledger may use.")
@json_option
def coverage(
    system: str,
    document: str | None,
    markdown_file: Destination | None,
    html_file: Destination | None,
    is_draft: bool,
    is_silences: bool,
    variants: tuple[str, ...],
    scope: str | None,
    is_names: bool,
    json_file: Destination | None,
) -> int:
    """Show what became of each sentence of a document.

    The ledger of a system has an entry for each statement of its document, and for each element of the models that claim to
    be the document: which elements model it, which properties require it, which interpretation it needs. --silences needs no
    ledger; --variant and --scope say where it searches.
    """
    spare([document], markdown_file, html_file, json_file)
    chosen = choose.system(system)
    if is_names or is_draft:
        written_elsewhere = {
            "--markdown": markdown_file,
            "--html": html_file,
            "--json": json_file,
            "--silences": is_silences,
        }
        beside = {"--draft": is_draft, "--document": document} if is_names else {}
        refuse_idle({**beside, **written_elsewhere}, f"with {'--names' if is_names else '--draft'}")
    if not is_silences:
        refuse_idle({"--variant": variants, "--scope": scope}, "without --silences", "add --silences")
    if is_names:
        for key, some in names(chosen).items():
            click.echo(f"{key}: {', '.join(some) or 'none'}")
        return Exit.OK
    text = _document(document)
    written = chosen.ledger is not None and chosen.ledger.is_file() and chosen.ledger.stat().st_size > 0
    # The shell empties the file first, if it gets the draft.
    ledger = of_system(chosen) if chosen.ledger and (written or not is_draft) else None
    of_document = ledger.variants if ledger else [chosen.base.variant]
    if is_draft:
        if text is None:
            raise UserError("--draft: needs the text of the document; write --document FILE")
        click.echo(draft(chosen, text, ledger, of_document), nl=False)
        return Exit.OK
    if ledger is None and not is_silences:
        raise UserError(
            f'{system} has no ledger; write ledger = "ledger.yaml" in its manifest, and the file with '
            f"'schedproof coverage {system} --document FILE --draft'"
        )
    searched_in = choose.variants(chosen, variants or of_document) if is_silences else []
    sizes = {model.variant: scopes.scope(model, scope) for model in searched_in}
    lines = []
    if ledger is not None:
        lines = gaps(chosen, ledger)
        if text is not None:
            lines += [*unlike(ledger, text), *unnamed(chosen, ledger, text), *misquoted(chosen, text)]
            lines = list(dict.fromkeys(lines))
        for file, rendered in ((markdown_file, markdown), (html_file, html)):
            if file is not None:
                file.write(rendered(chosen, ledger))
    searched: dict[str, _Silent] = {}
    with progress("silences") as report_progress:
        for model in searched_in:
            report_progress(f"{system} {model.variant}: exploring")
            at = sizes[model.variant]
            searched[model.variant] = _Silent(silences(model, at), races(model, at), loose_ends(model))
    if json_file is not None:
        data = as_json(chosen, ledger, lines) if ledger is not None else {"system": system}
        json_file.write_json({**data, **_silences_as_json(chosen, ledger, searched)})
    if not any(file is not None and file.is_stdout for file in (markdown_file, html_file, json_file)):
        if ledger is not None:
            _print(ledger, lines, "" if text is not None else "; compare it with the document: --document FILE")
        for name, silent in searched.items():
            _print_silences(f"{system} {name}", silent)
        if is_silences and ledger is not None:
            _print_undefined(chosen, ledger)
    return Exit.DIFFERENT if lines else Exit.OK


@dataclass(frozen=True)
class _Silent:
    """What the document of a variant does not say."""

    conditions: Sequence[Silence]
    races: Sequence[Race]
    loose_ends: Sequence[str]


def _silences_as_json(system: System, ledger: Ledger | None, searched: Mapping[str, _Silent]) -> dict[str, Any]:
    if not searched:
        return {}
    return {
        **({"undefined": undefined(system, ledger)} if ledger is not None else {}),
        "silences": {name: [each.as_json() for each in some.conditions] for name, some in searched.items()},
        "races": {name: [each.as_json() for each in some.races] for name, some in searched.items()},
        "loose_ends": {name: some.loose_ends for name, some in searched.items()},
    }


def _print_silences(variant: str, silent: _Silent) -> None:
    conditions = count(len(silent.conditions), "condition")
    click.echo(f"\n{variant}: {conditions} without which an event reaches a state that has no row for it")
    for each in silent.conditions:
        click.echo(f"  {each.text}")
    click.echo(
        f"{variant}: {count(len(silent.races), 'pair')} of actions that can both be taken, where the order decides"
    )
    for race in silent.races:
        click.echo(f"  {race.text}")
    click.echo(f"{variant}: {count(len(silent.loose_ends), 'loose end')}")
    for line in silent.loose_ends:
        click.echo(f"  {line}")


def _print_undefined(system: System, ledger: Ledger) -> None:
    names_and_lines = undefined(system, ledger)
    click.echo(f"\n{ledger.document}: {count(len(names_and_lines), 'name')} that it uses and does not define")
    for name, lines in names_and_lines.items():
        click.echo(f"  {name} (line{'s' if len(lines) > 1 else ''} {', '.join(map(str, lines))})")


def _document(name: str | None) -> str | None:
    if name is None:
        return None
    try:
        return Path(name).read_text("utf-8")
    except (OSError, ValueError) as error:
        raise UserError(f"--document: {name}: cannot be read: {error}; name a text in UTF-8") from None


def _print(ledger: Ledger, lines: list[str], beside: str) -> None:
    many = Counter(key for entry in ledger.statements for key in entry.dispositions)
    rows = [[words, f"{many[key]:,}"] for key, words in DISPOSITIONS.items()]
    table(f"{ledger.document}: {count(len(ledger.statements), 'statement')}", ["what became of it", "statements"], rows)
    reviewed = sum(bool(mark.review) for mark in ledger.elements.values())
    added = sum(len(mark.added) for mark in ledger.elements.values())
    click.echo("A statement may count in several rows.")
    click.echo(
        f"\n{count(reviewed, 'element')} of {', '.join(ledger.variants)} reviewed; {count(added, 'part')} of them, such as a condition "
        f"or a value, {'has' if added == 1 else 'have'} a source of {'its' if added == 1 else 'their'} own"
    )
    for line in lines:
        click.echo(line)
    no_gap = f"No gap: every statement and every element has its place in the ledger{beside}."
    click.echo(f"{count(len(lines), 'gap')}" if lines else no_gap)
