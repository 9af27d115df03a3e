"""Tries a transaction again when another one came in between."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from schedproof.impl.errors import Contended

T = TypeVar("T")

ATTEMPTS = 20
"""The most attempts of a transaction while others come in between."""


def retried(work: Callable[[], T]) -> T:
    """The result of ``work``, a transaction. Tries it again while it raises Contended, after growing pauses.

    Raises:
        Contended: others came in between every time.
    """
    for attempt in range(ATTEMPTS - 1):
        try:
            return work()
        except Contended:
            time.sleep(0.001 * 2 ** min(attempt, 6))
    return work()
