"""A ledger for people: the document beside what became of each statement, as Markdown, HTML and JSON."""

from __future__ import annotations

import enum
from collections.abc import Sequence
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


def verdict(system: System, ledger: Ledger, entry: Entry) -> Verdict:
    """The expected verdict of a statement, of the first variant of the ledger that has a property of it."""
    refuted = {name: lock.refuted for some in system.locks.values() for lock in some for name in [lock.name]}
    for name in reversed(ledger.variants):
        model = system.variants[name]
        refuted |= {prop.name: prop.name in model.refuted for prop in model.properties}
    if any(refuted.get(name) for name in entry.required):
        return Verdict.VIOLATED
    if entry.contradictions or entry.interpretations:
        return Verdict.OPEN
    if entry.required:
        return Verdict.HELD
    return Verdict.MODELLED if entry.modelled else Verdict.WITHOUT


def became(entry: Entry) -> list[tuple[str, str]]:
    """What became of a statement: (in which way, names or reason)."""
    values = [(words, getattr(entry, key)) for key, words in DISPOSITIONS.items()]
    return [(words, ", ".join(value) if isinstance(value, list) else value) for words, value in values if value]


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
        what = "<br>".join(f"**{how}** {which}" for how, which in became(entry))
        lines.append(f"| {entry.line} | {_cell(words)} | {_cell(what)} |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def html(system: System, ledger: Ledger) -> str:
    """The same as one page of HTML, coloured by verdict."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    rows = [(entry, verdict(system, ledger, entry), became(entry)) for entry in ledger.statements]
    return environment.get_template("page.html").render(system=system, ledger=ledger, rows=rows, verdicts=list(Verdict))


def as_json(system: System, ledger: Ledger, gaps: Sequence[str]) -> dict[str, Any]:
    """The ledger with the verdict of each statement, and its gaps."""
    return {
        "system": system.name,
        "document": ledger.document,
        "variants": list(ledger.variants),
        "statements": [
            {**msgspec.to_builtins(entry), "verdict": verdict(system, ledger, entry).name.lower()}
            for entry in ledger.statements
        ],
        "elements": msgspec.to_builtins(ledger.elements),
        "gaps": list(gaps),
    }
