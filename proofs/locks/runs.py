"""Every run of one lock program by itself on given objects, and its violations.

A violation is against the order, against a rule, or a call without the locks that callers must hold.

This engine checks programs by trying. The other one, :mod:`symbolic`, checks them for any number of objects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from schedproof.model.lang.errors import Place
from schedproof.model.locks import Locks, LocksError
from schedproof.model.locks.language import (
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
    Operation,
    OrderRow,
    Path,
    Receive,
    Release,
    Rule,
    Select,
    Send,
    Serve,
    SeveralRule,
    Signal,
    Step,
    Verb,
    Wait,
    Where,
)

from .rank import Rank
from .structure import may_wait
from .unfold import DEEPEST, World, placed

MOST = 20_000
"""The most runs of one program."""

Held = tuple[str, Mode]


@dataclass(frozen=True)
class Event:
    """One step of a run: the step, its object, and the locks held just before.

    ``operation`` is the operation that the step belongs to.
    For a call, ``object`` has the arguments, joined by commas.
    """

    step: Step
    object: str
    mode: Mode | None
    held: tuple[Held, ...]
    operation: str
    scope: Mapping[str, str]

    @property
    def says(self) -> str:
        """The step with the names of its objects."""
        match self.step:
            case Acquire(tries=tries):
                return f"{'try ' if tries else ''}{self.mode} {self.object}"
            case Access(verb=verb, field=field):
                return f"{verb} {self.object}.{field}"
            case Release():
                return f"unlock {self.object}"
            case _:
                return self.step.text


Run = tuple[Event, ...]


@dataclass(frozen=True)
class Tried:
    """A run of the program ``name`` with its arguments, and the locks held before and after it."""

    name: str
    arguments: Mapping[str, str]
    before: tuple[Held, ...]
    run: Run
    after: tuple[Held, ...]


def runs(
    world: World,
    name: str,
    steps: Sequence[Step],
    scope: Mapping[str, str],
    held: tuple[Held, ...],
    reached: set[tuple[Place, str]] | None = None,
) -> Iterator[Tried]:
    """All runs of a program whose caller holds ``held``; at most :data:`MOST`. Then those of the threads that it starts.

    ``reached`` receives the places and texts of all steps that some run comes to, also those that acquire nothing new.

    Raises:
        LocksError: a step names an object that does not exist, calls do not end, or there are too many runs.
    """
    walk = _Walk(world, set() if reached is None else reached)
    for events, after in walk.steps(tuple(steps), scope, held, name, 0):
        yield Tried(name, scope, held, events, after)
    for number, (body, inner) in enumerate(list(walk.started.values()), 1):
        yield from runs(world, f"{name}.{number}", body, inner, (), walk.reached)


Ways = Iterator[tuple[Run, tuple[Held, ...]]]
"""Runs, each with the locks held after it."""


@dataclass(frozen=True)
class _Walk:
    world: World
    reached: set[tuple[Place, str]]
    started: dict[object, tuple[tuple[Step, ...], Mapping[str, str]]] = field(default_factory=dict)
    """The steps of the threads that are started, each once."""

    def steps(
        self, steps: tuple[Step, ...], scope: Mapping[str, str], held: tuple[Held, ...], name: str, deep: int
    ) -> Ways:
        ways: list[tuple[Run, tuple[Held, ...]]] = [((), held)]
        for step in steps:
            ways = [
                (events + more, last)
                for events, after in ways
                for more, last in self.step(step, scope, after, name, deep)
            ]
            if len(ways) > MOST:
                raise LocksError(
                    step.place, f"{name} has more than {MOST} runs", "describe fewer choices, or fewer objects"
                )
        yield from ways

    def step(self, step: Step, scope: Mapping[str, str], held: tuple[Held, ...], name: str, deep: int) -> Ways:
        def event(what: str, mode: Mode | None = None) -> Event:
            return Event(step, what, mode, held, name, scope)

        self.reached.add((step.place, step.text))
        match step:
            case Acquire(mode=mode, path=path, body=body, tries=tries):
                one = self.world.reach(path, scope, step)
                kind = self.world.kind(one)
                has = [mode for name, mode in held if name == one]
                if kind is Kind.UNOWNED or (kind is Kind.ERRORCHECK and has):
                    yield (), held  # it holds nothing, or gets an error
                    if kind is Kind.UNOWNED:
                        yield from self.steps(body or (), scope, held, name, deep)
                    return
                if any(kind.reacquires(each, mode) for each in has):
                    now = (*held, (one, mode))
                    for events, after in self.steps(body or (), scope, now, name, deep):
                        yield events, after if body is None else _without(after, one, mode)
                    return
                if tries:
                    yield (), held  # it fails
                    if any(name == one and not (has is mode is Mode.READ) for name, has in held):
                        return
                now = (*held, (one, mode))
                if body is None:
                    yield (event(one, mode),), now
                    return
                released = (
                    mode if kind is Kind.REENTRANT_RW else None
                )  # after a downgrade inside, it is not the last one
                for events, after in self.steps(body, scope, now, name, deep):
                    yield (event(one, mode), *events), _without(after, one, released)
            case AcquireMany():
                each_one, inner = self.world.one_by_one(step, scope)
                yield from self.steps(each_one, inner, held, name, deep)
            case CompareKeys(body=body):
                if self.world.compares(step, scope):
                    yield from self.steps(body, scope, held, name, deep)
                else:
                    yield (), held
            case Release(path=path, mode=mode):
                one = self.world.reach(path, scope, step)
                if self.world.kind(one) is Kind.UNOWNED:
                    yield (), held
                else:
                    yield (event(one),), _without(held, one, mode)
            case Once(path=path, body=body):
                yield (), held  # some thread has run its steps
                locked = Acquire(text=step.text, place=step.place, mode=Mode.LOCK, path=path, body=body)
                yield from self.step(locked, scope, held, name, deep)
            case Select(cases=cases):
                for case in cases:
                    says = event(case.on.channel if case.on is not None else case.text)
                    for events, after in self.steps(case.body, scope, held, name, deep):
                        yield (says, *events), after
            case Close(channel=thing) | Count(on=thing) | Signal(condition=thing) | Callback(name=thing):
                yield (event(thing),), held
            case Await(test=test, body=body):
                for events, after in self.steps(body or (), scope, held, name, deep):
                    yield (event(test.on), *events), after
            case Branch(test=test, repeats=repeats, body=body):
                yield (event(test.on),), held
                unfolded = self.rounds if repeats else self.steps
                for events, after in unfolded(body, scope, held, name, deep):
                    yield (event(test.on), *events), after
            case Wait():
                yield from self.wait(step, scope, held, name)
            case Go(body=body):
                self.started.setdefault((id(step), *sorted(scope.items())), (body, scope))
                yield (event("a thread"),), held
            case Access(path=path):
                yield (event(self.world.reach(path, scope, step)),), held
            case Send(channel=channel) | Receive(channel=channel):
                yield (event(channel),), held
            case Serve(body=body):
                yield from self.rounds(body, scope, held, name, deep)
            case Either(alternatives=alternatives):
                for each in alternatives:
                    yield from self.steps(each, scope, held, name, deep)
            case Loop(every=every, variable=variable, body=body):
                objects = self.world.those(step, scope)
                if every:
                    yield from self.every(body, scope, variable, objects, held, name, deep)
                elif not objects:
                    yield (), held
                else:
                    for one in objects:
                        yield from self.steps(body, {**scope, variable: one}, held, name, deep)
            case Call(operation=operation, arguments=arguments):
                if deep == DEEPEST:
                    raise LocksError(
                        step.place,
                        f"{operation} calls itself for ever",
                        "let it call itself for objects inside its own",
                    )
                called = self.world.locks.operations[operation]
                values = [self.world.reach(path, scope, step) for path in arguments]
                inner = dict(zip(called.parameters, values, strict=True))
                for events, after in self.steps(called.steps, inner, held, operation, deep + 1):
                    yield (event(",".join(values)), *events), after

    def wait(self, step: Wait, scope: Mapping[str, str], held: tuple[Held, ...], name: str) -> Ways:
        """It releases the lock of the condition, waits, and acquires the lock again, under what it holds meanwhile.

        A thread without the lock does not come to wait: the interleavings report it.
        """
        condition = self.world.locks.conditions.get(step.condition)
        if condition is None or all(name != condition.lock for name, _ in held):  # a group has no lock
            yield (Event(step, step.condition, None, held, name, scope),), held
            return
        others = tuple(each for each in held if each[0] != condition.lock)
        waits = Event(step, step.condition, None, others, name, scope)
        acquire = Acquire(text=step.text, place=step.place, mode=condition.mode, path=Path(condition.lock), body=None)
        yield (waits, Event(acquire, condition.lock, condition.mode, others, name, scope)), held

    def rounds(
        self, body: tuple[Step, ...], scope: Mapping[str, str], held: tuple[Held, ...], name: str, deep: int
    ) -> Ways:
        """Runs of one round, and after a round that ends with other locks those of the next, until no round begins anew."""
        begun = {frozenset(held)}
        open_: list[tuple[Run, tuple[Held, ...]]] = [((), held)]
        while open_:
            before, now = open_.pop()
            for events, after in self.steps(body, scope, now, name, deep):
                yield before + events, after
                if frozenset(after) not in begun:
                    begun.add(frozenset(after))
                    open_.append((before + events, after))

    def every(
        self,
        body: tuple[Step, ...],
        scope: Mapping[str, str],
        variable: str,
        objects: list[str],
        held: tuple[Held, ...],
        name: str,
        deep: int,
    ) -> Ways:
        if not objects:
            yield (), held
            return
        for events, after in self.steps(body, {**scope, variable: objects[0]}, held, name, deep):
            for more, last in self.every(body, scope, variable, objects[1:], after, name, deep):
                yield events + more, last


def _without(held: tuple[Held, ...], one: str, mode: Mode | None = None) -> tuple[Held, ...]:
    last = max((n for n, (name, has) in enumerate(held) if name == one and mode in (None, has)), default=None)
    return held if last is None else (*held[:last], *held[last + 1 :])


# --- the violations of a run


@dataclass(frozen=True)
class Broken:
    """A run with a violation: its events up to the violating one, and the problem."""

    name: str
    arguments: Mapping[str, str]
    run: Run
    problem: str


def entries(world: World, operation: Operation) -> Iterator[tuple[Mapping[str, str], tuple[Held, ...]]]:
    """Every choice of arguments for an operation, with the locks that its caller must hold.

    A choice is left out if an argument is not inside an object that must be held: the operation cannot be called so.
    """
    choices = [[o.name for o in world.locks.objects.values() if o.of == of] for of in operation.parameters.values()]
    for values in product(*choices):
        scope = dict(zip(operation.parameters, values, strict=True))
        if _misplaced(world, operation, scope):
            continue
        held = []
        for under in operation.under:
            name: str | None = scope[under.path.variable]
            for of in under.path.classes:
                name = world.around(name, of) if name is not None else None
            if name is None:
                break
            held.append((name, under.mode))
        else:
            yield scope, tuple(dict.fromkeys(held))


def _misplaced(world: World, operation: Operation, scope: Mapping[str, str]) -> str:
    """The first argument that is not at its declared position, in words; "" if there is none."""
    for inner, (where, path) in operation.positions.items():
        name: str | None = scope[path.variable]
        for of in path.classes:
            name = world.around(name, of) if name is not None else None
        if name is not None and where.by_key:
            fits = placed(world.key(scope[inner]), where, world.key(name))
        else:
            fits = name is not None and world.around(scope[inner], world.locks.objects[name].of) == name
        if not fits:
            return f"{scope[inner]} is not {where} {path}"
    return ""


def row_between(world: World, holding: str, acquired: str, order: Sequence[OrderRow]) -> OrderRow | None:
    """The row of the order by which a thread that holds ``holding`` may acquire ``acquired``; None if there is none."""
    of, other = world.locks.objects[holding].of, world.locks.objects[acquired].of
    for row in order:
        if (row.holding, row.acquired) != (of, other):
            continue
        holds = {
            Where.ANYWHERE: holding != acquired,
            Where.IN: world.around(acquired, of) == holding,
            Where.AROUND: world.around(holding, other) == acquired,
            Where.AFTER: placed(world.key(acquired), Where.AFTER, world.key(holding)),
            Where.BEFORE: placed(world.key(acquired), Where.BEFORE, world.key(holding)),
        }
        if holds[row.where]:
            return row
    return None


def depth(world: World, name: str) -> int:
    """The number of objects of its own class that contain the object."""
    outer = world.around(name, world.locks.objects[name].of)
    return 0 if outer is None else 1 + depth(world, outer)


def goes_up(world: World, rank: Rank, holding: str, acquired: str) -> bool:
    """Whether ``holding`` has a lower rank than ``acquired``."""
    of, other = world.locks.objects[holding].of, world.locks.objects[acquired].of
    if of != other:
        return rank.numbers[of] < rank.numbers[other]
    first, second = (world.key(n) if of in rank.keyed else depth(world, n) for n in (holding, acquired))
    return rank.signs[of] * first < rank.signs[of] * second


def leads_to(world: World, locks: Locks, holding: str, acquired: str) -> bool:
    """Whether rows of the order lead from the class of ``holding`` to that of ``acquired``."""
    of, target_class = world.locks.objects[holding].of, world.locks.objects[acquired].of
    seen: set[str] = set()
    open_ = {row.acquired for row in locks.order if row.holding == of}
    while open_:
        seen |= open_
        open_ = {row.acquired for row in locks.order if row.holding in open_} - seen
    return target_class in seen


def against_the_order(world: World, locks: Locks, rank: Rank | None, event: Event) -> str:
    """The problem of an acquisition against the order; "" if there is none."""
    if not isinstance(event.step, Acquire) or event.step.tries:
        return ""
    for name, mode in event.held:
        if name == event.object:
            return f"{mode} {name} is held already"
        if locks.closed and rank is not None:
            if not leads_to(world, locks, name, event.object):
                pair = f"{_described(world, name)} to {_described(world, event.object)}"
                return f"{mode} {name} is held, and no rows of the order lead from {pair}"
            if not goes_up(world, rank, name, event.object):
                return f"{mode} {name} is held, which comes after {event.object}: {rank.text}"
        elif row_between(world, name, event.object, locks.order) is None:
            if (row := by_key(world, locks, name, event.object)) is not None:
                return f"{mode} {name} is held, and {event.object} is not {row.where} it ({row.text})"
            return f"{mode} {name} is held, and no row of the order leads from {_described(world, name)} to {_described(world, event.object)}"
    return ""


def by_key(world: World, locks: Locks, holding: str, acquired: str) -> OrderRow | None:
    """The row that orders two objects of one class by their keys; None if there is none."""
    of, other = locks.objects[holding].of, world.locks.objects[acquired].of
    rows = (row for row in locks.order if row.where.by_key and row.holding == of == other)
    return next(rows, None)


def _described(world: World, name: str) -> str:
    one = world.locks.objects[name]
    of = one.of
    if (outer := world.around(name, of)) is not None:
        return f"{of} {name} (in {outer})"
    return f"{of} {name}"


def against_a_rule(world: World, rule: Rule, event: Event) -> str:
    """The problem of an access against a rule; "" if there is none."""
    step = event.step
    if not isinstance(step, Access) or step.verb is not rule.verb or step.field not in rule.fields:
        return ""
    of = world.locks.objects[event.object].of
    return _needs(world, event, rule.mode, rule.lock) if of == rule.of else ""


def _needs(world: World, event: Event, mode: Mode, lock: str) -> str:
    of = world.locks.objects[event.object].of
    needed = event.object if lock == of else world.around(event.object, lock)
    if any(name == needed and held.covers(mode) for name, held in event.held):
        return ""
    holds = ", ".join(f"{held} {name}" for name, held in event.held) or "nothing"
    return f"it needs {mode} {needed or f'of a {lock}'}, and holds {holds}"


def keeps(tried: Tried) -> tuple[int, str] | None:
    """The last event and the problem if a run ends with other locks than its caller holds; None if it does not."""
    for number, event in enumerate(tried.run):
        if isinstance(event.step, Release) and all(name != event.object for name, _ in event.held):
            return number, f"{event.object} is released, but not held"
    if not tried.run or tried.before == tried.after:
        return None
    kept = [f"{mode} {name}" for name, mode in tried.after if (name, mode) not in tried.before]
    what = f"{', '.join(kept)} is still held" if kept else "it has released what its caller holds"
    return len(tried.run) - 1, f"in the final state {what}"


def against_several(world: World, rule: SeveralRule, run: Run) -> tuple[int, str] | None:
    """The first write without the lock, and the problem, if a run writes several objects of the classes; else None."""
    writes = [
        n
        for n, event in enumerate(run)
        if isinstance(event.step, Access)
        and event.step.verb is Verb.WRITE
        and world.locks.objects[event.object].of in rule.classes
    ]
    written = list(dict.fromkeys(run[n].object for n in writes))
    if len(written) < 2:
        return None
    for n in writes:
        if problem := _needs(world, run[n], rule.mode, rule.lock):
            return n, f"{' and '.join(written)} are written; {problem}"
    return None


def not_called_under(world: World, operation: Operation, event: Event) -> str:
    """The lock that a caller of ``operation`` lacks, in words; "" if it holds all, or the event is not such a call."""
    if not isinstance(event.step, Call) or event.step.operation != operation.name:
        return ""
    values = event.object.split(",") if event.object else []
    scope = dict(zip(operation.parameters, values, strict=True))
    if wrong := _misplaced(world, operation, scope):
        return f"{operation.name} is called, but {wrong}"
    for under in operation.under:
        name = world.reach(under.path, scope, event.step)
        if not any(held == name and mode.covers(under.mode) for held, mode in event.held):
            holds = ", ".join(f"{mode} {held}" for held, mode in event.held) or "nothing"
            return f"{operation.name} is to be called under {under.mode} {name}, and its caller holds {holds}"
    return ""


def waits_under_a_lock(locks: Locks, event: Event) -> str:
    """The locks held while a thread waits for a message, in words; "" if there are none, or it does not wait."""
    if not event.held or not may_wait(locks, event.step):
        return ""
    return f"{', '.join(f'{mode} {name}' for name, mode in event.held)} is held meanwhile"


def escapes_under_a_lock(event: Event) -> str:
    """The locks held while unknown code runs, in words; "" if there are none, or the event is no callback."""
    if not event.held or not isinstance(event.step, Callback):
        return ""
    return (
        f"{', '.join(f'{mode} {name}' for name, mode in event.held)} is held, and {event.object} may acquire any lock"
    )
