"""What the core can be wrong about, or be asked in vain."""

from __future__ import annotations


class CoreError(Exception):
    """Any error of this package; whatever is raised, the core is as it was before."""


class Refused(CoreError):
    """What was asked for is not possible now; the message says why, and what is."""
