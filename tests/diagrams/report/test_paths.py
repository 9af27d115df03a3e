"""The paths of a report's pages: any names have pages of their own, inside the report."""

from __future__ import annotations

import hashlib
from itertools import combinations

import pytest

from schedproof.diagrams.errors import DiagramError
from schedproof.diagrams.report.paths import file_name, property_page, require_distinct, run_page

NAMES = [
    "blinks",
    "Blinks",
    "BLINKS",
    "a/b",
    "a-b",
    "a b",
    "..",
    ".",
    "...",
    "",
    "~",
    "ä",
    "ö",
    "x" * 300,
    "x" * 301,
    "con/../x",
]


def test_any_names_have_pages_of_their_own() -> None:
    pages = [property_page("lamps", name) for name in NAMES]
    require_distinct(pages)
    for one, other in combinations(pages, 2):
        assert one.lower() != other.lower()
    for page in pages:
        folder, kind, name = page.split("/")
        assert (folder, kind) == ("lamps", "properties")
        assert len(name) <= 100 and name.endswith(".html") and not name.startswith(".")


def test_no_name_leaves_the_folder_of_the_report() -> None:
    parts = run_page("..", "../..", "/etc/passwd").split("/")
    assert len(parts) == 4 and parts[1] == "runs"
    assert not {"", ".", ".."} & set(parts)


def test_two_pages_with_one_path_are_refused() -> None:
    """A plain name may look like the file name of another one."""
    other = f"blinks-{hashlib.sha256(b'Blinks').hexdigest()[:8]}"
    assert file_name("Blinks") == file_name(other)
    with pytest.raises(DiagramError, match=f"two pages .* 'lamps/properties/{other}.html'.*; rename one"):
        require_distinct([property_page("lamps", name) for name in ("blinks", "Blinks", other)])
    with pytest.raises(DiagramError, match=r"'x\.html'"):
        require_distinct(["x.html", "X.html"])
