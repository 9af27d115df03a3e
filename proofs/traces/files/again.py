"""A trace that is judged as a whole, and still being written: it is judged anew when there is more of it."""

from __future__ import annotations

import time
from collections.abc import Callable

SHARE = 4
"""After a look, so many times as long as it took is the next one left: with a long trace, looks are rare."""


class Again:
    """Looks at what has been read, now and then.

    Args:
        size: how much has been read.
        decided: what has been read is enough for a verdict.
        stop: no more need be read.
    """

    def __init__(self, size: Callable[[], int], decided: Callable[[], bool], stop: Callable[[], None]) -> None:
        self._size, self._decided, self._stop = size, decided, stop
        self._seen, self._next = 0, 0.0

    def look(self) -> None:
        """Looks, if there is more than before and it is time."""
        begun = time.monotonic()
        if self._size() == self._seen or begun < self._next:
            return
        self._seen = self._size()
        if self._decided():
            self._stop()
        ended = time.monotonic()
        self._next = ended + SHARE * (ended - begun)
