"""The order of locks that programs follow, derived from all their runs: which lock is acquired while which is held.

A circle of such acquisitions is a deadlock of threads that each hold one lock of it and wait for the next. As in
Linux's lockdep, the threads need not be described as running at once. A circle is left out if two of the threads would
have to hold one lock that excludes them: a *gate* (the gate locks of Goodlock; Havelund 2000). A reader waits for
readers only while a writer waits too, so a circle that needs this says which writer. It is left out if a gate keeps
every writer of the file from waiting then.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice

import networkx as nx

from schedproof.model.lang.errors import Place
from schedproof.model.locks.language import Acquire, Mode

from .runs import Held, Tried

LONGEST = 5
"""The most locks of a circle that is searched for. Where locks have no such circle, a shortest one counts too."""

MOST = 5_000
"""The most circles that are looked at."""


@dataclass(frozen=True)
class Acquisition:
    """A program acquires ``lock`` in ``mode`` while it holds ``held``.

    Args:
        name: the operation or thread.
        program: the same with its arguments, if it has some.
        thread: the name of the thread, which runs once; "" if the program may run any number of times.
        places: where each held lock was acquired; a lock of the caller has none.
        after: the number of steps before it.
        step, steps: the text of its step, and of those that acquired the held locks: several can be in one line.
    """

    name: str
    program: str
    thread: str
    held: tuple[Held, ...]
    lock: str
    mode: Mode
    place: Place = field(compare=False)
    places: Mapping[str, Place] = field(compare=False)
    after: int = field(compare=False)
    step: str = field(compare=False, default="")
    steps: Mapping[str, str] = field(compare=False, default_factory=dict)

    def held_as(self, lock: str) -> Mode | None:
        """The strongest mode in which the program holds a lock; None if it does not."""
        modes = [mode for name, mode in self.held if name == lock]
        return next((mode for mode in modes if mode is not Mode.READ), modes[0] if modes else None)

    def holding(self, lock: str) -> str:
        """Where the program has acquired a lock that it holds, in words."""
        place = self.places.get(lock)
        return f"holds {self.held_as(lock)} {lock} ({place or 'of its caller'})"

    @property
    def says(self) -> str:
        """The acquisition in words."""
        return f"acquires {self.mode} {self.lock} ({self.place})"


def acquisitions(tried: Iterable[Tried], once: Collection[str] = ()) -> list[Acquisition]:
    """Every acquisition of some runs, once for each place.

    Args:
        tried: the runs.
        once: the names of threads that run once.
    """
    known: dict[object, Acquisition] = {}
    for one in tried:
        arguments = ", ".join(f"{name} = {value}" for name, value in one.arguments.items() if name != value)
        places: dict[str, Place] = {}
        steps: dict[str, str] = {}
        for number, event in enumerate(one.run):
            if not isinstance(event.step, Acquire) or event.mode is None:
                continue
            held = {name for name, _ in event.held}
            places_before = {name: place for name, place in places.items() if name in held}
            steps_before = {name: text for name, text in steps.items() if name in held}
            places[event.object], steps[event.object] = event.step.place, event.step.text
            if event.step.tries:
                continue  # it waits for no lock, and no reader waits for it
            made = Acquisition(
                one.name,
                f"{one.name} with {arguments}" if arguments else one.name,
                one.name if one.name.partition(".")[0] in once else "",
                event.held,
                event.object,
                event.mode,
                event.step.place,
                places_before,
                number,
                event.step.text,
                steps_before,
            )
            known.setdefault((made, made.place, *places_before.items(), made.step, *steps_before.items()), made)
    return list(known.values())


@dataclass(frozen=True)
class Circle:
    """Programs that each hold a lock and wait for that of the next.

    Args:
        locks: the lock that each program holds.
        by: for each of them the acquisition of the next lock.
        twice: the thread that would have to run twice; "" if none.
        writers: for each lock of :attr:`through_writers` the writer that has to wait; None if the file describes none.
    """

    locks: tuple[str, ...]
    by: tuple[Acquisition, ...]
    twice: str = ""
    writers: tuple[Acquisition | None, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The programs without their arguments, sorted."""
        return tuple(sorted({one.name for one in self.by}))

    @property
    def text(self) -> str:
        """The locks, in order."""
        return " > ".join([*self.locks, self.locks[0]])

    @property
    def steps(self) -> tuple[str, ...]:
        """What each program holds and acquires, one line each."""
        pairs = zip(self.locks, self.by, strict=True)
        return tuple(f"{one.program}: {one.holding(lock)} and {one.says}" for lock, one in pairs)

    @property
    def through_writers(self) -> tuple[str, ...]:
        """The locks that one program reads and the next one waits to read: a writer has to wait in between."""
        return _through_writers(self.by)


