"""A report in a browser: its filters, its one file, and what a screen reader finds."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from schedproof.cli import main
from schedproof.diagrams.report.earlier import DATA
from schedproof.diagrams.report.one_file import one_file
from schedproof.model.registry.system import System
from tests.support.browsing import Opened, serious
from tests.support.lamps import lamps, system
from tests.support.needs import needs_chromium
from tests.support.registry import put
from tests.support.sample import thinned

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


def wait_for_title(page: Page, title: str) -> None:
    """Waits until the frame of one file has a page."""
    from playwright.sync_api import expect

    expect(page).to_have_title(title)


def test_filters_narrow_the_overview(opened: Opened, reports: Path) -> None:
    page = opened.file(reports / "report" / "index.html")
    every = ["well-formed", "stays-dark", "on-or-off", "blinks", "one-state"]
    assert (shown(page), page.inner_text("#count")) == (every, "9 verdicts")
    page.fill("#text", "off ON ")
    assert (shown(page), page.inner_text("#count")) == (["on-or-off", "blinks"], "4 of 9 verdicts")
    page.fill("#text", "off can")
    assert (shown(page), page.inner_text("#count")) == (["blinks"], "2 of 9 verdicts")
    page.fill("#text", "")
    page.select_option("#verdict", "refuted")
    assert (shown(page), page.inner_text("#count")) == (["stays-dark"], "2 of 9 verdicts")
    page.check("#odd")
    assert page.inner_text("#count") == "1 of 9 verdicts"
    page.select_option("#variant", "plain")
    assert (shown(page), page.inner_text("#count")) == ([], "No verdict fits these filters.")
    page.click("text=Show all")
    page.wait_for_function("document.getElementById('count').textContent === '9 verdicts'")
    assert shown(page) == every
    page.check("#changed")
    assert page.inner_text("#count") == "4 of 9 verdicts"  # all of the new variant


def test_filters_are_kept_on_the_way_back(opened: Opened, reports: Path) -> None:
    page = opened.file(reports / "report" / "index.html")
    page.select_option("#variant", "dim")
    narrowed = page.inner_text("#count")
    with page.expect_navigation():  # a browser that is busy goes back before it has gone
        page.locator("tbody tr:not([hidden]) th[scope=row] a").nth(1).click()
    page.go_back()
    page.wait_for_function("text => document.getElementById('count').textContent === text", arg=narrowed)
    assert page.input_value("#variant") == "dim" and narrowed != "9 verdicts"


def test_heads_of_a_long_table_stay_in_sight(opened: Opened, reports: Path) -> None:
    page = opened.file(reports / "report" / "lamps" / "index.html", viewport={"width": 600, "height": 240})
    box, head = page.locator(".scroll:has(> .matrix)"), page.locator(".matrix thead th").first
    box.evaluate("each => { each.scrollTop = 150; }")
    assert box.evaluate("each => each.scrollTop") > 100
    assert box.evaluate("each => each.clientHeight") <= 240
    assert abs(head.bounding_box()["y"] - box.bounding_box()["y"]) < 2


SHEET = 1046
"""Pixels across a sheet of A4, landscape, between margins of a centimetre."""


def test_every_column_of_a_wide_table_is_printed(opened: Opened, reports: Path) -> None:
    page = opened.file(reports / "report" / "lamps" / "index.html", viewport={"width": SHEET, "height": 700})
    page.evaluate(
        "document.querySelectorAll('.matrix tr').forEach(row => { for (let n = 0; n < 13; n++) row.append(row.lastElementChild.cloneNode(true)); })"
    )
    width = "document.querySelector('.matrix').offsetWidth"
    assert page.evaluate(width) > SHEET
    page.emulate_media(media="print")
    assert page.evaluate(width) <= SHEET


@pytest.fixture
def two_systems(tmp_path: Path) -> Path:
    """The overview of two systems with other variants, since a report in which blinks was refuted."""
    before = tmp_path / "before.json"
    torch = replace(lamps("bright"), system="torches")
    torches = System("torches", "Torches", {"bright": torch}, validated_by="bright")
    with pytest.MonkeyPatch.context() as patch:
        put(patch, {"lamps": system(), "torches": torches})
        main(["verify", "lamps", "torches", "--jobs", "1", "--json", str(before)])
        data = json.loads(before.read_text("utf-8"))
        (blinks,) = [each for each in data["systems"][0]["properties"] if each["name"] == "blinks"]
        blinks["verdict"] = "refuted"
        before.write_text(json.dumps(data), "utf-8")
        arguments = ["--no-findings", "-o", str(tmp_path / "report"), "--earlier", str(before)]
        main(["report", "lamps", "torches", "--jobs", "1", *arguments])
    return tmp_path / "report" / "index.html"


def test_a_system_offers_its_variants(opened: Opened, two_systems: Path) -> None:
    page = opened.file(two_systems)

    def offered() -> list[str]:
        return [each.inner_text() for each in page.locator("#variant option:not([disabled])").all()]

    assert offered() == ["all", "plain", "bright"]
    page.select_option("#variant", "bright")
    page.select_option("#system", "lamps")
    assert offered() == ["all", "plain"]
    assert (page.input_value("#variant"), page.inner_text("#count")) == ("", "5 of 10 verdicts")
    page.click("text=Show all")
    page.get_by_text("10 verdicts", exact=True).wait_for()
    assert offered() == ["all", "plain", "bright"]


def test_changed_shows_what_differs(opened: Opened, two_systems: Path) -> None:
    page = opened.file(two_systems)
    page.select_option("#system", "lamps")
    page.check("#changed")
    assert page.inner_text("#count") == "1 of 10 verdicts"
    rows = page.locator("table.matrix tbody tr:not([hidden]) th a").all()
    assert [each.inner_text() for each in rows if each.is_visible()] == ["blinks"]


def test_the_overview_has_no_page_above(opened: Opened, reports: Path) -> None:
    assert opened.file(reports / "report" / "index.html").get_by_role("link", name="All systems").count() == 0
    page = opened.file(reports / "report" / "lamps" / "index.html")
    page.get_by_role("link", name="All systems").click()
    page.locator("#filter").wait_for()


@pytest.fixture(scope="module")
def without_graphviz(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report whose pages lay out their graphs."""
    folder = tmp_path_factory.mktemp("undrawn")
    with pytest.MonkeyPatch.context() as patch:
        put(patch, {"lamps": system()})
        patch.setattr(shutil, "which", lambda name: None)
        main(["report", "lamps", "--jobs", "1", "--no-findings", "-o", str(folder / "report")])
        main(["report", "lamps", "--jobs", "1", "--no-findings", "--single-file", "-o", str(folder / "report.html")])
    return folder


