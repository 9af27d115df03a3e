"""The error of a picture that cannot be made."""

from __future__ import annotations


class DiagramError(Exception):
    """A picture cannot be drawn or written. The message says what, where, and what to do instead."""

    exit_code = 2
