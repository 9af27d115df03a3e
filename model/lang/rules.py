"""Actions of the environment, and the rules that carry an event from object to object."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from string import Formatter

from .arguments import declaration
from .errors import ModelError, Place, calling_place
from .terms import Fires, Term, Var
from .wording import show_term


@dataclass(frozen=True)
class Parts:
    """What an effect adds to an action.

    Args:
        parameters: parameters that the action does not have yet.
        when: conditions.
        fires: the firing.
    """

    parameters: Sequence[Var]
    when: Sequence[Term]
    fires: Fires


@dataclass(frozen=True, eq=False)
class Effect(Fires):
    """A firing that brings its own parameters and conditions, such as sending a message."""

    def parts(self, action: Action, before: Sequence[tuple[Effect, Parts]]) -> Parts:
        """What it adds to an action.

        Args:
            action: the action, with what was added so far.
            before: the effects of the action before this one, and what they have added.

        Raises:
            ModelError: the action cannot have this effect.
        """
        raise NotImplementedError

    def parts_of_rule(self, rule: Rule) -> Parts:
        """What it adds to a rule; most effects are of actions only.

        Raises:
            ModelError: a rule cannot have this effect.
        """
        problem = f"{self.event} of {show_term(self.of)} is an effect of actions: it chooses an object"
        remedy = "write it among the firings of an action; rules send through CoalescingChannels"
        raise ModelError(f"rule {rule.name}", self.place, problem, remedy, name=self.event)


@declaration
@dataclass(frozen=True)
class Action:
    """An action of the environment or of an algorithm.

    Args:
        name: the name.
        parameters: objects, sets of objects and values that are chosen freely.
        when: the guard, conjunct by conjunct, over the state before.
        fires: the firings that begin the step; rules add others. The parameters and conditions of an effect are added to the action's.
        says: one plain sentence for counterexamples and tables; ``{p}`` stands for parameter p, and ``{p.field}`` for a field of it
            before the step.
        line: of the document.
        crash: whether it is the crash of the system or a part of it.
        fact: its source if not the document: a section of the facts, or a file of the implementation.
        by: who takes it, in sequence diagrams: a parameter, or the name of a component that is no object; "" is the
            environment. It has no meaning for the model.
    """

    name: str
    parameters: Sequence[Var]
    when: Sequence[Term]
    fires: Sequence[Fires]
    says: str
    line: int | None = None
    crash: bool = False
    fact: str = ""
    by: Var | str = field(default="", compare=False)
    place: Place = field(default_factory=calling_place, compare=False, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.fires, list | tuple) and any(isinstance(each, Effect) for each in self.fires):
            self._write_out()

    def _write_out(self) -> None:
        """Adds the parameters and conditions of its effects."""
        before: list[tuple[Effect, Parts]] = []
        fires: list[Fires] = []
        for each in self.fires:
            if isinstance(each, Effect):
                parts = each.parts(self, before)
                before.append((each, parts))
                object.__setattr__(self, "parameters", [*self.parameters, *parts.parameters])
                object.__setattr__(self, "when", [*self.when, *parts.when])
            fires.append(parts.fires if isinstance(each, Effect) else each)
        object.__setattr__(self, "fires", fires)

    @property
    def sentence(self) -> str:
        """The action in one sentence about its parameters."""
        return filled(self.says, lambda name: name)


def placeholders(says: str) -> list[str]:
    """The placeholders of a sentence, without braces: ``p`` and ``p.field``.

    Raises:
        ValueError: a brace is not closed.
    """
    return [name for _, name, _, _ in Formatter().parse(says) if name is not None]


def filled(says: str, value: Callable[[str], str]) -> str:
    """A sentence with ``value(placeholder)`` in place of each placeholder."""
    parts = Formatter().parse(says)
    return "".join(literal + (value(name) if name is not None else "") for literal, name, _, _ in parts)


@declaration
@dataclass(frozen=True)
class Rule:
    """A trigger rule: ``on`` and ``when`` together cause ``fires``.

    All variables that are not parameters of the action are universally quantified. Conditions read the state before the
    step. They may require that an event fires, or does not fire, as long as the trigger graph has no cycle.

    Args:
        name: the name.
        on: an action, or an event of an object.
        when: the conditions.
        fires: one firing. The conditions of an effect are added to the rule's.
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

    def __post_init__(self) -> None:
        if isinstance(self.fires, Effect):
            parts = self.fires.parts_of_rule(self)
            object.__setattr__(self, "when", [*self.when, *parts.when])
            object.__setattr__(self, "fires", parts.fires)
