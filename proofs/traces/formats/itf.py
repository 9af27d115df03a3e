"""Informal Trace Format (ITF): converts the JSON of Apalache's ADR-015 to plain Python values, and back.

=====================  ====================================
ITF                    Python
=====================  ====================================
``true``, ``"text"``   bool, str
``{"#bigint": "12"}``  int; a JSON integer is read as well
``[...]``              tuple
``{"#tup": [...]}``    :class:`Tup`
``{"#set": [...]}``    frozenset
``{"#map": [[k, v]]}`` :class:`Map`
``{"field": ...}``     :class:`Record`
=====================  ====================================

``{"#unserializable": ...}`` is refused: such a value has no content. Values can be compared and hashed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from schedproof.proofs.traces.errors import TraceError

Value = object
"""A bool, int, str, tuple, frozenset, :class:`Tup`, :class:`Map` or :class:`Record`."""

NUMBER = re.compile(r"-?(0|[1-9][0-9]*)", re.ASCII)

MOST_DIGITS = 4000
"""The limit for the digits of a number. Python refuses to read longer ones."""


@dataclass(frozen=True)
class Tup:
    """A tuple; ITF distinguishes it from a sequence."""

    items: tuple[Value, ...]


@dataclass(frozen=True)
class Map:
    """A function with finitely many arguments, as (argument, result) pairs. Each argument occurs once."""

    items: frozenset[tuple[Value, Value]]

    @staticmethod
    def of(pairs: Mapping[Any, Value]) -> Map:
        """The map with these arguments and results."""
        return Map(frozenset(pairs.items()))

    def as_dict(self) -> dict[Value, Value]:
        """The same as a dictionary."""
        return dict(self.items)


@dataclass(frozen=True)
class Record:
    """Named fields, without an order."""

    items: frozenset[tuple[str, Value]]

    @staticmethod
    def of(fields: Mapping[str, Value]) -> Record:
        """The record with these fields."""
        return Record(frozenset(fields.items()))

    def as_dict(self) -> dict[str, Value]:
        """The same as a dictionary."""
        return dict(self.items)


NONE = Record.of({"tag": "None", "value": Tup(())})
"""No object: the variant ``None``. Typed specifications write an option so."""


def some(value: Value) -> Record:
    """An existing object: the variant ``Some``."""
    return Record.of({"tag": "Some", "value": value})


def encode(value: Value) -> Any:
    """A value as JSON. Elements of sets and maps have a fixed order.

    Raises:
        TypeError: not a value of ITF.
    """
    match value:
        case bool() | str():
            return value
        case int():
            return {"#bigint": str(value)}
        case tuple():
            return [encode(item) for item in value]
        case Tup(items):
            return {"#tup": [encode(item) for item in items]}
        case frozenset():
            return {"#set": [encode(item) for item in sorted(value, key=_order)]}
        case Map(pairs):
            ordered = sorted(pairs, key=lambda pair: _order(pair[0]))
            return {"#map": [[encode(argument), encode(result)] for argument, result in ordered]}
        case Record(fields):
            if bad := [name for name, _ in fields if name.startswith("#")]:
                raise TypeError(f"a field cannot be named {bad[0]!r}: names with # belong to ITF; choose another name")
            return {name: encode(field) for name, field in sorted(fields, key=lambda pair: pair[0])}
    raise TypeError(f"{value!r} is not a value of ITF; give texts, numbers, truth values, lists, sets or mappings")


def _order(value: Value) -> tuple[str, int, str]:
    """The sort key of a value: numbers by size, all else by text.

    A text with digits at its end sorts by that number.
    """
    if isinstance(value, int):
        return type(value).__name__, value, ""
    text = str(value) if not isinstance(value, str) else value
    counted = re.fullmatch(r"(\D*)(\d{1,9})", text)
    kind = type(value).__name__
    return (kind + counted[1], int(counted[2]), text) if counted else (kind + text, -1, text)


def decode(shown: object, where: str) -> Value:
    """Converts ``shown``, a JSON value, to a value of ITF.

    Args:
        shown: the JSON value.
        where: the place of the value, for messages: ``states[2].PodGroup``.

    Raises:
        TraceError: it is not a value of ITF. The message begins with the place.
    """
    match shown:
        case bool() | str():
            return shown
        case int():
            return shown
        case list():
            return tuple(_items(shown, where))
        case dict():
            return _object(shown, where)
    raise TraceError(f"{where}: {_short(shown)} is not a value of ITF{_instead(shown)}")


def _instead(shown: object) -> str:
    if shown is None:
        return '; no object is written {"tag": "None", "value": {"#tup": []}}'
    return "; numbers are whole" if isinstance(shown, float) else ""


def _object(shown: Mapping[str, object], where: str) -> Value:
    special = [name for name in shown if name.startswith("#")]
    if not special:
        return Record(frozenset((name, decode(value, f"{where}.{name}")) for name, value in shown.items()))
    kind = special[0]
    inside, at = shown[kind], f"{where}.{kind}"
    if len(shown) > 1:
        other = next(name for name in shown if name != kind)
        raise TraceError(f"{where}: {kind} has {other!r} beside it; leave that out")
    match kind:
        case "#bigint":
            if not isinstance(inside, str) or not NUMBER.fullmatch(inside) or len(inside) > MOST_DIGITS:
                raise TraceError(f'{at}: {_short(inside)} is not a whole number as text; write one such as "12"')
            return int(inside)
        case "#tup":
            return Tup(tuple(_items(_list(inside, at), at)))
        case "#set":
            return _set(_items(_list(inside, at), at), at)
        case "#map":
            return _map(_list(inside, at), at)
        case "#unserializable":
            raise TraceError(
                f"{where}: {_short(inside)} could not be written as ITF by the tool that made the trace; leave the variable out"
            )
    raise TraceError(f"{where}: unknown {kind!r}; choose from #bigint, #tup, #set, #map, #unserializable")


def _items(shown: Iterable[object], where: str) -> Iterator[Value]:
    return (decode(item, f"{where}[{number}]") for number, item in enumerate(shown))


def _list(shown: object, where: str) -> list[object]:
    if not isinstance(shown, list):
        raise TraceError(f"{where}: {_short(shown)} is not a list; write [...]")
    return shown


def _set(items: Iterable[Value], where: str) -> frozenset[Value]:
    members = list(items)
    _one_kind(members, where)
    return frozenset(members)


def _map(entries: list[object], where: str) -> Map:
    pairs: dict[Value, Value] = {}
    for number, entry in enumerate(entries):
        at = f"{where}[{number}]"
        if not isinstance(entry, list) or len(entry) != 2:
            raise TraceError(f"{at}: {_short(entry)} is not a pair; write [argument, result]")
        argument = decode(entry[0], f"{at}[0]")
        if argument in pairs:
            raise TraceError(f"{at}: the argument {_short(entry[0])} has two results; leave out one")
        pairs[argument] = decode(entry[1], f"{at}[1]")
    _one_kind(pairs, where)
    return Map.of(pairs)


def _one_kind(values: Iterable[Value], where: str) -> None:
    """Refuses truth values among numbers: in Python ``True`` equals 1, and one of the two would be lost."""
    if len({isinstance(value, bool) for value in values if isinstance(value, int)}) > 1:
        raise TraceError(f"{where}: numbers and truth values are mixed; write one kind")


def _short(shown: object) -> str:
    if isinstance(shown, dict):
        return "an object"
    if isinstance(shown, list):
        return f"a list of {len(shown)}"
    text = json.dumps(shown)
    return text if len(text) <= 60 else text[:57] + "..."
