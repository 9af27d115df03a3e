"""Analyses of operations by their text, without following them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from schedproof.model.locks import Locks
from schedproof.model.locks.language import (
    UNBOUNDED,
    Access,
    Acquire,
    AcquireMany,
    Await,
    Branch,
    Call,
    CompareKeys,
    Either,
    Go,
    Loop,
    Once,
    Operation,
    Path,
    Receive,
    Release,
    Select,
    Send,
    Serve,
    SeveralRule,
    Step,
    Verb,
    Wait,
)


def unstructured(locks: Locks, operation: Operation) -> Step | None:
    """The first acquisition or release without a partner in its block, in an operation or those that it calls."""
    seen, open_ = set(), [operation.name]
    while open_:
        name = open_.pop()
        if name in seen:
            continue
        seen.add(name)
        if (step := _loose(locks.operations[name].steps)) is not None:
            return step
        open_ += _called(locks.operations[name].steps)
    return None


def touches_locks(steps: Sequence[Step]) -> bool:
    """Whether some step, not of a called operation, acquires or releases a lock."""
    return any(
        isinstance(step, Acquire | AcquireMany | Release | Once) or any(touches_locks(body) for body in bodies(step))
        for step in steps
    )


def writes(locks: Locks, rule: SeveralRule, operation: Operation) -> int:
    """The most objects of a rule's classes that an operation writes, counted up to two."""
    return _writes(locks, rule, operation.steps, operation.parameters, frozenset([operation.name]))


def _loose(steps: Sequence[Step]) -> Step | None:
    """The first step of a block whose acquisition or release has no partner in the block."""
    held: list[Acquire] = []
    for step in steps:
        match step:
            case Acquire(body=None):
                held.append(step)
            case Release(path=path):
                matching = next((one for one in reversed(held) if one.path == path), None)
                if matching is None:
                    return step
                held.remove(matching)
        for body in bodies(step):
            if (loose := _loose(body)) is not None:
                return loose
    return held[0] if held else None


def bodies(step: Step) -> list[Sequence[Step]]:
    """The blocks inside a step."""
    match step:
        case Acquire(body=body) | Await(body=body):
            return [body or ()]
        case Loop(body=body) | Serve(body=body) | Go(body=body) | Branch(body=body) | Once(body=body):
            return [body]
        case AcquireMany(body=body) | CompareKeys(body=body):
            return [body]
        case Either(alternatives=alternatives):
            return list(alternatives)
        case Select(cases=cases):
            return [case.body for case in cases]
        case _:
            return []


def _writes(
    locks: Locks, rule: SeveralRule, steps: Sequence[Step], scope: Mapping[str, str], open_: frozenset[str]
) -> int:
    total = 0
    seen: set[Path] = set()
    for step in steps:
        match step:
            case Access(verb=Verb.WRITE, path=path) if _class(scope, path) in rule.classes:
                total += path not in seen
                seen.add(path)
            case Acquire(body=body) | Await(body=body) if body:
                total += _writes(locks, rule, body, scope, open_)
            case Once(body=body) | Go(body=body) | AcquireMany(body=body) | CompareKeys(body=body):
                total += _writes(locks, rule, body, scope, open_)
            case Branch(body=body, repeats=repeats):
                total += _writes(locks, rule, body, scope, open_) * (2 if repeats else 1)
            case Select(cases=cases):
                total += max((_writes(locks, rule, case.body, scope, open_) for case in cases), default=0)
            case Either(alternatives=alternatives):
                total += max((_writes(locks, rule, each, scope, open_) for each in alternatives), default=0)
            case Loop(every=every, variable=variable, over=over, body=body):
                total += _writes(locks, rule, body, {**scope, variable: over}, open_) * (2 if every else 1)
            case Call(operation=name):
                called = locks.operations[name]
                recursive = name in open_  # it calls itself
                total += 2 if recursive else _writes(locks, rule, called.steps, called.parameters, open_ | {name})
    return min(total, 2)


def _class(scope: Mapping[str, str], path: Path) -> str:
    return path.classes[-1] if path.classes else scope[path.variable]


def _called(steps: Sequence[Step]) -> Iterator[str]:
    for step in steps:
        if isinstance(step, Call):
            yield step.operation
        for body in bodies(step):
            yield from _called(body)


def may_wait(locks: Locks, step: Step) -> bool:
    """Whether a thread may wait at a step for something else than a lock."""
    match step:
        case Send(channel=channel):
            return locks.channels[channel] != UNBOUNDED
        case Select():
            return step.may_wait
        case Wait(timed=timed):
            return not timed
        case _:
            return isinstance(step, Receive | Await)
