"""Finds circles of threads that wait for each other in a dump, or the circle of orders that it reports."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import networkx as nx

from .dump import Dump, Edge, Hold, Lock, ThreadState, Wait

MOST_STARTS = 50
"""The most threads of a part of the graph from which a shortest circle is searched for."""

Key = tuple[str, str]
"""A lock in the graph: by its name, by its type, or as one without a name of its type."""


@dataclass(frozen=True)
class Circle:
    """A circle.

    Args:
        names: the threads, or the locks of orders, in order; the last one waits for the first.
        steps: what each waits for and who holds it, one line each.
        certain: False if a holder is only possible.
    """

    names: tuple[str, ...]
    steps: tuple[str, ...]
    certain: bool

    @property
    def text(self) -> str:
        """The names, and whether the circle is certain."""
        kind = "circle" if self.certain else "possible circle"
        return f"{kind}: {' > '.join([*self.names, self.names[0]])}"


def find_circles(dump: Dump) -> tuple[Circle, ...]:
    """The circles of waiting threads, a shortest one for each group of them; if there is none, the circle of orders.

    A holder of the same type counts only if no circle is found by the names of locks. A thread that waits for a lock
    does not keep others from it, and is in a circle with itself only if no thread may hold the lock and does not wait
    for it: threads that queue for a busy lock are in no circle.
    """
    return _of_threads(dump.threads) or _of_orders(dump.edges)


# --- threads that wait for each other


def _of_threads(threads: Sequence[ThreadState]) -> tuple[Circle, ...]:
    holders = _Holders(threads)
    alone = [
        (one, hold)
        for one, hold in ((one, _by_name(one, one)) for one in threads)
        if hold is not None and (hold.certain or not holders.are_busy(one))
    ]
    circles = [_alone(one, hold, threads) for one, hold in alone]
    for by_type in (False, True):
        for ring in _Graph(threads, by_type).shortest() if not (by_type and circles) else ():
            ends = list(zip(ring, [*ring[1:], ring[0]], strict=True))
            holds = [_hold(one, other, by_type) for one, other in ends]
            steps = tuple(_step(one, other, hold) for (one, other), hold in zip(ends, holds, strict=True))
            certain = not by_type and all(hold.certain for hold in holds)
            circles.append(Circle(tuple(one.name for one in ring), steps, certain))
    return tuple(circles)


def _alone(one: ThreadState, hold: Hold, threads: Sequence[ThreadState]) -> Circle:
    """The circle of a thread that waits for a lock that it holds itself, and of the writer that keeps it from reading again."""
    assert one.waits is not None and one.waits.lock is not None
    name = one.waits.lock.name
    writer = next((other for other in threads if other is not one and _writes(other, name)), None)
    if one.waits.how != "to read" or writer is None:
        return Circle((one.name,), (_step(one, one, hold),), hold.certain)
    behind = f"{one.name} waits {one.waits.text}, behind {writer.name}"
    return Circle((one.name, writer.name), (behind, _step(writer, one, hold)), hold.certain)


def _writes(one: ThreadState, name: str) -> bool:
    """Whether a thread waits to write a lock."""
    return one.waits is not None and one.waits.how == "to write" and _name(one.waits) == name


def _name(wait: Wait) -> str:
    return wait.lock.name if wait.lock is not None else ""


class _Holders:
    """By name of a lock the threads that may hold it, one for each lock that they wait for."""

    def __init__(self, threads: Sequence[ThreadState]) -> None:
        self.of: dict[str, dict[tuple[str, str], ThreadState]] = {}
        for one in threads:
            wait = one.waits
            key = (wait.lock.name, wait.address) if wait is not None and wait.lock is not None else ("", "")
            for hold in one.holds:
                self.of.setdefault(hold.lock.name, {}).setdefault(key, one)

    def are_busy(self, one: ThreadState) -> bool:
        """Whether a thread that does not wait for the lock of ``one`` may hold it."""
        assert one.waits is not None and one.waits.lock is not None
        return any(not _queue(one, other) for other in self.of[one.waits.lock.name].values())


def _queue(one: ThreadState, other: ThreadState) -> bool:
    """Whether both threads certainly wait for the same lock."""
    return one.waits is not None and other.waits is not None and one.waits.is_for_the_lock_of(other.waits)


def _step(one: ThreadState, other: ThreadState, hold: Hold) -> str:
    assert one.waits is not None
    verb = "holds" if hold.certain else "may hold"
    who = "it" if one is other else other.name
    return f"{one.name} waits {one.waits.text}, which {who} {verb}{f' ({hold.where})' if hold.where else ''}"


def _by_name(one: ThreadState, other: ThreadState) -> Hold | None:
    """The hold of ``other`` on the lock that ``one`` waits for, if both have its name."""
    if one.waits is None or one.waits.lock is None or not (name := one.waits.lock.name):
        return None
    return next((hold for hold in other.holds if hold.lock.name == name), None)


def _hold(one: ThreadState, other: ThreadState, by_type: bool) -> Hold:
    if (hold := _by_name(one, other)) is not None:
        return hold
    assert by_type and one.waits is not None and one.waits.lock is not None
    lock = one.waits.lock
    return next(hold for hold in other.holds if hold.lock.may_be(lock))


class _Graph:
    """Threads that wait for locks, and locks that threads hold. It grows with both, not with their product."""

    def __init__(self, threads: Sequence[ThreadState], by_type: bool) -> None:
        self.threads = threads
        self.waits: list[list[Key]] = [[] for _ in threads]
        self.holders: dict[Key, list[int]] = {}
        for number, one in enumerate(threads):
            if one.waits is not None and one.waits.lock is not None:
                self.waits[number] = list(_waited(one.waits.lock, by_type))
            for hold in one.holds:
                for key in _held(hold.lock, by_type):
                    self.holders.setdefault(key, []).append(number)
        self.sets = {key: frozenset(of) for key, of in self.holders.items()}

    def shortest(self) -> Iterator[list[ThreadState]]:
        """For each group of threads that wait for each other a shortest circle of two or more."""
        graph: nx.DiGraph[object] = nx.DiGraph()
        for number, keys in enumerate(self.waits):
            graph.add_edges_from((number, key) for key in keys)
        for key, holders in self.holders.items():
            graph.add_edges_from((key, number) for number in holders)
        parts = [sorted(n for n in part if isinstance(n, int)) for part in nx.strongly_connected_components(graph)]
        for starts in sorted(part for part in parts if len(part) > 1):
            best: list[int] = []
            for start in starts[:MOST_STARTS]:
                best = self.ring(start, len(best) or len(starts) + 1) or best
            if best:
                yield [self.threads[number] for number in best]

    def ring(self, start: int, shorter_than: int) -> list[int]:
        """A shortest circle through a thread; [] if there is none that is shorter."""
        before: dict[int, int] = {}
        left: dict[Key, Sequence[int]] = {}
        queue = deque([(start, 1)])
        while queue:
            number, length = queue.popleft()
            if length >= shorter_than:
                return []
            for key in self.waits[number]:
                closes = number != start and start in self.sets.get(key, ())
                if closes and not _queue(self.threads[number], self.threads[start]):
                    back = [number]
                    while back[-1] != start:
                        back.append(before[back[-1]])
                    return back[::-1]
                in_queue = []
                for other in left.get(key, self.holders.get(key, ())):
                    if other == start or other in before:
                        continue
                    if _queue(self.threads[number], self.threads[other]):
                        in_queue.append(other)
                    else:
                        before[other] = number
                        queue.append((other, length + 1))
                left[key] = in_queue
        return []


def _waited(lock: Lock, by_type: bool) -> Iterator[Key]:
    if lock.name:
        yield "name", lock.name
    if by_type and lock.of:
        yield ("nameless" if lock.name else "type"), lock.of


def _held(lock: Lock, by_type: bool) -> Iterator[Key]:
    if lock.name:
        yield "name", lock.name
    elif by_type and lock.of:
        yield "nameless", lock.of
    if by_type and lock.of:
        yield "type", lock.of


# --- orders


def _of_orders(edges: Sequence[Edge]) -> tuple[Circle, ...]:
    by_pair: Mapping[tuple[str, str], Edge] = {
        (edge.holding.name, edge.acquired.name): edge
        for edge in reversed(edges)
        if edge.holding.name and edge.acquired.name
    }
    graph: nx.DiGraph[str] = nx.DiGraph(list(by_pair))
    best: list[str] = []
    for part in nx.strongly_connected_components(graph):
        for start in sorted(part)[:MOST_STARTS]:
            among = graph.subgraph(part)
            for follower in among.successors(start):
                way = nx.shortest_path(among, follower, start) if follower != start else [start]
                if not best or len(way) < len(best):
                    best = way
    if not best:
        return ()
    first = best.index(min(best))
    names = [*best[first:], *best[:first]]
    chosen = [by_pair[pair] for pair in zip(names, [*names[1:], names[0]], strict=True)]
    return (Circle(tuple(names), tuple(map(order_text, chosen)), all(edge.certain for edge in chosen)),)


def order_text(edge: Edge) -> str:
    """An order in words."""
    verb = "holds" if edge.certain else "may hold"
    since = f" ({edge.since})" if edge.since else ""
    where = f" ({edge.where})" if edge.where else ""
    return f"{edge.by} {verb} {edge.holding.text}{since} and acquires {edge.acquired.text}{where}"
