"""What the documents say in the lines that models cite, so that messages can quote them.

Each system keeps them beside its models (``quotes.json``: document -> line -> text). ``python -m schedproof.model.quotes FOLDER``
reads them anew from the documents in a folder.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from .lang import Action, Document, Machine, Row, Rule
from .registry.discovery import systems
from .registry.system import System

FEWEST = 4
"""Words of a line that says something by itself."""

LONGEST = 240
"""Characters of a line; longer ones are cut between two words."""


def quote(document: Document, line: int | None) -> str:
    """What a document says in a line that a model cites; "" if that is not known."""
    if document.quotes is None:
        return ""
    return _quotes(document.quotes).get(document.name, {}).get(str(line), "")


@cache
def _quotes(file: Path) -> Mapping[str, Mapping[str, str]]:
    found: dict[str, dict[str, str]] = json.loads(file.read_text("utf-8"))
    return found


def read_quotes(system: System, folder: Path) -> dict[Path, dict[str, dict[str, str]]]:
    """The cited lines of a system's documents that are in ``folder``: file of quotes -> document -> line -> text."""
    cited: dict[Document, set[int]] = {}
    for model in system.variants.values():
        elements: list[Action | Row | Rule | Machine] = [*model.actions, *model.rows, *model.rules, *model.machines]
        lines = {each.line for each in elements if each.line is not None}
        if lines and model.document.quotes is not None:
            cited.setdefault(model.document, set()).update(lines)
    found: dict[Path, dict[str, dict[str, str]]] = {}
    for document, wanted in sorted(cited.items(), key=lambda each: each[0].name):
        assert document.quotes is not None
        text = (folder / document.name).read_text("utf-8").split("\n")
        quoted = {str(line): _quoted(text, line - 1) for line in sorted(wanted)}
        found.setdefault(document.quotes, {})[document.name] = quoted
    return found


def _quoted(text: Sequence[str], at: int) -> str:
    """A line; with what comes after it, where it says next to nothing itself (a heading, the name of an event)."""
    line = text[at].strip()
    for more in text[at + 1 : at + 4]:
        if len(line.split()) >= FEWEST:
            break
        line = f"{line} {more.strip()}".strip()
    return _short(line)


def _short(line: str) -> str:
    words = " ".join(line.split())
    return words if len(words) <= LONGEST else words[:LONGEST].rsplit(" ", 1)[0] + " ..."


if __name__ == "__main__":
    for each in systems().values():
        for file, quotes in read_quotes(each, Path(sys.argv[1])).items():
            file.write_text(json.dumps(quotes, indent=1, ensure_ascii=False) + "\n", "utf-8")
