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
        self.taken = set(reserved)
        self._given: dict[object, str] = {}

    def of(self, thing: object, wanted: str) -> str:
        """The identifier of ``thing``: ``wanted`` if it is valid and free, else one like it."""
        if thing not in self._given:
            self._given[thing] = name = fresh(wanted, self.taken)
            self.taken.add(name)
        return self._given[thing]


def fresh(wanted: str, taken: Iterable[str]) -> str:
    """An identifier like ``wanted`` that is not in ``taken``."""
    plain = re.sub(r"\W", "_", wanted, flags=re.ASCII) or "_"
    plain = plain if not plain[0].isdigit() else f"_{plain}"
    name, number = plain, 1
    while name in taken:
        number += 1
        name = f"{plain}_{number}"
    return name
