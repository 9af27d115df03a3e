"""Which lines of a nonconforming log matter, in formats of their own.

Nothing is known here of what a line says. A line is left out if the log without it does not conform at the same line, for the same reason.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from schedproof.proofs.traces.files.lines import TextLine

MOST_SECONDS = 3.0
"""Time for the search; what is left by then does not conform as well, but more of it might be left out."""

Reason = Callable[[Sequence[TextLine]], str]
"""Why the last of some lines does not conform; "" if it does not, or another does."""


def excerpt(lines: Sequence[TextLine], reason: Reason) -> list[TextLine]:
    """The lines that matter, the last of which does not conform.

    Args:
        lines: the log up to the line that does not conform.

    Returns:
        An empty list, if the log is too long to be checked a few times, or does not depart without what follows the line.
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
