"""Frozen dataclasses that compute their hash once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


def hashed_once(kind: type[T]) -> type[T]:
    """Lets each value of a frozen dataclass compute its hash once: explorations look up large values often."""
    computed: Callable[[Any], int] = kind.__hash__

    def remembered(self: Any) -> int:
        try:
            known: int = self._hash
        except AttributeError:
            known = self.__dict__["_hash"] = computed(self)
        return known

    def state(self: Any) -> dict[str, Any]:  # the hash is another one in another process
        return {name: value for name, value in self.__dict__.items() if name != "_hash"}

    kind.__hash__ = remembered  # type: ignore[method-assign]
    kind.__getstate__ = state  # type: ignore[method-assign]
    return kind
