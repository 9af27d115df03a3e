"""Debian's chromium, for tests of pages."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.diagrams.player.browser import Browser, Opened


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # As root, chromium starts only without its sandbox; the pages are ours.
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Opened]:
    opened = Opened(browser, tmp_path)
    yield opened
    for context in browser.contexts:
        context.close()
    assert opened.complaints == []
