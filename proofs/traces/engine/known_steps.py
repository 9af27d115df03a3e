"""A cache of what steps write: of a step with the same parameters, and of one in which other objects play the same part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial

from schedproof.model.lang.terms import Quantified, Term, subterms
from schedproof.model.lang.types import Ref, mentions
from schedproof.model.semantics import Choice, IllFormed, Instance, Moment, State, Undefined
from schedproof.model.semantics.step import Writes
from schedproof.model.semantics.traced import Path, RememberedWrites, integer_slots, renamed

from .steps import Steps

MOST_KNOWN = 200_000
"""The limit for cached cases. Beyond it all are dropped, so that an endless trace takes bounded memory."""


class KnownSteps:
    """A cache of what steps write. It is independent of names; the rigid attributes are in the state.

    Attributes:
        learnt: how many cases it has learnt.
    """

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._integers = integer_slots(steps.stepper.instance)
        self._columns = _columns(steps.stepper.instance)
        self._exchangeable = cache(self._exchangeable_in)
        self._known: dict[tuple[str, tuple[int, ...]], RememberedWrites] = {}
        self.learnt = 0

    def writes(self, action: str, chosen: tuple[int, ...], state: Sequence[int]) -> Writes | None:
        """The slots that the action writes with these parameters, with their values; None if it is not enabled."""
        known = self._known.get((action, chosen))
        return (known or self._remember(action, chosen))(state)

    def _remember(self, action: str, chosen: tuple[int, ...]) -> RememberedWrites:
        if self.learnt > MOST_KNOWN:
            self._known.clear()
            self.learnt = 0
        first, slots = self._first(action, chosen)
        known: Callable[[Sequence[int]], Path | None] | None = None
        if slots:
            original = self._known.get((action, first)) or self._remember(action, first)
            known = partial(self._copied, original, slots, {to: slot for slot, to in slots.items()})
        names = [v.name for v in self._steps.instance.model.action(action).parameters]
        choice = Choice(action, tuple(zip(names, chosen, strict=True)))
        remembered = RememberedWrites(partial(self._find, choice), self._integers, known)
        self._known[action, chosen] = remembered
        return remembered

    def _find(self, choice: Choice, state: State) -> Writes | None:
        self.learnt += 1
        steps = self._steps
        moment = Moment(state, dict(choice.parameters))
        try:
            if not all(conjunct(moment) for conjunct in steps.guard(steps.instance.model.action(choice.action))):
                return None
            return steps.stepper.effect(choice, state)[1]
        except (IllFormed, Undefined):
            return None

    def _copied(
        self, original: RememberedWrites, slots: Mapping[int, int], back: Mapping[int, int], state: Sequence[int]
    ) -> Path | None:
        """The path of a step, from that of the step whose objects are others."""
        self.learnt += 1
        exchanged = list(state)
        for slot, to in slots.items():
            exchanged[to] = state[slot]
        path = original.path(exchanged)
        return renamed(path, back) if path is not None else None

    def _first(self, action: str, chosen: tuple[int, ...]) -> tuple[tuple[int, ...], Mapping[int, int]]:
        """The same parameters with the first objects of each exchangeable sort, and by slot the one it is exchanged for."""
        first, slots, by_sort = list(chosen), dict[int, int](), dict[str, dict[int, int]]()
        for place, sort in self._exchangeable(action):
            to = by_sort.setdefault(sort, {})
            first[place] = to.setdefault(chosen[place], len(to))
        for sort, to in by_sort.items():
            replaced = [number for number in range(len(to)) if number not in to]
            to |= zip(replaced, [number for number in to if number >= len(to)], strict=True)
            slots |= {start + a: start + b for start in self._columns[sort] for a, b in to.items() if a != b}
        return tuple(first), slots

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


def _columns(instance: Instance) -> dict[str, Sequence[int]]:
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
