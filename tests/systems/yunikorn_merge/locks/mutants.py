"""Mutants of a description of locks: the description with one slip in one step, one contract, or less one row of its order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from schedproof.model.lang.errors import Place
from schedproof.model.locks import Locks, LocksError
from schedproof.model.locks.check import check
from schedproof.model.locks.language import (
    Acquire,
    Call,
    Either,
    Loop,
    Mode,
    Operation,
    Receive,
    Release,
    Send,
    Serve,
    Step,
    Under,
)
from schedproof.proofs.locks.model_check import model_check
from schedproof.proofs.verdict import Verdict

Steps = tuple[Step, ...]

WITHOUT_STEP, WITHOUT_HALF, WITHOUT_LOCK, WEAKER, STRONGER, SWAPPED, KEPT, ROW = (
    "without the step",
    "without what others wait for",  # a message, or one of the two steps that acquire and release a lock
    "without the lock",
    "wlock is rlock",
    "rlock is wlock",
    "two locks change places",
    "the lock is kept over the next step",
    "without the row",
)
CALLERS_NOTHING, CALLERS_LESS, CALLERS_MORE = "is not held", "rlock is enough", "wlock is needed"
"""The kinds of mutants; the last three are of contracts."""

OTHER = {Mode.READ: (Mode.WRITE, STRONGER), Mode.WRITE: (Mode.READ, WEAKER)}


@dataclass(frozen=True)
class Mutant:
    """A description with one slip; ``name`` says which. ``operation``: the one that it is in, if it is in one."""

    name: str
    kind: str
    locks: Locks
    operation: str = ""


def mutants(locks: Locks) -> Iterator[Mutant]:
    """Every mutant of ``locks``."""
    for n, row in enumerate(locks.order):
        rows = [*locks.order[:n], *locks.order[n + 1 :]]
        yield Mutant(f"{ROW}: {row.text}", ROW, replace(locks, order=rows))
    for name, operation in locks.operations.items():
        for number, kind, what in of_operation(operation):
            changed = replace(locks, operations={**locks.operations, name: what})
            yield Mutant(f"{name} {number}: {kind}", kind, changed, name)
    for name, thread in locks.threads.items():
        for number, kind, steps in of_steps(thread.steps):
            changed = replace(locks, threads={**locks.threads, name: replace(thread, steps=steps)})
            yield Mutant(f"{name} {number}: {kind}", kind, changed)


def of_operation(operation: Operation) -> Iterator[tuple[str, str, Operation]]:
    """By number of the step, or text of the contract, and kind, the operation with a slip."""
    for number, kind, steps in of_steps(operation.steps):
        yield number, kind, replace(operation, steps=steps)
    for n, under in enumerate(operation.under):
        others: list[tuple[str, tuple[Under, ...]]] = [(CALLERS_NOTHING, ())]
        if under.mode in OTHER:
            mode, _ = OTHER[under.mode]
            others.append((CALLERS_MORE if mode is Mode.WRITE else CALLERS_LESS, (replace(under, mode=mode),)))
        for kind, instead in others:
            changed = (*operation.under[:n], *instead, *operation.under[n + 1 :])
            yield f"under {under.mode} {under.path}", kind, replace(operation, under=changed)


def of_steps(steps: Sequence[Step], at: str = "") -> Iterator[tuple[str, str, Steps]]:
    """By number of the step and kind the steps with a slip."""
    for n, step in enumerate(steps):
        number = f"{at}{n + 1}"
        before, after = tuple(steps[:n]), tuple(steps[n + 1 :])
        for kind, instead in of_step(step):
            yield number, kind, (*before, *instead, *after)
        for each, kind, inside in within(step, f"{number}."):
            yield each, kind, (*before, inside, *after)
        if isinstance(step, Acquire) and step.body is not None and after:
            following, *rest = after
            yield number, KEPT, (*before, replace(step, body=(*step.body, following)), *rest)
            if isinstance(following, Acquire):
                yield f"{number}, {n + 2}", SWAPPED, (*before, following, step, *rest)


def of_step(step: Step) -> Iterator[tuple[str, Steps]]:
    """By kind what stands in the place of a step."""
    if not isinstance(step, Acquire) or step.body is None:
        yield WITHOUT_HALF if isinstance(step, Acquire | Release | Send | Receive | Serve) else WITHOUT_STEP, ()
    if isinstance(step, Acquire):
        if step.body is not None:
            yield WITHOUT_LOCK, step.body
        if step.mode in OTHER:
            mode, kind = OTHER[step.mode]
            yield kind, (replace(step, mode=mode),)
        for n, inner in enumerate(step.body or ()):
            if isinstance(inner, Acquire) and step.body is not None:
                outer = replace(inner, mode=step.mode, path=step.path)
                body = (*step.body[:n], outer, *step.body[n + 1 :])
                yield SWAPPED, (replace(step, mode=inner.mode, path=inner.path, body=body),)


def within(step: Step, at: str) -> Iterator[tuple[str, str, Step]]:
    """The step with a slip inside it."""
    match step:
        case Acquire(body=body) if body:
            yield from ((number, kind, replace(step, body=steps)) for number, kind, steps in of_steps(body, at))
        case Loop(body=body) | Serve(body=body):
            yield from ((number, kind, replace(step, body=steps)) for number, kind, steps in of_steps(body, at))
        case Either(alternatives=ways):
            for n, way in enumerate(ways):
                for number, kind, steps in of_steps(way, f"{at}{n + 1}."):
                    yield number, kind, replace(step, alternatives=(*ways[:n], steps, *ways[n + 1 :]))


def caught(mutant: Mutant, *, threads: bool) -> str:
    """The check that fails for a mutant of a description of which everything is proved; empty if none does.

    Args:
        threads: they are explored as well; else just what the slip is of consequence to is checked.
    """
    try:
        check(mutant.locks, Place(mutant.name, 1))
        locks = mutant.locks if threads else replace(concerned(mutant.locks, mutant.operation), threads={})
        answers = model_check(locks).answers
    except LocksError as error:
        return f"refused: {error.problem}"
    return next((a.check.name for a in answers if a.verdict is Verdict.REFUTED), "")


def concerned(locks: Locks, name: str) -> Locks:
    """Without the operations that a slip in ``name`` is of no consequence to: those that do not lead to it."""
    if not name:
        return locks
    kept = {one for one in locks.operations if name in called(locks, one)}
    kept |= {other for one in kept for other in called(locks, one)}
    return replace(locks, operations={one: what for one, what in locks.operations.items() if one in kept})


def called(locks: Locks, name: str) -> set[str]:
    """An operation, and all that it calls."""
    seen, open_ = {name}, [name]
    while open_:
        new = set(calls(locks.operations[open_.pop()].steps)) - seen
        seen |= new
        open_ += new
    return seen


def calls(steps: Sequence[Step]) -> Iterator[str]:
    """What these steps call."""
    for step in steps:
        match step:
            case Call(operation=name):
                yield name
            case Acquire(body=body) if body:
                yield from calls(body)
            case Loop(body=body) | Serve(body=body):
                yield from calls(body)
            case Either(alternatives=ways):
                for way in ways:
                    yield from calls(way)
