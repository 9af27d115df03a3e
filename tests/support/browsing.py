"""Pages in a real browser, for tests: fixtures to import, and what axe says of a page."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # As root, chromium starts only without its sandbox; the pages are ours.
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield browser
        browser.close()


class Opened:
    """Opens pages from files, and fails if one complains or asks for anything."""

    def __init__(self, browser: Browser, folder: Path) -> None:
        self._browser, self._folder = browser, folder
        self.complaints: list[str] = []

    def __call__(self, text: str, fragment: str = "", **options: Any) -> Page:
        """Opens a page of this text."""
        file = self._folder / "run.html"
        file.write_text(text, "utf-8")
        return self.file(file, fragment, **options)

    def file(self, file: Path, fragment: str = "", **options: Any) -> Page:
        """Opens the page in a file."""
        page = self._browser.new_context(**options).new_page()
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: request.url.startswith("file:") or self.complaints.append(request.url))
        page.goto(f"{file.as_uri()}{fragment}")
        return page


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Opened]:
    opened = Opened(browser, tmp_path)
    yield opened
    for context in browser.contexts:
        context.close()
    assert opened.complaints == []


def serious(page: Page) -> list[tuple[str, str]]:
    """What axe calls serious or critical, with every fold of the page open."""
    from axe_playwright_python.sync_playwright import Axe

    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    violations = Axe().run(page).response["violations"]
    return [(each["id"], each["impact"]) for each in violations if each["impact"] in ("serious", "critical")]
