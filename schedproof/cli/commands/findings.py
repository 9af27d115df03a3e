"""``schedproof findings``: what is wrong with the documents."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

import click

from schedproof.cli import choose, scopes
from schedproof.cli.errors import Exit
from schedproof.cli.help_text import ending
from schedproof.cli.options import json_option, variants_option
from schedproof.cli.output import Destination
from schedproof.cli.progress import progress
from schedproof.cli.tables import count
from schedproof.model.lang import Model
from schedproof.model.quotes import footnotes
from schedproof.model.registry.system import System
from schedproof.proofs.verification.ambiguities import Ambiguity, Kind, ambiguities
from schedproof.proofs.verification.defect import Defect
from schedproof.proofs.verification.defects import defects
from schedproof.proofs.verification.findings import Finding, repeated, unviolated
from schedproof.proofs.verification.findings import findings as find
from schedproof.proofs.verification.links import linked
from schedproof.proofs.verification.sources import Kind as KindOfRow
from schedproof.proofs.verification.sources import differences


@click.command(epilog=ending("findings hived", "findings beaker --variant as-written --all"))
@click.argument("system", required=False)
@variants_option()
@click.option(
    "--all",
    "every",
    is_flag=True,
    help="Show a run of every property, not only the clearest of each defect, and the answers of every interpretation.",
)
@json_option
def findings(system: str | None, variants: tuple[str, ...], every: bool, json_file: Destination | None) -> int:
    """List what documents get wrong: each defect, its clearest run, its repair.

    A defect is one mistake with all the properties that it violates. Its run is a shortest one that shows this mistake;
    --all shows one for each property. Defects of the document come first, then those of each other variant; in each,
    first what changes the behaviour, and of that what violates most properties. After the defects come contradictions
    between sentences, silences and interpretations: first those on which most verdicts hang. A contradiction that a
    run shows names its defect, and is not counted again. A silence is an event in a state for which the document has no
    row. An interpretation on which no verdict hangs is one line; --all shows the answers. Without SYSTEM, findings are
    of the systems of your schedproof.toml; without a schedproof.toml, of all systems. Without --variant, the list ends with
    rows in which tables of text, figures and implementation differ. Cited lines are quoted at its end. 'schedproof explain'
    shows a counterexample field by field.

    Only properties that are expected to be violated are looked at: 'schedproof verify' checks what is expected.
    """
    chosen, unusable = choose.systems([system] if system is not None else [])
    among = [(one, model) for one in chosen for model in one.variants.values()]
    shown = scopes.variants(among, variants) if variants else among
    with progress("findings") as report_progress:
        originals = {one.name: _originals(one, variants, report_progress) for one in chosen}
        by_system = {
            one.name: defects(one, variants=variants, progress=report_progress, originals=originals[one.name])
            for one in chosen
        }
    all_defects = [defect for some in by_system.values() for defect in some]
    unclear = {one.name: linked(ambiguities(one, variants=variants), by_system[one.name]) for one in chosen}
    lists: dict[str, list[Defect | Ambiguity]] = {
        one.name: [*by_system[one.name], *unclear[one.name]] for one in chosen
    }
    if json_file is not None:
        json_file.write_json([each.as_json() for some in lists.values() for each in some])
    if json_file is None or not json_file.is_stdout:
        texts = _numbered(lists, every)
        for lines in texts.values():
            click.echo("\n".join(lines))
        click.echo(_counted(shown, all_defects))
        for one in chosen:
            if many := _unclear(unclear[one.name], one.base.document.name):
                click.echo(many)
            for name, properties in unviolated(one, originals[one.name], variants=variants).items():
                click.echo(
                    f"no violation in {one.name} {name}, though expected: {', '.join(properties)} "
                    f"('schedproof verify {one.name} --variant {name}' checks what is expected)"
                )
            for model in (model for each, model in shown if each is one):
                if repeats := repeated(one, model):
                    click.echo(
                        f"left out: {_properties(len(repeats))} that {one.name} {model.variant} violates just as {model.amends} does, "
                        f"which it amends ('schedproof explain {one.name} PROPERTY --variant {model.variant}' shows one)"
                    )
            # Without --variant, what follows is of the system's documents.
            rows = [] if variants else list(_rows(one))
            for line in [*rows, *footnotes(one.base.document, [*texts[one.name], *rows])]:
                click.echo(line)
    return Exit.USAGE if unusable else Exit.OK


def _originals(system: System, variants: tuple[str, ...], report_progress: Callable[[str], None]) -> list[Finding]:
    """The violations of a system's variants themselves."""
    report_progress(f"{system.name}: looking for violations")
    return find(system, variants=variants)


