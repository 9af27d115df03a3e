"""Lock programs checked for any number of objects and trees of any depth: each step once, on objects that z3 knows little of.

An operation is walked with its parameters as unknowns, once for each way in which it is called: what its caller holds
is kept as what is known of it, that it is this or that around a parameter, that a parameter is directly in it, or that
it comes before a parameter in the order of locks. Ways of calling are carried from calls to what is called until there
are no new ones, so that an operation that calls itself for what is inside is checked at every depth.

Only operations that release a lock in the block in which they acquire it can be checked so; of others nothing is proved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import networkx as nx
import z3

from schedproof.model.locks import Locks
from schedproof.model.locks.language import (
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
    SeveralRule,
    Step,
    Verb,
    Where,
)

from .rank import Rank
from .structure import unstructured, writes


@dataclass(frozen=True)
class Unknown:
    """An object: its class, and the term that stands for it."""

    of: str
    term: z3.ExprRef


@dataclass(frozen=True)
class Hold:
    """A lock that is held, by contract or by this operation."""

    object: Unknown
    mode: Mode


@dataclass(frozen=True)
class Known:
    """What a called operation knows of a lock that its caller holds: its class, and how it is to a parameter.

    ``paths``: it is all of these, each a parameter or what that is in. Else ``how``: "outer", the ``parameter`` is directly
    in it, and both are of one class; "before", it comes before the parameter in the order; "", nothing.
    """

    of: str
    mode: Mode
    paths: tuple[Path, ...] = ()
    how: str = ""
    parameter: str = ""


@dataclass(frozen=True)
class Way:
    """One way of calling an operation: what its caller holds, and which parameters are where they are said to be."""

    held: frozenset[Known]
    inside: frozenset[str]


@dataclass(frozen=True)
class Facts:
    """What is known on the way to a step, and what is held there."""

    known: tuple[z3.BoolRef, ...]
    held: tuple[Hold, ...]

    def and_(self, *more: z3.BoolRef) -> Facts:
        return Facts((*self.known, *more), self.held)

    def holding(self, hold: Hold) -> Facts:
        return Facts(self.known, (*self.held, hold))


@dataclass
class _Sorts:
    """z3's sorts and functions for a description: each class a sort, and what its objects are in."""

    locks: Locks
    fresh: int = 0
    sorts: dict[str, z3.SortRef] = field(default_factory=dict)
    outers: dict[tuple[Unknown, str], Unknown] = field(default_factory=dict)
    trees: dict[Unknown, list[z3.BoolRef]] = field(default_factory=dict)
    """What has been said before; to build a term takes longer than to solve it."""

    def sort(self, name: str) -> z3.SortRef:
        if name not in self.sorts:
            self.sorts[name] = z3.DeclareSort(name)
        return self.sorts[name]

    def new(self, of: str, name: str) -> Unknown:
        self.fresh += 1
        return Unknown(of, z3.Const(f"{name} {self.fresh}", self.sort(of)))

    def around(self, one: Unknown, of: str) -> Unknown:
        """What it is in; of its own class, what it is directly in (if it is in one)."""
        if (one, of) not in self.outers:
            function = z3.Function(f"{of} around {one.of}", self.sort(one.of), self.sort(of))
            self.outers[one, of] = Unknown(of, function(one.term))
        return self.outers[one, of]

    def depth(self, one: Unknown) -> z3.ArithRef:
        return z3.Function(f"depth of {one.of}", self.sort(one.of), z3.IntSort())(one.term)

    def reach(self, path: Path, scope: Mapping[str, Unknown]) -> Unknown:
        one = scope[path.variable]
        for of in path.classes:
            one = self.around(one, of)
        return one

    def commutes(self, one: Unknown) -> list[z3.BoolRef]:
        """What an object is in is in what that is in, and depths are not negative."""
        if one in self.trees:
            return self.trees[one]
        found = [self.depth(one) >= 0] if self.locks.classes[one.of].is_tree else []
        for of in self.locks.around[one.of]:
            outer = self.around(one, of)
            found += [
                self.around(outer, further).term == self.around(one, further).term for further in self.locks.around[of]
            ]
            found += [self.depth(outer) >= 0] if self.locks.classes[of].is_tree else []
        self.trees[one] = found
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
class CheckedStep:
    """What is asked of one step: ``proved``, or ``why`` not."""

    step: Step
    operation: str
    proved: bool
    why: str


@dataclass
class Programs:
    """What is asked of the steps of one operation, and of those that it calls.

    Args:
        order, waits: of acquisitions, and of waiting for messages.
        rules, calls: with the name of the rule, and of the operation that is called.
        releases: of what the operation itself acquires.
    """

    order: list[CheckedStep] = field(default_factory=list)
    rules: list[tuple[str, CheckedStep]] = field(default_factory=list)
    calls: list[tuple[str, CheckedStep]] = field(default_factory=list)
    waits: list[CheckedStep] = field(default_factory=list)
    releases: list[CheckedStep] = field(default_factory=list)


