"""What no check of a lock file is about: parts of the file, and what it does not describe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from schedproof.model.locks import Locks
from schedproof.model.locks.language import (
    UNBOUNDED,
    Access,
    Acquire,
    AcquireMany,
    Await,
    Branch,
    Call,
    Close,
    CompareKeys,
    Count,
    Either,
    Kind,
    Loop,
    Once,
    Path,
    Receive,
    Rule,
    Select,
    Send,
    Signal,
    Step,
    Wait,
)

from .checks import demanding
from .structure import bodies


def unchecked(locks: Locks) -> tuple[str, ...]:
    """What a lock file leaves unchecked, one phrase for each kind."""
    phrases = {
        "the interleavings of threads: the file has no threads": not locks.threads,
        "what programs acquire: the file has no operations or threads": not (locks.operations or locks.threads),
    }
    used = _Used(locks)
    lists = {
        "locks that no program acquires": used.locks_left(),
        "kinds of messages that no program sends, so their branches never run": used.kinds_left(),
        "channels that no program uses": [name for name in locks.channels if name not in used.things],
        "counters that no program uses": [name for name in locks.counters if name not in used.things],
        "conditions that no program uses": [name for name in locks.conditions if name not in used.things],
        "locks without an owner, of which only the interleavings of threads are checked": used.unowned(),
        "whether loops end that can go round without waiting": used.spinning,
        "callers of operations that demand locks or positions, since the file has none": [
            operation.name for operation in demanding(locks, called=False)
        ],
        "operations that no thread runs, so only each by itself": used.operations_left() if locks.threads else [],
        "fields that no rule guards": used.fields_without_a_rule(),
        "fields that no program accesses": used.fields_without_an_access(),
    }
    return (
        *(phrase for phrase, holds in phrases.items() if holds),
        *(f"{phrase}: {', '.join(names)}" for phrase, names in lists.items() if names),
    )


def without_any_check(locks: Locks) -> list[str]:
    """The locks without an owner that operations acquire which no thread runs, by class or name.

    No order is derived for them, and only the interleavings of threads check them.
    """
    alone = {name: locks.operations[name] for name in _Used(locks).operations_left()}
    return _Used(replace(locks, operations=alone, threads={})).unowned()


class _Used:
    """What the steps of all operations and threads name."""

    def __init__(self, locks: Locks) -> None:
        self.description = locks
        self.locks: set[str] = set()
        self.things: set[str] = set()
        self.sent: set[tuple[str, str]] = set()
        self.accessed: set[tuple[str, str]] = set()
        self.calls: dict[str, set[str]] = {}
        self.spinning: list[str] = []
        self.following: set[str] = set()
        objects = {name: one.of for name, one in locks.objects.items()}
        for operation in locks.operations.values():
            self.locks |= {_class(operation.parameters, under.path) for under in operation.under}
            self.walk(operation.steps, operation.parameters, operation.name)
        for thread in locks.threads.values():
            self.walk(thread.steps, objects, "")

    def walk(self, steps: Sequence[Step], scope: Mapping[str, str], program: str) -> None:
        """Notes what the steps of a program name; ``program`` is "" for a thread."""
        for step in steps:
            if isinstance(step, Send):
                self.sent.add((step.channel, step.kind))
            match step:
                case Acquire(path=path) | Once(path=path):
                    of = _class(scope, path)
                    self.locks |= {path.variable} if of in list(Kind) else {of}
                case AcquireMany(over=over):
                    self.locks.add(over)
                case Call(operation=name):
                    self.calls.setdefault(program, set()).add(name)
                case Send(channel=name) | Receive(channel=name) | Close(channel=name) | Count(on=name):
                    self.things.add(name)
                case Wait(condition=name) | Signal(condition=name):
                    self.things.add(name)
                case Await(test=test) | Branch(test=test):
                    self.things.add(test.on)
                    if isinstance(step, Branch) and step.repeats and step.body and self.passes(step.body, test.on):
                        self.spinning.append(f"{step.text} ({step.place})")
                case Select(cases=cases):
                    messages = [case.on for case in cases if case.on is not None]
                    self.things |= {one.channel for one in messages}
                    self.sent |= {(one.channel, one.kind) for one in messages if isinstance(one, Send)}
                case Access(path=path, field=field):
                    self.accessed.add((_class(scope, path), field))
            inside = {**scope, step.variable: step.over} if isinstance(step, Loop) else scope
            for body in bodies(step):
                self.walk(body, inside, program)

    def passes(self, steps: Sequence[Step], counter: str) -> bool:
        """Whether a thread can do some steps without waiting for more than locks, and without changing a counter."""
        return all(self.passes_one(step, counter) for step in steps)

    def passes_one(self, step: Step, counter: str) -> bool:
        match step:
            case Wait(timed=timed):
                return timed
            case Receive() | Await():
                return False
            case Send(channel=channel):
                return self.description.channels[channel] == UNBOUNDED
            case Count(on=name):
                return name != counter
            case Select(cases=cases):
                return any(case.on is None and self.passes(case.body, counter) for case in cases)
            case Either(alternatives=alternatives):
                return any(self.passes(each, counter) for each in alternatives)
            case Acquire(body=body, tries=tries):
                return tries or self.passes(body or (), counter)
            case CompareKeys():
                return True
            case Loop(body=body) | AcquireMany(body=body):
                return self.passes(body, counter)
            case Call(operation=name):
                return name in self.following or self.passes_call(name, counter)
            case _:
                return True

    def passes_call(self, name: str, counter: str) -> bool:
        self.following.add(name)
        result = self.passes(self.description.operations[name].steps, counter)
        self.following.discard(name)
        return result

    def unowned(self) -> list[str]:
        """The acquired locks that have no owner: no order is derived for them."""
        unowned = [name for name, one in self.description.classes.items() if one.kind is Kind.UNOWNED]
        plain = [name for name, one in self.description.objects.items() if one.of == Kind.UNOWNED]
        return [name for name in [*unowned, *plain] if name in self.locks]

    def kinds_left(self) -> list[str]:
        """The kinds of messages that no program sends, of the channels that some program uses."""
        return [
            f"{kind} of {channel}"
            for channel, kinds in self.description.kinds.items()
            for kind in kinds
            if channel in self.things and (channel, kind) not in self.sent
        ]

    def locks_left(self) -> list[str]:
        """The classes, and the locks without a class, that no program acquires."""
        if not (self.description.operations or self.description.threads):
            return []  # no program is described, which is said by itself
        plain = [name for name, one in self.description.objects.items() if one.of in list(Kind)]
        names = [name for name in self.description.classes if name not in list(Kind)]
        return [name for name in [*names, *plain] if name not in self.locks]

    def operations_left(self) -> list[str]:
        """The operations that no thread calls, directly or not."""
        reached: set[str] = set()
        open_ = set(self.calls.get("", ()))
        while open_:
            reached |= open_
            open_ = {each for name in open_ for each in self.calls.get(name, ())} - reached
        return [name for name in self.description.operations if name not in reached]

    def fields_without_a_rule(self) -> list[str]:
        """The declared fields of which no rule says which lock an access needs."""
        guarded = {(rule.of, each) for rule in self.description.rules if isinstance(rule, Rule) for each in rule.fields}
        return [f"{of}.{field}" for of, field in self.fields() if (of, field) not in guarded]

    def fields_without_an_access(self) -> list[str]:
        """The declared fields that no step reads or writes."""
        return [f"{of}.{field}" for of, field in self.fields() if (of, field) not in self.accessed]

    def fields(self) -> Iterator[tuple[str, str]]:
        """The declared fields, with their classes."""
        return ((name, each) for name, one in self.description.classes.items() for each in one.fields)


def _class(scope: Mapping[str, str], path: Path) -> str:
    return path.classes[-1] if path.classes else scope[path.variable]
