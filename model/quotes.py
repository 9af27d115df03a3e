"""What the documents say in the lines that models cite, so that messages can quote them.

The lines are in ``quotes.json`` beside this module, by document and line number. ``python -m schedproof.model.quotes FOLDER``
reads them anew from the documents in a folder.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from .lang import Action, Machine, Row, Rule

FILE = Path(__file__).parent / "quotes.json"

FEWEST = 4
"""Words of a line that says something by itself."""

LONGEST = 240
"""Characters of a line; longer ones are cut between two words."""


def quote(document: str, line: int | None) -> str:
    """What a document says in a line that a model cites; "" if that is not known."""
    return _quotes().get(document, {}).get(str(line), "")


@cache
def _quotes() -> Mapping[str, Mapping[str, str]]:
    found: dict[str, dict[str, str]] = json.loads(FILE.read_text("utf-8"))
    return found


def read_quotes(folder: Path) -> dict[str, dict[str, str]]:
    """The cited lines of all documents that are in ``folder``: document -> line -> text."""
    from .registry.builtin import SYSTEMS  # the systems' models use nothing of this

    cited: dict[str, set[int]] = {}
    for system in SYSTEMS.values():
        for model in system.variants.values():
            elements: list[Action | Row | Rule | Machine] = [*model.actions, *model.rows, *model.rules, *model.machines]
            lines = {each.line for each in elements if each.line is not None}
            if lines:
                cited.setdefault(model.document.name, set()).update(lines)
    found: dict[str, dict[str, str]] = {}
    for document, wanted in sorted(cited.items()):
        text = (folder / document).read_text("utf-8").split("\n")
        found[document] = {str(line): _quoted(text, line - 1) for line in sorted(wanted)}
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
    FILE.write_text(json.dumps(read_quotes(Path(sys.argv[1])), indent=1, ensure_ascii=False) + "\n", "utf-8")
