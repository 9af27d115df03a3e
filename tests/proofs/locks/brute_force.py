"""All interleavings of small thread programs, worked out anew from what Go says of its locks and its channels.

Nothing is acquired from the explorer of :mod:`schedproof.proofs.locks`. A program is a tuple of steps, a step a tuple:

    ("get", how, lock)                  how: "r" or "w" of a sync.RWMutex, "m" of a sync.Mutex
    ("put", lock)
    ("try", how, lock, body)            get it without waiting, do the body, put it back; or none of this
    ("with", how, lock, body)           get it, do the body, put it back
    ("one of", body, body, ...)
    ("send", channel)   ("recv", channel)
    ("forever", body)

sync.RWMutex keeps a mutex for its writers, and counts: a writer takes that mutex, which announces it, and is in when
the last reader has left that was there before. Who reads while a writer has announced itself is put on a list; the
writer's Unlock lets the whole list in, and only then the next writer may announce itself. A channel counts messages;
one of capacity 0 has none, sender and receiver go on together; capacity None is endless.

Who puts back what it has not got ends the whole program, as in Go.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

Step = tuple[Any, ...]
Body = tuple[Step, ...]
World = dict[str, Any]
Capacities = Mapping[str, int | None]


class End(NamedTuple):
    """A state in which nothing goes on: by thread what it would do next, None if it is done, and what it holds."""

    would: tuple[str | None, ...]
    holds: tuple[tuple[str, ...], ...]
    rests: tuple[bool, ...]

    @property
    def stuck(self) -> bool:
        return any(w is not None and not r for w, r in zip(self.would, self.rests, strict=True))

    @property
    def leaks(self) -> bool:
        return any(w is None and h for w, h in zip(self.would, self.holds, strict=True))


class BruteForceResult(NamedTuple):
    """What there is: how many states, the ends, and the lengths of the shortest ways to what is wrong (0: no way)."""

    states: int
    ends: frozenset[End]
    to_a_bad_end: int
    to_an_error: int
    frozen: frozenset[int]
    """Threads that can come to stand still for ever, whether others go on or not."""

    @property
    def stuck(self) -> bool:
        return any(end.stuck for end in self.ends)

    @property
    def leaks(self) -> bool:
        return any(end.leaks for end in self.ends)


def settled(rest: Body) -> Iterator[Body]:
    """What is to do, with a single step at its beginning: one for each way of choosing."""
    if not rest:
        yield ()
        return
    head, tail = rest[0], rest[1:]
    if head[0] == "with":
        _, how, lock, body, *label = head
        yield (("get", how, lock, *label), *body, ("put", lock, *label), *tail)
    elif head[0] == "one of":
        for body in head[1:]:
            yield from settled((*body, *tail))
    elif head[0] == "forever":
        yield from settled((*head[1], head))
    else:
        yield rest


def _fresh(programs: Sequence[Body], locks: Sequence[str], channels: Capacities) -> Iterator[World]:
    for todo in product(*(list(dict.fromkeys(settled(tuple(p)))) for p in programs)):
        yield {
            "todo": list(todo),
            "locks": {name: {"writer": None, "in": False, "readers": {}, "list": set()} for name in locks},
            "count": dict.fromkeys(channels, 0),
            "asleep": set(),
        }


def _copy(world: World) -> World:
    locks = {
        name: {"writer": k["writer"], "in": k["in"], "readers": dict(k["readers"]), "list": set(k["list"])}
        for name, k in world["locks"].items()
    }
    return {
        "todo": list(world["todo"]),
        "locks": locks,
        "count": dict(world["count"]),
        "asleep": set(world["asleep"]),
    }


def _key(world: World) -> tuple[Any, ...]:
    locks = tuple(
        (name, k["writer"], k["in"], tuple(sorted(k["readers"].items())), tuple(sorted(k["list"])))
        for name, k in sorted(world["locks"].items())
    )
    return tuple(world["todo"]), locks, tuple(sorted(world["count"].items())), tuple(sorted(world["asleep"]))


def _on(world: World, *threads: int) -> Iterator[World]:
    """Each of ``threads`` has done its step."""
    for ways in product(*(list(dict.fromkeys(settled(world["todo"][t][1:]))) for t in threads)):
        after = _copy(world)
        for thread, way in zip(threads, ways, strict=True):
            after["todo"][thread] = way
            after["asleep"].discard(thread)
        yield after


class Fatal(Exception):
    """sync: unlock of unlocked mutex."""


def successors(world: World, channels: Capacities) -> Iterator[tuple[frozenset[int], World]]:
    """Who does something, and what comes of it."""
    for thread, todo in enumerate(world["todo"]):
        if not todo or thread in world["asleep"]:
            continue
        what, on = todo[0][0], todo[0][2 if todo[0][0] in ("get", "try") else 1]
        if what == "get":
            yield from _get(_copy(world), thread, todo[0][1], on)
        elif what == "try":
            yield from _try(world, thread)
        elif what == "put":
            yield from _put(_copy(world), thread, on)
        elif what == "recv" and world["count"][on] > 0:
            after = _copy(world)
            after["count"][on] -= 1
            for resumed in _on(after, thread):
                yield frozenset([thread]), resumed
        elif what == "send" and channels[on] == 0:
            for other, its in enumerate(world["todo"]):
                if its and its[0][:2] == ("recv", on):
                    for resumed in _on(world, thread, other):
                        yield frozenset([thread, other]), resumed
        elif what == "send":
            room = channels[on]
            if room is None or world["count"][on] < room:
                after = _copy(world)
                after["count"][on] += 1
                for resumed in _on(after, thread):
                    yield frozenset([thread]), resumed


def _get(world: World, thread: int, how: str, name: str) -> Iterator[tuple[frozenset[int], World]]:
    lock, me = world["locks"][name], frozenset([thread])
    if how == "r" and lock["writer"] is None:
        lock["readers"][thread] = lock["readers"].get(thread, 0) + 1
    elif how == "r":
        lock["list"].add(thread)
        world["asleep"].add(thread)
        yield me, world
        return
    elif lock["writer"] is not None:
        return  # it waits for the mutex
    else:
        lock["writer"], lock["in"] = thread, not lock["readers"]
        if not lock["in"]:
            world["asleep"].add(thread)
            yield me, world
            return
    for after in _on(world, thread):
        yield me, after


def _try(world: World, thread: int) -> Iterator[tuple[frozenset[int], World]]:
    head, *tail = world["todo"][thread]
    _, how, name, body, *label = head
    for after in _on(world, thread):
        yield frozenset([thread]), after
    acquired = _copy(world)
    lock = acquired["locks"][name]
    if lock["writer"] is not None or (how != "r" and lock["readers"]):
        return
    if how == "r":
        lock["readers"][thread] = lock["readers"].get(thread, 0) + 1
    else:
        lock["writer"], lock["in"] = thread, True
    acquired["todo"][thread] = (head, *body, ("put", name, *label), *tail)
    for after in _on(acquired, thread):
        yield frozenset([thread]), after


def _put(world: World, thread: int, name: str) -> Iterator[tuple[frozenset[int], World]]:
    lock = world["locks"][name]
    woken: list[int] = []
    if lock["writer"] == thread and lock["in"]:
        woken = sorted(lock["list"])
        lock.update(writer=None, list=set(), readers=dict.fromkeys(woken, 1))
        lock["in"] = False
    elif lock["readers"].get(thread):
        lock["readers"][thread] -= 1
        if not lock["readers"][thread]:
            del lock["readers"][thread]
        if not lock["readers"] and lock["writer"] is not None:
            lock["in"] = True
            woken = [lock["writer"]]
    else:
        raise Fatal
    for after in _on(world, thread, *woken):
        yield frozenset([thread, *woken]), after


def _holds(world: World, thread: int) -> tuple[str, ...]:
    held = []
    for name, lock in sorted(world["locks"].items()):
        held += [f"{name} r"] * lock["readers"].get(thread, 0)
        if lock["writer"] == thread and lock["in"]:
            held.append(f"{name} w")
    return tuple(held)


def _rests(world: World, thread: int) -> bool:
    todo = world["todo"][thread]
    if not todo or todo[0][0] != "recv" or todo[-1][0] != "forever" or _holds(world, thread):
        return False
    return todo in list(settled((todo[-1],)))


def _end(world: World) -> End:
    threads = range(len(world["todo"]))
    would = []
    for thread in threads:
        todo = world["todo"][thread]
        would.append(None if not todo else " ".join(todo[0][: 3 if todo[0][0] == "get" else 2]))
    return End(tuple(would), tuple(_holds(world, t) for t in threads), tuple(_rests(world, t) for t in threads))


def explore(programs: Sequence[Body], locks: Sequence[str], channels: Capacities | None = None) -> BruteForceResult:
    """Everything that can come of ``programs``, depth first; then the shortest ways, breadth first."""
    capacities = channels or {}
    worlds: dict[tuple[Any, ...], World] = {}
    edges: dict[tuple[Any, ...], list[tuple[frozenset[int], tuple[Any, ...]]]] = {}
    fatal: set[tuple[Any, ...]] = set()
    first = list(_fresh(programs, locks, capacities))
    stack = list(first)
    while stack:
        world = stack.pop()
        key = _key(world)
        if key in worlds:
            continue
        worlds[key] = world
        edges[key] = []
        try:
            for who, after in successors(world, capacities):
                edges[key].append((who, _key(after)))
                stack.append(after)
        except Fatal:
            fatal.add(key)
    ends = {key: _end(worlds[key]) for key, out in edges.items() if not out and key not in fatal}
    bad = {key for key, end in ends.items() if end.stuck or end.leaks}
    far = _distances([_key(w) for w in first], edges)
    return BruteForceResult(
        len(worlds),
        frozenset(ends.values()),
        min((far[key] for key in bad), default=0),
        min((far[key] + 1 for key in fatal), default=0),
        _frozen(worlds, edges, fatal),
    )


def _distances(
    first: Sequence[tuple[Any, ...]], edges: Mapping[tuple[Any, ...], Sequence[tuple[frozenset[int], tuple[Any, ...]]]]
) -> dict[tuple[Any, ...], int]:
    far = dict.fromkeys(first, 0)
    queue = deque(first)
    while queue:
        node = queue.popleft()
        for _, target in edges[node]:
            if target not in far:
                far[target] = far[node] + 1
                queue.append(target)
    return far


def _frozen(
    worlds: Mapping[tuple[Any, ...], World],
    edges: Mapping[tuple[Any, ...], Sequence[tuple[frozenset[int], tuple[Any, ...]]]],
    fatal: set[tuple[Any, ...]],
) -> frozenset[int]:
    """Threads that, from some state on, never do anything, though they are not done and do not rest."""
    backwards: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {key: [] for key in edges}
    for node, out in edges.items():
        for _, target in out:
            backwards[target].append(node)
    frozen = set()
    for thread in range(len(next(iter(worlds.values()))["todo"])):
        goes_on = {key for key, out in edges.items() if any(thread in who for who, _ in out)} | fatal
        queue = list(goes_on)
        while queue:
            for before in backwards[queue.pop()]:
                if before not in goes_on:
                    goes_on.add(before)
                    queue.append(before)
        if any(worlds[key]["todo"][thread] and not _rests(worlds[key], thread) for key in edges if key not in goes_on):
            frozen.add(thread)
    return frozenset(frozen)
