"""Lines of the document that a report names, as links to the page of the document."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from schedproof.cli import main
from schedproof.diagrams.line_links import LineLinks
from schedproof.diagrams.player.data import About
from schedproof.diagrams.player.page import page
from schedproof.diagrams.report.citations import line_links
from schedproof.diagrams.report.content import SystemContent
from schedproof.diagrams.report.paths import PageLocation, run_page
from schedproof.model.ledger.ledger import Entry, Ledger
from tests.diagrams.player.runs import blinking
from tests.model.ledger.lamps import LEDGER
from tests.model.ledger.lamps import system as documented
from tests.support.browsing import Opened, serious
from tests.support.lamps import lamps, system
from tests.support.needs import needs_chromium
from tests.support.registry import put

if TYPE_CHECKING:
    from playwright.sync_api import Page

RUN = "lamps/runs/as-written/dark.html"


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a report of lamps as a folder and as one file, with the page of the document."""
    folder = tmp_path_factory.mktemp("reports")
    ledger = folder / "ledger.yaml"
    ledger.write_bytes(msgspec.yaml.encode(LEDGER))
    with pytest.MonkeyPatch.context() as patch:
        put(patch, {"lamps": documented(ledger=ledger)})
        for arguments in (["-o", "report"], ["--single-file", "-o", "report.html"]):
            assert main(["report", "lamps", "--jobs", "1", *arguments[:-1], str(folder / arguments[-1])]) == 0
    return folder


def test_the_lines_in_a_text_are_links() -> None:
    links = LineLinks(lambda line: f"d.html#line-{line}" if line != 4 else "")
    assert links.linked("<b> (line 3)") == '&lt;b&gt; (<a href="d.html#line-3">line 3</a>)'
    assert links.linked("lines 3, 4 and 5, fact 6") == (
        'lines <a href="d.html#line-3">3</a>, 4 and <a href="d.html#line-5">5</a>, fact 6'
    )


def test_a_line_leads_to_the_statement_that_has_it() -> None:
    ledger = Ledger("lamps.md", ["plain"], [Entry(3, "a"), Entry(3, "b"), Entry(6, "c")])
    section = SystemContent(system(), [], ledger=ledger)
    location = PageLocation(run_page("lamps", "plain", "stays-dark"))
    address = line_links(section, location, "lamps.md").address
    assert [address(line) for line in (2, 3, 5, 6, 9)] == [
        "",
        *(f"../../document.html#line-{line}" for line in (3, 3, 6, 6)),
    ]
    assert line_links(section, location, "torches.md").address(3) == ""


def target(shown: Page) -> str:
    """The statement that the address of the document's page names."""
    return shown.locator("tr:has(td:target)").inner_text()


@needs_chromium
def test_a_run_leads_to_the_lines_of_the_document(opened: Opened, reports: Path) -> None:
    shown = opened.file(reports / "report" / RUN, "#step=1")
    header = shown.locator("header").get_by_role("link", name="line 6")
    assert header.count() == 1
    links = shown.locator("#why a")
    assert [each.inner_text() for each in links.all()] == ["line 4", "line 6"]
    links.nth(1).click()
    assert shown.url.endswith("/lamps/document.html#line-6")
    assert "A pushed lamp is on." in target(shown)
    assert serious(opened.file(reports / "report" / RUN, "#step=1")) == []


@needs_chromium
@pytest.mark.parametrize("path", ["properties/dark", "findings"])
def test_a_page_leads_to_the_line_of_its_sentence(opened: Opened, reports: Path, path: str) -> None:
    shown = opened.file(reports / "report" / "lamps" / f"{path}.html")
    shown.get_by_role("link", name="line 6", exact=True).first.click()
    assert "A pushed lamp is on." in target(shown)


@needs_chromium
def test_one_file_leads_to_the_line_and_marks_it(opened: Opened, reports: Path) -> None:
    shown = opened.file(reports / "report.html", f"#{RUN}#step=1")
    frame = shown.frame_locator("#page")
    frame.locator("#why a").first.click()
    marked = frame.locator("td.target")
    marked.wait_for()
    assert marked.inner_text() == "4"
    assert shown.evaluate("location.hash") == "#lamps/document.html#line-4"
    shown.go_back()
    frame.locator("#now").wait_for()


@needs_chromium
def test_a_new_tab_opens_the_line(opened: Opened, reports: Path) -> None:
    shown = opened.file(reports / "report.html", f"#{RUN}#step=1")
    link = shown.frame_locator("#page").locator("#why a").first
    link.wait_for()
    with shown.context.expect_page() as opening:
        link.click(button="middle")
    opening.value.frame_locator("#page").locator("td.target").wait_for()
    assert opening.value.url.endswith("report.html#lamps/document.html#line-4")


@needs_chromium
def test_the_page_of_a_run_alone_has_no_link(opened: Opened) -> None:
    shown = opened(page(lamps(), blinking(1), About("a lamp", line=7)), "#step=1")
    assert "line 3" in shown.inner_text("#why") and "line 7" in shown.inner_text("header")
    assert shown.locator("a").count() == 0
