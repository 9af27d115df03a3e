"""The bounds of integers in an exploration: which states it has, and how its verdicts say so.

An attribute of type ``Int`` or ``Nat`` has no bound in the model's meaning. An exploration takes no step to a state beyond
``Model.bound``: such a step is *cut*, and the state before it is on the *frontier*. What is not explored may mend or violate
anything, so from a frontier state nothing follows from the absence of a step.
"""

from __future__ import annotations

from dataclasses import replace

from schedproof.model.lang.bounds import limits
from schedproof.model.lang.check import checked
from schedproof.model.lang.errors import ModelError
from schedproof.model.lang.model import Bound, Model
from schedproof.model.lang.types import Function, integer_of

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
    """The bounds of an instance's integers.

    Attributes:
        text: the bounds in words, such as ``term <= 3``; empty if the instance has no integers.

    Raises:
        ModelError: an attribute has no bound.
    """

    def __init__(self, instance: Instance) -> None:
        model, kept = instance.model, []
        for sort, name in model.integers:
            if any(a.name == name for a in instance.attributes(sort)):
                kept.append((sort, name, *range_of(model, sort, name)))
        self._slots, self._functions = [], []
        for sort, name, low, high in kept:
            kind, start = model.integers[sort, name].type, instance.slot(sort, name)
            slots = range(start, start + instance.sizes[sort])
            if isinstance(kind, Function):
                self._functions += [(slot, instance.packing(kind), low, high) for slot in slots]
            else:
                self._slots += [(slot, low, high) for slot in slots]
        self.text = ", ".join(_text(model, sort, name, low, high) for sort, name, low, high in kept)

    def __bool__(self) -> bool:
        return bool(self._slots or self._functions)

    def has(self, state: State) -> bool:
        """Whether all integers of a state are within their bounds."""
        if not all(low <= state[slot] <= high for slot, low, high in self._slots):
            return False
        return all(
            low <= value <= high for slot, packing, low, high in self._functions for value in packing.all(state[slot])
        )


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