def test_without_graphviz_the_browser_draws_the_graphs(opened: Opened, without_graphviz: Path) -> None:
    path = "lamps/pictures/plain.html"
    alone = opened.file(without_graphviz / "report" / path)
    page = opened.file(without_graphviz / "report.html", f"#{path}")
    wait_for_title(page, alone.title())
    for boxes in (alone.locator(".picture"), page.frame_locator("#page").locator(".picture")):
        assert boxes.count() == 2
        for box in boxes.all():
            assert box.is_visible() and box.locator("svg[role=img]").get_attribute("aria-label")
        machine = boxes.first
        assert set(machine.locator(".node text").all_text_contents()) >= {"Off", "On"}
        assert machine.locator(".edge text").all_text_contents() == ["on", "off"]
        size = machine.locator("svg").bounding_box()
        assert size is not None and size["width"] > 100 and size["height"] > 20
    assert serious(alone) == []


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
    "name",
    thinned(["lamps/properties/stays-dark", "index", "lamps/index", "lamps/findings", "lamps/pictures/plain"], 3),
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


@pytest.mark.parametrize("fragment", thinned(["#__proto__", "#toString", "#%", "#%#%", "##"], 2))
def test_an_address_without_a_page_shows_the_overview(opened: Opened, reports: Path, fragment: str) -> None:
    page = opened.file(reports / "report.html", fragment)
    page.frame_locator("#page").locator("#filter").wait_for()


def test_an_address_without_a_place_shows_the_page(opened: Opened, reports: Path) -> None:
    page = opened.file(reports / "report.html", "#lamps/index.html#%")
    page.frame_locator("#page").get_by_role("heading", name="lamps", level=1).wait_for()


def test_no_text_of_a_page_is_taken_for_a_shared_one(opened: Opened) -> None:
    """Neither the hash of a shared text, nor a number, nor a pattern of a replacement."""
    style, words = "p { color: red; }", "$& $1 0 1 [0]"
    words += f" [[{hashlib.sha256(style.encode()).hexdigest()}]]"
    written = (
        f"<!DOCTYPE html><html><head><title>one</title><style>{style}</style></head><body><p>{words}</p></body></html>"
    )
    page = opened(one_file({"index.html": written, DATA: "{}"}, "report"))
    shown = page.frame_locator("#page").locator("p")
    assert shown.inner_text() == words
    assert shown.evaluate("(each) => getComputedStyle(each).color") == "rgb(255, 0, 0)"


def test_a_property_that_holds_plays_an_example(opened: Opened, reports: Path) -> None:
    properties = reports / "report" / "lamps" / "properties"
    page = opened.file(properties / "blinks.html")
    assert "a shortest run through its states. The verdict does not rest on that run." in page.inner_text("main")
    page.get_by_role("link", name="Play an example of plain").click()
    page.locator("#now", has_text="Start").wait_for()
    page.keyboard.press("End")
    assert page.inner_text("#now").startswith("Step 2 of 2: l0 is switched off")
    assert "l0 goes through Off -> On -> Off" in page.inner_text("header")
    assert serious(page) == []
    alone = opened.file(properties / "on-or-off.html")
    assert alone.get_by_role("link", name="example").count() == 0, "it has no premise"