def _properties(many: int) -> str:
    return f"{many} {'property' if many == 1 else 'properties'}"


def _numbered(lists: Mapping[str, Sequence[Defect | Ambiguity]], every: bool) -> dict[str, list[str]]:
    """The lists as lines, numbered through all systems; an empty line ends each entry that has several, and each list."""
    texts: dict[str, list[str]] = {name: [] for name in lists}
    numbers = itertools.count(1)
    for name, some in lists.items():
        of_defects: dict[str, int] = {}
        for each in some:
            number = next(numbers)
            if isinstance(each, Defect):
                of_defects[each.name] = number
                head, *rest = each.text(every=every)
            else:
                head, *rest = each.text(every=every, numbers=of_defects)
            texts[name] += [f"{number}. {head}", *rest, *([""] if rest else [])]
        if texts[name] and texts[name][-1]:
            texts[name].append("")
    return texts


def _counted(shown: Sequence[tuple[System, Model]], all_defects: Sequence[Defect]) -> str:
    """How many defects there are: in each document, and in each variant that a document does not have as written."""
    systems = {one.name: one for one, _ in shown}
    violated = {(f.system, f.variant, f.property) for defect in all_defects for f in defect.findings}
    violates = f", {_properties(len(violated))} violated" if violated else ""
    total = count(len(all_defects), "defect")
    places = Counter(_place(systems[each.system], each) for each in all_defects)
    if len(places) > 1:
        return f"{total}{violates}: {', '.join(f'{many} in {place}' for place, many in places.items())}"
    documents = list(places) or list(dict.fromkeys(one.base.document.name for one, _ in shown))
    return f"{total} in {', '.join(documents)}{violates}"


def _place(system: System, defect: Defect) -> str:
    """The document that has a defect, or the first variant that has it."""
    base, model = system.base, system.variants[defect.variants[0]]
    if model is base:
        return base.document.name
    another = "" if model.document.name == base.document.name else f" ({model.document.name})"
    return f"{system.name} {model.variant}{another}"


def _unclear(some: Sequence[Ambiguity], document: str) -> str:
    """How many ambiguities there are that are no defects, by kind, and how many contradictions are; "" for none."""
    many = Counter(each.kind for each in some if not each.defect)
    by_kind = ", ".join(count(many[kind], str(kind)) for kind in Kind if many[kind])
    unclear = f"{by_kind} in the words of {document}" if by_kind else ""
    shown = sum(bool(each.defect) for each in some)
    more = "more " if many[Kind.CONTRADICTION] else ""
    are = "is a defect" if shown == 1 else "are defects"
    return "; ".join(filter(None, (unclear, f"{count(shown, f'{more}contradiction')} {are}" if shown else "")))


def _rows(system: System) -> Iterator[str]:
    """The rows in which the tables of the text, of the figures and of the implementation differ."""
    for kind in KindOfRow:
        if rows := [row for row in differences(system) if row.kind is kind]:
            yield f"{system.name}: {count(len(rows), 'row')} of tables: {kind} ({system.validated_by})"
            yield from (f"  {row.text}" for row in rows)
