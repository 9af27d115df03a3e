"""The checks of a lock description: each has a name and a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from schedproof.model.lang.errors import Place
from schedproof.model.locks import Locks, LocksError
from schedproof.model.locks.language import Await, Call, Callback, Kind, Operation, Rule, Send, SeveralRule, Step, Wait

from .layout import every_step
from .structure import may_wait

ORDER, PROGRAM, RULE, FREEDOM = "lock order", "lock program", "lock rule", "deadlock freedom"
"""The kinds of checks."""


@dataclass(frozen=True)
class Callers:
    """A check of the callers of an operation: whether they hold the required locks."""

    operation: Operation


About = (
    Operation
    | Callers
    | Rule
    | SeveralRule
    | Literal["order", "circles", "again", "threads", "release", "wait", "escape", "deadlock"]
)
"""The subject of a check."""


OF_LOCKS = ("circles", "again", "wait", "release", "escape")
"""The checks that a description without locks does not have: no thread can hold one."""


@dataclass(frozen=True)
class Check:
    """One check: its name, its statement, and the document's sentence that requires it, if there is one."""

    name: str
    kind: str
    says: str
    line: int | None
    sentence: str
    place: Place
    about: About


def checks(locks: Locks) -> list[Check]:
    """The checks of a description, in the order of the report. Without an order, one is derived from all programs.

    A description of threads without locks that a thread holds has no check of locks, only of messages.

    Raises:
        LocksError: the description has nothing that can be checked.
    """
    if not locks.order and not locks.operations and not locks.threads:
        raise LocksError(locks.place, "nothing can be checked", "write an order, operations or threads")
    all_checks: list[Check] = []

    def add(
        name: str, kind: str, says: str, place: Place, about: About, line: int | None = None, sentence: str = ""
    ) -> None:
        all_checks.append(Check(name, kind, says, line, sentence, place, about))

    if locks.order:
        row = locks.order[0]
        add(
            "order-is-acyclic",
            ORDER,
            "no circle of locks can come of the rows of the order",
            row.place,
            "order",
            row.line,
        )
        for o in locks.operations.values():
            says = f"whatever {o.name} holds, it acquires no lock that the order does not allow it"
            add(f"{_dashed(o.name)}-follows-the-order", PROGRAM, says, o.place, o, o.line)
        if locks.threads:
            says = "whatever a thread holds, it acquires no lock that the order does not allow it"
            add("threads-follow-the-order", PROGRAM, says, next(iter(locks.threads.values())).place, "threads")
    else:
        place = _first_program(locks)
        says = "what is acquired while other locks are held forms no circle"
        add("derived-order-is-acyclic", ORDER, says, place, "circles")
        add("no-lock-is-acquired-again", PROGRAM, "no lock is acquired by its holder", place, "again")
    for o in demanding(locks, called=True):
        held = [f"holds {u.mode} {u.path}" for u in o.under]
        gives = [f"gives a {name} {where} {path}" for name, (where, path) in o.positions.items()]
        says = f"who calls {o.name} {' and '.join([*held, *gives])}"
        line = next((u.line for u in o.under if u.line is not None), None)
        add(f"{_dashed(o.name)}-is-called-under-its-locks", PROGRAM, says, o.place, Callers(o), line)
    for rule in locks.rules:
        add(rule.name, RULE, _says(rule), rule.place, rule, rule.line, rule.sentence)
    if locks.operations:
        place = next(iter(locks.operations.values())).place
        add("locks-are-released", PROGRAM, "each operation releases what it acquires", place, "release")
    # To send where there is always room is no wait, but may be one with another capacity.
    if any(may_wait(locks, step) or isinstance(step, Send) for step in every_step(_programs(locks))):
        place = _first_program(locks)
        what = "a message, a signal or a counter" if _has(locks, Await, Wait) else "a message"
        says = f"no lock is held while {what} is waited for"
        add("nothing-is-held-while-waiting", PROGRAM, says, place, "wait")
    if _has(locks, Callback):
        says = "no lock is held while code runs that the file does not know"
        add("nothing-is-held-in-callbacks", PROGRAM, says, _first_program(locks), "escape")
    if locks.threads:
        says = "the threads never wait for each other for ever"
        add("no-deadlock", FREEDOM, says, next(iter(locks.threads.values())).place, "deadlock")
    if not locks.threads or any(one.kind is not Kind.UNOWNED for one in locks.classes.values()):
        return all_checks
    return [one for one in all_checks if one.about not in OF_LOCKS]


def _has(locks: Locks, *steps: type[Step]) -> bool:
    """Whether some program has a step of these."""
    return any(isinstance(step, steps) for step in every_step(_programs(locks)))


def _programs(locks: Locks) -> list[Sequence[Step]]:
    return [*(o.steps for o in locks.operations.values()), *(t.steps for t in locks.threads.values())]


def demanding(locks: Locks, *, called: bool) -> list[Operation]:
    """The operations that demand locks or positions of their callers, and that some program calls, or none does."""
    names = {step.operation for step in every_step(_programs(locks)) if isinstance(step, Call)}
    return [o for o in locks.operations.values() if (o.under or o.positions) and (o.name in names) is called]


def _first_program(locks: Locks) -> Place:
    """The place of the first operation, or of the first thread."""
    places = [o.place for o in locks.operations.values()] or [t.place for t in locks.threads.values()]
    return places[0]


def _dashed(name: str) -> str:
    return name.replace("_", "-")


def _says(rule: Rule | SeveralRule) -> str:
    if isinstance(rule, Rule):
        return f"to {rule.verb} {' or '.join(rule.fields)} of a {rule.of} needs {rule.mode} of " + (
            "it" if rule.lock == rule.of else f"its {rule.lock}"
        )
    return f"to write more than one {' or '.join(rule.classes)} needs {rule.mode} of their {rule.lock}"
