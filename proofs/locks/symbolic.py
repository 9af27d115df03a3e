"""Lock programs judged for any number of objects and trees of any depth: each step once, on objects that z3 knows little of.

An operation is walked once with its parameters as unknowns. What its callers hold is kept as what is known of it:
that it is this or that around a parameter, that a parameter is directly in it, or that it comes before a parameter in
the order of locks. This is carried from calls to what is called until nothing is added, so that an operation that
calls itself for what is inside is judged at every depth.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import z3

from ...model.locks import Locks
from ...model.locks.language import (
    UNBOUNDED,
    Access,
    Acquire,
    Call,
    Either,
    Loop,
    Mode,
    Operation,
    Path,
    Receive,
    Release,
    Rule,
    Send,
    Serve,
    SeveralRule,
    Step,
    Verb,
    Where,
)
from .rank import Rank


@dataclass(frozen=True)
class Unknown:
    """An object: its class, and the term that stands for it."""

    of: str
    term: z3.ExprRef


@dataclass(frozen=True)
class Hold:
    """A lock that is held; ``sure``: by contract or by this operation, not just maybe by some caller."""

    object: Unknown
    mode: Mode
    sure: bool


@dataclass(frozen=True)
class Known:
    """What a called operation knows of a lock that some caller of it holds: its class, and how it is to a parameter.

    ``paths``: it is all of these, each a parameter or what that is in. Else ``how``: "outer", the ``parameter`` is directly
    in it, and both are of one class; "before", it comes before the parameter in the order; "", nothing.
    """

    of: str
    paths: tuple[Path, ...] = ()
    how: str = ""
    parameter: str = ""


@dataclass(frozen=True)
class Facts:
    """What is known on the way to a step, and what is held there."""

    known: tuple[z3.BoolRef, ...]
    held: tuple[Hold, ...]

    def and_(self, *more: z3.BoolRef) -> Facts:
        return Facts((*self.known, *more), self.held)


@dataclass
class _Sorts:
    """z3's sorts and functions for a description: each class a sort, and what its objects are in."""

    locks: Locks
    fresh: int = 0
    sorts: dict[str, z3.SortRef] = field(default_factory=dict)

    def sort(self, name: str) -> z3.SortRef:
        if name not in self.sorts:
            self.sorts[name] = z3.DeclareSort(name)
        return self.sorts[name]

    def new(self, of: str, name: str) -> Unknown:
        self.fresh += 1
        return Unknown(of, z3.Const(f"{name} {self.fresh}", self.sort(of)))

    def around(self, one: Unknown, of: str) -> Unknown:
        """What it is in; of its own class, what it is directly in (if it is in one)."""
        function = z3.Function(f"{of} around {one.of}", self.sort(one.of), self.sort(of))
        return Unknown(of, function(one.term))

    def depth(self, one: Unknown) -> z3.ArithRef:
        return z3.Function(f"depth of {one.of}", self.sort(one.of), z3.IntSort())(one.term)

    def reach(self, path: Path, scope: Mapping[str, Unknown]) -> Unknown:
        one = scope[path.variable]
        for of in path.classes:
            one = self.around(one, of)
        return one

    def commutes(self, one: Unknown) -> list[z3.BoolRef]:
        """What an object is in is in what that is in, and depths are not negative."""
        found = [self.depth(one) >= 0] if self.locks.classes[one.of].is_tree else []
        for of in self.locks.around[one.of]:
            outer = self.around(one, of)
            found += [
                self.around(outer, further).term == self.around(one, further).term for further in self.locks.around[of]
            ]
            found += [self.depth(outer) >= 0] if self.locks.classes[of].is_tree else []
        return found

    def directly_in(self, inner: Unknown, outer: Unknown) -> list[z3.BoolRef]:
        """The facts that the one is directly in the other."""
        found = [self.around(inner, outer.of).term == outer.term]
        if inner.of == outer.of:
            found.append(self.depth(inner) == self.depth(outer) + 1)
            # What the outer is in, the inner is in.
            found += [self.around(inner, of).term == self.around(outer, of).term for of in self.locks.around[inner.of]]
        else:
            found += [self.around(inner, of).term == self.around(outer, of).term for of in self.locks.around[outer.of]]
        return found


@dataclass(frozen=True)
class Judged:
    """What is asked of one step: ``proved``, or ``why`` not."""

    step: Step
    operation: str
    proved: bool
    why: str


