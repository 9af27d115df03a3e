"""The one error of the oracle: a trace, or a request, that cannot be judged."""

from __future__ import annotations


class TraceError(ValueError):
    """Unreadable input. The message is one line: what, where, and what to write instead."""