@dataclass(frozen=True)
class Gated:
    """A circle that cannot close: two programs of it, or a writer that it needs, would hold ``gate`` at once."""

    circle: Circle
    gate: str
    programs: tuple[str, str]

    @property
    def kind(self) -> tuple[str, ...]:
        """The same for all circles of the same programs, whatever their arguments."""
        return self.circle.names

    @property
    def text(self) -> str:
        """The circle and its gate in words."""
        first, second = self.programs
        both = f"{first} and {second} hold" if first != second else f"{first} holds it twice at once: it holds"
        return f"the circle {self.circle.text} cannot close: {both} {self.gate} meanwhile"


@dataclass(frozen=True)
class Circles:
    """All circles of some acquisitions, the shortest first; ``complete`` is False if the search stopped early."""

    circles: tuple[Circle, ...]
    gated: tuple[Gated, ...]
    complete: bool


def find_circles(every: Sequence[Acquisition]) -> Circles:
    """The circles of acquisitions under other locks."""
    edges: dict[tuple[str, str], list[Acquisition]] = {}
    for one in every:
        for held in dict.fromkeys(name for name, _ in one.held):
            if held != one.lock and one.held_as(one.lock) is None:
                edges.setdefault((held, one.lock), []).append(one)
    graph: nx.DiGraph[str] = nx.DiGraph(list(edges))
    writers = _Writers(every)
    parts = [graph.subgraph(part) for part in nx.strongly_connected_components(graph) if len(part) > 1]
    complete = all(len(part) <= LONGEST or _common_gate(part, edges) for part in parts)
    open_: dict[tuple[str, ...], Circle] = {}
    gated: dict[tuple[str, ...], Gated] = {}
    names = [
        way
        for part in parts
        for way in (list(islice(nx.simple_cycles(part, length_bound=LONGEST), MOST + 1)) or [_shortest(part)])
    ]
    if len(names) > MOST:
        names, complete = names[:MOST], False
    for way in sorted(names, key=lambda each: (len(each), sorted(each))):
        first = way.index(min(way))
        locks = (*way[first:], *way[:first])
        ends = zip(locks, (*locks[1:], locks[0]), strict=True)
        ways = [_different(edges[pair]) for pair in ends]
        circle = _possible(locks, ways, writers)
        if circle is not None:
            open_[locks] = circle
        elif (gate := _gate(locks, ways, writers)) is not None:
            gated[locks] = gate
    return Circles(tuple(open_.values()), tuple(gated.values()), complete)


def _shortest(part: nx.DiGraph[str]) -> list[str]:
    """A shortest circle of a part of the graph."""
    back = (nx.shortest_path(part, other, one) for one, other in part.edges)
    return min(back, key=len)


class _Writers:
    """The described writers of each lock."""

    def __init__(self, every: Sequence[Acquisition]) -> None:
        self.every = every
        self.of: dict[str, list[Acquisition]] = {}

    def __getitem__(self, lock: str) -> Sequence[Acquisition]:
        if lock not in self.of:
            self.of[lock] = _different(writers_of(self.every, lock))
        return self.of[lock]


