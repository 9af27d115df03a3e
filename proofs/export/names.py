"""Unique identifiers for the things of a model, outside of the language's reserved words."""

from __future__ import annotations

import re
from collections.abc import Iterable


class Names:
    """Assigns identifiers: the same one to the same thing, different ones to different things.

    Args:
        reserved: words that cannot be identifiers.
    """

    def __init__(self, reserved: Iterable[str]) -> None:
        self.used = set(reserved)
        self._given: dict[object, str] = {}

    def of(self, thing: object, preferred: str) -> str:
        """The identifier of ``thing``: ``preferred`` if it is valid and free, else one like it."""
        if thing not in self._given:
            self._given[thing] = name = fresh(preferred, self.used)
            self.used.add(name)
        return self._given[thing]


def fresh(preferred: str, used: Iterable[str]) -> str:
    """An identifier like ``preferred`` that is not in ``used``."""
    plain = re.sub(r"\W", "_", preferred, flags=re.ASCII) or "_"
    plain = plain if not plain[0].isdigit() else f"_{plain}"
    name, number = plain, 1
    while name in used:
        number += 1
        name = f"{plain}_{number}"
    return name
