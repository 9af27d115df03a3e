"""Pages in a browser, for tests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page
else:
    Browser = Page = Any


class Opened:
    """Opens pages from files, and fails if one complains or asks for anything."""

    def __init__(self, browser: Browser, folder: Path) -> None:
        self._browser, self._folder = browser, folder
        self.complaints: list[str] = []

    def __call__(self, text: str, fragment: str = "", **options: Any) -> Page:
        file = self._folder / "run.html"
        file.write_text(text, "utf-8")
        page = self._browser.new_context(**options).new_page()
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: request.url.startswith("file:") or self.complaints.append(request.url))
        page.goto(f"{file.as_uri()}{fragment}")
        return page


def step(page: Page) -> str:
    """What the page says of the present step, up to the first full stop or colon."""
    text: str = page.inner_text("#now")
    return text.partition(":")[0].partition(",")[0]


def complaints(page: Page) -> list[tuple[str, str]]:
    """What axe calls serious or critical, with every fold of the page open."""
    from axe_playwright_python.sync_playwright import Axe

    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    violations = Axe().run(page).response["violations"]
    return [(each["id"], each["impact"]) for each in violations if each["impact"] in ("serious", "critical")]
