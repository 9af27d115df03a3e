"""The choices that the document leaves open: functions that the caller may replace.

Which of several recipes and systems is chosen is "in arbitrary order" (lines 131-133), or follows rules that the
proposal does not change (line 147).
"""

from __future__ import annotations

from collections.abc import Sequence

from schedproof.impl import choice
from schedproof.impl.errors import Refused

Option = tuple[str, ...]
"""The names of an option: a recipe, or a recipe and a system."""

Choice = choice.Choice[Option]
"""Picks one of the options, which are ordered by name."""


def only(*names: str) -> Choice:
    """Returns a choice that picks exactly this option. Without names, it requires that there is no option.

    The choice raises Refused if the options do not allow this.
    """

    def choose(options: Sequence[Option]) -> Option | None:
        if names and names in options:
            return names
        if not names and not options:
            return None
        offered = ", ".join(" on ".join(option) for option in options) or "nothing"
        raise Refused(f"{' on '.join(names) or 'nothing'} was wanted, but there is {offered} to choose")

    return choose


def chosen(choose: Choice, options: Sequence[Option]) -> Option | None:
    """Returns the option that ``choose`` picks (see :func:`schedproof.impl.choice.checked_choice`)."""
    return choice.checked_choice(choose, options, " on ".join)
