"""Writes into pages what their blocks print now: ``python -m tests.docs.refresh docs/language/*.md``. Read the difference before you commit it.

A block that shows a part only (``...``) is not touched, but named if it is wrong. So is a command that ends otherwise than shown.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.docs.commands import in_a_shell
from tests.docs.pages import Command, outcomes
from tests.support.places import ROOT

PATHS = ("tests", "diagrams", "model", "benchmarks", "examples")
"""What pages name of the project: it is there where their blocks run."""


def refreshed(page: str, folder: Path) -> tuple[str, list[str]]:
    """A page with what its blocks print now, and what a person has to look at."""
    changes, problems = [], []
    for done in outcomes(page, folder, in_a_shell):
        what = done.step.line if isinstance(done.step, Command) else done.step.text
        if isinstance(done.step, Command) and (done.code, done.complaints) != (done.step.code, ""):
            problems.append(f"{what}\n  ends with {done.code} {done.complaints}")
        if done.wrong is None or done.step.shown is None:
            continue
        if "..." in done.step.shown:
            problems.append(f"{what}\n  does not print {done.wrong!r}, but:\n{done.printed}")
        else:
            changes.append((done.step.at, done.printed.rstrip("\n") + "\n"))
    for (start, end), text in reversed(changes):
        page = page[:start] + text + page[end:]
    return page, problems


def main(paths: Sequence[str]) -> int:
    """Refreshes pages; 1 if there is something left to look at."""
    left = 0
    for path in map(Path, paths):
        with tempfile.TemporaryDirectory() as scratch:
            os.environ["SCHEDPROOF_CACHE"] = str(Path(scratch) / "cache")  # what is cached is printed otherwise
            folder = Path(scratch) / "desk"
            folder.mkdir()
            for name in PATHS:
                (folder / name).symlink_to(ROOT / name)
            text, problems = refreshed(path.read_text("utf-8"), folder)
        path.write_text(text, "utf-8")
        left += len(problems)
        for problem in problems:
            print(f"{path}: {problem}")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
