"""A report in a browser: its filters, its one file, and what a screen reader finds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from schedproof.cli import main
from tests.support.browsing import Opened, serious
from tests.support.lamps import lamps, system
from tests.support.needs import needs_chromium
from tests.support.registry import put

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a report of lamps as a folder and as one file. A verdict differs from the expected one."""
    folder = tmp_path_factory.mktemp("reports")
    dim = lamps("dim", refuted=(), properties=[each for each in lamps().properties if each.name != "one-state"])
    with pytest.MonkeyPatch.context() as patch:
        put(patch, {"lamps": system()})
        assert main(["verify", "lamps", "--jobs", "1", "--json", str(folder / "before.json")]) == 0
        put(patch, {"lamps": system(lamps(), dim)})
        for arguments in (["-o", "report"], ["--single-file", "-o", "report.html"]):
            output = str(folder / arguments[-1])
            assert (
                main(
                    [
                        "report",
                        "lamps",
                        "--jobs",
                        "1",
                        *arguments[:-1],
                        output,
                        "--earlier",
                        str(folder / "before.json"),
                    ]
                )
                == 1
            )
    return folder


def shown(page: Page) -> list[str]:
    """The properties that the overview shows."""
    return [each.inner_text() for each in page.locator("tbody tr:not([hidden]) th[scope=row] a").all()[1:]]


def test_filters_narrow_the_overview(opened: Opened, reports: Path) -> None:
    page = opened.file(reports / "report" / "index.html")
    every = ["well-formed", "stays-dark", "on-or-off", "blinks", "one-state"]
    assert (shown(page), page.inner_text("#count")) == (every, "9 verdicts")
    page.fill("#text", "ON and off")
    assert (shown(page), page.inner_text("#count")) == (["blinks"], "2 of 9 verdicts")
    page.fill("#text", "")
    page.select_option("#verdict", "refuted")
    assert (shown(page), page.inner_text("#count")) == (["stays-dark"], "2 of 9 verdicts")
    page.check("#odd")
    assert page.inner_text("#count") == "1 of 9 verdicts"
    page.select_option("#variant", "plain")
    assert (shown(page), page.inner_text("#count")) == ([], "0 of 9 verdicts")
    page.click("text=Show all")
    page.wait_for_function("document.getElementById('count').textContent === '9 verdicts'")
    assert shown(page) == every
    page.check("#changed")
    assert page.inner_text("#count") == "4 of 9 verdicts"  # all of the new variant


def test_one_file_has_all_pages(opened: Opened, reports: Path) -> None:
    page = opened.file(reports / "report.html")
    frame = page.frame_locator("#page")
    frame.locator("#filter").wait_for()
    frame.get_by_role("link", name="stays-dark").first.click()
    frame.get_by_role("heading", name="stays-dark", level=1).wait_for()
    assert page.evaluate("location.hash") == "#lamps/properties/stays-dark.html"
    assert page.title() == "stays-dark"
    frame.get_by_role("link", name="Play the run of plain").click()
    frame.locator("#forward").click()
    assert frame.locator("#now").inner_text().startswith("Step 1 of 1: l0 is switched on")
    page.go_back()
    frame.get_by_role("heading", name="stays-dark", level=1).wait_for()


def test_an_address_in_one_file_opens_there(opened: Opened, reports: Path) -> None:
    page = opened.file(reports / "report.html", "#lamps/findings.html#stays-dark")
    frame = page.frame_locator("#page")
    frame.get_by_role("heading", name="Findings of lamps").wait_for()
    unknown = opened.file(reports / "report.html", "#nowhere.html")
    unknown.frame_locator("#page").locator("#filter").wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "name", ["index", "lamps/index", "lamps/findings", "lamps/properties/stays-dark", "lamps/pictures/plain"]
)
def test_axe_has_no_serious_complaint(opened: Opened, reports: Path, name: str, scheme: str) -> None:
    page = opened.file(reports / "report" / f"{name}.html", color_scheme=scheme)
    if name == "index":
        page.select_option("#verdict", "refuted")
    assert serious(page) == []


def test_at_400_percent_only_boxes_scroll_sideways(opened: Opened, reports: Path) -> None:
    for path in (reports / "report").rglob("*.html"):
        page = opened.file(path, viewport={"width": 320, "height": 256})
        assert page.evaluate("document.documentElement.scrollWidth") <= 320, path.name
