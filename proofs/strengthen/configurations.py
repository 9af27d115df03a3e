"""Random values of the rigid attributes that satisfy the axioms.

Values that are drawn at once seldom do: each run has a client of its own, or a queue is in the partition of its parent. So while objects
violate an axiom, one value that the axiom reads is drawn again. The new one stays if no more choices of objects violate axioms: the search
by min-conflicts (Minton and others, *Minimizing conflicts*, Artificial Intelligence 58, 1992). An axiom that stays violated has too many
objects.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product

from schedproof.model.lang import Ref, Rigid, Sort
from schedproof.model.lang import terms as t
from schedproof.model.semantics import Instance
from schedproof.model.semantics.evaluate import Eval, Moment, Undefined, compile_term, reads
from schedproof.model.semantics.instance import NO_OBJECT, domain_size

MOVES = 1000
"""The most values that are drawn again before an object is left out."""

Slots = Mapping[tuple[str, str], Sequence["Slot"]]


@dataclass(frozen=True)
class Slot:
    """Where a state has the value of a rigid attribute of an object.

    Attributes:
        domain: the values, encoded.
        optional: there may also be no object.
    """

    at: int
    domain: Sequence[int]
    optional: bool

    def drawn(self, chance: random.Random) -> int:
        """A random value."""
        number = chance.randrange(NO_OBJECT if self.optional else 0, domain_size(self.domain))
        return number if number == NO_OBJECT else self.domain[number]


@dataclass(frozen=True)
class Condition:
    """A conjunct of an axiom, for each choice of objects.

    Attributes:
        sorts: the sorts of its variables.
        choices: the objects by variable.
        slots: the slots that it may read, without repetition.
    """

    holds: Eval
    sorts: Sequence[Sort]
    choices: Sequence[Mapping[str, int]]
    slots: Sequence[Slot]

    def violations(self, state: Sequence[int]) -> int:
        """The number of choices of objects of which it is not true."""
        packed = tuple(state)
        return sum(not self._true(Moment(packed, dict(choice))) for choice in self.choices)

    def _true(self, moment: Moment) -> bool:
        try:
            return bool(self.holds(moment))
        except Undefined:  # a value is missing that another axiom asks for
            return False


def draw_configuration(instance: Instance, chance: random.Random, *, fewer: bool = True) -> Instance | None:
    """The instance with random values that satisfy the axioms; None if the search finds none.

    Args:
        instance: its states have rigid attributes.
        fewer: leave objects out where there are too many.
    """
    while True:
        slots = _slots(instance)
        state = list(instance.initial())
        for slot in chain.from_iterable(slots.values()):
            state[slot.at] = slot.drawn(chance)
        left = _settle(state, list(_conditions(instance, slots)), chance)
        if left is None:
            return replace(instance, rigid=_rigid(instance, slots, state))
        sort = next((each.name for each in left.sorts if not each.single and instance.sizes[each.name]), None)
        if sort is None or not fewer:
            return None
        instance = replace(instance, sizes={**instance.sizes, sort: instance.sizes[sort] - 1})


def _settle(state: list[int], conditions: Sequence[Condition], chance: random.Random) -> Condition | None:
    """Changes values until all conditions hold; returns one that is left."""
    violated = [each.violations(state) for each in conditions]
    reading: dict[int, list[int]] = {}
    for n, each in enumerate(conditions):
        for slot in each.slots:
            reading.setdefault(slot.at, []).append(n)
    for _ in range(MOVES):
        broken = [n for n, count in enumerate(violated) if count]
        if not broken:
            return None
        condition = conditions[chance.choice(broken)]
        if not condition.slots:
            return condition
        slot = chance.choice(condition.slots)
        before = state[slot.at]
        state[slot.at] = slot.drawn(chance)
        after = {n: conditions[n].violations(state) for n in reading[slot.at]}
        if sum(after.values()) <= sum(violated[n] for n in after):
            for n, count in after.items():
                violated[n] = count
        else:
            state[slot.at] = before
    return next((conditions[n] for n, count in enumerate(violated) if count), None)


def _conditions(instance: Instance, slots: Slots) -> Iterator[Condition]:
    """The axioms: those about all objects as conditions of each choice of objects."""
    for axiom in chain.from_iterable(map(t.conjuncts, instance.model.premises)):
        variables: tuple[t.Var, ...] = ()
        body = axiom
        if isinstance(axiom, t.Quantified) and axiom.universal:
            variables, body = axiom.variables, axiom.body
        sorts = [v.type.sort for v in variables if isinstance(v.type, Ref)]
        if len(sorts) < len(variables):
            sorts, variables, body = [], (), axiom
        names = [v.name for v in variables]
        objects = product(*(range(instance.sizes[sort.name]) for sort in sorts))
        choices = [dict(zip(names, choice, strict=True)) for choice in objects]
        for part in t.conjuncts(body):
            read = dict.fromkeys(reads(instance, part))
            yield Condition(
                compile_term(instance, part, {v.name: v for v in variables}),
                sorts,
                choices,
                [slot for key in read for slot in slots.get(key, ())],
            )


def _slots(instance: Instance) -> Slots:
    """The slots of the rigid attributes, without those whose type has too many values: they keep the initial one."""
    result = {}
    for (sort, name), attribute in instance.model.rigid_attributes.items():
        try:
            domain = instance.domain(attribute.type)
        except TypeError:
            continue
        first, optional = instance.slot(sort, name), isinstance(attribute.type, Ref)
        result[sort, name] = [Slot(first + n, domain, optional) for n in range(instance.sizes[sort])]
    return result


def _rigid(instance: Instance, slots: Slots, state: Sequence[int]) -> Rigid:
    """The values of a state as a configuration writes them."""
    types = {key: attribute.type for key, attribute in instance.model.rigid_attributes.items()}
    return {key: [instance.decoded(types[key], state[each.at]) for each in some] for key, some in slots.items()}
