"""Which history attributes each property needs: its slice of the model.

A history attribute is read by no guard, no rule and no update of another kind of attribute (``Context.history`` in
:mod:`schedproof.model.lang.infer` refuses it). What is enabled, what fires, and every other attribute after a step are
therefore functions of the state without history. A slice is a set of history attributes that is closed: with an attribute it
has those that the attribute's updates read. So each attribute of a slice after a step is a function of the slice's state.

Let a run be explored in a slice instead of with all history. To leave the other attributes out of a state is then a
bisimulation: each step of the one is a step of the other, by the same choice, from and to states that are the same but for
what is left out. Such states satisfy the same formulas over what is kept; enabled and taken choices are the same, so
fairness is; runs have the same lengths, so shortest ones do. Renamings of objects change what is kept independently of what is
left out, so symmetry is as sound as before. A finite part is left: a step may be ill-formed because of an update of history,
which reads an attribute of no object or leaves its range. Attributes of such updates are *fragile*, and every slice has them.
So a step is ill-formed in every slice or in none.

The slice without any history is the only one that need not have fragile attributes: properties that read no history are
checked there, and what its steps do, they do whether or not history could be written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from schedproof.model.lang import (
    AlwaysCanReach,
    DeadlockFree,
    IntRange,
    Invariant,
    LeadsTo,
    Property,
    Recovery,
    StepInvariant,
)
from schedproof.model.lang import terms as t
from schedproof.model.lang.types import Type
from schedproof.model.semantics import Instance
from schedproof.model.semantics.evaluate import NOBODY, Owner, reads, type_of_term

Field = tuple[str, str]
"""A sort and an attribute."""

Slice = frozenset[Field]
"""The history attributes that are kept."""

NO_HISTORY: Slice = frozenset()


class Slices:
    """The slices of a model that its properties need.

    Attributes:
        fragile: the smallest slice that has all attributes whose updates may be ill-formed.
    """

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._history = {(m.sort.name, a.name) for m in instance.model.machines for a in m.attributes if a.history}
        self._updates: dict[Field, set[Field]] = {field: set() for field in self._history}
        fragile = set()
        for row in instance.model.rows:
            me = Owner(row.sort.name, row.event)
            for name, value in row.sets:
                if (field := (row.sort.name, name)) in self._history:
                    self._updates[field] |= self._read(value, me)
                    if not _never_fails(instance, field, value, me):
                        fragile.add(field)
        self.fragile = self._closed(fragile)

    def of(self, prop: Property) -> Slice:
        """The slice that a property is checked on; without history if it reads none."""
        read = {field for formula in formulas(prop) for field in self._read(formula)}
        return self._closed(read) | self.fragile if read else NO_HISTORY

    def instance(self, kept: Slice) -> Instance:
        """The instance with the history attributes of a slice."""
        history = None if kept == self._history else kept
        return replace(self._instance, with_history=bool(kept), history=history)

    def _read(self, term: t.Term, me: Owner = NOBODY) -> set[Field]:
        return self._history & set(reads(self._instance, term, me))

    def _closed(self, fields: Iterable[Field]) -> Slice:
        """``fields`` with all that their updates read, and the updates of these, and so on."""
        closed: set[Field] = set()
        work = list(fields)
        while work:
            if (field := work.pop()) not in closed:
                closed.add(field)
                work += self._updates[field]
        return frozenset(closed)


def formulas(prop: Property) -> Iterator[t.Term]:
    """The formulas of a property."""
    match prop:
        case Invariant() | StepInvariant():
            parts = [prop.given, prop.then]
        case AlwaysCanReach() | LeadsTo():
            parts = [prop.given, prop.goal]
        case DeadlockFree(ended=ended):
            parts = [ended]
        case Recovery():
            parts = [part for r in prop.restores for part in (r.what, r.durable)]
        case _:
            parts = []
    return (part for part in parts if part is not None)


def _never_fails(instance: Instance, field: Field, value: t.Term, me: Owner) -> bool:
    """An update gives a value of its attribute's type in every state, whatever the event's parameters are.

    It reads variables' objects and its own only, and a number is a constant or another attribute's that is in the range.
    """
    if any(isinstance(p, t.Attr | t.Is | t.Fires) and not isinstance(p.of, t.Var | t.Me) for p in t.subterms(value)):
        return False
    attribute = instance.model.machine(field[0]).attribute(field[1])
    assert attribute is not None
    if not isinstance(attribute.type, IntRange):
        return True
    kind: Type | None = None
    if isinstance(value, t.Constant):
        kind = IntRange(int(value.value), int(value.value))
    elif isinstance(value, t.Attr):
        kind = type_of_term(instance, value, {}, me)
    return isinstance(kind, IntRange) and attribute.type.low <= kind.low and kind.high <= attribute.type.high