def check_operation(locks: Locks, rank: Rank | None, operation: Operation) -> Programs:
    """What ``operation`` does, called by somebody who holds what its callers have to hold, and no more: each step at every depth."""
    return _Checker(locks, rank, operation).all()


class _Checker:
    def __init__(self, locks: Locks, rank: Rank | None, entry: Operation) -> None:
        self.locks, self.rank, self.z, self.entry = locks, rank, _Sorts(locks), entry
        self.ways: dict[str, set[Way]] = {}
        self.found = Programs()
        self.leads_to = _reachable(locks)
        self.several = {
            rule.name: writes(locks, rule, entry) > 1 for rule in locks.rules if isinstance(rule, SeveralRule)
        }

    def all(self) -> Programs:
        self.operation(self.entry, None)
        done: set[tuple[str, Way]] = set()
        while True:
            new = [(name, way) for name, ways in self.ways.items() for way in ways if (name, way) not in done]
            if not new:
                break
            for name, way in new:
                done.add((name, way))
                self.operation(self.locks.operations[name], way)
        if (loose := unstructured(self.locks, self.entry)) is not None:
            return self.nothing(loose)
        return self.found

    def nothing(self, loose: Step) -> Programs:
        """What has been found, with nothing proved."""
        why = f"{loose.text} ({loose.place}) is not matched in its block, and so nothing is proved"

        def not_proved(one: CheckedStep) -> CheckedStep:
            return replace(one, proved=False, why=why)

        unmatched = CheckedStep(loose, self.entry.name, False, why)
        return Programs(
            [*map(not_proved, self.found.order), unmatched],
            [
                *((name, not_proved(one)) for name, one in self.found.rules),
                *((rule.name, unmatched) for rule in self.locks.rules),
            ],
            [*((name, not_proved(one)) for name, one in self.found.calls), *((n, unmatched) for n in self.ways)],
            [*map(not_proved, self.found.waits), unmatched],
            [*map(not_proved, self.found.releases), unmatched],
        )

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
            there = (held.of, wanted.of) in self.leads_to
            return there and self.follows(facts, self.before(held, wanted), held, wanted)
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

    def operation(self, operation: Operation, way: Way | None) -> None:
        """All steps of an operation, called in some way; None: by somebody who does just what its callers have to."""
        scope = {name: self.z.new(of, name) for name, of in operation.parameters.items()}
        facts = Facts((), ())
        for one in scope.values():
            facts = facts.and_(*self.z.commutes(one))
        for inner, path in operation.inside.items():
            if way is None or inner in way.inside:
                facts = facts.and_(self._lies_in(scope[inner], self.z.reach(path, scope)))
        for under in operation.under if way is None else ():
            facts = facts.holding(Hold(self.z.reach(under.path, scope), under.mode))
        for known in sorted(way.held, key=repr) if way is not None else ():
            facts = self._assumed(facts, known, scope)
        after = self.steps(operation.steps, scope, facts, operation)
        step = operation.steps[0] if operation.steps else Step(text="", place=operation.place)
        released = after.held == facts.held
        self.found.releases.append(CheckedStep(step, operation.name, released, "it keeps what it acquires"))

    def _assumed(self, facts: Facts, known: Known, scope: Mapping[str, Unknown]) -> Facts:
        if known.paths:
            one, *same = [self.z.reach(path, scope) for path in known.paths]
            facts = facts.and_(*(one.term == other.term for other in same))
        else:
            one = self.z.new(known.of, "held")
            facts = facts.and_(*self.z.commutes(one))
            if known.how == "outer":
                facts = facts.and_(*self.z.directly_in(scope[known.parameter], one))
            elif known.how == "before":
                facts = facts.and_(self.before(one, scope[known.parameter]))
        return facts.holding(Hold(one, known.mode))

    def steps(self, steps: Sequence[Step], scope: Mapping[str, Unknown], facts: Facts, of: Operation) -> Facts:
        """What is known after them."""
        for step in steps:
            facts = self.step(step, scope, facts, of)
        return facts

    def step(self, step: Step, scope: Mapping[str, Unknown], facts: Facts, of: Operation) -> Facts:
        match step:
            case Acquire(mode=mode, path=path, body=body):
                one = self.z.reach(path, scope)
                self.acquires(step, one, facts, of)
                now = facts.holding(Hold(one, mode))
                return now if body is None else self.released(self.steps(body, scope, now, of), one)
            case Release(path=path):
                return self.released(facts, self.z.reach(path, scope))
            case Access(verb=verb, path=path, field=name):
                self.accesses(step, verb, self.z.reach(path, scope), name, facts, of)
            case Send(channel=channel) | Receive(channel=channel):
                always = isinstance(step, Send) and self.locks.channels[channel] == UNBOUNDED
                self.found.waits.append(
                    CheckedStep(step, of.name, always or not facts.held, "something is held meanwhile")
                )
            case Either(alternatives=alternatives):
                for each in alternatives:
                    self.steps(each, scope, facts, of)  # what it acquires it releases, or nothing is proved
            case Loop():
                self.loop(step, scope, facts, of)
            case Call():
                self.call(step, scope, facts, of)
        return facts

    def loop(self, step: Loop, scope: Mapping[str, Unknown], facts: Facts, of: Operation) -> None:
        """One round; what it knows of its object is of no use to the next."""
        one = self.z.new(step.over, step.variable)
        inside = facts.and_(*self.z.commutes(one))
        if step.of is not None:
            seen_from = self.z.reach(step.of, scope)
            inner, outer = (one, seen_from) if step.where is Where.IN else (seen_from, one)
            inside = inside.and_(*self.z.directly_in(inner, outer))
        if step.outermost:
            inside = inside.and_(self.z.depth(one) == 0)
        self.steps(step.body, {**scope, step.variable: one}, inside, of)  # what it acquires it releases, as above

    def released(self, facts: Facts, one: Unknown) -> Facts:
        last = max((n for n, hold in enumerate(facts.held) if hold.object.term.eq(one.term)), default=None)
        return facts if last is None else Facts(facts.known, (*facts.held[:last], *facts.held[last + 1 :]))

    # --- what is asked of a step

    def acquires(self, step: Step, one: Unknown, facts: Facts, of: Operation) -> None:
        for hold in facts.held:
            proved = self.allowed(facts, hold.object, one)
            self.found.order.append(
                CheckedStep(
                    step, of.name, proved, f"a {hold.object.of} may be held that the order does not put before it"
                )
            )

    def accesses(self, step: Step, verb: Verb, one: Unknown, name: str, facts: Facts, of: Operation) -> None:
        for rule in self.locks.rules:
            if isinstance(rule, Rule):
                applies = rule.verb is verb and rule.of == one.of and name in rule.fields
            else:
                applies = verb is Verb.WRITE and one.of in rule.classes and self.several[rule.name]
            if applies:
                needed = one if rule.lock == one.of else self.z.around(one, rule.lock)
                self.found.rules.append(
                    (
                        rule.name,
                        CheckedStep(
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
            if hold.mode.covers(mode) and hold.object.of == needed.of
        ]
        return bool(ways) and self.follows(facts, z3.Or(ways), needed)

    def call(self, step: Call, scope: Mapping[str, Unknown], facts: Facts, of: Operation) -> None:
        called = self.locks.operations[step.operation]
        inner = {name: self.z.reach(path, scope) for name, path in zip(called.parameters, step.arguments, strict=True)}
        inside = set()
        for name, path in called.inside.items():
            outer = self.z.reach(path, inner)
            there = self.follows(facts, self._lies_in(inner[name], outer), inner[name], outer)
            self.found.calls.append((called.name, CheckedStep(step, of.name, there, f"{name} may not be in {path}")))
            if there:
                inside.add(name)
        for under in called.under:
            needed = self.z.reach(under.path, inner)
            held = self.holds(facts, needed, under.mode)
            why = f"{under.mode} {under.path} may not be held"
            self.found.calls.append((called.name, CheckedStep(step, of.name, held, why)))
        known = frozenset(self.seen_from(hold, inner, facts) for hold in facts.held)
        self.ways.setdefault(called.name, set()).add(Way(known, frozenset(inside)))

    def seen_from(self, hold: Hold, inner: Mapping[str, Unknown], facts: Facts) -> Known:
        """What a called operation knows of a lock that is held."""
        held = hold.object
        same = [
            path
            for name, one in inner.items()
            for path in self.paths(name, one.of)
            if (there := self.z.reach(path, inner)).of == held.of
            and self.follows(facts, there.term == held.term, one, held)
        ]
        if same:
            return Known(held.of, hold.mode, tuple(same))
        for name, one in inner.items():
            in_trees = one.of == held.of and self.locks.classes[one.of].is_tree
            if in_trees and self.follows(facts, self._inside(one, held), one, held):
                return Known(held.of, hold.mode, how="outer", parameter=name)
        for name, one in inner.items():
            if self.follows(facts, self.before(held, one), one, held):
                return Known(held.of, hold.mode, how="before", parameter=name)
        return Known(held.of, hold.mode)

    def paths(self, name: str, of: str) -> list[Path]:
        return [Path(name), *(Path(name, (outer,)) for outer in self.locks.around[of])]


def _reachable(locks: Locks) -> frozenset[tuple[str, str]]:
    """Pairs of classes of which rows of the order lead from the one to the other."""
    graph: nx.DiGraph[str] = nx.DiGraph((row.holding, row.acquired) for row in locks.order)
    return frozenset(nx.transitive_closure(graph, reflexive=False).edges)