def test_any_two_runs_play_side_by_side(opened: Opened, reports: Path) -> None:
    page = opened.file(reports / "report" / "lamps" / "properties" / "stays-dark.html")
    page.get_by_role("link", name="Compare the run of dim with another").click()
    now = page.locator("#now")
    now.wait_for()
    assert [page.input_value("#run"), page.input_value("#beside")] == ["dim:stays-dark", "plain:stays-dark"]
    assert page.inner_text("#comparison-title") == "Beside it: the run of stays-dark (plain)"
    page.keyboard.press("ArrowRight")
    assert now.inner_text().startswith("Step 1 of 1: l0 is switched on")
    page.select_option("#run", "plain:stays-dark")
    page.get_by_text("Beside it: the run of stays-dark (plain)").wait_for()
    page.select_option("#beside", "dim:stays-dark")
    page.get_by_text("Beside it: the run of stays-dark (dim)").wait_for()
    assert "#run=plain%3Astays-dark&beside=dim%3Astays-dark&step=0" in page.url
    assert serious(page) == []


def test_an_address_of_two_runs_opens_there(opened: Opened, reports: Path) -> None:
    place = "run=dim%3Astays-dark&beside=nowhere&step=1"
    alone = opened.file(reports / "report" / "lamps" / "two-runs.html", f"#{place}")
    page = opened.file(reports / "report.html", f"#lamps/two-runs.html#{place}")
    wait_for_title(page, "Two runs of lamps, side by side")
    for shown_page in (alone, page.frame_locator("#page")):
        shown_page.get_by_text("Step 1 of 1: l0 is switched on").wait_for()
        shown_page.get_by_role("heading", name="Beside it: the run of stays-dark (plain)").wait_for()
    assert "#lamps/two-runs.html#run=dim%3Astays-dark&beside=plain%3Astays-dark&step=1" in page.url
    page.frame_locator("#page").get_by_role("link", name="stays-dark (lamps dim)").click()
    wait_for_title(page, "stays-dark (lamps dim)")


def test_the_address_of_two_other_runs_plays_them(opened: Opened, reports: Path) -> None:
    page = opened.file(reports / "report" / "lamps" / "two-runs.html", "#run=dim%3Astays-dark")
    page.get_by_role("heading", name="Beside it: the run of stays-dark (plain)").wait_for()
    page.evaluate("location.hash = '#run=plain%3Astays-dark&beside=dim%3Astays-dark&step=1'")
    page.get_by_role("heading", name="Beside it: the run of stays-dark (dim)").wait_for()
    assert page.inner_text("#now").startswith("Step 1 of 1")


def pages_of_pdf(page: Page) -> int:
    """How many sheets a page is when it is printed."""
    return len(re.findall(rb"/Type\s*/Page\b", page.pdf()))


@pytest.mark.parametrize(
    "path", thinned(["index.html", "lamps/findings.html", "lamps/runs/plain/stays-dark.html"], 3, first=2)
)
def test_one_file_prints_the_whole_page(opened: Opened, reports: Path, path: str) -> None:
    alone = opened.file(reports / "report" / path)
    page = opened.file(reports / "report.html", f"#{path}")
    wait_for_title(page, alone.title())
    before = page.evaluate("document.body.outerHTML.length")
    sheets = pages_of_pdf(alone)
    assert pages_of_pdf(page) == sheets
    assert path != "lamps/runs/plain/stays-dark.html" or sheets > 1, "a frame that is cut has one"
    assert page.locator(".printing, body > div").count() == 0
    assert page.evaluate("document.body.outerHTML.length") - before in (0, len(' class=""'))


def test_keys_step_a_run_that_an_address_opens(opened: Opened, reports: Path) -> None:
    page = opened.file(reports / "report.html", "#lamps/runs/plain/stays-dark.html#step=0")
    now = page.frame_locator("#page").locator("#now")
    wait_for_title(page, "stays-dark (lamps plain)")
    page.keyboard.press("ArrowRight")
    assert now.inner_text().startswith("Step 1 of 1: l0 is switched on")


@pytest.mark.parametrize(
    "click", thinned([{"button": "middle"}, {"modifiers": ["Control"]}], 2), ids=["middle", "control"]
)
def test_a_new_tab_opens_the_page_of_a_link(opened: Opened, reports: Path, click: dict[str, Any]) -> None:
    page = opened.file(reports / "report.html", "#lamps/index.html")
    link = page.frame_locator("#page").get_by_role("link", name="stays-dark").first
    link.wait_for()
    wait_for_title(page, "lamps")
    with page.context.expect_page() as opening:
        link.click(**click)
    tab = opening.value
    tab.frame_locator("#page").get_by_role("heading", name="stays-dark", level=1).wait_for()
    assert tab.url == f"{(reports / 'report.html').as_uri()}#lamps/properties/stays-dark.html"
    assert page.evaluate("location.hash") == "#lamps/index.html"
