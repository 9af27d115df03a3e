"""The content of a model's element, as text: what a reviewer's mark is bound to.

The words for readers leave out brackets, sorts, and where a name comes from. Here nothing that an element means is left out, and what it
does not mean is: places in files, sentences for readers. A field that has its default is left out too, so that a new field of the
language changes no mark. Nor does a class that moves: that is why :class:`schedproof.model.lang.digest.Digester`, which a cache needs and
which forgets nothing, does not serve here.
"""

from __future__ import annotations

import enum
import hashlib
from collections.abc import Mapping, Sequence, Set
from dataclasses import MISSING, Field, fields, is_dataclass

from schedproof.model.lang import Action
from schedproof.model.lang.types import Sort

_FOR_READERS = frozenset({"about", "says", "place", "needs"})


def review(*content: object) -> str:
    """What a mark has for a content: a letter and seven digits, so that YAML reads no number."""
    return "r" + hashlib.sha256(canonical(content).encode()).hexdigest()[:7]


def canonical(value: object) -> str:
    """A value as text; equal texts mean the same element."""
    match value:
        case Sort():
            return value.name
        case enum.Enum():
            return f"{type(value).__name__}.{value.name}"
        case Mapping():
            return "{" + ", ".join(sorted(f"{canonical(key)}: {canonical(each)}" for key, each in value.items())) + "}"
        case Set():
            return "{" + ", ".join(sorted(map(canonical, value))) + "}"
        case str():
            return repr(value)
        case Sequence():
            return "[" + ", ".join(map(canonical, value)) + "]"
    if is_dataclass(value) and not isinstance(value, type):
        says = [
            f"{field.name}={canonical(getattr(value, field.name))}"
            for field in fields(value)
            if field.name not in _FOR_READERS and not _is_default(field, getattr(value, field.name))
        ]
        return f"{type(value).__name__}({', '.join(says)})"
    return repr(value)


def _is_default(field: Field[object], value: object) -> bool:
    default = field.default if field.default_factory is MISSING else field.default_factory()
    return type(default) is type(value) and repr(default) == repr(value)


def cause(on: object) -> object:
    """What a rule follows: the name of an action, whose own element has the rest; or a firing."""
    return f"action {on.name}" if isinstance(on, Action) else on
