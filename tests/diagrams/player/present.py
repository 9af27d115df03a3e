"""What a page says of the present step."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page


def step(page: Page) -> str:
    """Its number, up to the first full stop or colon."""
    text: str = page.inner_text("#now")
    return text.partition(":")[0].partition(",")[0]