def _possible(locks: tuple[str, ...], ways: Sequence[Sequence[Acquisition]], writers: _Writers) -> Circle | None:
    """A choice of acquisitions that can wait for each other at once; one without more assumptions if there is one."""
    for repeats in (False, True):
        for among in (None, writers):
            if (choice := next(_choices(ways, among, repeats=repeats), None)) is not None:
                chosen, between = choice
                together = [*chosen, *(one for one in between if one is not None)]
                twice = next((a.thread for a, b in combinations(together, 2) if _same(a, b)), "")
                return Circle(locks, chosen, twice, between)
    return None


def _choices(
    ways: Sequence[Sequence[Acquisition]],
    writers: _Writers | None,
    *,
    repeats: bool,
    chosen: tuple[Acquisition, ...] = (),
) -> Iterator[tuple[tuple[Acquisition, ...], tuple[Acquisition | None, ...]]]:
    """Choices of one acquisition for each edge, of programs that exclude each other by no lock, and of the writers needed.

    Args:
        ways: for each edge of the circle its acquisitions.
        writers: the writers because of which a reader may wait for a reader; None if it may not.
        repeats: whether a thread may run twice.
        chosen: the acquisitions chosen so far.
    """
    if len(chosen) == len(ways):
        through = _through_writers(chosen)
        if writers is not None:
            yield from ((chosen, each) for each in _between(through, writers, chosen, repeats=repeats))
        elif not through:
            yield chosen, ()
        return
    for one in ways[len(chosen)]:
        if _fits(one, chosen, repeats=repeats):
            yield from _choices(ways, writers, repeats=repeats, chosen=(*chosen, one))


def _between(
    through: Sequence[str], writers: _Writers, chosen: tuple[Acquisition, ...], *, repeats: bool
) -> Iterator[tuple[Acquisition | None, ...]]:
    """Choices of a writer of each lock that can wait while the chosen programs do; None where the file describes none."""
    if not through:
        yield ()
    elif not writers[through[0]]:
        yield from ((None, *rest) for rest in _between(through[1:], writers, chosen, repeats=repeats))
    else:
        for one in writers[through[0]]:
            if _fits(one, chosen, repeats=repeats):
                for rest in _between(through[1:], writers, (*chosen, one), repeats=repeats):
                    yield (one, *rest)


def _fits(one: Acquisition, chosen: Sequence[Acquisition], *, repeats: bool) -> bool:
    """Whether a program can wait while the chosen ones do."""
    return all(_gates(one, other) == () and (repeats or not _same(one, other)) for other in chosen)


def _same(one: Acquisition, other: Acquisition) -> bool:
    """Whether both are by one thread, which runs once."""
    return bool(one.thread) and one.thread == other.thread


def _gates(one: Acquisition, other: Acquisition) -> tuple[str, ...]:
    """The locks that two programs cannot both hold as they do."""
    held = dict.fromkeys(name for name, _ in one.held)
    return tuple(
        name
        for name in held
        if (mode := other.held_as(name)) is not None and (mode is not Mode.READ or one.held_as(name) is not Mode.READ)
    )


def _common_gate(part: nx.DiGraph[str], edges: Mapping[tuple[str, str], Sequence[Acquisition]]) -> bool:
    """Whether all acquisitions of a part of the graph exclude each other by one lock: then no circle of it can close."""
    exclusive = [
        {name for name, mode in one.held if mode is not Mode.READ} for pair in part.edges for one in edges[pair]
    ]
    return bool(set.intersection(*exclusive) - set(part.nodes))


def _gate(locks: tuple[str, ...], ways: Sequence[Sequence[Acquisition]], writers: _Writers) -> Gated | None:
    """The gate of a circle that cannot close; None if a lock of the circle itself excludes it."""
    chosen = tuple(way[0] for way in ways)
    for one, other in combinations(chosen, 2):
        if (gate := next((name for name in _gates(one, other) if name not in locks), None)) is not None:
            return Gated(Circle(locks, chosen), gate, (one.program, other.program))
    needed = [(lock, one) for lock in _through_writers(chosen) for one in writers[lock]]
    others = [*chosen, *(one for _, one in needed)]
    for lock, one in needed:
        for other in others:
            if one is not other and (gate := next((name for name in _gates(one, other) if name not in locks), None)):
                writer = (
                    one.program
                    if one.program == other.program
                    else f"{one.program}, which has to write {lock} in between,"
                )
                return Gated(Circle(locks, chosen), gate, (other.program, writer))
    return None


