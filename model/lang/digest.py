"""Fingerprints of models by content: equal models have equal fingerprints, wherever they are written."""

from __future__ import annotations

import copyreg
import enum
import hashlib
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache, cached_property, lru_cache, partial
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from .errors import Place

NAMED = (FunctionType, BuiltinFunctionType, MethodType, type)
"""What has a name that says where it is written."""


REPEATED = frozenset({str, int, bool})
"""The types of texts and numbers that models repeat often, and whose equal values look the same."""

FLAG = "counts where it is true"
"""Marks a field in its metadata: digests without it stay as they are."""


class Digester:
    """Computes digests of dataclasses, containers, enumerations, texts and numbers.

    Fields that comparison ignores do not count here, except those marked as :data:`FLAG`. A digester walks each object once and keeps its digest.

    Args:
        places: whether the file and line of an element count.
        functions: whether functions count, by their names, their code and the values that they were made with; modules by their
            names; and other objects by what a copy needs. Without this they are refused.
    """

    def __init__(self, *, places: bool = False, functions: bool = False) -> None:
        self._places, self._functions = places, functions
        self._known: dict[int, tuple[object, bytes]] = {}
        """By identity. The object is kept too, so that Python cannot give its identity to another one."""

    def digest(self, value: object) -> bytes:
        """The digest of ``value``: 32 bytes.

        Raises:
            TypeError: part of it has no content to read, such as a function, and these do not count.
        """
        if type(value) in REPEATED:
            assert isinstance(value, str | int)
            return _of_repeated(value)
        if value is None or (isinstance(value, float | bytes | str | int) and not isinstance(value, enum.Enum)):
            return _of_plain(value)
        known = self._known.get(id(value))
        if known is None:
            known = self._known[id(value)] = (value, self._digest(value))
        return known[1]

    def _digest(self, value: object) -> bytes:
        if isinstance(value, enum.Enum):
            return _hash(_name(type(value)), [value.name.encode()])
        if isinstance(value, Place):
            return _hash("place", [str(value).encode()] if self._places else [])
        if is_dataclass(value) and not isinstance(value, type):
            parts = [self.digest(getattr(value, name)) for name in _counting(type(value))]
            return _hash(
                _name(type(value)), [*parts, *(name.encode() for name in _flags(type(value)) if getattr(value, name))]
            )
        if isinstance(value, Mapping):
            return _hash("mapping", [self.digest(each) for item in value.items() for each in item])
        if isinstance(value, Set):
            return _hash("set", sorted(self.digest(each) for each in value))
        if isinstance(value, Sequence):
            return _hash("sequence", [self.digest(each) for each in value])
        if self._functions and isinstance(value, ModuleType):
            return _hash("module", [value.__name__.encode()])  # what it contains depends on what has been imported
        if not self._functions:
            raise TypeError(f"a {type(value).__name__} has no content that could be compared")
        name = _name(value if isinstance(value, NAMED) else type(value))
        self._known[id(value)] = value, _hash(name, [])  # a function may refer to itself
        return _hash(name, [self.digest(each) for each in _made_with(value)])


@cache
def _counting(kind: type) -> tuple[str, ...]:
    """The names of the fields that count."""
    return tuple(each.name for each in fields(kind) if each.compare or each.type in ("Place", Place))


@cache
def _flags(kind: type) -> tuple[str, ...]:
    """The names of the fields that count where they are true, although comparison ignores them."""
    return tuple(each.name for each in fields(kind) if each.metadata.get(FLAG))


def _name(kind: Any) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _made_with(value: Any) -> Sequence[object]:
    """The values that a function or another object was made with."""
    if isinstance(value, FunctionType):
        return [value.__code__, value.__defaults__, value.__kwdefaults__, *_closed_over(value)]
    if isinstance(value, CodeType):
        return [value.co_code, value.co_consts, value.co_names]
    if isinstance(value, MethodType):
        return [value.__func__, value.__self__]
    if isinstance(value, partial):
        return [value.func, value.args, value.keywords]
    return [] if isinstance(value, NAMED) else _copied(value)


def _copied(value: Any) -> Sequence[object]:
    """What a copy of an object is made with; its attributes, if it cannot be copied."""
    try:
        copy = copyreg.dispatch_table.get(type(value))
        made = value.__reduce_ex__(4) if copy is None else copy(value)
    except Exception:  # such as a lock, or what its class raises
        made = ""
    if isinstance(made, str):  # only its name
        made = (made, getattr(value, "__dict__", None))
    return [_without_computed(type(value), each) for each in made]


def _without_computed(kind: type, attributes: object) -> object:
    """Attributes without those that are there only once they have been asked for."""
    if not isinstance(attributes, dict):
        return attributes
    left = {k: v for k, v in attributes.items() if not isinstance(getattr(kind, str(k), None), cached_property)}
    return left or None  # as of an object without attributes


def _closed_over(function: FunctionType) -> Iterator[object]:
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # the variable has no value yet
            yield cell.cell_contents


def _of_plain(value: object) -> bytes:
    return _hash(type(value).__name__, [repr(value).encode()])


_of_repeated = lru_cache(maxsize=50_000, typed=True)(_of_plain)  # typed, since 1 equals True


def _hash(kind: str, parts: Sequence[bytes]) -> bytes:
    """Hashes each part with its length, so that different lists of parts give different input."""
    content = [f"{kind}\0{len(parts)}\0".encode()]
    for part in parts:
        content += len(part).to_bytes(8, "big"), part
    return hashlib.sha256(b"".join(content)).digest()
