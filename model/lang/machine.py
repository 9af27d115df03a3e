"""Machines: the states, attributes and transition table of one sort."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from .errors import Place, here
from .terms import Term, Value, lift
from .types import Sort, Type


class Durability(enum.Enum):
    """What a crash does to a state."""

    PERSISTENT = "persistent"
    """Survives: a recovery point."""
    VOLATILE = "volatile"
    """Is lost: a recovery row of the table says where the object goes."""
    DERIVED = "derived"
    """Not written down itself, but the same after recovery, because it follows from what is."""


@dataclass(frozen=True)
class State:
    """One state of a machine.

    ``unreachable`` admits a state that no row of the table leads to (otherwise an error). ``begins`` names a
    rigid attribute: the objects of which it is true begin here, and not in the first state. ``about`` defines a
    name that does not explain itself, in one clause; counterexamples print it.
    """

    name: str
    durability: Durability = Durability.PERSISTENT
    line: int | None = None
    unreachable: bool = False
    begins: str = ""
    about: str = ""
    place: Place = field(default_factory=here, compare=False, repr=False)


@dataclass(frozen=True)
class Attribute:
    """A variable of each object of a sort.

    Args:
        rigid: never changes (configuration, priorities, viability); axioms may constrain it.
        durable: survives a crash, and recovery may read it.
        history: written by the steps but read by no guard and no rule; it records what happened,
            so that properties can speak of it, and does not count as state of the system.
        initial: the first value; by default none, the empty set, false, the lowest or the first.
        about: what a name means that does not explain itself, in one clause; of a rigid Bool, what is true of the
            object. Counterexamples print it.
    """

    name: str
    type: Type
    rigid: bool = False
    durable: bool = False
    history: bool = False
    initial: Value | None = None
    line: int | None = None
    about: str = ""
    place: Place = field(default_factory=here, compare=False, repr=False)


@dataclass(frozen=True)
class Event:
    """The parameters of an event; an event without parameters needs no declaration."""

    name: str
    parameters: Mapping[str, Type]
    place: Place = field(default_factory=here, compare=False, repr=False)


@dataclass(frozen=True)
class Machine:
    """The declared part of a sort's machine: its states (the first is initial, but see ``State.begins``), attributes, events.

    The transition table is the model's, so that variants can differ in it row by row.

    Args:
        introduced: whether its objects stand for themselves. Not so of what goes with another object (a copy of it),
            or is named where it moves (a message).
    """

    sort: Sort
    states: Sequence[State] = ()
    attributes: Sequence[Attribute] = ()
    events: Sequence[Event] = ()
    line: int | None = None
    introduced: bool = True
    place: Place = field(default_factory=here, compare=False, repr=False)

    def state(self, name: str) -> State | None:
        """The state of that name, if there is one."""
        return self._states.get(name)

    def attribute(self, name: str) -> Attribute | None:
        """The attribute of that name, if there is one."""
        return self._attributes.get(name)

    def parameters(self, event: str) -> Mapping[str, Type]:
        """The declared parameters of ``event``."""
        return self._parameters.get(event, {})

    # Asked again and again: of names that are there twice, the first one counts.

    @cached_property
    def _states(self) -> Mapping[str, State]:
        return {s.name: s for s in reversed(self.states)}

    @cached_property
    def _attributes(self) -> Mapping[str, Attribute]:
        return {a.name: a for a in reversed(self.attributes)}

    @cached_property
    def _parameters(self) -> Mapping[str, Mapping[str, Type]]:
        return {e.name: e.parameters for e in reversed(self.events)}


@dataclass(frozen=True, init=False)
class Row:
    """One row of a transition table: ``event`` takes an object from ``source`` to ``target``.

    ``sets`` gives new values to the object's own attributes, computed from the state before and
    from the event's parameters; attributes not named keep their values. ``fact`` says where a row is
    from that the document has not.
    """

    sort: Sort
    event: str
    source: str
    target: str
    sets: tuple[tuple[str, Term], ...]
    line: int | None
    fact: str
    place: Place = field(compare=False, repr=False)

    def __init__(
        self,
        sort: Sort,
        event: str,
        source: str,
        target: str,
        *,
        line: int | None = None,
        fact: str = "",
        **sets: Term | Value,
    ) -> None:
        values = {
            "sort": sort,
            "event": event,
            "source": source,
            "target": target,
            "sets": tuple((name, lift(value)) for name, value in sets.items()),
            "line": line,
            "fact": fact,
            "place": here(),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def name(self) -> str:
        """``Sort.event from source``: unique in a table."""
        return f"{self.sort.name}.{self.event} from {self.source}"
