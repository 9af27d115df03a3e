"""The documentation's claims: the code blocks of every page run, and links inside lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.docs.commands import in_a_copy
from tests.docs.pages import Command, Program, Text, follow, missing, steps
from tests.docs.refresh import PATHS, refreshed
from tests.support.needs import needs_ray
from tests.support.places import ROOT
from tests.support.rows import each_row

DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md",
    *sorted(path for path in DOCS.rglob("*.md") if path.parts[-2] != "decisions" and "_build" not in path.parts),
]


NEEDS = {"docs/howto/cluster.md": needs_ray}
"""What the blocks of a page need."""


def text(path: Path) -> str:
    """A page."""
    return path.read_text("utf-8")


def runnable(*, long: bool) -> list[Any]:
    """The pages that have blocks to run in the default tier, or in the long one."""
    pages = []
    for path in PAGES:
        blocks = [step for step in steps(text(path)) if isinstance(step, Command | Program)]
        if any(step.long is long for step in blocks):
            page = str(path.relative_to(ROOT))
            marks = [NEEDS[page]] if page in NEEDS else []
            # It takes as long as ten others; tests/model/lang/test_timers.py checks the same machines.
            marks += [pytest.mark.long(one_in=1)] * (page == "docs/language/time.md" and not long)
            pages.append(pytest.param(page, marks=marks))
    return pages


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A folder where the paths that pages name lead to the project's files."""
    for name in PATHS:
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


@pytest.mark.parametrize("page", runnable(long=False))
def test_blocks_print_what_is_shown(page: str, desk: Path) -> None:
    follow(text(ROOT / page), desk, in_a_copy, long=False)


@pytest.mark.long(one_in=1)
@pytest.mark.parametrize("page", runnable(long=True))
def test_long_blocks_print_what_is_shown(page: str, desk: Path) -> None:
    follow(text(ROOT / page), desk, in_a_copy, long=True)


def test_no_block_is_overlooked() -> None:
    """A block that would be run is one that :func:`steps` finds."""
    for path in PAGES:
        body = text(path)
        fences = re.findall(r"^```(?:console|python)$", body, re.MULTILINE)
        blocks = [step for step in steps(body) if isinstance(step, Command | Program)]
        written = len(
            re.findall(r"^<!-- (?:file|at the end of|instead of) .* -->\n```(?:console|python)$", body, re.MULTILINE)
        )
        assert len(blocks) + written == len(fences), path


@each_row(
    ("shown", "printed", "expected"),
    [
        (["a", "...", "d"], ["a", "b", "c", "d"], None),
        (["a 1.25 s"], ["a 9.99 s"], None),
        (["a", "...", "d"], ["a", "d", "e"], "d"),
        (["a"], ["a", "b"], "the end"),
        (["b", "..."], ["a", "b"], "b"),
        (["a", "...", "c", "...", "b"], ["a", "b", "c"], "b"),
        (["47 states"], ["48 states"], "47 states"),
    ],
)
def test_a_wrong_line_would_be_noticed(shown: list[str], printed: list[str], expected: str | None) -> None:
    assert missing(shown, printed) == expected


@pytest.mark.parametrize(
    ("page", "problem"),
    [
        ("```python\nprint(1)\n```\n\n```text\n2\n```\n", "1"),
        ("```python\nraise ValueError('wrong')\n```\n\n```text\nright\n```\n", "wrong"),
        ("```console\n$ echo 1\n2\n```\n", "echo 1"),
        ("```console\n$ false\n```\n", "false"),
    ],
)
def test_a_wrong_block_would_be_noticed(page: str, problem: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=re.escape(problem)):
        follow(page, tmp_path, in_a_copy)


def test_files_and_output_of_a_page(tmp_path: Path) -> None:
    page = "<!-- file a.txt -->\n```text\nhello\n```\n\n<!-- exit 3 -->\n```console\n$ cat a.txt; exit 3\nhello\n```\n"
    assert [type(step) for step in steps(page)] == [Text, Command]
    follow(page, tmp_path, in_a_copy)


def test_a_page_is_refreshed(tmp_path: Path) -> None:
    page = "```python\nprint(1)\n```\n\n```text\n2\n```\n\n```console\n$ echo a\nb\n```\n\n```console\n$ echo c; exit 1\n...\nd\n```\n"
    text, problems = refreshed(page, tmp_path)
    assert text == page.replace("2", "1").replace("\nb\n", "\na\n")
    assert [problem.splitlines()[1].strip() for problem in problems] == ["ends with 1", "does not print 'd', but:"]


def test_every_link_inside_leads_somewhere() -> None:
    """Sphinx checks the anchors; this needs no Sphinx, and also looks at the pages that are included."""
    for path in [*DOCS.rglob("*.md")]:
        if "_build" in path.parts:
            continue
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", re.sub(r"```.*?```", "", text(path), flags=re.DOTALL)):
            if not target.startswith(("http://", "https://")):
                assert (path.parent / target).exists(), (path, target)


def tabled_errors() -> list[tuple[str, str]]:
    """The parts of messages that the language reference lists in its tables of errors, each with its page."""
    parts = []
    for path in sorted((DOCS / "language").glob("*.md")):
        for rows in re.findall(r"^\| error \|.*\n\|[-| ]+\n((?:\|.*\n)+)", text(path), re.MULTILINE):
            for message in re.findall(r"`([^`]+)`", " ".join(row.split("|")[1] for row in rows.splitlines())):
                pieces = re.split(r"(?<!\()\.\.\.(?!\))", message)
                parts += [(path.name, part.strip(" ,:")) for part in pieces if len(part.strip(" ,:")) > 3]
    return parts


def test_the_errors_that_the_language_reference_lists_are_real() -> None:
    """The page of all messages is written by tests that trigger each of them."""
    messages = " ".join(text(DOCS / "errors.md").split())
    listed = tabled_errors()
    assert len(listed) > 60
    assert [each for each in listed if each[1] not in messages] == []
