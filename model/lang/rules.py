"""What happens: actions of the environment, and the rules that carry an event from object to object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .errors import Place, here
from .terms import Fires, Term, Var


@dataclass(frozen=True)
class Action:
    """What the environment or an algorithm may do.

    Args:
        parameters: what is chosen freely: objects, sets of objects, values.
        when: the guard, conjunct by conjunct, over the state before.
        fires: the root firings.
        says: one plain sentence for stories and tables; ``{p}`` stands for parameter p.
        crash: this is the crash of (a part of) the system.
        fact: where it is from, if not from the document: a section of the facts, a file of the implementation.
    """

    name: str
    parameters: Sequence[Var]
    when: Sequence[Term]
    fires: Sequence[Fires]
    says: str
    line: int | None = None
    crash: bool = False
    fact: str = ""
    place: Place = field(default_factory=here, compare=False, repr=False)

    @property
    def sentence(self) -> str:
        """What it does, in one sentence about its parameters."""
        return self.says.format(**{v.name: v.name for v in self.parameters})


@dataclass(frozen=True)
class Rule:
    """``on`` (an action, or an event of an object) and ``when`` together cause ``fires``.

    All variables that are not parameters of the action are universally quantified. Conditions
    read the state before the step; they may ask what else fires, and what does not, provided
    that the trigger graph has no cycle. ``fact``: as of an action.
    """

    name: str
    on: Action | Fires
    when: Sequence[Term]
    fires: Fires
    line: int | None = None
    fact: str = ""
    place: Place = field(default_factory=here, compare=False, repr=False)