def _different(ways: Sequence[Acquisition]) -> list[Acquisition]:
    """The acquisitions for an edge, without those that are the same for every circle; those that hold least first."""
    unlike: dict[object, Acquisition] = {}
    for one in sorted(ways, key=lambda one: (len(one.held), one.after)):
        unlike.setdefault((frozenset(one.held), one.mode, one.thread), one)
    return list(unlike.values())


def _through_writers(by: Sequence[Acquisition]) -> tuple[str, ...]:
    """The locks that a program of a circle waits to read, though the next one only reads them."""
    following = (*by[1:], by[0])
    return tuple(
        one.lock
        for one, holder in zip(by, following, strict=True)
        if one.mode is Mode.READ and holder.held_as(one.lock) is Mode.READ
    )


# --- a lock that its holder acquires again


@dataclass(frozen=True)
class Reacquired:
    """A program acquires a lock that it holds.

    Args:
        by: the acquisition.
        reads: both acquisitions are for reading: it waits only for a writer in between.
        writers: the described programs that write the lock and can wait in between.
        itself: the program writes the lock too, and runs once.
    """

    by: Acquisition
    reads: bool
    writers: tuple[Acquisition, ...] = ()
    itself: bool = False

    @property
    def steps(self) -> tuple[str, ...]:
        """What the program holds and acquires."""
        return (f"{self.by.program}: {self.by.holding(self.by.lock)} and {self.by.says}",)

    @property
    def problem(self) -> str:
        """What is wrong, in words."""
        if not self.reads:
            return f"{self.by.program} holds {self.by.lock}, and waits for itself"
        return f"{self.by.program} reads {self.by.lock} twice; {writer_between(self.by.lock, self.writers, itself=self.itself)}"


def writer_between(lock: str, writers: Sequence[Acquisition], *, itself: bool = False) -> str:
    """Who could write a lock between two readers, in words; ``itself`` if one of the readers writes it, too."""
    if not writers:
        return f"the file describes no {'other ' if itself else ''}writer of {lock}, but one that it leaves out would block the second reader"
    return f"{writers[0].program}, which {writers[0].says}, would block the second reader while it waits"


@dataclass(frozen=True)
class Repeated:
    """The acquisitions of locks that are held already.

    Args:
        violations: those that can wait for ever.
        gated: reads that no described writer can separate, since reader and writers hold a common lock; with that lock.
    """

    violations: tuple[Reacquired, ...]
    gated: tuple[tuple[Acquisition, str], ...]


def find_repeated(every: Sequence[Acquisition]) -> Repeated:
    """The acquisitions of locks that the program holds, first those that wait for themselves."""
    violations: list[Reacquired] = []
    gated: list[tuple[Acquisition, str]] = []
    for one in every:
        held = one.held_as(one.lock)
        if held is None:
            continue
        if one.mode is not Mode.READ or held is not Mode.READ:
            violations.append(Reacquired(one, reads=False))
            continue
        known = writers_of(every, one.lock)
        writers = tuple(writer for writer in known if not _same(one, writer))
        free = tuple(writer for writer in writers if not _gates(one, writer))
        if writers and not free:
            gated.append((one, _gates(one, writers[0])[0]))
        else:
            violations.append(Reacquired(one, reads=True, writers=free, itself=bool(known)))
    violations.sort(key=lambda each: (each.reads, each.by.after))
    return Repeated(tuple(violations), tuple(gated))


def writers_of(every: Sequence[Acquisition], lock: str) -> tuple[Acquisition, ...]:
    """The acquisitions of a lock for writing."""
    return tuple(one for one in every if one.lock == lock and one.mode is not Mode.READ)
