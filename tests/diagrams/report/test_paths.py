"""The paths of a report's pages: any names have pages of their own, inside the report."""

from __future__ import annotations

import hashlib
from itertools import combinations
from pathlib import PureWindowsPath

import pytest

from schedproof.diagrams.errors import DiagramError
from schedproof.diagrams.report.paths import (
    defect_run_page,
    file_name,
    pictures_page,
    property_page,
    require_distinct,
    run_page,
    system_page,
)
from tests.support.rows import each_row

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
    "con",
    "CON",
    "nul",
    "com1",
    "COM1",
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


DEVICES = ["con", "Con", "prn", "aux", "NUL", "nul.txt", "com1", "COM9", "com¹", "lpt1", "LPT9", "lpt²", "conin$", "CONOUT$"]  # fmt: skip


@each_row("name", DEVICES)
def test_no_page_has_the_name_of_a_device_of_windows(name: str) -> None:
    """Python's own list says which names Windows reserves; it is for Windows' paths, on any system."""
    assert PureWindowsPath(f"{name.partition('.')[0]}.html").is_reserved()
    for page in (
        system_page(name),
        property_page("lamps", name),
        run_page("lamps", name, "blinks"),
        run_page("lamps", "plain", name),
        defect_run_page("lamps", name, name),
        pictures_page("lamps", name),
    ):
        assert not any(PureWindowsPath(part).is_reserved() for part in page.split("/")), page
        assert not any(part.endswith((".", " ")) for part in page.split("/")), page


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
