"""A sentence that can be read in two ways: how the model reads it, and what becomes of its promises if it is read the other way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .model import Change, Element


@dataclass(frozen=True)
class Reading:
    """How a model reads a sentence, where the document leaves more than one way.

    Args:
        line: the sentence's line.
        read: how the model reads it.
        otherwise: the other way, in words; ``adds`` and ``drops`` make it of the model, or of its promises.
        rests: the broken promises that rest on the reading: read otherwise, they are kept.
        breaks: the kept promises that rest on it: read otherwise, they are broken, or say nothing.
    """

    name: str
    line: int
    read: str
    otherwise: str
    adds: Sequence[Element] = ()
    drops: Sequence[str] = ()
    rests: Sequence[str] = ()
    breaks: Sequence[str] = ()

    @property
    def told(self) -> str:
        """What a finding says of it."""
        return f"Rests on our reading of line {self.line}: {self.read}"

    @property
    def change(self) -> Change:
        """The change of the model that reads it otherwise."""
        return Change(why=self.otherwise, repairs=list(self.rests), adds=self.adds, drops=self.drops)
