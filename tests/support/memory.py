"""Frees what tests leave behind, so that a process that runs thousands of them stays small."""

from __future__ import annotations

import gc

import psutil
import pytest

MOST = 200 << 20
"""Bytes by which a process may grow before garbage is collected among what is new."""

ALL_OF_IT = 1200 << 20
"""Bytes of a process in which garbage is collected among all objects."""


class Memory:
    """A plugin of each process that runs tests.

    A solver is garbage that only a collection finds, and takes tens of megabytes; ``tests/conftest.py`` turns collections off.
    """

    def __init__(self, most: int = MOST) -> None:
        self._process, self._most = psutil.Process(), most
        self._kept = self._size()

    def _size(self) -> int:
        return int(self._process.memory_info().rss)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: pytest.Item | None) -> None:
        """Frees what cached functions of a test module keep, when a test of another module follows; collects garbage if there is much."""
        module = getattr(item, "module", None)
        if module is not None and module is not getattr(nextitem, "module", None):
            for value in vars(module).values():
                if hasattr(value, "cache_clear") and value.__module__ == module.__name__:
                    value.cache_clear()
        if self._size() > self._kept + self._most:
            gc.collect()
            if self._size() > ALL_OF_IT:
                gc.unfreeze()
                gc.collect()
            gc.freeze()  # most of what is left stays, and takes seconds to look through
            self._kept = self._size()