@dataclass
class Programs:
    """The operations of a description, judged."""

    locks: Locks
    rank: Rank | None
    order: list[Judged] = field(default_factory=list)
    rules: list[tuple[str, Judged]] = field(default_factory=list)
    calls: list[tuple[str, Judged]] = field(default_factory=list)
    waits: list[Judged] = field(default_factory=list)
    releases: list[Judged] = field(default_factory=list)


def judge(locks: Locks, rank: Rank | None, operation: Operation) -> Programs:
    """What ``operation`` does, called by somebody who holds what its callers have to hold, and no more: each step at every depth."""
    return _Judge(locks, rank, operation).all()


class _Judge:
    def __init__(self, locks: Locks, rank: Rank | None, entry: Operation) -> None:
        self.locks, self.rank, self.z, self.entry = locks, rank, _Sorts(locks), entry
        self.contexts: dict[str, set[Known]] = {entry.name: set()}
        self.found = Programs(locks, rank)
        self.several = self._several()

    def all(self) -> Programs:
        while True:
            before = {name: set(known) for name, known in self.contexts.items()}
            self.found = Programs(self.locks, self.rank)
            for name in list(self.contexts):
                self.operation(self.locks.operations[name])
            if before == self.contexts:
                return self.found

    # --- what z3 is asked

    def follows(self, facts: Facts, claim: z3.BoolRef, *objects: Unknown) -> bool:
        """``claim`` is true whenever what is known is."""
        solver = z3.Solver()
        solver.add(*facts.known, *(fact for one in objects for fact in self.z.commutes(one)))
        solver.add(z3.Not(claim))
        return bool(solver.check() == z3.unsat)

    def before(self, first: Unknown, second: Unknown) -> z3.BoolRef:
        if self.rank is None:
            return z3.BoolVal(False)
        return self.rank.below(first.of, self.z.depth(first), second.of, self.z.depth(second))

    def allowed(self, facts: Facts, held: Unknown, wanted: Unknown) -> bool:
        """The order lets who holds the one acquire the other."""
        if self.locks.closed:
            return self.follows(facts, self.before(held, wanted), held, wanted)
        ways = []
        for row in self.locks.order:
            if (row.holding, row.acquired) != (held.of, wanted.of):
                continue
            match row.where:
                case Where.ANYWHERE:
                    ways.append(held.term != wanted.term if held.of == wanted.of else z3.BoolVal(True))
                case Where.IN:
                    ways.append(self._inside(wanted, held))
                case Where.AROUND:
                    ways.append(self._inside(held, wanted))
        return bool(ways) and self.follows(facts, z3.Or(ways), held, wanted)

    def _lies_in(self, inner: Unknown, outer: Unknown) -> z3.BoolRef:
        """It is in the other, which is of another class."""
        return self.z.around(inner, outer.of).term == outer.term

    def _inside(self, inner: Unknown, outer: Unknown) -> z3.BoolRef:
        there = self.z.around(inner, outer.of).term == outer.term
        # The outermost is in none of its own class: only a depth that is known says that it is directly in it.
        return z3.And(there, self.z.depth(inner) == self.z.depth(outer) + 1) if inner.of == outer.of else there

    # --- the walk

    def operation(self, operation: Operation) -> None:
        scope = {name: self.z.new(of, name) for name, of in operation.parameters.items()}
        facts = Facts((), ())
        for one in scope.values():
            facts = facts.and_(*self.z.commutes(one))
        for inner, path in operation.inside.items():
            facts = facts.and_(self._lies_in(scope[inner], self.z.reach(path, scope)))
        for under in operation.under:
            facts = Facts(facts.known, (*facts.held, Hold(self.z.reach(under.path, scope), under.mode, True)))
        for known in sorted(self.contexts[operation.name], key=repr):
            facts = self._assumed(facts, known, scope)
        for after in self.steps(operation.steps, scope, facts, operation):
            mine = [hold for hold in after.held if hold not in facts.held]
            self.found.releases.append(
                Judged(
                    operation.steps[0] if operation.steps else _nothing(operation),
                    operation.name,
                    not mine,
                    "it keeps what it acquires",
                )
            )

    def _assumed(self, facts: Facts, known: Known, scope: Mapping[str, Unknown]) -> Facts:
        if known.paths:
            one, *same = [self.z.reach(path, scope) for path in known.paths]
            facts = facts.and_(*(one.term == other.term for other in same))
            if any(hold.object.term.eq(each.term) for hold in facts.held for each in (one, *same)):
                return facts  # by contract it is held anyway
        else:
            one = self.z.new(known.of, "held")
            facts = facts.and_(*self.z.commutes(one))
            if known.how == "outer":
                facts = facts.and_(*self.z.directly_in(scope[known.parameter], one))
            elif known.how == "before":
                facts = facts.and_(self.before(one, scope[known.parameter]))
        return Facts(facts.known, (*facts.held, Hold(one, Mode.READ, False)))

    def steps(
        self, steps: Sequence[Step], scope: Mapping[str, Unknown], facts: Facts, of: Operation
    ) -> Iterator[Facts]:
        if not steps:
            yield facts
            return
        for after in self.step(steps[0], scope, facts, of):
            yield from self.steps(steps[1:], scope, after, of)

    def step(self, step: Step, scope: Mapping[str, Unknown], facts: Facts, of: Operation) -> Iterator[Facts]:
        match step:
            case Acquire(mode=mode, path=path, body=body):
                one = self.z.reach(path, scope)
                self.acquires(step, one, facts, of)
                now = Facts(facts.known, (*facts.held, Hold(one, mode, True)))
                if body is None:
                    yield now
                    return
                for after in self.steps(body, scope, now, of):
                    yield self.released(after, one)
            case Release(path=path):
                yield self.released(facts, self.z.reach(path, scope))
            case Access(verb=verb, path=path, field=name):
                self.accesses(step, verb, self.z.reach(path, scope), name, facts, of)
                yield facts
            case Send(channel=channel) | Receive(channel=channel):
                always = isinstance(step, Send) and self.locks.channels[channel] == UNBOUNDED
                self.found.waits.append(Judged(step, of.name, always or not facts.held, "something is held meanwhile"))
                yield facts
            case Either(alternatives=alternatives):
                for each in alternatives:
                    yield from self.steps(each, scope, facts, of)
            case Serve(body=body):
                yield from self.steps(body, scope, facts, of)
            case Loop():
                yield from self.loop(step, scope, facts, of)
            case Call():
                self.call(step, scope, facts, of)
                yield facts

    def loop(self, step: Loop, scope: Mapping[str, Unknown], facts: Facts, of: Operation) -> Iterator[Facts]:
        one = self.z.new(step.over, step.variable)
        inside = facts.and_(*self.z.commutes(one))
        if step.of is not None:
            seen_from = self.z.reach(step.of, scope)
            inner, outer = (one, seen_from) if step.where is Where.IN else (seen_from, one)
            inside = inside.and_(*self.z.directly_in(inner, outer))
        if step.outermost:
            inside = inside.and_(self.z.depth(one) == 0)
        for after in self.steps(step.body, {**scope, step.variable: one}, inside, of):
            kept = after.held != facts.held
            if kept:
                self.found.releases.append(Judged(step, of.name, False, "what is acquired in a loop is kept"))
        yield facts  # what one round knows of its object is of no use to the next

    def released(self, facts: Facts, one: Unknown) -> Facts:
        last = max((n for n, hold in enumerate(facts.held) if hold.object.term.eq(one.term)), default=None)
        return facts if last is None else Facts(facts.known, (*facts.held[:last], *facts.held[last + 1 :]))

    # --- what is asked of a step

    def acquires(self, step: Step, one: Unknown, facts: Facts, of: Operation) -> None:
        for hold in facts.held:
            proved = self.allowed(facts, hold.object, one)
            self.found.order.append(
                Judged(step, of.name, proved, f"a {hold.object.of} may be held that the order does not put before it")
            )

    def accesses(self, step: Step, verb: Verb, one: Unknown, name: str, facts: Facts, of: Operation) -> None:
        for rule in self.locks.rules:
            if isinstance(rule, Rule):
                applies = rule.verb is verb and rule.of == one.of and name in rule.fields
            else:
                applies = verb is Verb.WRITE and one.of in rule.classes and of.name in self.several[rule.name]
            if applies:
                needed = one if rule.lock == one.of else self.z.around(one, rule.lock)
                self.found.rules.append(
                    (
                        rule.name,
                        Judged(
                            step,
                            of.name,
                            self.holds(facts, needed, rule.mode),
                            f"{rule.mode} of its {rule.lock} may not be held",
                        ),
                    )
                )

    def holds(self, facts: Facts, needed: Unknown, mode: Mode) -> bool:
        """It is held for sure."""
        ways = [
            hold.object.term == needed.term
            for hold in facts.held
            if hold.sure and hold.mode.covers(mode) and hold.object.of == needed.of
        ]
        return bool(ways) and self.follows(facts, z3.Or(ways), needed)

    def call(self, step: Call, scope: Mapping[str, Unknown], facts: Facts, of: Operation) -> None:
        called = self.locks.operations[step.operation]
        inner = {name: self.z.reach(path, scope) for name, path in zip(called.parameters, step.arguments, strict=True)}
        for name, path in called.inside.items():
            outer = self.z.reach(path, inner)
            there = self.follows(facts, self._lies_in(inner[name], outer), inner[name], outer)
            self.found.calls.append((called.name, Judged(step, of.name, there, f"{name} may not be in {path}")))
        for under in called.under:
            needed = self.z.reach(under.path, inner)
            self.found.calls.append(
                (
                    called.name,
                    Judged(
                        step,
                        of.name,
                        self.holds(facts, needed, under.mode),
                        f"{under.mode} {under.path} may not be held",
                    ),
                )
            )
        context = self.contexts.setdefault(called.name, set())
        for hold in facts.held:
            context.add(self.seen_from(hold.object, called, inner, facts))

    def seen_from(self, held: Unknown, called: Operation, inner: Mapping[str, Unknown], facts: Facts) -> Known:
        """What the called operation knows of a lock that is held."""
        same = [
            path
            for name, one in inner.items()
            for path in self.paths(name, one.of)
            if (there := self.z.reach(path, inner)).of == held.of
            and self.follows(facts, there.term == held.term, one, held)
        ]
        if same:
            return Known(held.of, tuple(same))
        for name, one in inner.items():
            in_trees = one.of == held.of and self.locks.classes[one.of].is_tree
            if in_trees and self.follows(facts, self._inside(one, held), one, held):
                return Known(held.of, how="outer", parameter=name)
        for name, one in inner.items():
            if self.follows(facts, self.before(held, one), one, held):
                return Known(held.of, how="before", parameter=name)
        return Known(held.of)

    def paths(self, name: str, of: str) -> list[Path]:
        return [Path(name), *(Path(name, (outer,)) for outer in self.locks.around[of])]

    def _several(self) -> dict[str, frozenset[str]]:
        """By rule about several objects the operations that may write more than one, and those that they call."""

        def writes(steps: Sequence[Step], rule: SeveralRule, scope: Mapping[str, str], open_: frozenset[str]) -> int:
            """How many objects at most, counted up to two."""
            total = 0
            seen: set[tuple[str, ...]] = set()
            for step in steps:
                match step:
                    case Access(verb=Verb.WRITE, path=path) if _class(scope, path) in rule.classes:
                        key = (path.variable, *path.classes)
                        total += key not in seen
                        seen.add(key)
                    case Acquire(body=body) | Serve(body=body) if body:
                        total += writes(body, rule, scope, open_)
                    case Either(alternatives=alternatives):
                        total += max((writes(each, rule, scope, open_) for each in alternatives), default=0)
                    case Loop(every=every, variable=variable, over=over, body=body):
                        total += writes(body, rule, {**scope, variable: over}, open_) * (2 if every else 1)
                    case Call(operation=operation):
                        if operation in open_:
                            total += 2  # it calls itself
                        else:
                            called = self.locks.operations[operation]
                            total += writes(called.steps, rule, called.parameters, open_ | {operation})
            return min(total, 2)

        found = {}
        for rule in self.locks.rules:
            if isinstance(rule, SeveralRule):
                many = {
                    o.name
                    for o in self.locks.operations.values()
                    if writes(o.steps, rule, o.parameters, frozenset([o.name])) > 1
                }
                open_ = list(many)
                while open_:
                    for name in _called(self.locks.operations[open_.pop()].steps):
                        if name not in many:
                            many.add(name)
                            open_.append(name)
                found[rule.name] = frozenset(many)
        return found


def _class(scope: Mapping[str, str], path: Path) -> str:
    return path.classes[-1] if path.classes else scope[path.variable]


def _called(steps: Sequence[Step]) -> Iterator[str]:
    for step in steps:
        match step:
            case Call(operation=operation):
                yield operation
            case Acquire(body=body) | Serve(body=body) if body:
                yield from _called(body)
            case Loop(body=body):
                yield from _called(body)
            case Either(alternatives=alternatives):
                for each in alternatives:
                    yield from _called(each)


def _nothing(operation: Operation) -> Step:
    return Step(text="", place=operation.place)
