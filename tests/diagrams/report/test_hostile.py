"""A report on names and sentences that are markup, as a folder and as one file: in a browser, they stay text."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from schedproof.cli import main
from schedproof.diagrams.report.earlier import EMBEDDED, verdicts
from schedproof.model.ledger.ledger import Entry, Ledger
from schedproof.model.registry.system import System
from tests.diagrams.player.hostile import ATTACK, COMMENT, HOSTILE
from tests.diagrams.player.test_page import Elements
from tests.support.browsing import Opened
from tests.support.needs import needs_chromium
from tests.support.registry import put

EARLIER = "<img src=x onerror=alert(1)>.json"
"""The name of the earlier report."""


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the report as a folder and as one file, with a document, and what changed since a hostile report."""
    folder = tmp_path_factory.mktemp("hostile")
    name = HOSTILE.properties[0].name
    removed = {"name": f"gone{ATTACK}{COMMENT}", "verdict": ATTACK, "method": ""}
    same = {"name": name, "verdict": ATTACK, "method": ""}
    data = {"systems": [{"system": "hostile", "variant": "plain", "properties": [removed, same]}]}
    (folder / EARLIER).write_text(json.dumps(data), "utf-8")
    statement = Entry(1, f"{ATTACK} {COMMENT}", required=[name])
    ledger = Ledger(HOSTILE.document.name, ["other"], [statement])  # of another variant, so that it needs no marks
    (folder / "ledger.yaml").write_bytes(msgspec.yaml.encode(ledger))
    variants = {"plain": HOSTILE, "other": replace(HOSTILE, variant="other")}
    system = System("hostile", ATTACK, variants, validated_by="plain", ledger=folder / "ledger.yaml")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        put(patch, {"hostile": system})
        for arguments in (["-o", "report"], ["--single-file", "-o", "report.html"]):
            assert (
                main(["report", "hostile", "--variant", "plain", "--jobs", "1", "--earlier", EARLIER, *arguments]) != 2
            )
    return folder


def pages(reports: Path) -> list[str]:
    folder = reports / "report"
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.html"))


def test_the_report_has_every_kind_of_page(reports: Path) -> None:
    kinds = {"document.html", "findings.html", "index.html", "pictures", "properties", "runs", "defects"}
    assert {path.split("/")[1] for path in pages(reports) if "/" in path} == kinds


def test_every_page_has_a_policy(reports: Path) -> None:
    """It forbids all that the page does not need, so that markup, if there were any, could not run or fetch anything."""
    for path in ("report.html", *(f"report/{each}" for each in pages(reports))):
        page = Elements((reports / path).read_text("utf-8"))
        (policy,) = [value for _, value in page.attributes if value.startswith("default-src")]
        parts = dict(part.strip().split(" ", 1) for part in policy.split(";"))
        allowed = {
            "default-src": "'none'",
            "style-src": "'unsafe-inline'",
            "base-uri": "'none'",
            "form-action": "'none'",
        }
        assert parts.items() >= allowed.items(), path
        assert set(parts) <= {*allowed, "img-src", "script-src"}, path
        assert parts.get("img-src", "data:") == "data:", path
        assert all(
            each.startswith("'sha256-") or each == "'none'" for each in parts.get("script-src", "'none'").split()
        )


def test_what_changed_is_text(reports: Path) -> None:
    text = (reports / "report" / "index.html").read_text("utf-8")
    page = Elements(text)
    assert EARLIER in "".join(page.texts["h2"])
    assert f"gone{ATTACK}{COMMENT} (hostile plain): {ATTACK} before, and not in this report" in page.texts["li"]
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert not page.tags["img"]


def test_the_verdicts_in_one_file_are_those_of_the_folder(reports: Path) -> None:
    """Names that end a script, or make a parser skip its end, do neither."""
    text = (reports / "report.html").read_text("utf-8")
    embedded = EMBEDDED.search(text)
    assert embedded is not None
    data = json.loads((reports / "report" / "report.json").read_text("utf-8"))
    assert verdicts(json.loads(embedded[1])) == verdicts(data)
    assert ("hostile", "plain", HOSTILE.properties[0].name) in verdicts(data).by_key
    assert Elements(text).tags["script"] == 4 and not Elements(text).tags["img"]


@needs_chromium
def test_no_page_of_the_folder_runs_or_loads_it(opened: Opened, reports: Path) -> None:
    for path in pages(reports):
        page = opened.file(reports / "report" / path)
        page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        assert page.title() != "attacked", path
        assert page.locator("img:not([src^='data:']), [onerror]").count() == 0, path


@needs_chromium
def test_no_page_of_one_file_runs_or_loads_it(opened: Opened, reports: Path) -> None:
    from playwright.sync_api import expect

    for path in pages(reports):
        title = opened.file(reports / "report" / path).title()
        page = opened.file(reports / "report.html", f"#{path}")
        expect(page).to_have_title(title)
        assert page.frame_locator("#page").locator("img:not([src^='data:']), [onerror]").count() == 0, path
