"""The document and the facts on YuniKorn, where they are at hand: their tests have the mark ``needs_shared``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from schedproof.model.systems.yunikorn import AS_WRITTEN
from tests.support.places import SHARED

DOCUMENT = SHARED / "documents" / AS_WRITTEN.document.name
FACTS = SHARED / "facts" / "yunikorn.md"


def _read(path: Path) -> str:
    return path.read_text("utf-8")


def lines() -> Sequence[str]:
    """The document, its first line as number 1."""
    return ["", *_read(DOCUMENT).splitlines()]


def squeezed(text: str) -> str:
    """``text`` with single spaces."""
    return " ".join(text.split())


def sections() -> Mapping[str, str]:
    """The facts' sections by number: "1" without "1.1", and so on."""
    return _sections(_read(FACTS))


@cache
def _sections(text: str) -> Mapping[str, str]:
    parts = re.split(r"^#{2,3} (\d+(?:\.\d+)?)\b\.?", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def rows(section: str) -> list[list[str]]:
    """The rows of the table of a section, without its head."""
    table_lines = [line.strip().strip("|") for line in sections()[section].splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.split("|")] for line in table_lines[2:]]


def listed(text: str) -> list[list[str]]:
    """The same for a table that a test has: rows on lines, cells between "|"."""
    return [[cell.strip() for cell in line.split("|")] for line in text.splitlines() if line.strip()]
