"""How far explorations follow integers: the bound of each attribute of type ``Int`` or ``Nat``."""

from __future__ import annotations

from collections.abc import Mapping

from schedproof.model.errors import choose_from, shown

from .errors import ModelError
from .machine import Attribute
from .model import Model
from .types import integer_of


def limits(attribute: Attribute, bound: int | tuple[int, int]) -> tuple[int, int]:
    """The lowest and the highest value of an integer attribute within its bound. A ``Nat`` has none below 0."""
    integer = integer_of(attribute.type)
    assert integer is not None
    least = integer.low
    if isinstance(bound, tuple):
        return (bound[0] if least is None else max(least, bound[0])), bound[1]
    return (-bound if least is None else least), bound


def problem_of(model: Model, key: tuple[str, str], value: object) -> tuple[str, str] | None:
    """What is wrong with the bound of one attribute, and what to write instead; None if nothing is."""
    name, attribute = f"{key[0]}.{key[1]}", model.integers.get(key)
    if attribute is None:
        names = [f"{sort}.{other}" for sort, other in model.integers]
        remedy = choose_from(name, names) if names else "leave it out"
        return f"{name} is not an attribute of type Int or Nat that changes", remedy
    pair = value if isinstance(value, tuple) else (0, value)
    if len(pair) != 2 or not all(type(number) is int for number in pair):
        return f"the bound of {name} is {shown(value)}", "write its highest value, or (lowest, highest)"
    low, high = limits(attribute, value)  # type: ignore[arg-type]
    initial = attribute.initial if attribute.initial is not None else getattr(integer_of(attribute.type), "low", 0) or 0
    if not isinstance(initial, int) or not low <= initial <= high:
        return f"{name} starts at {initial}, outside of its bound {low}..{high}", f"give a bound with {initial}"
    return None


def check_bound(model: Model) -> None:
    """Refuses a bound of something that has none, and one without the initial value.

    Raises:
        ModelError: names the attribute, and what to write instead.
    """
    element, example = f"variant {model.variant}", 'write for example bound={("Node", "term"): 3}'
    if not isinstance(model.bound, Mapping):
        raise ModelError(element, model.place, f"bound is {shown(model.bound)}", example, name="bound")
    for key, value in model.bound.items():
        if not (isinstance(key, tuple) and len(key) == 2):
            raise ModelError(element, model.place, f"bound has the key {shown(key)}", example, name="bound")
        if (wrong := problem_of(model, key, value)) is not None:
            raise ModelError(element, model.place, *wrong, name="bound")
