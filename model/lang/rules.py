"""Actions of the environment, and the rules that carry an event from object to object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .errors import Place, calling_place
from .terms import Fires, Term, Var


@dataclass(frozen=True)
class Action:
    """An action of the environment or of an algorithm.

    Args:
        name: the name.
        parameters: objects, sets of objects and values that are chosen freely.
        when: the guard, conjunct by conjunct, over the state before.
        fires: the firings that begin the step; rules add others.
        says: one plain sentence for counterexamples and tables; ``{p}`` stands for parameter p.
        line: of the document.
        crash: whether it is the crash of the system or a part of it.
        fact: its source if not the document: a section of the facts, or a file of the implementation.
    """

    name: str
    parameters: Sequence[Var]
    when: Sequence[Term]
    fires: Sequence[Fires]
    says: str
    line: int | None = None
    crash: bool = False
    fact: str = ""
    place: Place = field(default_factory=calling_place, compare=False, repr=False)

    @property
    def sentence(self) -> str:
        """The action in one sentence about its parameters."""
        return self.says.format(**{v.name: v.name for v in self.parameters})


@dataclass(frozen=True)
class Rule:
    """A trigger rule: ``on`` and ``when`` together cause ``fires``.

    All variables that are not parameters of the action are universally quantified. Conditions read the state before the
    step. They may require that an event fires, or does not fire, as long as the trigger graph has no cycle.

    Args:
        name: the name.
        on: an action, or an event of an object.
        when: the conditions.
        fires: one firing.
        line: of the document.
        fact: its source if not the document, as of an action.
    """

    name: str
    on: Action | Fires
    when: Sequence[Term]
    fires: Fires
    line: int | None = None
    fact: str = ""
    place: Place = field(default_factory=calling_place, compare=False, repr=False)
