"""Where the pages of a report are: names of files for any names of systems and properties, and links between them."""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote

from schedproof.diagrams.errors import DiagramError

INDEX = "index.html"

PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,80}")
"""A name that is its own file name on every file system, unless it is reserved."""

RESERVED = re.compile(r"con|prn|aux|nul|com[0-9]|lpt[0-9]")
"""Names of devices of Windows: no file may have one, whatever its suffix."""


def file_name(name: str) -> str:
    """A name as part of a path: itself if it is plain and not reserved, else its plain signs with eight digits of its hash.

    Names that differ in case only have different hashes, so they are different files on any file system.
    """
    if PLAIN.fullmatch(name) and not RESERVED.fullmatch(name):
        return name
    plain = re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-")[:60]
    return f"{plain}-{hashlib.sha256(name.encode()).hexdigest()[:8]}".lstrip("-")


def system_page(system: str) -> str:
    """The page of a system."""
    return f"{file_name(system)}/{INDEX}"


def findings_page(system: str) -> str:
    """The page of a system's findings."""
    return f"{file_name(system)}/findings.html"


def document_page(system: str) -> str:
    """The page of a system's document."""
    return f"{file_name(system)}/document.html"


def pictures_page(system: str, variant: str) -> str:
    """The page of a variant's pictures."""
    return f"{file_name(system)}/pictures/{file_name(variant)}.html"


def property_page(system: str, name: str) -> str:
    """The page of a property."""
    return f"{file_name(system)}/properties/{file_name(name)}.html"


def run_page(system: str, variant: str, name: str) -> str:
    """The page that plays the counterexample of a property of a variant."""
    return f"{file_name(system)}/runs/{file_name(variant)}/{file_name(name)}.html"


def two_runs_page(system: str) -> str:
    """The page that plays two runs of a system side by side."""
    return f"{file_name(system)}/two-runs.html"


def run_of_two(variant: str, name: str) -> str:
    """The fragment of that page that plays the counterexample of a property of a variant, beside another one."""
    return f"run={quote(run_key(variant, name), safe='')}"


def run_key(variant: str, name: str) -> str:
    """How that page names the counterexample of a property of a variant."""
    return f"{variant}:{name}"


def defect_run_page(system: str, defect: str, name: str) -> str:
    """The page that plays the run of a defect."""
    return f"{file_name(system)}/defects/{file_name(defect)}/{file_name(name)}.html"


def require_distinct(written: Iterable[str]) -> None:
    """Checks that no two pages of a report have one path: one of them would be lost.

    Args:
        written: the path of each page.

    Raises:
        DiagramError: two pages have the same path, or paths that differ in case only, which are one file on some systems.
    """
    twice = sorted(path for path, count in Counter(path.lower() for path in written).items() if count > 1)
    if twice:
        raise DiagramError(
            f"two pages of the report have the path {twice[0]!r}, because of two names that are too much alike; "
            "rename one of the systems, variants or properties"
        )


@dataclass(frozen=True)
class PageLocation:
    """The page that links: links are relative, so that the report may be moved."""

    path: str

    def to(self, path: str, fragment: str = "") -> str:
        """A link to another page, or to a place on it."""
        link = posixpath.relpath(path, posixpath.dirname(self.path) or ".")
        return f"{link}#{quote(fragment, safe='')}" if fragment else link
