"""What changed since an earlier report, or an earlier ``verify --json``."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schedproof.model.registry.errors import UserError

DATA = "report.json"
"""The file of a report's folder that has its verdicts; a folder with it may be replaced."""

MADE_BY = "schedproof report"
"""The value of "made_by" in that file."""

EMBEDDED = re.compile(r'<script type="application/json" id="verdicts">(.*?)</script>', re.DOTALL)
"""The verdicts in a report of one file."""

LARGEST = 1 << 28
"""The bytes of the largest file that is read: 256 MiB."""

Key = tuple[str, str, str]
"""(system, variant, property)."""


@dataclass(frozen=True)
class Change:
    """A verdict that differs from that of an earlier report.

    Attributes:
        key: the system, the variant and the property.
        before, after: the verdicts; "" where the report does not have the property.
    """

    key: Key
    before: str
    after: str


@dataclass(frozen=True)
class Verdicts:
    """The verdicts of a report.

    Attributes:
        by_key: proved, holds, refuted or undetermined, of each property.
        missing: the properties without a verdict, because ``verify`` was interrupted.
    """

    by_key: Mapping[Key, str]
    missing: frozenset[Key] = frozenset()


def verdicts(data: Mapping[str, Any]) -> Verdicts:
    """The verdicts in what ``verify --json`` writes.

    Raises:
        KeyError, TypeError, ValueError: the data is of another kind.
    """
    by_key, missing = {}, set()
    for variant in data["systems"]:
        names = variant["system"], variant["variant"]
        for each in variant["properties"]:
            at_a_scope = each["verdict"] == "proved" and each["method"] == "exploration"
            by_key[*names, each["name"]] = "holds" if at_a_scope else each["verdict"]
        missing |= {(*names, name) for name in variant.get("missing", ())}
    for key, verdict in by_key.items():
        "".join((*key, verdict)).encode()  # a page can have no half of a character
    return Verdicts(by_key, frozenset(missing))


def changes(before: Verdicts, after: Verdicts, among: Collection[tuple[str, str]]) -> list[Change]:
    """The verdicts that differ, those that were not there before, and those that are gone.

    Args:
        before: of the earlier report.
        after: of this one.
        among: the (system, variant) pairs of this report; of others, nothing is known.
    """
    keys = [*after.by_key, *(key for key in before.by_key if key not in after.by_key and key[:2] in among)]
    pairs = [(key, before.by_key.get(key, ""), after.by_key.get(key, "")) for key in keys if key not in before.missing]
    return [Change(key, then, now) for key, then, now in pairs if then != now]


def is_report(folder: Path) -> bool:
    """Whether a folder has an earlier report and nothing else, so that a new one may replace it."""
    data = _loaded(folder / DATA)
    if not isinstance(data, dict) or data.get("made_by") != MADE_BY or not isinstance(data.get("files"), list):
        return False
    present = {
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()
    }
    empty = [path for path in folder.rglob("*") if path.is_dir() and not path.is_symlink() and not any(path.iterdir())]
    return not empty and present <= {*map(str, data["files"]), DATA}


def is_report_file(file: Path) -> bool:
    """Whether a file is an earlier report in one file, or empty, so that a new one may replace it."""
    try:
        return file.stat().st_size == 0 or EMBEDDED.search(file.read_text("utf-8")) is not None
    except (OSError, ValueError):
        return False


def _loaded(path: Path) -> object:
    """The JSON in a file, or in a report of one file; None if there is none."""
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return None
        text = path.read_text("utf-8-sig")
        embedded = EMBEDDED.search(text)
        return json.loads(embedded.group(1) if embedded else text)
    except (OSError, ValueError, RecursionError):
        return None


def read(name: str) -> Verdicts:
    """The verdicts of an earlier report: its folder, its one file, or the file of ``verify --json``.

    Raises:
        UserError: there is no such file, or it is none of these.
    """
    path = Path(name)
    try:
        file = path / DATA if path.is_dir() else path
        file.stat()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise UserError(
            f"--earlier: cannot read {name!r}: {why}; name the folder or the file of an earlier report"
        ) from None
    data = _loaded(file)
    try:
        if isinstance(data, dict):
            return verdicts(data)
    except (KeyError, TypeError, ValueError, AttributeError):
        pass
    raise UserError(
        f"--earlier: {name!r} is not a report; name the folder or the file of an earlier report, or of verify --json"
    )
