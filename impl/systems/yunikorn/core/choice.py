"""The choices that neither document nor interface settles: which ask, node and placeholder. A function to plug in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from schedproof.impl import choice
from schedproof.impl.errors import Refused


@dataclass(frozen=True)
class Option:
    """One thing that the scheduler can do: allocate the ask on the node, in place of a placeholder if one is given."""

    ask: str
    node: str
    replaces: str | None = None

    def __str__(self) -> str:
        return f"{self.ask} on {self.node}" + (f" for {self.replaces}" if self.replaces else "")


Choice = choice.Choice[Option]
"""Picks one of the options. They come in the order of applications, asks and nodes: the oldest application first."""


def only(ask: str, node: str, replaces: str | None = None) -> Choice:
    """Returns a choice of exactly this option; the choice raises Refused if the option is not offered."""
    requested = Option(ask, node, replaces)

    def choose(options: Sequence[Option]) -> Option | None:
        if requested not in options:
            offered = "; ".join(str(option) for option in options) or "nothing"
            raise Refused(f"{requested} was wanted, but there is {offered} to choose")
        return requested

    return choose
