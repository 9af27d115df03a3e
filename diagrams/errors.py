"""The error of a picture that cannot be made."""

from __future__ import annotations

from schedproof.model.errors import SchedproofError


class DiagramError(SchedproofError):
    """A picture cannot be drawn or written. The message says what, where, and what to do instead."""
