"""The slice of a model that each property needs: the history attributes that it reads, directly or not.

No guard, no rule and no update of another kind of attribute reads a history attribute: ``Context.history`` in
:mod:`schedproof.model.lang.infer` refuses it. So enabledness, firings, and all other attributes after a step are functions of
the state without history. A slice is a closed set of history attributes: with an attribute, it contains those that its
updates read. So each attribute of a slice after a step is a function of the slice's state.

Exploring a slice instead of all history is therefore sound. Dropping the other attributes is a bisimulation: each step of one
graph is a step of the other, by the same choice, between states that agree on the kept attributes. Such states satisfy the
same formulas over the kept attributes. Enabled and taken choices agree, so fairness agrees. Runs have the same lengths, so
shortest runs do. Renamings of objects change kept attributes independently of dropped ones, so symmetry stays sound.

One case remains: an update of history can make a step ill-formed, if it reads an attribute of NONE or leaves its range.
Attributes with such updates are *fragile*, and every slice contains them. So a step is ill-formed in every slice or in none.

Only the slice without any history may omit fragile attributes. It checks the properties that read no history, and its steps
are the same whether or not history can be written.

A property that reads history at one point needs no slice: see :mod:`schedproof.proofs.exploration.pointwise`. It is checked on
the graph without history, if that is made, or if the slice has many states.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from schedproof.model.lang import (
    AlwaysCanReach,
    DeadlockFree,
    Integer,
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
from schedproof.proofs.exploration.pointwise import point_of
from schedproof.proofs.exploration.safety import conditions_of

Field = tuple[str, str]
"""The names of a sort and of one of its attributes."""

Slice = frozenset[Field]
"""The history attributes that are kept."""

NO_HISTORY: Slice = frozenset()


class Slices:
    """The slices that a model's properties need.

    Attributes:
        fragile: the smallest slice with all attributes whose updates may be ill-formed.
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
        """The slice on which to check a property; ``NO_HISTORY`` if it reads none."""
        read = {field for formula in formulas(prop) for field in self._read(formula)}
        return self._closed(read) | self.fragile if read else NO_HISTORY

    def is_pointwise(self, prop: Property) -> bool:
        """Whether each of the property's conditions reads history at one point: of one attribute, which no history changes."""
        model = self._instance.model
        points = [point_of(model, condition) for condition in conditions_of(model, prop)]
        return (
            bool(points)
            and not self.fragile
            and all(
                point is not None and not self._updates[point.field] and point.field not in model.bounded
                for point in points
            )
        )

    def instance(self, kept: Slice) -> Instance:
        """The instance, reduced to the history attributes of a slice."""
        history = None if kept == self._history else kept
        return replace(self._instance, with_history=bool(kept), history=history)

    def _read(self, term: t.Term, me: Owner = NOBODY) -> set[Field]:
        return self._history & set(reads(self._instance, term, me))

    def _closed(self, fields: Iterable[Field]) -> Slice:
        """``fields`` with all attributes that their updates read, transitively."""
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
    """Whether an update gives a value of its attribute's type in every state, for any event parameters.

    True if it reads only its own object and variables' objects, and a number is a constant or an attribute within the range;
    of an integer, if no sum can be below the lowest.
    """
    if any(isinstance(p, t.Attr | t.Is | t.Fires) and not isinstance(p.of, t.Var | t.Me) for p in t.subterms(value)):
        return False
    attribute = instance.model.machine(field[0]).attribute(field[1])
    assert attribute is not None
    if not isinstance(attribute.type, IntRange | Integer):
        return True
    if isinstance(attribute.type, Integer):
        least = _least(instance, value, me)
        return attribute.type.low is None or (least is not None and least in attribute.type)
    kind: Type | None = None
    if isinstance(value, t.Constant):
        kind = IntRange(int(value.value), int(value.value))
    elif isinstance(value, t.Attr):
        kind = type_of_term(instance, value, {}, me)
    return isinstance(kind, IntRange) and attribute.type.low <= kind.low and kind.high <= attribute.type.high


def _least(instance: Instance, value: t.Term, me: Owner) -> int | None:
    """A number that no value of the term is below, by the types of what it reads; None if none is known."""
    match value:
        case t.Constant(int(number)):
            return number
        case t.Sum(left, right, 1):
            parts = [_least(instance, part, me) for part in (left, right)]
            return None if None in parts else sum(part for part in parts if part is not None)
    kind = type_of_term(instance, value, {}, me)
    return kind.low if isinstance(kind, IntRange | Integer) else None
