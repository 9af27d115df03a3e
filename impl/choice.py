"""Functions for a choice that a document leaves open: which of several equally good options is taken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from .errors import Refused

Option = TypeVar("Option")

Choice = Callable[[Sequence[Option]], Option | None]
"""Picks one of the options; None if and only if there are none."""


def first(options: Sequence[Option]) -> Option | None:
    """The first option, or None."""
    return options[0] if options else None


def checked_choice(
    choose: Choice[Option], options: Sequence[Option], describe: Callable[[Option], str] = str
) -> Option | None:
    """The option that ``choose`` picks, checked against the contract of :data:`Choice`.

    Raises:
        Refused: it picked no option although some exist, or one that is not among them.
    """
    option = choose(options)
    if option is None and options:
        raise Refused(f"nothing was chosen, though there are {len(options)} options")
    if option is not None and option not in options:
        raise Refused(f"{describe(option)} was chosen, but it is no option now")
    return option
