"""The counters and queues of a lock program: which number each has, its first value, and its largest one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from schedproof.model.locks import Locks
from schedproof.model.locks.language import MOST_COUNTED, Await, Close, Counts, Kind, Select, Step

from .structure import bodies


@dataclass
class Layout:
    """The counters and queues of a description.

    The first counters are the numbers of messages in the channels. A channel that some program closes, or selects from,
    has a counter that is 1 after it is closed. One with kinds of messages has a counter for each place of a message. A lock without an owner has one that is 1 while it is locked.

    Args:
        counters: the name of each counter.
        first, most: its first value and its largest one; the latter is UNBOUNDED for some channels.
        queues: the names of the queues in which threads sleep. Those of started threads are added when these are found.
    """

    counters: list[str] = field(default_factory=list)
    first: list[int] = field(default_factory=list)
    most: list[int] = field(default_factory=list)
    queues: list[str] = field(default_factory=list)

    def add(self, name: str, most: int, first: int = 0) -> None:
        """Adds a counter."""
        self.counters.append(name)
        self.first.append(first)
        self.most.append(most)

    def counter(self, name: str) -> int:
        """The number of a counter."""
        return self.counters.index(name)

    def queue(self, name: str) -> int:
        """The number of a queue."""
        return self.queues.index(name)

    def sleeps(self, name: str) -> int:
        """A new queue."""
        self.queues.append(name)
        return len(self.queues) - 1


def closed(channel: str) -> str:
    """The name of the counter that says whether a channel is closed."""
    return f"closed {channel}"


def flag(lock: str) -> str:
    """The name of the counter of a lock: whether it is locked, or whether the steps of a ``once`` have run."""
    return f"flag {lock}"


def places(channel: str, capacity: int) -> list[str]:
    """The names of the counters for the messages in a channel with kinds: 0 for no message, else the number of its kind."""
    return [f"message {number} of {channel}" for number in range(capacity)]


def head(channel: str) -> str:
    """The name of the counter that says at which of its places the first message is."""
    return f"first message of {channel}"


def meeting(channel: str, kind: str) -> str:
    """The name of the channel of capacity 0 in which sender and receiver of a message of one kind meet."""
    return f"{kind} of {channel}"


QUEUE = 6
"""The most threads that wait in line for permits of a semaphore; more wait in any order."""


def line(semaphore: str) -> tuple[str, str, str]:
    """The names of the counters of threads that wait in line: the number of the first one, of the next one to come, and how many."""
    return f"first {semaphore}", f"next {semaphore}", f"line {semaphore}"


def lay_out(locks: Locks) -> Layout:
    """The counters and queues of a description."""
    layout = Layout()
    for name, capacity in locks.channels.items():
        layout.add(name, capacity)
    for name in selected(locks):
        layout.add(closed(name), 1)
    for name, kinds in locks.kinds.items():
        for each in places(name, locks.channels[name]):
            layout.add(each, len(kinds))
        layout.add(head(name), max(locks.channels[name] - 1, 0))
        for kind in kinds:
            layout.add(meeting(name, kind), 0)
    for one in locks.objects.values():
        if locks.classes[one.of].kind in (Kind.UNOWNED, Kind.ONCE):
            layout.add(flag(one.name), 1)
    for counter in locks.counters.values():
        layout.add(counter.name, MOST_COUNTED, counter.first)
    for name in in_line(locks):
        for each in line(name):
            layout.add(each, QUEUE)
    groups = [counter.name for counter in locks.counters.values() if counter.counts is Counts.GROUP]
    layout.queues = [*locks.conditions, *groups]
    return layout


def in_line(locks: Locks) -> list[str]:
    """The semaphores of which some step acquires several permits: only there it matters who comes first."""
    programs = [*(o.steps for o in locks.operations.values()), *(t.steps for t in locks.threads.values())]
    names = {step.test.on for step in every_step(programs) if isinstance(step, Await) and step.takes > 1}
    return [name for name in locks.counters if name in names]


def selected(locks: Locks) -> list[str]:
    """The channels that are contexts, have kinds of messages, or that some program closes or selects from."""
    names = {*locks.contexts, *locks.kinds}
    for step in every_step([*(o.steps for o in locks.operations.values()), *(t.steps for t in locks.threads.values())]):
        match step:
            case Close(channel=channel):
                names.add(channel)
            case Select(cases=cases):
                names |= {case.on.channel for case in cases if case.on is not None}
    return [name for name in locks.channels if name in names]


def every_step(blocks: Sequence[Sequence[Step]]) -> Iterator[Step]:
    """All steps of some blocks, with those inside them."""
    for block in blocks:
        for step in block:
            yield step
            yield from every_step(bodies(step))
