"""What a variant records about its document beside tables and rules: charts, event flows, ambiguous sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .arguments import declaration
from .errors import Place, calling_place
from .machine import Machine
from .model import Change, Configurations, Element
from .terms import Term


@declaration
@dataclass(frozen=True)
class Arrow:
    """An arrow from one state to another.

    Args:
        source: the name of a state.
        target: the name of a state.
        label: the text on the arrow.
        aside: draws it dashed, with the meaning in ``Chart.aside``.
    """

    source: str
    target: str
    label: str = ""
    aside: bool = False


@declaration
@dataclass(frozen=True)
class Chart:
    """A chart that a document draws, or could draw: states in boxes, and arrows between them.

    Args:
        name: the name.
        about: one sentence without a full stop.
        states: label by name.
        boxes: title -> names of states; a state may be in none.
        arrows: the arrows.
        aside: the meaning of dashed arrows.
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


@declaration
@dataclass(frozen=True)
class Flow:
    """A row of a document's table: who sends an event to whom, and whether the document proposes to remove it.

    Args:
        line: of the document.
        event: the name of the event.
        receiver: the component that gets it.
        remove: whether the document proposes to remove it.
        senders: the senders; two where the table says "Cache/Scheduler".
        kinds: the messages of the model that stand for the event.
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


@declaration
@dataclass(frozen=True)
class Contradiction:
    """Sentences of a document that cannot all be true as written. Most contradictions show in no run.

    Args:
        name: the name.
        quotes: (line, words on that line), the words exactly as the document has them.
        problem: which sentence contradicts which.
        reading: how the model interprets them.
        violates: the violated properties that require what one of the sentences says, against another.
    """

    name: str
    quotes: tuple[tuple[int, str], ...]
    problem: str
    reading: str
    violates: Sequence[str] = ()
    place: Place = field(default_factory=calling_place, compare=False, repr=False)


@declaration
@dataclass(frozen=True)
class Reading:
    """The model's interpretation of a sentence that allows more than one, or its answer where the document is silent.

    Args:
        name: the name.
        line: the sentence's line.
        read: the model's interpretation.
        otherwise: the other interpretation, in words; ``adds`` and ``drops`` change the model, or its properties, to
            it, with ``machines``, ``configurations`` and ``scope`` where that needs them. All are empty where it cannot be tried;
            ``rests`` and ``breaks`` are then empty as well.
        machines: replace the machines of their sorts, for other states, attributes or events.
        configurations: replace the model's; None keeps them.
        axioms: replace the model's; None keeps them. A configuration must meet them.
        locks: instead of a change of the model, the keys of a lock file that amends the variant's first one.
        scope: the numbers of objects that differ from the model's default scope.
        untried: why it cannot be tried: what a change of the model would need, and where it is tried instead, if it is.
            Begins small, without a full stop; required where nothing is tried.
        question: what the sentence leaves open, as a question. Required, by name.
        why: the reason for the model's answer. Required, by name.
        variant: whose interpretation it is; by default the system's first variant.
        rests: violated properties that rest on the interpretation; they hold under the other one.
        breaks: properties that hold because of it; under the other one they are violated or vacuous.
    """

    name: str
    line: int
    read: str
    otherwise: str
    adds: Sequence[Element] = ()
    drops: Sequence[str] = ()
    rests: Sequence[str] = ()
    breaks: Sequence[str] = ()
    question: str = field(kw_only=True)
    why: str = field(kw_only=True)
    untried: str = field(default="", kw_only=True)
    variant: str = ""
    machines: Sequence[Machine] = field(default=(), kw_only=True)
    configurations: Configurations | None = field(default=None, kw_only=True)
    axioms: Sequence[Term] | None = field(default=None, kw_only=True)
    scope: Mapping[str, int] = field(default_factory=dict, kw_only=True)
    locks: str = field(default="", kw_only=True)
    place: Place = field(default_factory=calling_place, compare=False, repr=False)

    @property
    def is_tried(self) -> bool:
        """Whether it has a change of the model, or of its locks, to the other interpretation."""
        return bool(self.adds or self.drops or self.machines or self.configurations or self.locks)

    @property
    def finding_note(self) -> str:
        """The question and the model's answer, in the line with which a finding mentions the interpretation."""
        return f"Rests on {self.name} (line {self.line}): {self.question} {self.read}"

    @property
    def change(self) -> Change:
        """The change of rows, actions, rules and properties to the other interpretation."""
        return Change(why=self.otherwise, repairs=list(self.rests), adds=self.adds, drops=self.drops, place=self.place)
