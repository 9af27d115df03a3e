"""Quotes the sentences of documents that models cite by a line, for messages.

Each system keeps them beside its models (``quotes.json``: document -> line -> text). ``python -m
schedproof.model.quotes FOLDER`` reads them again from the documents in a folder. ``facts.json`` is hand-written: it has
what models cite and no document says.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from .cited import fact, quote
from .lang import Action, Document, Machine, Model, Row, Rule
from .ledger.statements import Statement, statements
from .locks import read
from .registry.discovery import systems
from .registry.system import System

FEWEST = 4
"""Words of a sentence that is a statement by itself."""

LINES = re.compile(r"(?<![\w.:])lines? \d+(?:(?:, | and |, and | to )\d+)*(?!\d|\.\d)")
"""Citations of lines of a document."""

FACT = re.compile(r"\bfacts? (\d+(?:\.\d+)*(?:(?:, | and )\d+(?:\.\d+)*)*)((?:, \w+\.\w+:\d+(?:-\d+)?)?)")
"""Citations of facts in sentences and counterexamples: numbers, or a number and a place in a source."""


def footnotes(document: Document, text: Iterable[str]) -> list[str]:
    """The lines of the document and the facts that ``text`` cites, each once. Unknown ones are left out.

    Args:
        text: sentences with "line 12", "lines 3 and 5", "fact 4.1", "facts 1.3 and 1.4" or "fact 4.1, task.go:104" in
            them.

    Returns:
        Lines to print, with a heading for the document and one for facts.
    """
    lines: set[int] = set()
    facts: set[str] = set()
    for each in text:
        lines |= cited_lines(each)
        facts |= {key for lines_of_output in FACT.finditer(each) for key in _keys(*lines_of_output.groups())}
    quoted = [f'    line {line}: "{says}"' for line in sorted(lines) if (says := quote(document, line))]
    known = [f"    fact {key}: {says}" for key in sorted(facts, key=_order) if (says := fact(document, key))]
    lines_of_output = [f"Cited from {document.name}:", *quoted] if quoted else []
    return [*lines_of_output, "Cited facts, which the document leaves out:", *known] if known else lines_of_output


def _keys(numbers: str, place: str) -> list[str]:
    """The numbers of facts; with a place also that key, as the number alone has a sentence of its own."""
    every = re.split(", | and ", numbers)
    return [*every, *([every[-1] + place] if place else [])]


def cited_lines(text: str) -> set[int]:
    """The numbers of document lines that a text cites."""
    return {int(number) for match in LINES.finditer(text) for number in re.findall(r"\d+", match[0])}


def _order(key: str) -> tuple[list[int], str]:
    number, _, place = key.partition(", ")
    return [int(part) for part in number.split(".")], place


def read_quotes(system: System, folder: Path) -> dict[Path, dict[str, dict[str, str]]]:
    """The cited lines of a system's documents that are in ``folder``: file of quotes -> document -> line -> text."""
    cited: dict[Document, set[int]] = {}
    for model in system.variants.values():
        elements: list[Action | Row | Rule | Machine] = [*model.actions, *model.rows, *model.rules, *model.machines]
        lines = {each.line for each in elements if each.line is not None}
        lines |= {line for text in _sentences(system, model) for line in cited_lines(text)}
        if lines and model.document.quotes is not None:
            cited.setdefault(model.document, set()).update(lines)
    by_file: dict[Path, dict[str, dict[str, str]]] = {}
    for document, numbers in sorted(cited.items(), key=lambda each: each[0].name):
        assert document.quotes is not None
        stated = statements((folder / document.name).read_text("utf-8"))
        quoted = {str(line): whole_sentences(stated, line) for line in sorted(numbers)}
        by_file.setdefault(document.quotes, {})[document.name] = quoted
    return by_file


def _sentences(system: System, model: Model) -> Iterator[str]:
    """The sentences that findings print, and those that may cite lines in words."""
    yield from (change.why for change in model.changes)
    yield from (f"line {line}" for change in model.changes for line in change.lines)
    yield from (
        f"line {line}"
        for file in system.locks.get(model.variant, ())
        for each in read(file.file).repairs
        for line in each.lines
    )
    yield from (text for prop in model.properties for text in (prop.says, "" if prop.sentence else f"line {prop.line}"))
    for reading in system.interpretations:
        yield from (f"line {reading.line}", reading.read, reading.otherwise)
    for contradiction in system.contradictions:
        yield from (contradiction.problem, contradiction.reading)
    for machine in model.machines:
        yield from (state.about for state in machine.states)
        yield from (attribute.about for attribute in machine.attributes)


def whole_sentences(stated: Sequence[Statement], line: int) -> str:
    """The whole sentences that have words on a line, with the next ones if they are too short or go on there.

    For example, a heading or the name of an event is too short: it states next to nothing itself. A line of code has no full
    stop, and the next one may continue it.

    Args:
        stated: the statements of the document.
        line: of the document.
    """
    unread = [each for each in stated if each.last >= line]
    quoted = " ".join(each.text for each in unread if each.line <= line)
    after = (each.text for each in unread if each.line > line)
    if len(quoted.split()) < FEWEST:
        for more in after:
            quoted = f"{quoted} {more}".strip()
            if len(quoted.split()) >= FEWEST:
                break
        return quoted
    for more in after:
        if not (re.match(r"[a-z(]", more) and re.search(r"[a-z`),]$", quoted)):
            break
        quoted = f"{quoted} {more}"
    return quoted


if __name__ == "__main__":
    for each in systems().values():
        for file, quotes in read_quotes(each, Path(sys.argv[1])).items():
            file.write_text(json.dumps(quotes, indent=1, ensure_ascii=False) + "\n", "utf-8")
