"""What the document leaves open, as a function to plug in.

Which of several recipes, and which of several systems, is chosen "in arbitrary order" (lines
131-133) or by rules that the proposal does not change (line 147).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from schedproof.impl.errors import Refused

Option = tuple[str, ...]
"""The names of what would be chosen: a recipe, or a recipe and a system."""

Choice = Callable[[Sequence[Option]], Option | None]
"""Picks one of the options, all equally good and in the order of their names; None if and only if there is none."""


def first(options: Sequence[Option]) -> Option | None:
    """The first one by name."""
    return options[0] if options else None


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
    """What ``choose`` says, held to its contract.

    Raises:
        Refused: it named no option though there are some, or one that is not there.
    """
    option = choose(options)
    if option is None and options:
        raise Refused(f"nothing was chosen, though there are {len(options)} options")
    if option is not None and option not in options:
        raise Refused(f"{' on '.join(option)} was chosen, but it is no option now")
    return option
