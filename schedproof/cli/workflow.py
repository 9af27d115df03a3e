"""The workflow for GitHub that ``schedproof init --ci github`` writes: for the systems of a manifest, in the root of its repository."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from schedproof import __version__
from schedproof.model.registry.discovery import systems_of_folder
from schedproof.model.registry.errors import UserError
from schedproof.model.registry.manifest import MANIFEST, Entry

from .ci.repository import ROOTS, Repository

WORKFLOW = Path(".github", "workflows", "schedproof.yml")
REPORTS = Path("reports")
SARIF = REPORTS / "schedproof.sarif"
LOG = "log.jsonl"
"""The name of the log beside a model, as ``init`` writes it."""


@dataclass(frozen=True)
class Checked:
    """A system that the workflow checks, and the log that it validates; None if no log is known."""

    system: str
    log: str | None


def systems_here(folder: Path) -> Sequence[Checked]:
    """The systems of the manifest in a folder.

    Raises:
        UserError: the folder has none, or it is wrong.
    """
    if not (folder / MANIFEST).is_file():
        raise UserError(
            f"--ci: {MANIFEST!r} is not in {str(folder)!r}; name a system to create, or the manifest's directory with -o"
        )
    return [Checked(name, _log(folder, entry)) for name, entry in systems_of_folder(folder).items()]


def _log(folder: Path, entry: Entry) -> str | None:
    references = [*entry.models, *(table.model for table in entry.variants.values() if table.model)]
    for reference in references:
        log = Path(*reference.partition(":")[0].split(".")[:-1], LOG)
        if (folder / log).is_file():
            return log.as_posix()
    return None


def place_and_words(folder: Path, checked: Iterable[Checked]) -> tuple[str, Mapping[str, str]]:
    """Where the workflow of a folder with a manifest goes, and the words of its template.

    Args:
        folder: the folder, which may not exist yet.
        checked: the systems.

    Returns:
        The path from ``folder``, and the words by key.
    """
    resolved = folder.resolve()
    root = Repository.around(next(each for each in (resolved, *resolved.parents) if each.exists())).root
    root = root if any((root / name).exists() for name in ROOTS) else resolved
    inside = resolved.relative_to(root)
    above = "/".join([".."] * len(inside.parts))
    path = Path(above, WORKFLOW).as_posix()
    quoted = (inside / SARIF).as_posix().replace("'", "''")
    words = {
        "version": __version__,
        "manifest": (inside / MANIFEST).as_posix(),
        "folder": json.dumps(inside.as_posix(), ensure_ascii=False),
        "reports": json.dumps(f"{(inside / REPORTS).as_posix()}/", ensure_ascii=False),
        "sarif": json.dumps((inside / SARIF).as_posix(), ensure_ascii=False),
        # Text of an expression: a quote is written twice.
        "shown": json.dumps(f"${{{{ !cancelled() && hashFiles('{quoted}') != '' }}}}", ensure_ascii=False),
        "logs": "\n".join(_step(each) for each in checked),
    }
    return path, words


def _step(checked: Checked) -> str:
    """The step that validates a log; commented out as long as no log is known."""
    lines = [
        f"- name: Check a log of {checked.system}",
        "  if: ${{ !cancelled() }}",
        f"  run: schedproof validate {checked.system} {checked.log or 'LOG'} --junit reports/log-{checked.system}.xml",
    ]
    if checked.log is None:
        remark = "# Write the log of your tests in place of LOG, with --mapping FILE if it is of your own format."
        return "\n".join(f"      {line}" for line in (remark, *(f"# {line}" for line in lines)))
    lines.insert(
        0, "# Better than this log: the one that your tests write, with --mapping FILE if it is of your own format."
    )
    return "\n".join(f"      {line}" for line in lines)
