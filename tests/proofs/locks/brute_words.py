"""All interleavings of small programs with words for channels, counters, conditions and started threads, worked out anew.

Nothing is taken from the explorer of :mod:`schedproof.proofs.locks`: neither instructions nor ways. A thread is what it
has still to do. Channels are a number and a flag, a condition is the set of threads that sleep, and a lock has an owner
and a depth, as Go, Java and POSIX describe them. Threads appear when they are started.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from schedproof.model.locks import Locks
from schedproof.model.locks.language import (
    Acquire,
    Await,
    Branch,
    Close,
    Count,
    Counts,
    Either,
    Go,
    Kind,
    Once,
    Receive,
    Release,
    Select,
    Send,
    Serve,
    Signal,
    Wait,
)

Todo = tuple[Any, ...]
COMPARE = {
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


class World(NamedTuple):
    """A state: what each thread has to do, who owns which lock how deep, numbers by name, what is closed, who sleeps."""

    todo: tuple[Todo, ...]
    owned: frozenset[tuple[str, int, int]]
    numbers: tuple[tuple[str, int], ...]
    closed: frozenset[str]
    asleep: frozenset[tuple[int, str]]
    line: tuple[tuple[int, str], ...] = ()
    """Who waits for permits of which semaphore, the first to come first."""
    mail: tuple[tuple[str, str], ...] = ()
    """The messages in channels with kinds, each with its channel, the first to come first."""

    def number(self, name: str) -> int:
        return dict(self.numbers)[name]

    def having(self, name: str, number: int) -> World:
        return self._replace(numbers=tuple(sorted({**dict(self.numbers), name: number}.items())))

    def owner(self, lock: str) -> tuple[int, int]:
        """The thread and its depth; (-1, 0) if there is none."""
        return next(((who, deep) for name, who, deep in self.owned if name == lock), (-1, 0))

    def owns(self, lock: str, who: int, deep: int) -> World:
        others = {each for each in self.owned if each[0] != lock}
        return self._replace(owned=frozenset(others | ({(lock, who, deep)} if deep else set())))

    def goes(self, thread: int, *todo: Any) -> World:
        """The thread has this to do instead of its first step."""
        rest = (*todo, *self.todo[thread][1:])
        return self._replace(todo=(*self.todo[:thread], rest, *self.todo[thread + 1 :]))

    def wakes(self, queue: str, whom: frozenset[int]) -> World:
        return self._replace(asleep=self.asleep - {(who, queue) for who in whom})


class Outcome(NamedTuple):
    """Whether some thread can never continue from some state on, some run loses a lock at its end, or ends the program."""

    stuck: bool
    leaks: bool
    panics: bool
    states: int


class Panic(Exception):
    """The program ends."""


class Brute:
    """Explores the threads of a lock file with mutexes, and without classes and operations."""

    def __init__(self, locks: Locks) -> None:
        self.locks = locks
        self.kinds = {name: locks.classes[one.of].kind for name, one in locks.objects.items()}

    def explore(self, most: int) -> Outcome | None:
        """What can happen; None if there are more states than ``most``."""
        numbers = {one.name: one.first for one in self.locks.counters.values()} | dict.fromkeys(self.locks.channels, 0)
        first = World(
            tuple(tuple(thread.steps) for thread in self.locks.threads.values()),
            frozenset(), tuple(sorted(numbers.items())), frozenset(), frozenset(),
        )  # fmt: skip
        seen, stack = {first}, [first]
        before: dict[World, list[World]] = {first: []}
        able: dict[World, set[int]] = {}  # who moves there, is done, or rests
        leaks = panics = False
        while stack:
            world = stack.pop()
            goes_on = ends = False
            able[world] = {n for n, todo in enumerate(world.todo) if not todo or self.rests(world, n)}
            for thread, todo in enumerate(world.todo):
                if not todo or (
                    thread in dict(world.asleep) and (not isinstance(todo[0], tuple) or todo[0][0] != "naps")
                ):
                    continue
                try:
                    for after in self.step(world, thread, todo[0]):
                        goes_on = True
                        able[world] |= {thread, *(n for n, left in enumerate(world.todo) if left != after.todo[n])}
                        before.setdefault(after, []).append(world)
                        if after not in seen:
                            seen.add(after)
                            stack.append(after)
                except Panic:
                    panics = ends = True
                    able[world] |= {*range(len(world.todo) + 1)}
            if len(seen) > most:
                return None
            if not goes_on and not ends:
                leaks |= any(
                    not world.todo[who] and self.kinds[lock] is not Kind.UNOWNED for lock, who, _ in world.owned
                )
        return Outcome(self.stuck(able, before), leaks, panics, len(seen))

    def stuck(self, able: dict[World, set[int]], before: dict[World, list[World]]) -> bool:
        """Whether some thread that is not done and does not rest moves in no state that is reached from some state."""
        for thread in range(max(len(world.todo) for world in able)):
            open_ = [world for world, who in able.items() if thread in who or thread >= len(world.todo)]
            good = set(open_)
            while open_:
                for world in before[open_.pop()]:
                    if world not in good:
                        good.add(world)
                        open_.append(world)
            if len(good) < len(able):
                return True
        return False

    def rests(self, world: World, thread: int) -> bool:
        """Whether a thread waits for the first message of a round of ``serve``, and holds nothing."""
        *body, last = world.todo[thread] or (None,)
        if not isinstance(last, Serve) or body != [*last.body] or any(who == thread for _, who, _ in world.owned):
            return False
        first = body[0]
        cases = [case.on for case in first.cases] if isinstance(first, Select) else [first]
        return any(isinstance(each, Receive) for each in cases)

    def step(self, world: World, thread: int, step: Any) -> Iterator[World]:
        match step:
            case Acquire():
                name = step.path.variable
                inside = () if step.body is None else (*step.body, ("put", name))
                who, deep = world.owner(name)
                if who < 0:
                    yield world.owns(name, thread, 1).goes(thread, *inside)
                elif who == thread and self.kinds[name] is Kind.REENTRANT:
                    yield world.owns(name, thread, deep + 1).goes(thread, *inside)
                elif who == thread and self.kinds[name] is Kind.ERRORCHECK:
                    yield world.goes(thread)
            case Release() | ("put", _):
                name = step.path.variable if isinstance(step, Release) else step[1]
                who, deep = world.owner(name)
                if who == thread or (who >= 0 and self.kinds[name] is Kind.UNOWNED):
                    yield world.owns(name, who, deep - 1).goes(thread)
                elif self.kinds[name] is Kind.ERRORCHECK:
                    yield world.goes(thread)
                else:
                    raise Panic
            case Send() | Receive():
                yield from self.message(world, thread, step, ())
            case Select():
                yield from self.select(world, thread, step)
            case Close():
                if step.channel in world.closed and not step.cancels:
                    raise Panic
                yield world._replace(closed=world.closed | {step.channel}).goes(thread)
            case Count():
                number = world.number(step.on)
                change = {"set": step.number - number, "add": step.number, "release": step.number}
                changed = number + change.get(step.verb, -step.number)
                if not 0 <= changed <= 255:
                    raise Panic
                group = self.locks.counters[step.on].counts is Counts.GROUP
                woken = frozenset(who for who, queue in world.asleep if group and not changed and queue == step.on)
                yield world.having(step.on, changed).wakes(step.on, woken).goes(thread)
            case Await(test=test) if self.locks.counters[test.on].counts is Counts.SEMAPHORE:
                before = [each for each in world.line if each[1] == test.on]
                number = world.number(test.on)
                passes = before[0][0] == thread if (thread, test.on) in before else self.passes(test.on, before)
                inside = () if step.body is None else (*step.body, ("free", test.on, step.takes))
                if number >= step.takes and passes:
                    line = tuple(each for each in world.line if each != (thread, test.on))
                    yield world.having(test.on, number - step.takes)._replace(line=line).goes(thread, *inside)
                elif (thread, test.on) not in before:
                    yield world._replace(line=(*world.line, (thread, test.on)))
            case Await(test=test):
                if COMPARE[test.sign](world.number(test.on), test.number):
                    after = world.having(test.on, world.number(test.on) - step.takes)
                    yield after.goes(thread, *(step.body or ()))
            case ("free", name, number):
                if world.number(name) + number > 255:
                    raise Panic
                yield world.having(name, world.number(name) + number).goes(thread)
            case Branch(test=test):
                if not COMPARE[test.sign](world.number(test.on), test.number):
                    yield world.goes(thread)
                    return
                after = world if step.to is None else world.having(test.on, step.to)
                yield after.goes(thread, *step.body, *((step,) if step.repeats else ()))
            case Serve():
                yield world.goes(thread, *step.body, step)
            case Either():
                for each in step.alternatives:
                    yield world.goes(thread, *each)
            case Wait():
                yield from self.wait(world, thread, step)
            case ("naps", name):  # its time is over: it sleeps no more
                yield world._replace(asleep=world.asleep - {(thread, name)}).goes(thread)
            case ("again", name, deep):
                if world.owner(name)[0] < 0:
                    yield world.owns(name, thread, deep).goes(thread)
            case ("returns", name):
                if world.number(name):
                    raise Panic
                yield world.goes(thread)
            case Signal():
                lock = self.locks.conditions[step.condition].lock
                if self.kinds[lock] is Kind.REENTRANT and world.owner(lock)[0] != thread:
                    raise Panic
                asleep = frozenset(who for who, queue in world.asleep if queue == step.condition)
                for whom in [asleep] if step.everyone or not asleep else [frozenset({who}) for who in asleep]:
                    yield world.wakes(step.condition, whom).goes(thread)
            case Go():
                after = world.goes(thread)
                yield after._replace(todo=(*after.todo, tuple(step.body)))
            case Once(path=path, body=body):
                name = path.variable
                if name in world.closed:  # its steps have run
                    yield world.goes(thread)
                elif world.owner(name)[0] < 0:
                    yield world.owns(name, thread, 1).goes(thread, *body, ("ran", name))
            case ("ran", name):
                yield world._replace(closed=world.closed | {name}).owns(name, thread, 0).goes(thread)

    def passes(self, semaphore: str, before: list[tuple[int, str]]) -> bool:
        """Whether a thread that comes need not wait in line."""
        return not before or self.locks.counters[semaphore].barging

    def wait(self, world: World, thread: int, step: Wait) -> Iterator[World]:
        name = step.condition
        if name not in self.locks.conditions:
            if not world.number(name):
                yield world.goes(thread)
                return
            after = world.goes(thread, ("returns", name))
            yield after._replace(asleep=after.asleep | {(thread, name)})
            return
        lock = self.locks.conditions[name].lock
        who, deep = world.owner(lock)
        if who != thread:
            raise Panic
        naps = (("naps", name),) if step.timed else ()
        after = world.owns(lock, thread, 0).goes(thread, *naps, ("again", lock, deep))
        yield after._replace(asleep=after.asleep | {(thread, name)})

    def message(self, world: World, thread: int, step: Send | Receive, inside: Todo) -> Iterator[World]:
        """The step alone, or with who stands on the other side."""
        name, number = step.channel, self.waiting(world, step.channel)
        room = self.locks.channels[name]
        if isinstance(step, Receive):
            if not self.fits(world, step):
                return
            if name in self.locks.kinds and number:
                mail = list(world.mail)
                del mail[[channel for channel, _ in mail].index(name)]
                yield world._replace(mail=tuple(mail)).goes(thread, *inside)
            elif number:
                yield world.having(name, number - 1).goes(thread, *inside)
            elif name in world.closed:
                yield world.goes(thread, *inside)
            return
        if name in world.closed:
            raise Panic
        if number < room and step.kind:
            yield world._replace(mail=(*world.mail, (name, step.kind))).goes(thread, *inside)
        elif number < room:
            yield world.having(name, number + 1).goes(thread, *inside)
        for other, todo in enumerate(world.todo):
            if room == 0 and other != thread and todo and other not in dict(world.asleep):
                for its in self.receives(todo[0], name, step.kind):
                    yield world.goes(thread, *inside).goes(other, *its)

    def waiting(self, world: World, name: str) -> int:
        """The number of messages in a channel."""
        if name in self.locks.kinds:
            return [channel for channel, _ in world.mail].count(name)
        return world.number(name)

    def fits(self, world: World, step: Receive) -> bool:
        """Whether a receiver takes what comes next: the first message, or the end of a channel."""
        kinds = [kind for channel, kind in world.mail if channel == step.channel]
        if self.waiting(world, step.channel):
            return step.kind == "" or step.kind == kinds[0]
        return step.channel in world.closed and step.kind in ("", "closed")

    def receives(self, step: Any, name: str, kind: str) -> Iterator[Todo]:
        """What a thread does after it has received a message of a kind at its next step, for each way to do so."""
        if isinstance(step, Receive) and step.channel == name:
            yield ()
        if isinstance(step, Select):
            for case in step.cases:
                if isinstance(case.on, Receive) and case.on.channel == name and case.on.kind in ("", kind):
                    yield case.body

    def select(self, world: World, thread: int, step: Select) -> Iterator[World]:
        ready = panics = False
        for case in step.cases:
            if case.on is None:
                continue
            room = self.locks.channels[case.on.channel]
            # No step depends on whether a partner sleeps at the other side: what is in the channel makes a case ready.
            if isinstance(case.on, Receive):
                ready |= self.fits(world, case.on)
            else:
                ready |= self.waiting(world, case.on.channel) < room or case.on.channel in world.closed
            try:
                yield from self.message(world, thread, case.on, case.body)
            except Panic:
                panics = True
        for case in step.cases:
            if case.on is None and (case.waits or not ready):
                yield world.goes(thread, *case.body)
        if panics:
            raise Panic
