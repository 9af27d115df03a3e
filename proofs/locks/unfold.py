"""Unfolds a thread's program on given objects into a graph of instructions, without loops and calls.

A choice becomes an instruction with several successors. Threads that are started inside become programs of their own.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

from schedproof.model.lang.errors import Place
from schedproof.model.locks import Locks, LocksError
from schedproof.model.locks.language import (
    MOST_COUNTED,
    UNBOUNDED,
    Access,
    Acquire,
    AcquireMany,
    Await,
    Branch,
    Call,
    Callback,
    Close,
    CompareKeys,
    Count,
    Either,
    Go,
    Kind,
    Loop,
    Mode,
    Once,
    Path,
    Receive,
    Release,
    Select,
    Send,
    Serve,
    Signal,
    Step,
    Thread,
    Wait,
    Where,
)

from .layout import QUEUE, Layout, closed, flag, lay_out, line
from .messages import ring
from .ways import TOP, Act, Change, Guard, Park, Side, Sign, Way

DONE = -1
"""The position of a thread that has finished."""

LOOP_START = -2
"""A placeholder successor of the last instructions of a repeated block, until its first one is known.

Each block has its own: this number, or a lower one."""

DEEPEST = 50
"""The most nested calls. An operation calls itself for inner objects only, so more nesting means that it never ends."""

LONGEST = 20_000
"""The most instructions of a thread."""


class Waits(enum.Enum):
    """What a thread waits for at an instruction."""

    LOCK = enum.auto()
    MESSAGE = enum.auto()
    SIGNAL = enum.auto()
    COUNT = enum.auto()
    START = enum.auto()


What = type[Acquire] | type[Release] | type[Send] | type[Receive] | type[Act] | type[Park]


@dataclass(frozen=True)
class Instruction:
    """One instruction of a thread; ``target`` is the number of a lock, channel or queue; -1 for one with ways.

    Args:
        mode: of an acquisition, and of a release that is of one mode only.
        then: the positions at which the thread may continue.
        otherwise: the positions at which it continues if it does not get the lock.
        on: the name of the lock, channel, counter or condition.
        text, place: of the step in the description.
        tries: an acquisition that never waits.
        lock: the kind of the lock.
        whole: a release of all levels of a lock, by a thread that waits for a condition.
        needs_lock: the lock that must be held; -1 for none.
        timed: a sleep that may end at any time.
        ways: how an :class:`.ways.Act` continues.
        waits: what a thread waits for there.
    """

    kind: What
    target: int
    mode: Mode | None
    then: tuple[int, ...]
    on: str
    text: str
    place: Place
    otherwise: tuple[int, ...] = ()
    tries: bool = False
    lock: Kind = Kind.MUTEX
    whole: bool = False
    needs_lock: int = -1
    timed: bool = False
    ways: tuple[Way, ...] = ()
    waits: Waits = Waits.LOCK

    @property
    def how(self) -> str:
        """The instruction in one word."""
        if self.kind is Acquire:
            return f"try {self.mode}" if self.tries else str(self.mode)
        if self.kind is Release:
            return "wait" if self.whole else "unlock"
        if self.timed:
            return "timed wait"
        return self.text.split()[0] if self.kind in (Act, Park) else self.kind.__name__.lower()

    @property
    def does(self) -> object:
        """The instruction without its words: threads with equal ones do the same."""
        return (
            *(self.kind, self.target, self.mode, self.then, self.otherwise, self.tries, self.lock, self.whole),
            *(
                self.needs_lock,
                self.timed,
                tuple(replace(way, says="", fatal="!" if way.fatal else "") for way in self.ways),
            ),
        )

    def gives(self) -> Iterator[Sign]:
        """What other threads may wait for, and this instruction brings about."""
        if self.kind is Send or self.kind is Receive:
            yield ("up" if self.kind is Send else "down", self.target)
        for way in self.ways:
            yield from way.gives()

    def needs(self) -> Iterator[Sign]:
        """What a thread waits for here, apart from a lock."""
        if self.kind is Send or self.kind is Receive:
            yield ("down" if self.kind is Send else "up", self.target)
        if self.kind is Park:
            yield ("wake", self.target)
        for way in self.ways:
            yield from way.needs()


@dataclass(frozen=True)
class Program:
    """One thread: its instructions, and the positions at which it may begin."""

    name: str
    instructions: tuple[Instruction, ...]
    starts: tuple[int, ...]
    rests: frozenset[int] = frozenset()
    """The positions at which a serving thread waits for the next message, and a thread that is not started yet."""
    serves: bool = False
    """Whether the thread may run forever."""
    started: tuple[Program, ...] = ()
    """The threads that it starts."""

    def named(self, name: str) -> Program:
        """The program with another name; the threads that it starts are numbered."""
        started = tuple(one.named(f"{name}.{n}") for n, one in enumerate(self.started, 1))
        return replace(self, name=name, started=started)

    def all(self) -> Iterator[Program]:
        """The program, and those of all threads that are started in it."""
        yield self
        for one in self.started:
            yield from one.all()


def placed(one: int, where: Where, other: int) -> bool:
    """Whether the key ``one`` is after, or before, the key ``other``."""
    return one > other if where is Where.AFTER else one < other


@dataclass(frozen=True)
class World:
    """The objects of a description, and their containers."""

    locks: Locks

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The objects in the order of the description; a lock's number is its index here."""
        return tuple(self.locks.objects)

    @cached_property
    def layout(self) -> Layout:
        """The counters and queues."""
        return lay_out(self.locks)

    def kind(self, name: str) -> Kind:
        """The kind of an object's lock."""
        return self.locks.classes[self.locks.objects[name].of].kind

    def around(self, name: str, of: str) -> str | None:
        """The object of class ``of`` that contains ``name``, directly or not; in its own class, the direct one only.

        Raises:
            LocksError: there are two.
        """
        one = self.locks.objects[name]
        direct = [outer for outer in one.inside if self.locks.objects[outer].of == of]
        if of == one.of:
            return direct[0] if direct else None
        through_others = [self.around(outer, of) for outer in one.inside if self.locks.objects[outer].of != of]
        containers = {*direct, *(outer for outer in through_others if outer is not None)}
        if len(containers) > 1:
            raise LocksError(
                one.place,
                f"{name} is in two of class {of}: {' and '.join(sorted(containers))}",
                "leave out one of them",
            )
        return next(iter(containers), None)

    def those(self, loop: Loop, scope: Mapping[str, str]) -> list[str]:
        """The objects that a loop is over, in order.

        Raises:
            LocksError: the object that the loop starts from does not exist.
        """
        names = [o.name for o in self.locks.objects.values() if o.of == loop.over]
        if loop.outermost:
            names = [name for name in names if self.around(name, loop.over) is None]
        if loop.of is None:
            return names
        seen_from = self.reach(loop.of, scope, loop)
        if loop.where is Where.AROUND:
            return [name for name in names if name == self.around(seen_from, loop.over)]
        outer = self.locks.objects[seen_from].of
        return [name for name in names if self.around(name, outer) == seen_from]

    def key(self, name: str) -> int:
        """The key of an object, for comparison with those of its class."""
        return self.names.index(name)

    def compares(self, step: CompareKeys, scope: Mapping[str, str]) -> bool:
        """Whether two objects are as a comparison of their keys says.

        Raises:
            LocksError: one of them does not exist.
        """
        first, second = (self.key(self.reach(path, scope, step)) for path in (step.first, step.second))
        return placed(first, step.where, second) if step.where.by_key else first == second

    def one_by_one(self, step: AcquireMany, scope: Mapping[str, str]) -> tuple[tuple[Step, ...], dict[str, str]]:
        """The same as steps that acquire a single lock each, and the scope in which they run.

        Raises:
            LocksError: the object that contains the locks does not exist.
        """
        loop = Loop(
            text=step.text,
            place=step.place,
            every=True,
            outermost=False,
            variable="",
            over=step.over,
            where=Where.IN if step.of is not None else Where.ANYWHERE,
            of=step.of,
            body=(),
        )
        members = sorted(self.those(loop, scope), key=self.key)
        inner = step.body
        for name in reversed(members):
            # No variable of a description is a number and a name.
            one = Acquire(
                text=f"{step.mode} {name}", place=step.place, mode=step.mode, path=Path(f"0 {name}"), body=inner
            )
            inner = (one,) if step.every else (Either(text=step.text, place=step.place, alternatives=((one,), inner)),)
        return inner, {**scope, **{f"0 {name}": name for name in members}}

    def reach(self, path: Path, scope: Mapping[str, str], step: Step) -> str:
        """The object that a path leads to.

        Raises:
            LocksError: there is none.
        """
        name = scope[path.variable]
        for of in path.classes:
            outer = self.around(name, of)
            if outer is None:
                kind = self.locks.objects[name].of
                raise LocksError(step.place, f"{name} is not in a {of}", f"write which: {name}: {kind} in ...")
            name = outer
        return name


