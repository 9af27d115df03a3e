"""The fixtures of pages in a browser."""

from tests.support.browsing import browser, opened

__all__ = ["browser", "opened"]
