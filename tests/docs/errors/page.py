"""The page of the docs that has every error message: ``python -m tests.docs.errors.page`` writes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.docs.errors.case import Case, stderr_of
from tests.docs.errors.kinds import KINDS
from tests.docs.errors.sites import Site, raised
from tests.support.places import ROOT
from tests.support.user_repository import repository

PAGE = ROOT / "docs" / "errors.md"

HEAD = """\
# Error messages

Every message says what is wrong, where, and what to write instead. Each entry has the input that is wrong, mostly one line of it,
and below it the message. `act(...)` stands for an action with this part, `model(...)` for a model, and `node_machine(...)` for a machine. Names of files and folders are those of the examples. A command that ends with such a message
has the exit code 2, and writes the message as one line on standard error, after `schedproof: `. In messages about models
`jobs/model.py:12` stands for the file and the line that is shown.

Below a message about a model, a mapping, a ledger or a lock file you see the line, with carets below the mistake. Python, pytest and notebooks show it too:

```text
{excerpt}
```

<!-- python -m tests.docs.errors.page writes this page. -->
"""


@dataclass(frozen=True)
class Ran:
    """What the cases gave: by kind, inputs with messages; and where errors were raised."""

    entries: Mapping[str, Sequence[tuple[str, str]]]
    sites: frozenset[Site]


@cache
def ran() -> Ran:
    """Runs all cases, once a process."""
    entries = {}
    with raised() as sites:
        for kind, cases in KINDS.items():
            shown_by_message = {
                case.message(): case.shown for case in reversed(list(cases()))
            }  # of equal messages, the first
            entries[kind] = [(shown, message) for message, shown in reversed(shown_by_message.items())]
    return Ran(entries, frozenset(sites))


def page() -> str:
    """The text of the page."""
    parts = [HEAD.format(excerpt=_example())]
    for kind, entries in ran().entries.items():
        parts.append(f"## {kind}\n")
        parts += [f"```text\n{_printable(shown)}\n    {_printable(message)}\n```\n" for shown, message in entries]
    return "\n".join(parts)


def _example() -> str:
    """What a command writes on a model with a wrong name."""

    def go() -> str:
        repository(Path.cwd(), model=('"Idle", "Waiting"),', '"Idle", "Wating"),'))
        return stderr_of("verify", "--jobs", "1")

    return Case("", go).message()


def _printable(text: str) -> str:
    """A line in which characters that no page shows are written out."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
