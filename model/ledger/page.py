"""A ledger for people: the document beside what became of each statement, as Markdown, HTML and JSON."""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
import msgspec

from schedproof.model.lang import Reading
from schedproof.model.registry.system import System

from .gaps import interpretations_in
from .ledger import DISPOSITIONS, Entry, Ledger


class Verdict(enum.Enum):
    """What is expected of the properties that a statement requires; of one without properties, what became of it."""

    VIOLATED = "a property is violated"
    HELD = "all properties hold"
    MODELLED = "modelled"
    OPEN = "rests on an interpretation, or contradicts another"
    WITHOUT = "states nothing for a model"


def violated(system: System, ledger: Ledger) -> frozenset[str]:
    """The properties that are expected to be violated in the first variant of the ledger that has them."""
    refuted = {lock.name: lock.refuted for some in system.locks.values() for lock in some}
    for name in reversed(ledger.variants):
        model = system.variants[name]
        refuted |= {prop.name: prop.name in model.refuted for prop in model.properties}
    return frozenset(name for name, value in refuted.items() if value)


def verdict(entry: Entry, broken: Collection[str]) -> Verdict:
    """The expected verdict of a statement.

    Args:
        entry: of the statement.
        broken: the properties that are violated.
    """
    if any(name in broken for name in entry.required):
        return Verdict.VIOLATED
    if entry.contradictions or entry.interpretations:
        return Verdict.OPEN
    if entry.required:
        return Verdict.HELD
    return Verdict.MODELLED if entry.modelled else Verdict.WITHOUT


def by_verdict(system: System, entry: Entry) -> Mapping[Verdict, Sequence[str]]:
    """The variants that have a property which a statement requires, by what is expected of these properties there.

    Args:
        system: the system, with all its variants.
        entry: of the statement.

    Returns:
        ``Verdict.VIOLATED`` and ``Verdict.HELD`` -> names of variants; a key without variants is left out.
    """
    variants: dict[Verdict, list[str]] = {}
    for name, model in system.variants.items():
        locks = {lock.name: lock.refuted for lock in system.locks.get(name, ())}
        expected = locks | {prop.name: prop.name in model.refuted for prop in model.properties}
        if its := [expected[prop] for prop in entry.required if prop in expected]:
            variants.setdefault(Verdict.VIOLATED if any(its) else Verdict.HELD, []).append(name)
    return variants


def _differing(system: System, entry: Entry) -> list[tuple[Verdict, Sequence[str]]]:
    """The verdicts of a statement with their variants, violations first; [] if all variants have the same verdict."""
    variants = by_verdict(system, entry)
    return [(each, variants[each]) for each in Verdict if each in variants] if len(variants) > 1 else []


