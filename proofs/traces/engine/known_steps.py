"""A cache of what steps write: of a step with the same parameters, and of one in which other objects play the same part."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from schedproof.model.lang.terms import Quantified, Term, subterms
from schedproof.model.lang.types import Ref, mentions
from schedproof.model.semantics import Choice, IllFormed, Instance, Moment, State, Undefined
from schedproof.model.semantics.step import Writes
from schedproof.model.semantics.traced import Case, OtherObject, RememberedWrites, integer_slots

from .steps import Steps

MOST_KNOWN = 200_000
"""The limit for cached cases. Beyond it all are dropped, so that an endless trace takes bounded memory."""


class KnownSteps:
    """A cache of what steps write. It is independent of names; the rigid attributes are in the state.

    Attributes:
        asked: how many steps had to be computed.
    """

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._integers = integer_slots(steps.stepper.instance)
        self._columns = _columns(steps.stepper.instance)
        self._exchangeable: dict[str, Sequence[tuple[int, str]]] = {}
        self._known: dict[tuple[str, tuple[int, ...]], tuple[RememberedWrites, Case]] = {}
        self._shared: dict[tuple[str, tuple[int, ...]], RememberedWrites] = {}
        self.asked = 0

    def writes(self, action: str, chosen: tuple[int, ...], state: Sequence[int]) -> Writes | None:
        """The slots that the action writes with these parameters, with their values; None if it is not enabled."""
        remembered, case = self._known.get((action, chosen)) or self._remember(action, chosen)
        try:
            return remembered(state, case)
        except OtherObject:
            self._exchangeable[action] = ()
            self._known = {key: known for key, known in self._known.items() if key[0] != action}
            self._shared = {key: shared for key, shared in self._shared.items() if key[0] != action}
            return self.writes(action, chosen, state)

    def _remember(self, action: str, chosen: tuple[int, ...]) -> tuple[RememberedWrites, Case]:
        if self.asked + len(self._known) > MOST_KNOWN:
            self._known.clear()
            self._shared.clear()
            self.asked = 0
        if action not in self._exchangeable:
            self._exchangeable[action] = self._exchangeable_in(action)
        alike, offsets, places = list(chosen), [0], dict[int, tuple[int, int]]()
        distinct = dict[tuple[str, int], int]()
        for place, sort in self._exchangeable[action]:
            number = chosen[place]
            alike[place] = distinct.setdefault((sort, number), len(distinct))
            offsets.append(number)
            places |= {start + number: (start, len(offsets) - 1) for start in self._columns[sort]}
        names = [v.name for v in self._steps.instance.model.action(action).parameters]
        choice = Choice(action, tuple(zip(names, chosen, strict=True)))
        key = action, tuple(alike)
        if key not in self._shared:
            self._shared[key] = RememberedWrites(self._integers, self._slots(action))
        known = self._known[action, chosen] = (
            self._shared[key],
            Case(partial(self._find, choice), tuple(offsets), places),
        )
        return known

    def _slots(self, action: str) -> frozenset[int]:
        """The slots of all objects of the exchangeable sorts."""
        sizes = self._steps.instance.sizes
        return frozenset(
            start + number
            for sort in {sort for _, sort in self._exchangeable[action]}
            for start in self._columns[sort]
            for number in range(sizes[sort])
        )

    def _find(self, choice: Choice, state: State) -> Writes | None:
        self.asked += 1
        steps = self._steps
        moment = Moment(state, dict(choice.parameters))
        try:
            if not all(conjunct(moment) for conjunct in steps.guard(steps.instance.model.action(choice.action))):
                return None
            return steps.stepper.effect(choice, state)[1]
        except (IllFormed, Undefined):
            return None

    def _exchangeable_in(self, action: str) -> Sequence[tuple[int, str]]:
        """The places of parameters whose objects may be exchanged, with their sorts.

        No value may name such an object. And a quantifier over the sort stops at the first object that decides it, before
        another one of which NONE would be read.
        """
        model = self._steps.instance.model
        chosen = model.action(action)
        terms: list[Term] = [*chosen.when, *chosen.fires, *(value for row in model.rows for _, value in row.sets)]
        terms += [term for rule in model.rules for term in (*rule.when, rule.fires)]
        fixed = {
            v.type.sort.name
            for term in terms
            for part in subterms(term)
            if isinstance(part, Quantified)
            for v in part.variables
            if isinstance(v.type, Ref)
        }
        kinds = [v.type for v in chosen.parameters]
        sorts = {
            sort for sort in self._columns if all(isinstance(kind, Ref) or not mentions(kind, sort) for kind in kinds)
        }
        return [
            (place, kind.sort.name)
            for place, kind in enumerate(kinds)
            if isinstance(kind, Ref) and kind.sort.name in sorts - fixed
        ]


def _columns(instance: Instance) -> dict[str, list[int]]:
    """By sort whose objects no value names, the slots where the values of its fields begin."""
    model = instance.model
    kinds = [attribute.type for machine in model.machines for attribute in machine.attributes]
    columns = {}
    for machine in model.machines:
        sort = machine.sort.name
        if not any(mentions(kind, sort) for kind in kinds):
            fields = [*([""] if machine.states else []), *(a.name for a in instance.attributes(sort))]
            fields += [name for owner, name in model.rigid_attributes if owner == sort]
            columns[sort] = [instance.slot(sort, field) for field in fields]
    return columns
