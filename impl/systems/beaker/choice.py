"""What the document leaves open, as a function to plug in.

Which of several recipes, and which of several systems, is chosen "in arbitrary order" (lines
131-133) or by rules that the proposal does not change (line 147).
"""

from __future__ import annotations

from collections.abc import Sequence

from schedproof.impl import choice
from schedproof.impl.errors import Refused

Option = tuple[str, ...]
"""The names of what would be chosen: a recipe, or a recipe and a system."""

Choice = choice.Choice[Option]
"""Picks one of the options, which come in the order of their names."""


def only(*names: str) -> Choice:
    """This option, or no choice at all: with no names, there must be no option.

    The choice raises Refused if things are otherwise.
    """

    def choose(options: Sequence[Option]) -> Option | None:
        if names and names in options:
            return names
        if not names and not options:
            return None
        said = ", ".join(" on ".join(option) for option in options) or "nothing"
        raise Refused(f"{' on '.join(names) or 'nothing'} was wanted, but there is {said} to choose")

    return choose


def chosen(choose: Choice, options: Sequence[Option]) -> Option | None:
    """What ``choose`` picks (see :func:`schedproof.impl.choice.checked_choice`)."""
    return choice.checked_choice(choose, options, " on ".join)
