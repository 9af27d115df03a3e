"""Refuses wrong descriptions of locks: undeclared names, locks of another kind, cycles of classes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from schedproof.model.lang.errors import Place

from .errors import LocksError
from .language import (
    CLOSED,
    MOST_COUNTED,
    Access,
    Acquire,
    AcquireMany,
    Await,
    Branch,
    Call,
    Close,
    CompareKeys,
    Count,
    Counts,
    Either,
    Go,
    Kind,
    Locks,
    Loop,
    Mode,
    Once,
    Path,
    Receive,
    Release,
    Rule,
    Select,
    Send,
    Serve,
    Signal,
    Step,
    Wait,
    Where,
)

Scope = Mapping[str, str]
"""By variable the class of its object."""


def check(locks: Locks, place: Place) -> None:
    """Refuses a description that contradicts itself; ``place`` is its beginning.

    Raises:
        LocksError: the first error.
    """
    _classes(locks)
    for row in locks.order:
        _require_position(locks, row.acquired, row.where, row.holding, row.place)
        for name in (row.holding, row.acquired):
            if locks.classes[name].kind is Kind.UNOWNED:
                problem = f"{row.text}: locks of {name} are unowned, so it is not known which thread holds one"
                remedy = "leave out the row, of which nothing could be checked; or choose lock: mutex"
                raise LocksError(row.place, problem, remedy)
    for rule in locks.rules:
        for name in (rule.of,) if isinstance(rule, Rule) else rule.classes:
            _known(name, locks.classes, "class", rule.place)
            if rule.lock != name and rule.lock not in locks.around[name]:
                raise LocksError(rule.place, f"a {name} is not in a {rule.lock}", f"write {name}: {{in: {rule.lock}}}")
        _kind(locks, rule.lock, rule.mode, rule.place)
        if isinstance(rule, Rule):
            for field in rule.fields:
                _known(field, locks.classes[rule.of].fields, f"field of {rule.of}", rule.place)
    for operation in locks.operations.values():
        for name in operation.parameters.values():
            _known(name, locks.classes, "class", operation.place)
        for inner, (where, path) in operation.positions.items():
            of, outer = operation.parameters[inner], _class_of(locks, path, operation.parameters, operation.place)
            if where.by_key:
                _one_class(of, outer, f"{inner} {where} {path}", operation.place)
            elif outer == of or outer not in locks.around[of]:
                raise LocksError(operation.place, f"a {of} is not in a {outer}", f"write {of}: {{in: {outer}}}")
        for held in operation.under:
            _kind(locks, _class_of(locks, held.path, operation.parameters, held.place), held.mode, held.place)
        _steps(locks, operation.steps, operation.parameters)
    _objects(locks)
    _names(locks)
    for thread in locks.threads.values():
        _steps(locks, thread.steps, {o.name: o.of for o in locks.objects.values()}, serves=True)
    if not (locks.classes or locks.order or locks.operations or locks.threads):
        raise LocksError(place, "nothing can be checked", "write an order, operations or threads")


def _known(name: str, known: Iterable[str], what: str, place: Place) -> None:
    names = list(known)
    if name not in names:
        raise LocksError(place, f"unknown {what} {name!r}", _choice(names))


def _choice(names: Iterable[str], otherwise: str = "declare it") -> str:
    """The remedy for an unknown name."""
    known = ", ".join(names)
    return f"choose from {known}" if known else otherwise


def _names(locks: Locks) -> None:
    """Refuses conditions of unknown locks, and two things of one name that a step waits for."""
    for counter in locks.counters.values():
        if counter.name in locks.channels:
            raise LocksError(counter.place, f"{counter.name} is a channel too", "give one of them another name")
    for one in locks.conditions.values():
        _known(one.lock, locks.objects, "object", one.place)
        kind = locks.classes[locks.objects[one.lock].of].kind
        if kind in (Kind.ONCE, Kind.UNOWNED, Kind.STAMPED):
            problem = f"condition {one.name} of {one.lock}, whose lock is a {kind}"
            raise LocksError(one.place, problem, "choose a lock of another kind")
        if kind is Kind.REENTRANT_RW and one.mode is Mode.READ:
            problem = f"condition {one.name} of {one.mode} {one.lock}, whose lock is a {kind}"
            raise LocksError(one.place, problem, f"write wlock {one.lock}; Java has no condition of a read lock")
        if one.mode.shared is not kind.shared:
            right = f"rlock {one.lock} or wlock {one.lock}" if kind.shared else one.lock
            raise LocksError(one.place, f"condition {one.name} of {one.lock}, whose lock is a {kind}", f"write {right}")
        if one.name in locks.counters:
            raise LocksError(one.place, f"{one.name} is a counter too", "give one of them another name")


def _kind(locks: Locks, name: str, mode: Mode, place: Place) -> None:
    _known(name, locks.classes, "class", place)
    kind = locks.classes[name].kind
    if kind is Kind.ONCE:
        raise LocksError(place, f"{mode} of a {name}, whose lock is a {kind}", "write once, with steps below it")
    if mode.shared is not kind.shared:
        right = " or ".join(m for m in Mode if m.shared is kind.shared)
        raise LocksError(place, f"{mode} of a {name}, whose lock is a {kind}", f"write {right}")


def _classes(locks: Locks) -> None:
    for one in locks.classes.values():
        for name in one.inside:
            _known(name, locks.classes, "class", one.place)

    def climb(name: str, below: tuple[str, ...]) -> None:
        for outer in locks.classes[name].inside:
            if outer != name:
                if outer in below:
                    circle = " in ".join([*below[below.index(outer) :], name, outer])
                    raise LocksError(
                        locks.classes[name].place, f"the classes are in a cycle: {circle}", "leave one of them out"
                    )
                climb(outer, (*below, name))

    for name in locks.classes:
        climb(name, ())


def _require_position(locks: Locks, name: str, where: Where, of: str, place: Place) -> None:
    """Refuses ``name`` if it cannot be in, or around, ``of``."""
    for each in (name, of):
        _known(each, locks.classes, "class", place)
    inner, outer = (name, of) if where is Where.IN else (of, name)
    if where.by_key:
        _one_class(name, of, f"{of} > {name} {where} it", place)
        if locks.classes[of].is_tree:
            problem = f"{of} > {of} {where} it, of objects that are in each other"
            raise LocksError(place, problem, f"write {of} > {of} in it, or {of} > {of} around it")
    elif where is not Where.ANYWHERE and outer not in locks.classes[inner].inside:
        raise LocksError(place, f"a {inner} is not directly in a {outer}", f"write {inner}: {{in: {outer}}}")


def _one_class(of: str, other: str, text: str, place: Place) -> None:
    """Refuses to compare the keys of objects of two classes."""
    if of != other:
        raise LocksError(place, f"{text}: the key of a {of} and of a {other}", "compare objects of one class")


def _class_of(locks: Locks, path: Path, scope: Scope, place: Place) -> str:
    if path.variable not in scope and path.variable in locks.objects:
        of = locks.objects[path.variable].of
        problem = f"{path.variable!r} in an operation, which knows only its parameters"
        if not of[0].isupper():
            raise LocksError(
                place, problem, f"give {path.variable} a class, and write OPERATION(CLASS {path.variable})"
            )
        raise LocksError(place, problem, f"write OPERATION({of} {path.variable})")
    if path.variable not in scope:
        raise LocksError(place, f"unknown object {path.variable!r}", _choice(scope))
    of = scope[path.variable]
    for name in path.classes:
        if name not in locks.around[of]:
            raise LocksError(place, f"in {path}, a {of} is not in a {name}", _choice(locks.around[of], "leave it out"))
        of = name
    return of


def _steps(locks: Locks, steps: Sequence[Step], scope: Scope, *, serves: bool = False) -> None:
    """``serves`` is true for the steps of a thread: only these may have no end."""
    for number, step in enumerate(steps):
        if isinstance(step, Serve):
            if not serves:
                raise LocksError(
                    step.place, "'serve' inside another step or an operation", "write it as the last step of a thread"
                )
            if number < len(steps) - 1:
                raise LocksError(
                    steps[number + 1].place, "a step after 'serve' never runs: 'serve' has no end", "leave it out"
                )
            if not step.body:
                raise LocksError(step.place, "'serve' has no steps", "write the steps that it repeats")
        _step(locks, step, scope)


def _step(locks: Locks, step: Step, scope: Scope) -> None:
    match step:
        case Acquire():
            _kind(locks, _class_of(locks, step.path, scope, step.place), step.mode, step.place)
            _steps(locks, step.body or (), scope)
        case Release():
            kind = locks.classes[_class_of(locks, step.path, scope, step.place)].kind
            if kind is Kind.ONCE:
                problem = f"{step.text} of a lock that is a {kind}"
                raise LocksError(step.place, problem, "leave it out; the end of the steps of a once releases it")
            if step.mode is not None and not kind.shared:
                raise LocksError(step.place, f"{step.text} of a lock that is a {kind}", "write unlock")
            if step.mode is None and kind is Kind.REENTRANT_RW:
                problem = f"{step.text} of a lock that one thread can hold for reading and for writing"
                raise LocksError(step.place, problem, "write runlock or wunlock")
        case Once():
            kind = locks.classes[_class_of(locks, step.path, scope, step.place)].kind
            if kind is not Kind.ONCE:
                raise LocksError(step.place, f"{step.text} of a lock that is a {kind}", "declare it as once")
            _steps(locks, step.body, scope)
        case Loop():
            if step.of is None:
                _known(step.over, locks.classes, "class", step.place)
            else:
                _require_position(
                    locks, step.over, step.where, _class_of(locks, step.of, scope, step.place), step.place
                )
            if step.outermost and not locks.classes[step.over].is_tree:
                raise LocksError(step.place, f"a {step.over} is never in a {step.over}", "leave out 'outermost'")
            if step.variable in scope:
                raise LocksError(
                    step.place, f"{step.variable!r} is already the name of an object", "choose another name"
                )
            _steps(locks, step.body, {**scope, step.variable: step.over})
        case AcquireMany():
            _kind(locks, step.over, step.mode, step.place)
            if step.of is not None:
                _require_position(locks, step.over, Where.IN, _class_of(locks, step.of, scope, step.place), step.place)
            _steps(locks, step.body, scope)
        case CompareKeys(first=first, second=second):
            of, other = (_class_of(locks, path, scope, step.place) for path in (first, second))
            _one_class(of, other, step.text, step.place)
            _steps(locks, step.body, scope)
        case Serve(body=body):
            _steps(locks, body, scope)
        case Either():
            if not step.alternatives:
                raise LocksError(step.place, "'either' has no alternatives", "give it a list of steps for each")
            for alternative in step.alternatives:
                _steps(locks, alternative, scope)
        case Call():
            _call(locks, step, scope)
        case Send() | Receive() | Close():
            _channel(locks, step)
        case Select():
            _select(locks, step, scope)
        case Go(body=body):
            _steps(locks, body, scope, serves=True)
        case Count() | Await() | Branch() | Wait() | Signal():
            _counted(locks, step)
            if isinstance(step, Await | Branch):
                _steps(locks, step.body or (), scope)
        case Access():
            of = _class_of(locks, step.path, scope, step.place)
            _known(step.field, locks.classes[of].fields, f"field of {of}", step.place)


def _channel(locks: Locks, step: Send | Receive | Close) -> None:
    _known(step.channel, locks.channels, "channel", step.place)
    context = step.channel in locks.contexts
    if context and (isinstance(step, Send) or (isinstance(step, Close) and not step.cancels)):
        raise LocksError(step.place, f"{step.text}, which is a context", "write cancel or receive")
    if isinstance(step, Close) and step.cancels and not context:
        raise LocksError(step.place, f"{step.text}, which is a channel", "write close; or declare it as context")
    kinds = locks.kinds.get(step.channel, ())
    if isinstance(step, Send) and kinds and not step.kind:
        raise LocksError(step.place, f"{step.text} without a kind of message", f"write one of {', '.join(kinds)}")
    if isinstance(step, Send | Receive) and step.kind:
        if not kinds:
            problem = f"{step.text} with kinds of messages, and {step.channel} has none"
            raise LocksError(step.place, problem, f"declare {step.channel} with capacity and kinds")
        known = (*kinds, CLOSED) if isinstance(step, Receive) else kinds
        _known(step.kind, known, f"kind of message of {step.channel}", step.place)


def _select(locks: Locks, step: Select, scope: Scope) -> None:
    if not step.cases:
        raise LocksError(step.place, "'select' has no cases", "write what it waits for, a line for each case")
    others = [case for case in step.cases if case.on is None]
    if len(others) > 1:
        raise LocksError(others[1].place, "'select' has two of default and timeout", "leave out one of them")
    for case in step.cases:
        if case.on is not None:
            _channel(locks, case.on)
        _steps(locks, case.body, scope)
    _branches(locks, step)


def _branches(locks: Locks, step: Select) -> None:
    """Refuses a receiver with branches that lacks one: a message without a branch is easily forgotten."""
    received = [case.on for case in step.cases if isinstance(case.on, Receive) and case.on.kind]
    for channel in dict.fromkeys(one.channel for one in received):
        needed = list(locks.kinds[channel])
        if any(name == channel for each in _programs(locks) for name in _closed(each)):
            needed.append(CLOSED)
        given = {one.kind for one in received if one.channel == channel}
        if missing := [kind for kind in needed if kind not in given]:
            problem = f"receive {channel} has no branch for {', '.join(missing)}"
            raise LocksError(step.place, problem, f"write {missing[0]}: [] if nothing is done then")


def _programs(locks: Locks) -> list[tuple[Step, ...]]:
    return [*(one.steps for one in locks.operations.values()), *(one.steps for one in locks.threads.values())]


def _closed(part: object) -> Iterator[str]:
    """The channels that steps close."""
    if isinstance(part, Close):
        yield part.channel
    elif isinstance(part, tuple):
        for each in part:
            yield from _closed(each)
    elif isinstance(part, Step):
        yield from _closed(tuple(vars(part).values()))


def _counted(locks: Locks, step: Count | Await | Branch | Wait | Signal) -> None:
    """Refuses a step with a counter or a condition that does not exist, or is of another kind."""
    if isinstance(step, Signal):
        _known(step.condition, locks.conditions, "condition", step.place)
        return
    if isinstance(step, Wait):
        groups = [one.name for one in locks.counters.values() if one.counts is Counts.GROUP]
        _known(step.condition, [*locks.conditions, *groups], "condition or group", step.place)
        if step.timed and step.condition in groups:
            raise LocksError(step.place, f"{step.text}: {step.condition} is a group", f"write wait {step.condition}")
        return
    name = step.on if isinstance(step, Count) else step.test.on
    _known(name, locks.counters, "counter", step.place)
    counts = locks.counters[name].counts
    words = {
        Counts.NUMBER: ("set", "add", "subtract", "await", "if", "while", "swap"),
        Counts.GROUP: ("add", "done", "wait"),
        Counts.SEMAPHORE: ("acquire", "release"),
    }[counts]
    if step.text.split()[0] not in words:
        raise LocksError(step.place, f"{step.text}: {name} is a {counts}", f"choose from {', '.join(words)}")
    numbers = [step.number] if isinstance(step, Count) else [step.test.number]
    numbers += [step.to] if isinstance(step, Branch) and step.to is not None else []
    if max(numbers) > MOST_COUNTED:
        raise LocksError(step.place, f"{step.text}: counters go up to {MOST_COUNTED}", "describe fewer at once")


def _call(locks: Locks, step: Call, scope: Scope) -> None:
    _known(step.operation, locks.operations, "operation", step.place)
    expected = locks.operations[step.operation].parameters
    given = [_class_of(locks, path, scope, step.place) for path in step.arguments]
    if given != list(expected.values()):
        takes = f"{step.operation}({', '.join(f'{kind} {name}' for name, kind in expected.items())})"
        raise LocksError(step.place, f"{step.text} does not fit {takes}", "give it objects of these classes")


def _objects(locks: Locks) -> None:
    for one in locks.objects.values():
        _known(one.of, locks.classes, "class", one.place)
        outer = []
        for name in one.inside:
            _known(name, locks.objects, "object", one.place)
            of = locks.objects[name].of
            if of not in locks.classes[one.of].inside:
                raise LocksError(one.place, f"a {one.of} is not in a {of}", f"write {one.of}: {{in: {of}}}")
            outer.append(of)
        if len(set(outer)) < len(outer):
            raise LocksError(one.place, f"{one.name} is in two objects of one class", "leave out one of them")

    def climb(name: str, below: tuple[str, ...]) -> None:
        if name in below:
            raise LocksError(locks.objects[name].place, f"{name} is in itself", "leave out one part of the cycle")
        for outer in locks.objects[name].inside:
            climb(outer, (*below, name))

    for name in locks.objects:
        climb(name, ())
    for one in locks.objects.values():
        for of in locks.around[one.of]:
            containers = sorted(_around(locks, one.name, of))
            if len(containers) > 1:
                problem = f"{one.name} is in two of class {of}: {' and '.join(containers)}"
                raise LocksError(one.place, problem, "leave out one of them")


def _around(locks: Locks, name: str, of: str) -> set[str]:
    """The objects of another class that contain this one, directly or through objects of its own or a third class."""
    containers = set()
    for outer in locks.objects[name].inside:
        if locks.objects[outer].of == of:
            containers.add(outer)
        else:
            containers |= _around(locks, outer, of)
    return containers