def markdown(system: System, ledger: Ledger) -> str:
    """The document beside what became of it, as a table in Markdown; then its interpretations and contradictions."""
    lines = [
        f"# {ledger.document}: what became of each statement",
        "",
        "| line | statement | what became of it |",
        "|---|---|---|",
    ]
    for entry in ledger.statements:
        words = f"*figure:* {entry.arrow}" if entry.arrow else entry.text
        cells = [f"**{how}** {', '.join(_linked(*each) for each in which)}" for how, which in _shown(entry, ())]
        cells += [f"*{each.value}:* {', '.join(variants)}" for each, variants in _differing(system, entry)]
        lines.append(f"| {entry.line} | {_cell(words)} | {_cell('<br>'.join(cells))} |")
    if system.interpretations:
        lines += ["", "## Interpretations", ""]
    for reading in system.interpretations:
        lines += [f'<a id="{reading.name}"></a>**{reading.name}** ({_where(reading)})', ""]
        lines += [f"- {key}: {value}" for key, value in _answers(reading, ledger).items()] + [""]
    if system.contradictions:
        lines += ["", "## Contradictions", ""]
    for each in system.contradictions:
        lines += [f'<a id="{each.name}"></a>**{each.name}**', "", f"- Wrong: {each.problem}"]
        lines += [f'- line {line}: "{words.strip()}"' for line, words in each.quotes]
        lines += [f"- The model: {each.reading}"]
        lines += [f"- Violated: {', '.join(each.violates)}"] if each.violates else []
        lines += [""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _linked(name: str, mark: str) -> str:
    return f"[{name}]({mark})" if mark.startswith("#") else name


def _where(reading: Reading) -> str:
    return f"line {reading.line}{f', {reading.variant}' if reading.variant else ''}"


def _answers(reading: Reading, ledger: Ledger) -> Mapping[str, str]:
    """What an interpretation says, by a heading for each, and what hangs on it: verdicts, and elements of the models."""
    tried = reading.is_tried
    elements = [
        name
        for name, mark in ledger.elements.items()
        if any(reading.name in interpretations_in(source) for source in (mark.source, *mark.added.values()))
    ]
    some = {
        "Question": reading.question,
        "The model": reading.read,
        "Or": reading.otherwise,
        "Why": reading.why,
        "No longer violated then": ", ".join(reading.rests),
        "Also violated then": ", ".join(reading.breaks),
        "Tried": "" if reading.rests or reading.breaks else "no verdict differs" if tried else f"no: {reading.untried}",
        "Source of": ", ".join(elements),
    }
    return {key: value for key, value in some.items() if value}


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def html(
    system: System, ledger: Ledger, *, links: Mapping[str, str] | None = None, trail: Sequence[tuple[str, str]] = ()
) -> str:
    """The same as one page of HTML, coloured by verdict.

    Args:
        system: the system.
        ledger: of its document.
        links: addresses of the pages of properties, by name.
        trail: text and address of links to the pages above.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    broken = violated(system, ledger)
    rows = [
        (entry, verdict(entry, broken), _differing(system, entry), list(_shown(entry, broken)))
        for entry in ledger.statements
    ]
    return environment.get_template("page.html").render(
        system=system,
        ledger=ledger,
        links=links or {},
        trail=trail,
        rows=rows,
        verdicts=list(Verdict),
        interpretations=[
            (each, _where(each), _answers(each, ledger), _rows_of(ledger, "interpretations", each.name))
            for each in system.interpretations
        ],
        contradictions=[(each, _rows_of(ledger, "contradictions", each.name)) for each in system.contradictions],
    )


def _rows_of(ledger: Ledger, key: str, name: str) -> list[tuple[int, int]]:
    """(line, number from 1) of the statements that name an interpretation or a contradiction."""
    return [(entry.line, n) for n, entry in enumerate(ledger.statements, 1) if name in getattr(entry, key)]


def _shown(entry: Entry, broken: Collection[str]) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """What became of a statement: (in which way, names or reason, each with a link or "violated" or "")."""
    for key, words in DISPOSITIONS.items():
        if value := getattr(entry, key):
            linked = key in ("interpretations", "contradictions")
            names = value if isinstance(value, list) else [value]
            yield words, [(n, f"#{n}" if linked else "violated" if n in broken else "") for n in names]


def as_json(system: System, ledger: Ledger, gaps: Sequence[str]) -> dict[str, Any]:
    """The ledger with the verdict of each statement, also by variant, its interpretations, and its gaps."""
    broken = violated(system, ledger)
    return {
        "system": system.name,
        "document": ledger.document,
        "variants": list(ledger.variants),
        "statements": [
            {
                **msgspec.to_builtins(entry),
                "verdict": verdict(entry, broken).name.lower(),
                "verdicts": {
                    variant: each.name.lower() for each, some in by_verdict(system, entry).items() for variant in some
                },
            }
            for entry in ledger.statements
        ],
        "interpretations": [
            {
                "name": each.name,
                "line": each.line,
                "variant": each.variant or system.base.variant,
                "question": each.question,
                "answer": each.read,
                "otherwise": each.otherwise,
                "why": each.why,
                "tried": each.is_tried,
                "rests": list(each.rests),
                "breaks": list(each.breaks),
            }
            for each in system.interpretations
        ],
        "elements": msgspec.to_builtins(ledger.elements),
        "gaps": list(gaps),
    }
