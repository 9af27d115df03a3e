"""Memoizes functions of states: once for all states with the same values in the slots that the function reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NoReturn, TypeVar

from .instance import State

T = TypeVar("T")

MANY = 2000
"""After so many computed values memoizing must have paid off, or it stops."""


class Remembered(Generic[T]):
    """A function of states that remembers its values.

    The next slot that a function reads depends only on the values it has read so far. So its reads form a tree, and
    most new states lead to a leaf of the tree. An exception is not remembered.
    """

    def __init__(self, function: Callable[[State], T]) -> None:
        self._function = function
        self._tree: _Node[T] | None = None
        self._computed = self._reused = 0

    def __call__(self, state: State) -> T:
        node = self._tree
        while node is not None:
            slot, ways, value = node
            if slot < 0:
                self._reused += 1
                return value  # type: ignore[return-value]
            node = ways.get(state[slot])
        if self._computed > MANY and self._computed > self._reused:
            self._tree = None
            return self._function(state)
        return self._learn(state)

    def _learn(self, state: State) -> T:
        watched = _Watched(state)
        watched.read = {}
        value = self._function(watched)
        slots = [*watched.read, -1]
        if self._tree is None:
            self._tree = _node(slots[0], value)
        node = self._tree
        for now, following in zip(watched.read.values(), slots[1:], strict=True):
            node = node[1].get(now) or node[1].setdefault(now, _node(following, value))
        self._computed += 1
        return value


_Node = tuple[int, "dict[int, _Node[T]]", T | None]
"""The slot to read, and the next node for each of its values; or -1, and the function's value."""


def _node(slot: int, value: T) -> _Node[T]:
    return slot, {}, value if slot < 0 else None


class Slots(tuple[int, ...]):
    """A state that refuses any access but to one slot at a time, by its number. Subclasses record which slots are read."""

    def _unnoticed(self, *_: object) -> NoReturn:
        only_slots()

    __iter__ = __reversed__ = __contains__ = count = index = __hash__ = _unnoticed
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __add__ = __mul__ = __rmul__ = _unnoticed


class _Watched(Slots):
    """A state that records which slots are read, in order, with their values."""

    read: dict[int, int]

    def __getitem__(self, slot: int) -> int:  # type: ignore[override]
        if type(slot) is not int or slot < 0:
            only_slots()
        value = self.read[slot] = tuple.__getitem__(self, slot)
        return value


def only_slots() -> NoReturn:
    """Refuses another access to a state.

    Raises:
        TypeError: always.
    """
    raise TypeError("a function of states is remembered by what it reads: read one slot at a time, by its number")
