"""Finds the relevant lines of a nonconforming log, for formats with records of their own.

This module does not interpret lines. It omits a line if the log without it does not conform at the same line, for the
same reason.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from schedproof.proofs.traces.files.lines import TextLine

MOST_SECONDS = 3.0
"""The time for the search, in seconds. The result then does not conform either, but may be longer than necessary."""

Reason = Callable[[Sequence[TextLine]], str]
"""Why the last of some lines does not conform; "" if it conforms, or another line does not."""


def excerpt(lines: Sequence[TextLine], reason: Reason) -> list[TextLine]:
    """The relevant lines. The last of them does not conform.

    Args:
        lines: the log up to the line that does not conform.
        reason: checks lines.

    Returns:
        An empty list if the log is too long for several checks, or if it conforms without the lines after this one.
    """
    began = time.monotonic()
    why = reason(lines)
    until = began + MOST_SECONDS
    if not why or (time.monotonic() - began) * 10 > MOST_SECONDS:
        return []
    kept = list(lines)
    size = len(kept) - 1
    while size and time.monotonic() < until:
        at = 0
        while at + 1 < len(kept) and time.monotonic() < until:
            attempt = [*kept[:at], *kept[min(at + size, len(kept) - 1) :]]
            if reason(attempt) == why:
                kept = attempt
            else:
                at += size
        size //= 2
    return kept
