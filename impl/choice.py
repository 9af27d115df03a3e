"""What a document leaves open, as a function to plug in: which of several options, all equally good, is taken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from .errors import Refused

Option = TypeVar("Option")

Choice = Callable[[Sequence[Option]], Option | None]
"""Picks one of the options; None if and only if there is none."""


def first(options: Sequence[Option]) -> Option | None:
    """The first one in the order in which they come."""
    return options[0] if options else None


def checked_choice(
    choose: Choice[Option], options: Sequence[Option], describe: Callable[[Option], str] = str
) -> Option | None:
    """What ``choose`` picks, held to its contract.

    Raises:
        Refused: it picked no option though there are some, or one that is not there.
    """
    option = choose(options)
    if option is None and options:
        raise Refused(f"nothing was chosen, though there are {len(options)} options")
    if option is not None and option not in options:
        raise Refused(f"{describe(option)} was chosen, but it is no option now")
    return option
