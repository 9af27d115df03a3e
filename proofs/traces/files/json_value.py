"""Values of a Python program as values of JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schedproof.model.errors import shown
from schedproof.proofs.traces.errors import TraceError


def as_json(value: object, where: str = "header", line: int = 0) -> dict[str, Any]:
    """A mapping as a JSON object: mappings become dictionaries, and tuples lists.

    Args:
        where: the name of the whole, for messages.
        line: the number of the line that it stands for; 0 for none.

    Raises:
        TraceError: it is not a mapping, or a part of it is not a value of JSON.
    """
    if not isinstance(value, Mapping):
        raise TraceError(f"{where} is {shown(value)}; write a dictionary, for example {{'action': 'start'}}", line)
    return {str(key): _value(part, f"{where}: {key}", line) for key, part in value.items()}


def _value(value: object, where: str, line: int) -> object:
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Mapping():
            return {str(key): _value(part, f"{where}.{key}", line) for key, part in value.items()}
        case list() | tuple():
            return [_value(part, where, line) for part in value]
        case _:
            raise TraceError(
                f"{where} is {shown(value)}; write a dictionary, a list, a text, a number, True, False or None", line
            )
