"""Transactions that are tried again when another one came in between."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from schedproof.impl.errors import Contended

T = TypeVar("T")

ATTEMPTS = 20
"""How often a transaction is tried when others keep coming in between."""


def retried(work: Callable[[], T]) -> T:
    """What ``work``, a transaction, gives; it is tried again when it raises Contended.

    Raises:
        Contended: others came in between every time.
    """
    for attempt in range(ATTEMPTS - 1):
        try:
            return work()
        except Contended:
            time.sleep(0.001 * 2 ** min(attempt, 6))
    return work()
