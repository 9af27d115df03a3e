"""Machines: the states, attributes and transition table of one sort."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from schedproof.model.errors import shown

from .arguments import declaration
from .errors import ModelError, Place, calling_place
from .terms import Term, Value, lift
from .types import Sort, Type


class Durability(enum.Enum):
    """What a crash does to a state."""

    PERSISTENT = "persistent"
    """The state survives: a recovery point."""
    VOLATILE = "volatile"
    """The state is lost: a recovery row of the table gives the next one."""
    DERIVED = "derived"
    """The state is not written, but follows from written ones: it is the same after recovery."""


@declaration
@dataclass(frozen=True)
class State:
    """One state of a machine.

    Args:
        name: the name.
        durability: what a crash does to it.
        line: of the document.
        unreachable: admits a state that no row of the table leads to; otherwise such a state is an error.
        begins: names a rigid attribute. Objects for which it is true start here, not in the first state.
        about: defines, in one clause, a name that does not explain itself; counterexamples print it.
    """

    name: str
    durability: Durability = Durability.PERSISTENT
    line: int | None = None
    unreachable: bool = False
    begins: str = ""
    about: str = ""
    place: Place = field(default_factory=calling_place, compare=False, repr=False)


@declaration
@dataclass(frozen=True)
class Attribute:
    """A variable of each object of a sort.

    Args:
        name: the name.
        type: the type of its values.
        rigid: never changes (configuration, priorities, viability); axioms may constrain it.
        durable: survives a crash, and recovery may read it.
        derived: is not written, but follows from written ones: it is the same after recovery. A Recovery of the variant
            says how; else the variant is refused.
        history: written by steps but read by no guard and no rule. It records what happened, so that properties can
            refer to it, and does not count as state of the system.
        initial: the first value; by default none, the empty set, false, the lowest or the first.
        line: of the document.
        about: defines, in one clause, a name that does not explain itself; of a rigid Bool, what is true of the object.
            Counterexamples print it.
        assumed: of a rigid Bool: the value with which the environment does less than it may: nothing dies, no heartbeat is
            late. What can always be reached may need what it then does not do: see ``Model.assumes``.
    """

    name: str
    type: Type
    rigid: bool = False
    durable: bool = False
    derived: bool = False
    history: bool = False
    initial: Value | None = None
    line: int | None = None
    about: str = ""
    assumed: bool | None = None
    place: Place = field(default_factory=calling_place, compare=False, repr=False)


@declaration
@dataclass(frozen=True)
class Event:
    """The parameters of an event; an event without parameters needs no declaration.

    Args:
        name: the name.
        parameters: name -> type.
    """

    name: str
    parameters: Mapping[str, Type]
    place: Place = field(default_factory=calling_place, compare=False, repr=False)


@declaration
@dataclass(frozen=True)
class Machine:
    """The declared part of a sort's machine: its states, attributes and events.

    The first state is initial; see also ``State.begins``. The transition table belongs to the model, so that variants
    can differ in it row by row.

    Args:
        sort: the sort whose objects have these states and attributes.
        states: the states; none for a sort whose objects only have attributes.
        attributes: the attributes.
        events: the events that have parameters.
        line: of the document.
        introduced: whether counterexamples introduce its objects on their own. False for an object that goes with
            another (a copy of it), and for one that is named where it moves (a message).
        needs: of a machine of a library: the kind and the name of each action and rule without which it means something else.
    """

    sort: Sort
    states: Sequence[State] = ()
    attributes: Sequence[Attribute] = ()
    events: Sequence[Event] = ()
    line: int | None = None
    introduced: bool = True
    place: Place = field(default_factory=calling_place, compare=False, repr=False)
    needs: Sequence[tuple[str, str]] = field(default=(), compare=False, repr=False, kw_only=True)

    def state(self, name: str) -> State | None:
        """The state of that name, or None."""
        return self._states.get(name)

    def attribute(self, name: str) -> Attribute | None:
        """The attribute of that name, or None."""
        return self._attributes.get(name)

    def parameters(self, event: str) -> Mapping[str, Type]:
        """The declared parameters of ``event``."""
        return self._parameters.get(event, {})

    # Cached for speed. Of two declarations with one name the first counts.

    @cached_property
    def _states(self) -> Mapping[str, State]:
        return {s.name: s for s in reversed(self.states)}

    @cached_property
    def _attributes(self) -> Mapping[str, Attribute]:
        return {a.name: a for a in reversed(self.attributes)}

    @cached_property
    def _parameters(self) -> Mapping[str, Mapping[str, Type]]:
        return {e.name: e.parameters for e in reversed(self.events)}


@declaration
@dataclass(frozen=True, init=False)
class Row:
    """One row of a transition table: ``event`` takes an object from ``source`` to ``target``.

    Args:
        sort: the sort of the object.
        event: the name of the event.
        source: the state before.
        target: the state after.
        line: of the document.
        fact: the source of a row that the document does not have.
        sets: new values of the object's own attributes, computed from the state before and the event's parameters.
            Other attributes keep their values.

    Attributes:
        first: of ``sets``, the attributes that get their first values because a life begins or ends: see :mod:`.disposable`.
    """

    sort: Sort
    event: str
    source: str
    target: str
    sets: tuple[tuple[str, Term], ...]
    line: int | None
    fact: str
    place: Place = field(compare=False, repr=False)
    first: frozenset[str] = field(default=frozenset(), compare=False, repr=False)

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
        if not isinstance(sort, Sort):
            raise ModelError(
                "row", calling_place(), f"its sort is {shown(sort)}", "write the Sort itself, as in Row(Job, ...)"
            )
        for what, name in (("event", event), ("source", source), ("target", target)):
            if not isinstance(name, str):
                problem = f"its {what} is {shown(name)}, not one name"
                raise ModelError(f"row of {sort}", calling_place(), problem, f"write a row for each {what}")
        values = {
            "sort": sort,
            "event": event,
            "source": source,
            "target": target,
            "sets": tuple((name, lift(value)) for name, value in sets.items()),
            "line": line,
            "fact": fact,
            "first": frozenset(),
            "place": calling_place(),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def name(self) -> str:
        """``Sort.event from source``, which is unique in a table."""
        return f"{self.sort.name}.{self.event} from {self.source}"
