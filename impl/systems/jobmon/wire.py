"""Records, requests and reports as JSON, converted by their types.

Every wrapper imports this module, so it imports no module that is slow to load.
"""

from __future__ import annotations

import json
import math
import types
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from reprlib import Repr
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from .errors import Malformed
from .records import LARGEST

T = TypeVar("T")

_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = 60

_WORDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}


@dataclass(frozen=True)
class Refusal:
    """A refusal as the server sends it."""

    said: str
    state: str | None
    for_good: bool


@dataclass(frozen=True)
class Fault:
    """The reason why a request is not understood, as the server sends it."""

    said: str


def plain(value: Any) -> dict[str, Any]:
    """Returns a dataclass as a value for JSON."""
    return asdict(value)


def read_json(text: str | bytes) -> Any:
    """Returns the value that JSON text stands for.

    Raises:
        Malformed: it is not JSON, or an object has a key twice.
    """
    try:
        return json.loads(text, object_pairs_hook=_once)
    except RecursionError:
        raise Malformed("it is nested too deep") from None
    except ValueError as error:
        raise Malformed(f"it is not JSON: {error}") from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for name, value in pairs:
        if name in members:
            raise Malformed(f"it says {_SHORT.repr(name)} twice in one object")
        members[name] = value
    return members


def parsed(kind: type[T], data: Any) -> T:
    """Returns ``data``, read from JSON, as a value of the type ``kind``.

    Raises:
        Malformed: it does not have the form of that type.
    """
    value: T = _parsed(kind, data, kind.__name__)
    return value


@cache
def _fields(kind: Any) -> tuple[tuple[str, Any, bool], ...]:
    hints = get_type_hints(kind)
    return tuple((f.name, hints[f.name], f.default is MISSING) for f in fields(kind))


def _parsed(kind: Any, data: Any, where: str) -> Any:
    if is_dataclass(kind):
        return _object(kind, data, where)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        if data is None and type(None) in arguments:
            return None
        (other,) = (a for a in arguments if a is not type(None))
        return _parsed(other, data, where)
    if origin is tuple:
        return _tuple(arguments, data, where)
    if isinstance(kind, type) and issubclass(kind, Enum):
        try:
            return kind(data)
        except ValueError as error:
            raise _wrong(where, f"one of {', '.join(kind)}", data) from error
    if type(data) is int and kind in (int, float) and abs(data) > LARGEST:
        raise Malformed(f"{where}: {_SHORT.repr(data)} is beyond {LARGEST}")
    if kind is float and type(data) is int:
        return float(data)
    if type(data) is not kind:
        raise _wrong(where, _WORDS[kind], data)
    if kind is float and not math.isfinite(data):
        raise _wrong(where, _WORDS[kind], data)
    if kind is str and (wrong := _not_text(data)):
        raise Malformed(f"{where}: {_SHORT.repr(data)} has {wrong} in it")
    return data


def _wrong(where: str, expected: str, data: Any) -> Malformed:
    return Malformed(f"{where}: write {expected}, not {_SHORT.repr(data)}")


def _not_text(text: str) -> str | None:
    """Which characters of the text databases and command lines cannot take; None if it has no such character."""
    if "\0" in text:
        return "a NUL character"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "half of a character (a lone surrogate)"
    return None


def _tuple(arguments: tuple[Any, ...], data: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(data, list | tuple):
        raise _wrong(where, "a list", data)
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        arguments = (arguments[0],) * len(data)
    if len(arguments) != len(data):
        raise _wrong(where, f"a list of {len(arguments)}", data)
    return tuple(_parsed(kind, each, where) for kind, each in zip(arguments, data, strict=True))


def _object(kind: Any, data: Any, where: str) -> Any:
    if not isinstance(data, Mapping):
        raise _wrong(where, "an object", data)
    known = _fields(kind)
    if unknown := sorted(set(data) - {name for name, _, _ in known}):
        from difflib import get_close_matches  # imported here because it is rarely needed

        names = [name for name, _, _ in known]
        close = get_close_matches(unknown[0], names, 1)
        instead = f"did you mean {close[0]!r}?" if close else f"choose from {', '.join(names)}"
        raise Malformed(f"{where}: unknown {_SHORT.repr(unknown[0])}; {instead}")
    if missing := [name for name, _, needed in known if needed and name not in data]:
        raise Malformed(f"{where}: {missing[0]!r} is missing")
    return kind(**{name: _parsed(hint, data[name], f"{where}.{name}") for name, hint, _ in known if name in data})
