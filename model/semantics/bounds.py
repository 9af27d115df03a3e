"""The bounds of an exploration: which states it has, and how its verdicts say so.

An attribute of type ``Int`` or ``Nat`` has no bound in the model's meaning. An exploration takes no step to a state beyond
``Model.bound``, nor to a sequence of more than ``at_most`` items: such a step is *cut*, and the state before it is on the *frontier*. What is not explored may mend or violate
anything, so from a frontier state nothing follows from the absence of a step. A step that leaves no object of a disposable
sort for the next life is cut in the same way.
"""

from __future__ import annotations

from dataclasses import replace

from schedproof.model.lang.bounds import limits
from schedproof.model.lang.check import checked
from schedproof.model.lang.disposable import created_at_once, spare
from schedproof.model.lang.errors import ModelError
from schedproof.model.lang.model import Bound, Model
from schedproof.model.lang.terms import Term
from schedproof.model.lang.types import Function, integer_of
from schedproof.model.lang.types import Sequence as SequenceType

from .evaluate import Moment, compile_term
from .instance import Instance, State


def range_of(model: Model, sort: str, attribute: str) -> tuple[int, int]:
    """The lowest and the highest value of an ``Int`` or ``Nat`` that an exploration has.

    Raises:
        ModelError: the model gives it no bound.
    """
    declared, name = model.integers[sort, attribute], f"{sort}.{attribute}"
    bound = model.bound.get((sort, attribute))
    if bound is None:
        raise ModelError(
            f"attribute {name}",
            declared.place,
            f"an exploration needs a bound of {declared.type}, and variant {model.variant} has none",
            f'write bound={{("{sort}", "{attribute}"): 3}} in the Model, or explore it with --bound {name}=3',
            name=attribute,
        )
    return limits(declared, bound)


class Bounds:
    """The bounds of an instance's integers, and of its numbers of objects of disposable sorts.

    Attributes:
        text: the bounds in words, such as ``term <= 3``; empty if the instance has none.

    Raises:
        ModelError: an attribute has no bound.
    """

    def __init__(self, instance: Instance) -> None:
        model, kept = instance.model, []
        for sort, name in model.integers:
            if any(a.name == name for a in instance.attributes(sort)):
                kept.append((sort, name, *range_of(model, sort, name)))
        self._slots, self._several = [], []
        for sort, name, low, high in kept:
            kind, start = model.integers[sort, name].type, instance.slot(sort, name)
            slots = range(start, start + instance.sizes[sort])
            if isinstance(kind, Function | SequenceType):
                packing = instance.packing(kind) if isinstance(kind, Function) else instance.items(kind)
                self._several += [(slot, packing.all, low, high) for slot in slots]
            else:
                self._slots += [(slot, low, high) for slot in slots]
        self._lengths = []
        lengths = []
        for machine in model.machines:
            sort = machine.sort.name
            for attribute in instance.attributes(sort):
                if isinstance(kind := attribute.type, SequenceType):
                    start, most = instance.slot(sort, attribute.name), kind.at_most * instance.items(kind).bits
                    self._lengths += [(slot, most) for slot in range(start, start + instance.sizes[sort])]
                    lengths.append(_length(model, sort, attribute.name, kind.at_most))
        pools = [sort for sort in model.sorts if sort.disposable]
        self.spare: list[Term] = [spare(model.machines, model.actions, sort) for sort in pools]
        """Of each disposable sort: the objects are there that the next action may create."""
        self._spare = [compile_term(instance, condition, {}) for condition in self.spare]
        texts = [_text(model, sort, name, low, high) for sort, name, low, high in kept]
        texts += lengths
        texts += [
            _at_a_time(sort.name, instance.sizes[sort.name] - created_at_once(model.actions, sort)) for sort in pools
        ]
        self.text = ", ".join(texts)

    def __bool__(self) -> bool:
        return bool(self._slots or self._several or self._lengths or self._spare)

    def has(self, state: State) -> bool:
        """Whether a state is within the bounds: all its integers, its lengths of sequences, and its numbers of objects of disposable sorts."""
        if not all(low <= state[slot] <= high for slot, low, high in self._slots):
            return False
        if any(state[slot] >> most for slot, most in self._lengths):
            return False
        values = (low <= value <= high for slot, every, low, high in self._several for value in every(state[slot]))
        return all(values) and all(condition(Moment(state)) for condition in self._spare)


def _at_a_time(sort: str, most: int) -> str:
    """A bound of a disposable sort in words: of the scope, those are kept that the next action may create."""
    return f"{most} object{'s' * (most != 1)} of {sort} at a time"


def _length(model: Model, sort: str, name: str, most: int) -> str:
    """The bound of a sequence's length in words."""
    alone = sum(a.name == name for m in model.machines for a in m.attributes if isinstance(a.type, SequenceType)) == 1
    return f"{most} item{'s' * (most != 1)} of {name if alone else f'{sort}.{name}'}"


def _text(model: Model, sort: str, name: str, low: int, high: int) -> str:
    """A bound in words. The name of the sort is left out if no other sort has an integer of that name."""
    alone = sum(other == name for _, other in model.integers) == 1
    who = name if alone else f"{sort}.{name}"
    kind = integer_of(model.integers[sort, name].type)
    return f"{who} <= {high}" if low == getattr(kind, "low", None) else f"{low} <= {who} <= {high}"


def bounds_of(instance: Instance) -> Bounds:
    """The bounds of ``instance``, made once.

    Raises:
        ModelError: an attribute has no bound.
    """
    cached: Bounds | None = vars(instance).get("_bounds")
    if cached is None:
        cached = Bounds(instance)
        object.__setattr__(instance, "_bounds", cached)
    return cached


def with_bound(model: Model, bound: Bound) -> Model:
    """``model`` with other bounds for explorations; those that are left out stay.

    Raises:
        ModelError: one is not a bound of an integer of the model.
    """
    return checked(replace(checked(model), bound={**model.bound, **bound})) if bound else model
