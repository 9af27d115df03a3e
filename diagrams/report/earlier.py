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


def verdicts(data: Mapping[str, Any]) -> dict[Key, str]:
    """The verdict of each property in what ``verify --json`` writes: proved, holds, refuted or undetermined.

    Raises:
        KeyError, TypeError: the data is of another kind.
    """
    by_key = {}
    for variant in data["systems"]:
        for each in variant["properties"]:
            at_a_scope = each["verdict"] == "proved" and each["method"] == "exploration"
            by_key[variant["system"], variant["variant"], each["name"]] = "holds" if at_a_scope else each["verdict"]
    return by_key


def changes(before: Mapping[Key, str], after: Mapping[Key, str], among: Collection[tuple[str, str]]) -> list[Change]:
    """The verdicts that differ, those that were not there before, and those that are gone.

    Args:
        before: of the earlier report.
        after: of this one.
        among: the (system, variant) pairs of this report; of others, nothing is known.
    """
    keys = [*after, *(key for key in before if key not in after and key[:2] in among)]
    pairs = [(key, before.get(key, ""), after.get(key, "")) for key in keys]
    return [Change(key, then, now) for key, then, now in pairs if then != now]


def is_report(folder: Path) -> bool:
    """Whether a folder is an earlier report, so that a new one may replace it."""
    try:
        data = json.loads((folder / DATA).read_text("utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(data, dict) and data.get("made_by") == MADE_BY


def read(name: str) -> dict[Key, str]:
    """The verdicts of an earlier report: its folder, its one file, or the file of ``verify --json``.

    Raises:
        UserError: it cannot be read, or is none of these.
    """
    path = Path(name)
    try:
        text = (path / DATA if path.is_dir() else path).read_text("utf-8")
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text"
        raise UserError(
            f"--earlier: cannot read {name!r}: {why}; name the folder or the file of an earlier report"
        ) from None
    embedded = EMBEDDED.search(text)
    try:
        return verdicts(json.loads(embedded.group(1) if embedded else text))
    except (ValueError, KeyError, TypeError):
        raise UserError(
            f"--earlier: {name!r} is not a report; name the folder or the file of an earlier report, or of verify --json"
        ) from None
