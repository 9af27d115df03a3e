"""Messages with kinds, as ways: a channel is a ring of places, each with the number of a kind.

The first message to come is the first to leave. The place of the first message is 0 whenever the channel is empty, so
that equal contents are seldom different states. Without room, sender and receiver meet in a channel of each kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from schedproof.model.locks import Locks
from schedproof.model.locks.language import CLOSED, Receive, Send

from .layout import Layout, closed, head, meeting, places
from .ways import Change, Guard, Side, Way


@dataclass(frozen=True)
class Ring:
    """The counters of one channel whose messages have kinds."""

    kinds: tuple[str, ...]
    number: int
    ended: int
    head: int
    places: tuple[int, ...]
    meetings: tuple[int, ...]

    def ways(self, step: Send | Receive, then: tuple[int, ...]) -> list[Way]:
        """The ways of a message into or out of the channel."""
        if isinstance(step, Send):
            fails = Way((), (Guard(self.ended, 1, 1),), fatal="it sends to a closed channel")
            return [*self.sends(1 + self.kinds.index(step.kind), then), fails]
        at_end = Way(then, (Guard(self.ended, 1, 1), Guard(self.number, 0, 0, chooses=True)), says="sees the end of")
        if step.kind == CLOSED:
            return [at_end]
        if step.kind:
            return list(self.receives(1 + self.kinds.index(step.kind), then))
        each = [way for kind, _ in enumerate(self.kinds, 1) for way in self.receives(kind, then)]
        return [*each, at_end]

    def sends(self, kind: int, then: tuple[int, ...]) -> Iterator[Way]:
        """The ways to put a message of a kind behind the others."""
        is_open, says = Guard(self.ended, 0, 0), f"send {self.kinds[kind - 1]} to"
        if not self.places:
            yield Way(then, (is_open,), meets=(self.meetings[kind - 1], Side.SENDS), says=says)
            return
        capacity = len(self.places)
        room = Guard(self.number, 0, capacity - 1)
        for first, many in product(range(capacity), repeat=2):
            chosen = (Guard(self.head, first, first, chooses=True), Guard(self.number, many, many, chooses=True))
            place = self.places[(first + many) % capacity]
            yield Way(then, (is_open, room, *chosen), (Change(place, kind, 0), Change(self.number, 1)), says=says)

    def receives(self, kind: int, then: tuple[int, ...]) -> Iterator[Way]:
        """The ways to take the first message, if it is of a kind."""
        says = f"receive {self.kinds[kind - 1]} from"
        if not self.places:
            yield Way(then, (Guard(self.ended, 0, 0),), meets=(self.meetings[kind - 1], Side.RECEIVES), says=says)
            return
        some = Guard(self.number, 1)
        for first, place in enumerate(self.places):
            chosen = (Guard(self.head, first, first, chooses=True), Guard(place, kind, kind, chooses=True))
            takes = (Change(place, 0, 0), Change(self.number, -1))
            last, others = Guard(self.number, 1, 1, chooses=True), Guard(self.number, 2, chooses=True)
            following = (first + 1) % len(self.places)
            yield Way(then, (some, *chosen, last), (*takes, Change(self.head, 0, 0)), says=says)
            if len(self.places) > 1:
                yield Way(then, (some, *chosen, others), (*takes, Change(self.head, following, 0)), says=says)


def ring(locks: Locks, layout: Layout, channel: str) -> Ring:
    """The counters of a channel whose messages have kinds."""
    kinds = locks.kinds[channel]
    return Ring(
        kinds,
        layout.counter(channel),
        layout.counter(closed(channel)),
        layout.counter(head(channel)),
        tuple(map(layout.counter, places(channel, locks.channels[channel]))),
        tuple(layout.counter(meeting(channel, kind)) for kind in kinds),
    )
