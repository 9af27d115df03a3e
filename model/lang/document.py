"""What a variant says of its document beside tables and rules: pictures, event flows, and ambiguous sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .model import Change, Element


@dataclass(frozen=True)
class Arrow:
    """From a state to another, by name; ``aside`` is drawn dashed: what the chart says of such arrows."""

    source: str
    target: str
    label: str = ""
    aside: bool = False


@dataclass(frozen=True)
class Chart:
    """A picture that a document draws, or could: states in boxes, and arrows between them.

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


@dataclass(frozen=True)
class Flow:
    """A row of a document's table: who sends an event to whom, and whether it is proposed to remove it.

    Args:
        senders: who sends it; two where the table says "Cache/Scheduler".
        kinds: the messages of the model that stand for it.
        remark: what the table adds to the event's name.
    """

    line: int
    event: str
    senders: tuple[str, ...]
    receiver: str
    remove: bool
    kinds: tuple[str, ...]
    remark: str = ""

    @property
    def row(self) -> tuple[str, str, str]:
        """The cells of the row, as the document writes them."""
        event = f"{self.event} ({self.remark})" if self.remark else self.event
        return event, f"{'/'.join(self.senders)} -> {self.receiver}", "Remove" if self.remove else ""


@dataclass(frozen=True)
class Contradiction:
    """Where sentences of a document cannot all be meant as they stand: most often no run shows it.

    Args:
        quotes: (line, words on that line), the words exactly as they stand there.
        problem: what is against what.
        reading: how the model reads it.
    """

    name: str
    quotes: tuple[tuple[int, str], ...]
    problem: str
    reading: str


@dataclass(frozen=True)
class Reading:
    """How a model reads a sentence, where the document leaves more than one way.

    Args:
        line: the sentence's line.
        read: how the model reads it.
        otherwise: the other way, in words; ``adds`` and ``drops`` make it of the model, or of its properties.
        rests: the violated properties that rest on the reading: read otherwise, they are kept.
        breaks: the kept properties that rest on it: read otherwise, they are broken, or say nothing.
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
        return f"Rests on an interpretation of line {self.line}: {self.read}"

    @property
    def change(self) -> Change:
        """The change of the model that reads it otherwise."""
        return Change(why=self.otherwise, repairs=list(self.rests), adds=self.adds, drops=self.drops)
