"""How far explorations follow integers: the bound of each attribute of type ``Int`` or ``Nat``."""

from __future__ import annotations

from collections.abc import Mapping

from schedproof.model.errors import choose_from, shown

from .errors import ModelError
from .machine import Attribute
from .model import Bound, Model
from .types import Integer


def limits(attribute: Attribute, bound: int | tuple[int, int]) -> tuple[int, int]:
    """The lowest and the highest value of an integer attribute within its bound."""
    assert isinstance(attribute.type, Integer)
    if isinstance(bound, tuple):
        return bound
    return (-bound if attribute.type.low is None else attribute.type.low), bound


def check_bound(model: Model, bound: Bound) -> None:
    """Refuses a bound of something that has none, and one that its attribute does not start in.

    Raises:
        ModelError: names the attribute, and what to write instead.
    """
    element, example = f"variant {model.variant}", 'bound={("Node", "term"): 3}'
    if not isinstance(bound, Mapping):
        problem = f"bound is {shown(bound)}, not a dictionary"
        raise ModelError(element, model.place, problem, f"write for example {example}", name="bound")
    names = [f"{sort}.{name}" for sort, name in model.integers]
    for key, value in bound.items():
        if not (isinstance(key, tuple) and len(key) == 2):
            problem = f"bound has the key {shown(key)}"
            raise ModelError(element, model.place, problem, f"write for example {example}", name="bound")
        name = f"{key[0]}.{key[1]}"
        attribute = model.integers.get(key)
        if attribute is None:
            problem = f"bound names {name}, which is not an attribute of type Int or Nat that changes"
            raise ModelError(element, model.place, problem, choose_from(name, names), name="bound")
        pair = value if isinstance(value, tuple) else (0, value)
        if len(pair) != 2 or not all(type(number) is int for number in pair):
            problem = f"the bound of {name} is {shown(value)}"
            remedy = "write its highest value, or (lowest, highest)"
            raise ModelError(element, model.place, problem, remedy, name="bound")
        low, high = limits(attribute, value)
        initial = int(attribute.initial or attribute.type.low or 0)  # type: ignore[union-attr]
        if not low <= initial <= high:
            problem = f"{name} starts at {initial}, outside of its bound {low}..{high}"
            raise ModelError(element, model.place, problem, "give a bound that has the initial value", name="bound")
