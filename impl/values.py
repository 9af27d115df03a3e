"""Attribute values of running objects: names instead of numbers, and the values that one object can compute."""

from __future__ import annotations

from collections.abc import Container, Mapping

from schedproof.model.lang import (
    Attribute,
    BoolType,
    EnumType,
    Function,
    Integer,
    IntRange,
    Ref,
    Relation,
    SetOf,
    Term,
    Type,
)
from schedproof.model.lang import terms as t
from schedproof.model.lang.types import Sequence as SequenceType


class NeedsOthers(Exception):
    """A new value depends on other objects, so the object alone cannot compute it."""


def initial_value(attribute: Attribute) -> object:
    """The declared initial value; else none, the empty set, false, the lowest or the first."""
    match attribute.type:
        case Ref():
            return None
        case SetOf() | Relation():
            return frozenset()
        case Function():
            return {}
        case SequenceType():
            return ()
        case BoolType():
            return bool(attribute.initial)
        case IntRange(low, _):
            return low if attribute.initial is None else attribute.initial
        case Integer(low):
            return (low or 0) if attribute.initial is None else attribute.initial
        case EnumType(values):
            return values[0] if attribute.initial is None else attribute.initial


def checked(kind: Type, value: object, what: str) -> object:
    """``value`` if it is of type ``kind``; sets become frozensets.

    Raises:
        ValueError: it is not; the message begins with ``what``.
    """
    match kind:
        case Ref(sort):
            if value is None or isinstance(value, str):
                return value
            raise ValueError(f"{what}: {value!r} is not a name of a {sort}; give a name or None")
        case SetOf(sort):
            if isinstance(value, set | frozenset | list | tuple) and all(isinstance(v, str) for v in value):
                return frozenset(value)
            raise ValueError(f"{what}: {value!r} is not a set; give a set of names of {sort}")
        case Relation(sorts):
            if isinstance(value, set | frozenset | list | tuple) and all(
                isinstance(each, tuple) and len(each) == len(sorts) and all(isinstance(v, str) for v in each)
                for each in value
            ):
                return frozenset(value)
            listed = ", ".join(sort.name for sort in sorts)
            raise ValueError(f"{what}: {value!r} is not a relation; give a set of tuples of names ({listed})")
        case Function(sorts, to):
            if isinstance(value, Mapping) and all(_is_key(key, len(sorts)) for key in value):
                return {key: checked(to, each, what) for key, each in value.items()}
            listed = ", ".join(sort.name for sort in sorts)
            raise ValueError(f"{what}: {value!r} is not a function; give a dictionary from names ({listed}) to values")
        case SequenceType(of):
            if value == frozenset():  # EMPTY
                return ()
            if isinstance(value, list | tuple):
                return tuple([checked(of, item, what) for item in value])
            raise ValueError(f"{what}: {value!r} is not a sequence; give a list of its items")
        case BoolType():
            fits = isinstance(value, bool)
        case IntRange(low, high):
            fits = isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
        case Integer():
            fits = isinstance(value, int) and not isinstance(value, bool) and value in kind
        case EnumType(values):
            fits = value in values
    if not fits:
        raise ValueError(f"{what}: {value!r} is not a value of type {kind}; give one")
    return value


def _is_key(key: object, number: int) -> bool:
    """Whether a key is the name of an object, or a tuple of several names."""
    if number == 1:
        return isinstance(key, str)
    return isinstance(key, tuple) and len(key) == number and all(isinstance(name, str) for name in key)


def own_value(term: Term, me: str, values: Mapping[str, object], payload: Mapping[str, object]) -> object:
    """A row's new value, if the object ``me`` can compute it from its own ``values`` and ``payload``.

    Raises:
        NeedsOthers: the term refers to other objects, or to an attribute that the object does not keep.
        KeyError: a parameter is missing from ``payload``.
    """
    match term:
        case t.Given(name):
            return payload[name]
        case t.Me():
            return me
        case t.Nothing():
            return None
        case t.EmptySet():
            return frozenset()
        case t.Constant(value):
            return value
        case t.Attr(t.Me(), name) if name in values:
            return values[name]
        case t.Adjusted(base, element, present):
            base_value = own_value(base, me, values, payload)
            changed = own_value(element, me, values, payload)
            one = frozenset() if changed is None else frozenset({changed})
            assert isinstance(base_value, frozenset)
            return base_value | one if present else base_value - one
        case t.Tuple(parts):
            names = tuple([own_value(part, me, values, payload) for part in parts])
            return None if None in names else names
        case t.Sum(left, right, sign):
            a, b = own_value(left, me, values, payload), own_value(right, me, values, payload)
            assert isinstance(a, int) and isinstance(b, int)
            return a + sign * b
    raise NeedsOthers(f"its new value ({term.place}) depends on other objects")


def needs_others(term: Term, kept: Container[str]) -> bool:
    """True if :func:`own_value` cannot compute ``term`` for an object that keeps the attributes ``kept``."""
    match term:
        case t.Given() | t.Me() | t.Nothing() | t.EmptySet() | t.Constant():
            return False
        case t.Attr(t.Me(), name):
            return name not in kept
        case t.Adjusted() | t.Sum() | t.Tuple():
            return any(needs_others(part, kept) for part in t.children(term))
    return True