def unfold(world: World, thread: Thread) -> Program:
    """The instructions of ``thread``.

    Raises:
        LocksError: a step names an object that does not exist, or calls do not end.
    """
    unfolding = _Unfolding(world, thread)
    starts = unfolding.steps(thread.steps, {name: name for name in world.names}, (DONE,), 0)
    return unfolding.program(starts).named(thread.name)


class _Unfolding:
    """Unfolds from the end to the beginning, so that each instruction knows its successors."""

    def __init__(self, world: World, thread: Thread) -> None:
        self.world, self.thread = world, thread
        self.instructions: list[Instruction] = []
        self.rests: list[int] = []
        self.serves = False
        self.loops = self.open_loops = 0
        self.started: list[Program] = []

    def program(self, starts: tuple[int, ...]) -> Program:
        """The program, when all steps are unfolded."""
        return Program(
            self.thread.name,
            tuple(self.instructions),
            starts,
            frozenset(self.rests),
            self.serves,
            tuple(reversed(self.started)),
        )

    def steps(
        self, steps: Sequence[Step], scope: Mapping[str, str], then: tuple[int, ...], deep: int
    ) -> tuple[int, ...]:
        for step in reversed(steps):
            then = self.step(step, scope, then, deep)
        return then

    def step(self, step: Step, scope: Mapping[str, str], then: tuple[int, ...], deep: int) -> tuple[int, ...]:
        match step:
            case Acquire():
                return self.acquire(step, scope, then, deep)
            case AcquireMany():
                each_one, inner = self.world.one_by_one(step, scope)
                return self.steps(each_one, inner, then, deep)
            case CompareKeys(body=body):
                return self.steps(body, scope, then, deep) if self.world.compares(step, scope) else then
            case Release(path=path, mode=mode):
                return self.release(self.world.reach(path, scope, step), mode, then, step)
            case Send(channel=channel) | Receive(channel=channel):
                if closed(channel) in self.world.layout.counters:
                    return self.act(self.message(step, then), channel, step, Waits.MESSAGE)
                number = list(self.world.locks.channels).index(channel)
                return self.add(
                    Instruction(type(step), number, None, then, channel, step.text, step.place, waits=Waits.MESSAGE)
                )
            case Close():
                return self.close(step, then)
            case Select():
                return self.select(step, scope, then, deep)
            case Access() | Callback():
                return then
            case Serve(body=body):
                return self.serve(body, scope, deep)
            case Go(body=body):
                return self.go(step, body, scope, then, deep)
            case Count():
                return self.act(self.count(step, then), step.on, step, Waits.COUNT)
            case Await():
                return self.wait_for_count(step, scope, then, deep)
            case Branch():
                return self.branch(step, scope, then, deep)
            case Wait():
                return self.wait(step, then)
            case Signal():
                return self.signal(step, then)
            case Once():
                return self.once(step, scope, then, deep)
            case Either(alternatives=alternatives):
                ways = [self.steps(each, scope, then, deep) for each in alternatives]
                return tuple(dict.fromkeys(start for way in ways for start in way))
            case Loop(every=every, variable=variable, body=body):
                names = self.world.those(step, scope)
                if every:
                    for name in reversed(names):
                        then = self.steps(body, {**scope, variable: name}, then, deep)
                    return then
                ways = [self.steps(body, {**scope, variable: name}, then, deep) for name in names]
                return tuple(dict.fromkeys(start for way in ways for start in way)) or then
            case Call(operation=operation, arguments=arguments):
                if deep == DEEPEST:
                    raise LocksError(
                        step.place,
                        f"{operation} calls itself for ever",
                        "let it call itself for objects inside its own",
                    )
                called = self.world.locks.operations[operation]
                values = [self.world.reach(path, scope, step) for path in arguments]
                return self.steps(called.steps, dict(zip(called.parameters, values, strict=True)), then, deep + 1)
        raise TypeError(f"no step: {step!r}")

    # --- locks

    def acquire(self, step: Acquire, scope: Mapping[str, str], then: tuple[int, ...], deep: int) -> tuple[int, ...]:
        name = self.world.reach(step.path, scope, step)
        kind, after = self.world.kind(name), then
        if step.body is not None:
            # A try of a lock that is held both ways releases the mode that it has acquired.
            mode = step.mode if kind is Kind.REENTRANT_RW else None
            then = self.release(name, mode, then, step)
            then = self.steps(step.body, scope, then, deep)
        if kind is Kind.UNOWNED:
            number = self.world.layout.counter(flag(name))
            ways = [Way(then, (Guard(number, 0, 0),), (Change(number, 1, 0),))]
            if step.tries:
                ways.append(Way(after, says=f"fails to {step.mode}"))
            return self.act(ways, name, step, Waits.COUNT)
        return self.add(
            Instruction(
                *(Acquire, self.world.names.index(name), step.mode, then, name, step.text, step.place),
                otherwise=after if step.tries or kind is Kind.ERRORCHECK else (),
                tries=step.tries,
                lock=kind,
            )
        )

    def release(self, name: str, mode: Mode | None, then: tuple[int, ...], step: Step) -> tuple[int, ...]:
        kind = self.world.kind(name)
        if kind is Kind.UNOWNED:
            number = self.world.layout.counter(flag(name))
            return self.act(
                [
                    Way(then, (Guard(number, 1, 1),), (Change(number, 0, 0),), says="unlock"),
                    Way((), (Guard(number, 0, 0),), fatal="it unlocks a mutex that is not locked"),
                ],
                name,
                step,
                Waits.COUNT,
            )
        target = self.world.names.index(name)
        return self.add(Instruction(Release, target, mode, then, name, step.text, step.place, lock=kind))

    def once(self, step: Once, scope: Mapping[str, str], then: tuple[int, ...], deep: int) -> tuple[int, ...]:
        """As in Go: whether it is done is looked at before and after the lock is acquired, and set before it is released."""
        name = self.world.reach(step.path, scope, step)
        done = self.world.layout.counter(flag(name))

        def depending(yes: tuple[int, ...], no: tuple[int, ...]) -> tuple[int, ...]:
            ways = [Way(yes, (Guard(done, 1, 1),)), Way(no, (Guard(done, 0, 0),))]
            return self.act(ways, name, step, Waits.COUNT)

        released = self.release(name, None, then, step)
        ends = self.act([Way(released, (), (Change(done, 1, 0),), says="ends")], name, step, Waits.COUNT)
        body = self.steps(step.body, scope, ends, deep)
        target = self.world.names.index(name)
        inside = depending(released, body)
        locked = self.add(Instruction(Acquire, target, Mode.LOCK, inside, name, step.text, step.place, lock=Kind.ONCE))
        return depending(then, locked)

    # --- channels

    def message(self, step: Send | Receive, then: tuple[int, ...]) -> list[Way]:
        """The ways of a message through a channel that may be closed."""
        layout, says = self.world.layout, f"{type(step).__name__.lower()}"
        if step.channel in self.world.locks.kinds:
            return ring(self.world.locks, layout, step.channel).ways(step, then)
        number, ended = layout.counter(step.channel), layout.counter(closed(step.channel))
        capacity = layout.most[number]
        is_open = Guard(ended, 0, 0)
        if isinstance(step, Send):
            fails = Way((), (Guard(ended, 1, 1),), fatal="it sends to a closed channel")
            if capacity == 0:
                return [Way(then, (is_open,), meets=(number, Side.SENDS), says=says), fails]
            room = Guard(number, 0, TOP if capacity == UNBOUNDED else capacity - 1)
            return [Way(then, (is_open, room), (Change(number, 1),), says=says), fails]
        # Who takes a message helps no receiver: one that is left would have been received.
        at_end = Way(then, (Guard(ended, 1, 1), Guard(number, 0, 0, chooses=True)), says="sees the end of")
        if capacity == 0:
            return [Way(then, (is_open,), meets=(number, Side.RECEIVES), says=says), at_end]
        return [Way(then, (Guard(number, 1),), (Change(number, -1),), says=says), at_end]

    def close(self, step: Close, then: tuple[int, ...]) -> tuple[int, ...]:
        ended = self.world.layout.counter(closed(step.channel))
        ways = [Way(then, (Guard(ended, 0, 0),), (Change(ended, 1, 0),))]
        if step.cancels:
            ways.append(Way(then, (Guard(ended, 1, 1),)))
        else:
            ways.append(Way((), (Guard(ended, 1, 1),), fatal="it closes a closed channel"))
        return self.act(ways, step.channel, step, Waits.MESSAGE)

    def select(self, step: Select, scope: Mapping[str, str], then: tuple[int, ...], deep: int) -> tuple[int, ...]:
        ways: list[Way] = []
        names: list[str] = []
        for case in reversed(step.cases):  # so that later steps are unfolded first
            after = self.steps(case.body, scope, then, deep)
            if case.on is None:
                ways.insert(0, Way(after, last=not case.waits, says=f"{case.text} by select of"))
                continue
            names.insert(0, case.on.channel)
            chosen = self.message(case.on, after)
            if step.text == "select":
                chosen = [replace(way, says=f"{way.says} {case.on.channel} by select of") for way in chosen]
            ways = [*chosen, *ways]
        on = " or ".join(dict.fromkeys(names)) or "nothing"
        return self.act(ways, on, step, Waits.MESSAGE)

    # --- counters, conditions, threads

    def count(self, step: Count, then: tuple[int, ...]) -> list[Way]:
        number, by = self.world.layout.counter(step.on), step.number
        if step.verb == "set":
            return [Way(then, (), (Change(number, by, 0),))]
        if step.verb in ("add", "release"):
            return [
                Way(then, (Guard(number, 0, MOST_COUNTED - by),), (Change(number, by),)),
                Way((), (Guard(number, MOST_COUNTED - by + 1),), fatal=f"the counter passes {MOST_COUNTED}"),
            ]
        fails = Way((), (Guard(number, 0, by - 1),), fatal="the counter falls below 0")
        if step.verb == "subtract":
            return [Way(then, (Guard(number, by),), (Change(number, -by),)), fails]
        queue = self.world.layout.queue(step.on)
        wakes = Way(then, (Guard(number, by, by),), (Change(number, -by),), wakes=queue, everyone=True)
        return [wakes, Way(then, (Guard(number, by + 1),), (Change(number, -by),)), fails]

    def wait_for_count(
        self, step: Await, scope: Mapping[str, str], then: tuple[int, ...], deep: int
    ) -> tuple[int, ...]:
        number = self.world.layout.counter(step.test.on)
        if step.body is not None:
            released = self.count(
                Count(text=step.text, place=step.place, verb="release", on=step.test.on, number=step.takes), then
            )
            then = self.act([replace(way, says="release") for way in released], step.test.on, step, Waits.COUNT)
            then = self.steps(step.body, scope, then, deep)
        if line(step.test.on)[0] in self.world.layout.counters:
            return self.wait_in_line(step, then)
        changes = (Change(number, -step.takes),) if step.takes else ()
        ways = [Way(then, (Guard(number, *ends),), changes) for ends in step.test.ranges()]
        return self.act(ways, step.text.split(maxsplit=1)[1], step, Waits.COUNT)

    def wait_in_line(self, step: Await, then: tuple[int, ...]) -> tuple[int, ...]:
        """Acquires permits at once if there are enough and no thread is in line; else in the order of coming.

        Each thread in line has a number. The numbers go round, and begin anew when the line is empty.
        """
        layout, on = self.world.layout, step.text.split(maxsplit=1)[1]
        permits, (first, following, length) = layout.counter(step.test.on), map(layout.counter, line(step.test.on))
        enough, takes = Guard(permits, step.takes), Change(permits, -step.takes)
        places = []
        for number in range(QUEUE):
            own_turn = (Guard(first, number, number), enough)
            empties = (takes, Change(first, 0, 0), Change(following, 0, 0), Change(length, 0, 0))
            leaves = (takes, Change(first, (number + 1) % QUEUE, 0), Change(length, -1))
            ways = [
                Way(then, (*own_turn, Guard(length, 1, 1)), empties),
                Way(then, (*own_turn, Guard(length, 2)), leaves),
            ]
            places.append(self.act(ways, on, step, Waits.COUNT))
        too_few = Guard(permits, 0, step.takes - 1)
        at_once: tuple[Guard, ...]
        queues: list[tuple[Guard, ...]]
        if self.world.locks.counters[step.test.on].barging:
            at_once, queues = (enough,), [(too_few, Guard(length, 0, QUEUE - 1))]
        else:
            at_once = (enough, Guard(length, 0, 0))
            queues = [(too_few, Guard(length, 0, 0)), (Guard(length, 1, QUEUE - 1),)]
        ways = [Way(then, at_once, (takes,))]
        for number, guards in product(range(QUEUE), queues):
            changes = (Change(following, (number + 1) % QUEUE, 0), Change(length, 1))
            ways.append(
                Way(places[number], (Guard(following, number, number), *guards), changes, says="waits in line for")
            )
        return self.act(ways, on, step, Waits.COUNT)

    def branch(self, step: Branch, scope: Mapping[str, str], then: tuple[int, ...], deep: int) -> tuple[int, ...]:
        number = self.world.layout.counter(step.test.on)

        def head(inside: tuple[int, ...]) -> tuple[int, ...]:
            changes = (Change(number, step.to, 0),) if step.to is not None else ()
            ways = [Way(inside, (Guard(number, *ends),), changes) for ends in step.test.ranges()]
            if step.repeats and min(inside) <= LOOP_START:
                # A round without a step is like waiting: only another thread can end it.
                inside = tuple(position for position in inside if position > LOOP_START)
                ways = [replace(way, then=inside) for way in ways if inside]
            ways += [Way(then, (Guard(number, *ends),)) for ends in step.test.negated().ranges()]
            return self.act(ways, step.text.split(maxsplit=1)[1], step, Waits.COUNT)

        if not step.repeats:
            return head(self.steps(step.body, scope, then, deep))
        return self.loop(lambda start: head(self.steps(step.body, scope, start, deep)))

    def wait(self, step: Wait, then: tuple[int, ...]) -> tuple[int, ...]:
        layout, name = self.world.layout, step.condition
        queue = layout.queue(name)
        if name not in self.world.locks.conditions:  # a group
            number = layout.counter(name)
            reused = "the group is reused before its wait has returned"
            wakes = self.act(
                [
                    Way(then, (Guard(number, 0, 0),), says="returns from the wait for"),
                    Way((), (Guard(number, 1),), fatal=reused),
                ],
                name,
                step,
                Waits.COUNT,
            )
            sleeps = self.add(Instruction(Park, queue, None, wakes, name, step.text, step.place, waits=Waits.COUNT))
            return self.act(
                [Way(then, (Guard(number, 0, 0),)), Way(sleeps, (Guard(number, 1),))], name, step, Waits.COUNT
            )
        condition = self.world.locks.conditions[name]
        lock, mode = condition.lock, condition.mode
        target, kind = self.world.names.index(lock), self.world.kind(lock)
        reacquires = self.add(Instruction(Acquire, target, mode, then, lock, step.text, step.place, lock=kind))
        sleeps = self.add(
            Instruction(
                *(Park, queue, None, reacquires, name, step.text, step.place), waits=Waits.SIGNAL, timed=step.timed
            )
        )
        return self.add(Instruction(Release, target, mode, sleeps, name, step.text, step.place, lock=kind, whole=True))

    def signal(self, step: Signal, then: tuple[int, ...]) -> tuple[int, ...]:
        lock = self.world.locks.conditions[step.condition].lock
        of_java = self.world.kind(lock) in (Kind.REENTRANT, Kind.REENTRANT_RW)
        needs = self.world.names.index(lock) if of_java else -1
        way = Way(then, wakes=self.world.layout.queue(step.condition), everyone=step.everyone)
        return self.act([way], step.condition, step, Waits.SIGNAL, needs)

    def go(
        self, step: Step, body: Sequence[Step], scope: Mapping[str, str], then: tuple[int, ...], deep: int
    ) -> tuple[int, ...]:
        """Starts a thread, which sleeps until then in a queue of its own."""
        if self.open_loops:
            raise LocksError(
                step.place, "'go' in a loop starts threads without a limit", "write repeat NUMBER, with go in it"
            )
        inner = _Unfolding(self.world, self.thread)
        starts = inner.steps(body, scope, (DONE,), deep)
        queue = self.world.layout.sleeps(f"start {len(self.world.layout.queues)}")
        inner.add(Instruction(Park, queue, None, starts, "start", step.text, step.place, waits=Waits.START))
        inner.rests.append(len(inner.instructions) - 1)
        self.started.append(inner.program((len(inner.instructions) - 1,)))
        return self.act([Way(then, wakes=queue)], "a thread", step, Waits.COUNT)

    # --- loops

    def serve(self, body: Sequence[Step], scope: Mapping[str, str], deep: int) -> tuple[int, ...]:
        """Unfolds a block that repeats forever."""
        starts = self.loop(lambda start: self.steps(body, scope, start, deep))
        if min(starts) <= LOOP_START:
            raise LocksError(
                body[0].place,
                f"{self.thread.name} serves without an end and without a step",
                "write a message that it receives",
            )
        self.rests += [number for number in starts if self.receives(number)]
        return starts

    def receives(self, number: int) -> bool:
        """Whether an instruction waits for a message, or for one of several."""
        one = self.instructions[number]
        if one.kind is not Act or one.text.split()[0] not in ("receive", "select"):
            return one.kind is Receive
        takes = (any(change.plus < 0 for change in way.changes) for way in one.ways)
        meets = (way.meets is not None and way.meets[1] is Side.RECEIVES for way in one.ways)
        return any(takes) or any(meets)  # not a select that only sends

    def loop(self, unfold_block: Callable[[tuple[int, ...]], tuple[int, ...]]) -> tuple[int, ...]:
        """Unfolds a block after whose last steps it begins anew."""
        self.serves = True
        first, start = len(self.instructions), LOOP_START - self.loops
        self.loops += 1
        self.open_loops += 1
        starts = unfold_block((start,))
        self.open_loops -= 1
        to = {start: tuple(n for n in starts if n != start)}
        if start in starts:
            return starts
        for number in range(first, len(self.instructions)):
            one = self.instructions[number]
            if start in one.then + one.otherwise:
                then, otherwise = (
                    tuple(dict.fromkeys(s for t in after for s in to.get(t, (t,))))
                    for after in (one.then, one.otherwise)
                )
                ways = tuple(way.leading(to) for way in one.ways)
                self.instructions[number] = replace(one, then=then, otherwise=otherwise, ways=ways)
        return starts

    def act(self, ways: Sequence[Way], on: str, step: Step, waits: Waits, needs_lock: int = -1) -> tuple[int, ...]:
        """Adds an instruction with ways."""
        then = tuple(dict.fromkeys(start for way in ways for start in way.then))
        return self.add(
            Instruction(
                *(Act, -1, None, then, on, step.text, step.place), ways=tuple(ways), waits=waits, needs_lock=needs_lock
            )
        )

    def add(self, instruction: Instruction) -> tuple[int, ...]:
        if len(self.instructions) == LONGEST:
            raise LocksError(
                self.thread.place, f"{self.thread.name} has more than {LONGEST} steps", "explore fewer objects"
            )
        self.instructions.append(instruction)
        return (len(self.instructions) - 1,)
