"""Parses JSON from untrusted clients. An error is one line; excessive input is refused."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

DEEPEST = 40
"""The limit for nested lists and objects. Headers and records need only a few."""


class NotJson(ValueError):
    """The text is not acceptable JSON. The message is one line."""


def parse(data: bytes) -> Any:
    """The value of the JSON text ``data``.

    Raises:
        NotJson: it is not UTF-8 or not JSON, or is nested deeper than ``DEEPEST``.
    """
    try:
        value = json.loads(
            data.decode("utf-8"), parse_constant=_no_number, parse_float=_finite, object_pairs_hook=_distinct
        )
    except UnicodeDecodeError as error:
        raise NotJson(f"byte {error.start + 1} is not UTF-8; send UTF-8") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}" if error.lineno > 1 else f"column {error.colno}"
        raise NotJson(f"not JSON: {error.msg} at {where}; send JSON") from None
    except NotJson:
        raise
    except RecursionError:
        raise NotJson(f"nested deeper than {DEEPEST} lists and objects; send less in one value") from None
    except ValueError as error:  # a number with thousands of digits
        raise NotJson(f"the JSON cannot be read: {str(error).split(';')[0]}; send a smaller number") from None
    if _deeper(value, DEEPEST):
        raise NotJson(f"nested deeper than {DEEPEST} lists and objects; send less in one value")
    return value


def _no_number(text: str) -> NoReturn:
    raise NotJson(f"not JSON: {text}; send a number")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise NotJson(f"the number {text[:40]} is too big; send a smaller one")
    return number


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise NotJson(f"one object has {json.dumps(twice)[:60]} twice; send it once")
    return members


def _deeper(value: Any, most: int) -> bool:
    """Whether ``value`` nests more than ``most`` containers."""
    layer = [value] if isinstance(value, dict | list) else []
    for _ in range(most):
        layer = [
            inner
            for outer in layer
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
    return bool(layer)
