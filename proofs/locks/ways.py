"""The core of the lock program: an instruction with guarded ways, and an instruction that sleeps until it is woken.

All words for channels that are closed, selects, groups, semaphores, conditions, counters and started threads become
these two. A way is taken in one step: its guards hold, its counters change, and it may wake sleepers.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

TOP = 1 << 40
"""The upper end of a guard without one."""


class Act:
    """Marks an instruction with ways: the thread takes one whose guards hold, or waits."""


class Park:
    """Marks an instruction at which a thread sleeps until another one wakes it."""


class Side(enum.IntEnum):
    """The sides of a channel without room: a sender and a receiver go on together."""

    SENDS = 0
    RECEIVES = 1


@dataclass(frozen=True, slots=True)
class Guard:
    """A counter is between two numbers, both included.

    Args:
        chooses: it only chooses among ways of which one can be taken whatever the counter is: no thread waits for it.
    """

    counter: int
    least: int = 0
    most: int = TOP
    chooses: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """A counter becomes ``keeps`` times its number plus ``plus``; ``keeps`` is 0 or 1."""

    counter: int
    plus: int
    keeps: int = 1


@dataclass(frozen=True, slots=True)
class Way:
    """One way in which a thread may continue.

    Args:
        then: the positions at which it continues.
        guards, changes: what must hold, and what changes.
        meets: the channel on whose other side another thread must be, and the own side; None if it needs none.
        wakes: the queue of which a sleeper is woken, or ``everyone``; None if none is.
        fatal: why the whole program ends; "" if it does not.
        last: it is taken only if no other way without ``meets`` can be.
        says: what it does, in words.
    """

    then: tuple[int, ...]
    guards: tuple[Guard, ...] = ()
    changes: tuple[Change, ...] = ()
    meets: tuple[int, Side] | None = None
    wakes: int | None = None
    everyone: bool = False
    fatal: str = ""
    last: bool = False
    says: str = ""

    def holds(self, counts: Sequence[int]) -> bool:
        """Whether the guards hold."""
        return all(guard.least <= counts[guard.counter] <= guard.most for guard in self.guards)

    def changed(self, counts: tuple[int, ...]) -> tuple[int, ...]:
        """The counters after the way."""
        if not self.changes:
            return counts
        after = list(counts)
        for change in self.changes:
            after[change.counter] = change.keeps * after[change.counter] + change.plus
        return tuple(after)

    def leading(self, to: dict[int, tuple[int, ...]]) -> Way:
        """The way with some positions replaced."""
        then = tuple(dict.fromkeys(s for t in self.then for s in to.get(t, (t,))))
        return replace(self, then=then)

    def gives(self) -> Iterator[Sign]:
        """What other threads may wait for, and this way brings about."""
        if self.fatal:
            return
        for change in self.changes:
            if change.plus > 0 or not change.keeps:
                yield ("up", change.counter)
            if change.plus < 0 or not change.keeps:
                yield ("down", change.counter)
        if self.meets is not None:
            channel, side = self.meets
            yield ("up" if side is Side.SENDS else "down", channel)
        if self.wakes is not None:
            yield ("wake", self.wakes)

    def needs(self) -> Iterator[Sign]:
        """What this way waits for."""
        if self.fatal:
            return
        for guard in self.guards:
            if guard.chooses:
                continue
            if guard.least > 0:
                yield ("up", guard.counter)
            if guard.most < TOP:
                yield ("down", guard.counter)
        if self.meets is not None:
            channel, side = self.meets
            yield ("down" if side is Side.SENDS else "up", channel)


Sign = tuple[str, int]
"""A counter that goes up or down, or a queue of which a sleeper is woken."""


def enabled(ways: Sequence[Way], counts: Sequence[int]) -> list[Way]:
    """The ways whose guards hold, with those that need another thread; ``last`` ways only if no other can be taken."""
    able = [way for way in ways if way.holds(counts)]
    if any(way.meets is None and not way.last for way in able):
        return [way for way in able if not way.last]
    return able
