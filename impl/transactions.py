"""Transactions that are tried again when another one came in between."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

ATTEMPTS = 20
"""How often a transaction is tried when others keep coming in between."""


def retried(work: Callable[[], T], contended: type[Exception]) -> T:
    """What ``work``, a transaction, gives; it is tried again when it raises ``contended``.

    Raises:
        contended: others came in between every time.
    """
    for attempt in range(ATTEMPTS - 1):
        try:
            return work()
        except contended:
            time.sleep(0.001 * 2 ** min(attempt, 6))
    return work()
