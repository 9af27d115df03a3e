"""A ledger for people: the document beside what became of each statement, as Markdown, HTML and JSON."""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import jinja2
import msgspec

from schedproof.model.registry.system import System

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


def markdown(system: System, ledger: Ledger) -> str:
    """The document beside what became of it, as a table in Markdown."""
    lines = [
        f"# {ledger.document}: what became of each statement",
        "",
        "| line | statement | what became of it |",
        "|---|---|---|",
    ]
    for entry in ledger.statements:
        words = f"*figure:* {entry.arrow}" if entry.arrow else entry.text
        what = "<br>".join(f"**{how}** {', '.join(name for name, _ in which)}" for how, which in _shown(entry, ()))
        lines.append(f"| {entry.line} | {_cell(words)} | {_cell(what)} |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def html(system: System, ledger: Ledger) -> str:
    """The same as one page of HTML, coloured by verdict."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    broken = violated(system, ledger)
    rows = [(entry, verdict(entry, broken), list(_shown(entry, broken))) for entry in ledger.statements]
    named = {name for entry in ledger.statements for name in (*entry.interpretations, *entry.contradictions)}
    return environment.get_template("page.html").render(
        system=system,
        ledger=ledger,
        rows=rows,
        verdicts=list(Verdict),
        interpretations=[each for each in system.interpretations if each.name in named],
        contradictions=[each for each in system.contradictions if each.name in named],
    )


def _shown(entry: Entry, broken: Collection[str]) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """What became of a statement: (in which way, names or reason, each with a link or "violated" or "")."""
    for key, words in DISPOSITIONS.items():
        if value := getattr(entry, key):
            linked = key in ("interpretations", "contradictions")
            names = value if isinstance(value, list) else [value]
            yield words, [(n, f"#{n}" if linked else "violated" if n in broken else "") for n in names]


def as_json(system: System, ledger: Ledger, gaps: Sequence[str]) -> dict[str, Any]:
    """The ledger with the verdict of each statement, and its gaps."""
    broken = violated(system, ledger)
    return {
        "system": system.name,
        "document": ledger.document,
        "variants": list(ledger.variants),
        "statements": [
            {**msgspec.to_builtins(entry), "verdict": verdict(entry, broken).name.lower()}
            for entry in ledger.statements
        ],
        "elements": msgspec.to_builtins(ledger.elements),
        "gaps": list(gaps),
    }
