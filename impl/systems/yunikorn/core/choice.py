"""What neither document nor interface settles, as a function to plug in: which ask, which node, which placeholder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from schedproof.impl.errors import Refused


@dataclass(frozen=True)
class Option:
    """One thing that the scheduler can do: allocate the ask on the node, in place of a placeholder if one is given."""

    ask: str
    node: str
    replaces: str | None = None

    def __str__(self) -> str:
        return f"{self.ask} on {self.node}" + (f" for {self.replaces}" if self.replaces else "")


Choice = Callable[[Sequence[Option]], Option | None]
"""Picks one of the options, which come in the order of applications, asks, nodes; None if and only if there is none."""


def first(options: Sequence[Option]) -> Option | None:
    """The first one: the oldest application that can be served, its oldest ask."""
    return options[0] if options else None


def only(ask: str, node: str, replaces: str | None = None) -> Choice:
    """This option; the choice raises Refused if it is none."""
    wanted = Option(ask, node, replaces)

    def choose(options: Sequence[Option]) -> Option | None:
        if wanted not in options:
            said = "; ".join(str(option) for option in options) or "nothing"
            raise Refused(f"{wanted} was wanted, but there is {said} to choose")
        return wanted

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
        raise Refused(f"{option} was chosen, but it is no option now")
    return option
