"""A picture that a document draws, or could: states in boxes, and arrows between them, beside what is generated from machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Arrow:
    """From a state to another, by name; ``aside`` is drawn dashed: what the chart says of such arrows."""

    source: str
    target: str
    label: str = ""
    aside: bool = False


@dataclass(frozen=True)
class Chart:
    """States in boxes.

    Args:
        about: one sentence without a full stop.
        states: label by name.
        boxes: title -> names of states; a state may be in none.
        aside: what dashed arrows say.
        initial, final: names of states.
    """

    name: str
    about: str
    states: Mapping[str, str]
    boxes: Mapping[str, Sequence[str]]
    arrows: Sequence[Arrow]
    aside: str = ""
    initial: Sequence[str] = ()
    final: Sequence[str] = ()
