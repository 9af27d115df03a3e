"""Unfolds a thread's program on given objects into a graph of instructions, without loops and calls.

A choice becomes an instruction with several successors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from schedproof.model.lang.errors import Place
from schedproof.model.locks import Locks, LocksError
from schedproof.model.locks.language import (
    Access,
    Acquire,
    Call,
    Either,
    Loop,
    Mode,
    Path,
    Receive,
    Release,
    Send,
    Serve,
    Step,
    Thread,
    Where,
)

DONE = -1
"""The position of a thread that has finished."""

LOOP_START = -2
"""A placeholder successor of the last instructions of a repeated block, until its first one is known."""

DEEPEST = 50
"""The most nested calls. An operation calls itself for inner objects only, so more nesting means that it never ends."""

LONGEST = 20_000
"""The most instructions of a thread."""


@dataclass(frozen=True)
class Instruction:
    """One instruction of a thread; ``target`` is the number of a lock or channel.

    Args:
        mode: of an acquisition.
        then: the positions at which the thread may continue.
        otherwise: of an acquisition that is tried, the positions at which it continues if it fails; () if it waits.
        on: the name of the lock or channel.
        text, place: of the step in the description.
    """

    kind: type[Acquire] | type[Release] | type[Send] | type[Receive]
    target: int
    mode: Mode | None
    then: tuple[int, ...]
    on: str
    text: str
    place: Place
    otherwise: tuple[int, ...] = ()

    @property
    def how(self) -> str:
        """The instruction in one word."""
        if self.kind is Acquire:
            return f"try {self.mode}" if self.otherwise else str(self.mode)
        return "unlock" if self.kind is Release else self.kind.__name__.lower()


@dataclass(frozen=True)
class Program:
    """One thread: its instructions, and the positions at which it may begin."""

    name: str
    instructions: tuple[Instruction, ...]
    starts: tuple[int, ...]
    rests: frozenset[int] = frozenset()
    """The positions at which a serving thread waits for the next message."""
    serves: bool = False
    """Whether the thread runs forever."""


@dataclass(frozen=True)
class World:
    """The objects of a description, and their containers."""

    locks: Locks

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The objects in the order of the description; a lock's number is its index here."""
        return tuple(self.locks.objects)

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
    return Program(thread.name, tuple(unfolding.instructions), starts, frozenset(unfolding.rests), unfolding.serves)


class _Unfolding:
    """Unfolds from the end to the beginning, so that each instruction knows its successors."""

    def __init__(self, world: World, thread: Thread) -> None:
        self.world, self.thread = world, thread
        self.instructions: list[Instruction] = []
        self.rests: list[int] = []
        self.serves = False

    def steps(
        self, steps: Sequence[Step], scope: Mapping[str, str], then: tuple[int, ...], deep: int
    ) -> tuple[int, ...]:
        for step in reversed(steps):
            then = self.step(step, scope, then, deep)
        return then

    def step(self, step: Step, scope: Mapping[str, str], then: tuple[int, ...], deep: int) -> tuple[int, ...]:
        match step:
            case Acquire(mode=mode, path=path, body=body, tries=tries):
                name = self.world.reach(path, scope, step)
                otherwise = then if tries else ()
                if body is not None:
                    then = self.add(Release, name, None, then, step)
                    then = self.steps(body, scope, then, deep)
                return self.add(Acquire, name, mode, then, step, otherwise)
            case Release(path=path):
                return self.add(Release, self.world.reach(path, scope, step), None, then, step)
            case Send(channel=channel):
                return self.add(Send, channel, None, then, step)
            case Receive(channel=channel):
                return self.add(Receive, channel, None, then, step)
            case Access():
                return then
            case Serve(body=body):
                return self.serve(body, scope, deep)
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

    def serve(self, body: Sequence[Step], scope: Mapping[str, str], deep: int) -> tuple[int, ...]:
        """Unfolds a block that repeats forever."""
        self.serves = True
        first = len(self.instructions)
        starts = self.steps(body, scope, (LOOP_START,), deep)
        if LOOP_START in starts:
            raise LocksError(
                body[0].place,
                f"{self.thread.name} serves without an end and without a step",
                "write a message that it receives",
            )
        for number in range(first, len(self.instructions)):
            one = self.instructions[number]
            if LOOP_START in one.then + one.otherwise:
                then, otherwise = (
                    tuple(dict.fromkeys(s for t in after for s in (starts if t == LOOP_START else (t,))))
                    for after in (one.then, one.otherwise)
                )
                self.instructions[number] = replace(one, then=then, otherwise=otherwise)
        self.rests += [number for number in starts if self.instructions[number].kind is Receive]
        return starts

    def add(
        self,
        kind: type[Acquire] | type[Release] | type[Send] | type[Receive],
        on: str,
        mode: Mode | None,
        then: tuple[int, ...],
        step: Step,
        otherwise: tuple[int, ...] = (),
    ) -> tuple[int, ...]:
        if len(self.instructions) == LONGEST:
            raise LocksError(
                self.thread.place, f"{self.thread.name} has more than {LONGEST} steps", "explore fewer objects"
            )
        among = self.world.names if kind in (Acquire, Release) else tuple(self.world.locks.channels)
        self.instructions.append(Instruction(kind, among.index(on), mode, then, on, step.text, step.place, otherwise))
        return (len(self.instructions) - 1,)
