"""What can go wrong when a picture is asked for."""

from __future__ import annotations


class DiagramError(Exception):
    """A picture that cannot be drawn or written: the message says what, where, and what to do instead."""

    exit_code = 2
