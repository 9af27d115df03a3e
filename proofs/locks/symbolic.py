"""Checks lock programs for any number of objects and trees of any depth: each step once, on symbolic objects.

The checker walks an operation with symbolic parameters, once for each way of calling it.
It keeps what it knows of each lock that the caller holds: that the lock is a parameter or contains one, contains one
directly, or comes before one in the order of locks.
It carries the ways of calling from each call to the called operation until there are no new ones.
So an operation that calls itself for inner objects is checked at every depth.

This requires that an operation releases each lock in the block in which it acquires it. Nothing is proved of others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import networkx as nx
import z3

from schedproof.model.locks import Locks
from schedproof.model.locks.language import (
    UNBOUNDED,
    Access,
    Acquire,
    AcquireMany,
    Await,
    Branch,
    Call,
    Callback,
    CompareKeys,
    Either,
    Go,
    Kind,
    Loop,
    Mode,
    Once,
    Operation,
    Path,
    Receive,
    Release,
    Rule,
    Select,
    Send,
    SeveralRule,
    Step,
    Verb,
    Wait,
    Where,
)
from schedproof.proofs.second_solver import confirm

from .layout import every_step
from .rank import Rank
from .solver import solver_in
from .structure import unstructured, writes


@dataclass(frozen=True)
class Unknown:
    """A symbolic object: its class, and the z3 term that stands for it."""

    of: str
    term: z3.ExprRef


@dataclass(frozen=True)
class Hold:
    """A lock that is held, by the caller or by this operation.

    Args:
        members: if ``object`` stands for each lock of several ones, the container of them all, or () for all of the
            class; None if it stands for itself. Of some locks of a class, it is not known which are held.
        several: whether it may stand for several locks that are held at once.
    """

    object: Unknown
    mode: Mode
    members: tuple[Unknown, ...] | None = None
    several: bool = False


@dataclass(frozen=True)
class Known:
    """What a called operation knows of a lock that its caller holds: its class, and its relation to a parameter.

    Attributes:
        paths: parameters, or objects that contain them, that are all this lock.
        how: used if ``paths`` is empty. "outer": the lock directly contains ``parameter``, and both have one class.
            "before": it comes before ``parameter`` in the order. "": nothing is known.
    """

    of: str
    mode: Mode
    paths: tuple[Path, ...] = ()
    how: str = ""
    parameter: str = ""


@dataclass(frozen=True)
class Way:
    """One way of calling an operation.

    Attributes:
        held: the locks of its caller.
        placed: the parameters at their declared positions.
        compared: what the caller knows of the keys of two parameters.
    """

    held: frozenset[Known]
    placed: frozenset[str]
    compared: frozenset[tuple[str, Where, str]]


@dataclass(frozen=True)
class Facts:
    """What is known at a step, and the locks that are held there."""

    known: tuple[z3.BoolRef, ...]
    held: tuple[Hold, ...]

    def and_(self, *more: z3.BoolRef) -> Facts:
        return Facts((*self.known, *more), self.held)

    def holding(self, hold: Hold) -> Facts:
        return Facts(self.known, (*self.held, hold))


@dataclass
class _Sorts:
    """z3's sorts and functions for a description: a sort for each class, functions from objects to their containers."""

    locks: Locks
    fresh: int = 0
    sorts: dict[str, z3.SortRef] = field(default_factory=dict)
    outers: dict[tuple[Unknown, str], Unknown] = field(default_factory=dict)
    trees: dict[Unknown, list[z3.BoolRef]] = field(default_factory=dict)
    """Facts by object, cached: to build a term takes longer than to solve it."""

    def sort(self, name: str) -> z3.SortRef:
        if name not in self.sorts:
            self.sorts[name] = z3.DeclareSort(self.named(name))
        return self.sorts[name]

    def named(self, name: str) -> str:
        """The name of a class for the solvers: it may be a word of theirs, as Table and Set, or have letters beyond ASCII."""
        return f"class {list(self.locks.classes).index(name)}"

    def new(self, of: str) -> Unknown:
        self.fresh += 1
        return Unknown(of, z3.Const(f"object {self.fresh}", self.sort(of)))

    def around(self, one: Unknown, of: str) -> Unknown:
        """The object of class ``of`` that contains ``one``; in its own class, the direct container (if it has one)."""
        if (one, of) not in self.outers:
            function = z3.Function(f"{self.named(of)} around {self.named(one.of)}", self.sort(one.of), self.sort(of))
            self.outers[one, of] = Unknown(of, function(one.term))
        return self.outers[one, of]

    def depth(self, one: Unknown) -> z3.ArithRef:
        return z3.Function(f"depth of {self.named(one.of)}", self.sort(one.of), z3.IntSort())(one.term)

    def key(self, one: Unknown) -> z3.ArithRef:
        return z3.Function(f"key of {self.named(one.of)}", self.sort(one.of), z3.IntSort())(one.term)

    def position(self, one: Unknown) -> z3.ArithRef:
        """What a rank counts."""
        return self.depth(one) if self.locks.classes[one.of].is_tree else self.key(one)

    def compares(self, one: Unknown, where: Where, other: Unknown) -> z3.BoolRef:
        """The formula that the key of ``one`` is after, or before, that of ``other``."""
        return self.key(one) > self.key(other) if where is Where.AFTER else self.key(one) < self.key(other)

    def reach(self, path: Path, scope: Mapping[str, Unknown]) -> Unknown:
        one = scope[path.variable]
        for of in path.classes:
            one = self.around(one, of)
        return one

    def commutes(self, one: Unknown) -> list[z3.BoolRef]:
        """The facts that containment is transitive and depths are not negative."""
        if one in self.trees:
            return self.trees[one]
        facts = [self.depth(one) >= 0] if self.locks.classes[one.of].is_tree else []
        for of in self.locks.around[one.of]:
            outer = self.around(one, of)
            facts += [
                self.around(outer, outer_class).term == self.around(one, outer_class).term
                for outer_class in self.locks.around[of]
            ]
            facts += [self.depth(outer) >= 0] if self.locks.classes[of].is_tree else []
        self.trees[one] = facts
        return facts

    def directly_in(self, inner: Unknown, outer: Unknown) -> list[z3.BoolRef]:
        """The facts that ``outer`` directly contains ``inner``."""
        facts = [self.around(inner, outer.of).term == outer.term]
        if inner.of == outer.of:
            facts.append(self.depth(inner) == self.depth(outer) + 1)
            # The inner object is inside every container of the outer one.
            facts += [self.around(inner, of).term == self.around(outer, of).term for of in self.locks.around[inner.of]]
        else:
            facts += [self.around(inner, of).term == self.around(outer, of).term for of in self.locks.around[outer.of]]
        return facts


@dataclass(frozen=True)
class CheckedStep:
    """The result for one step: ``proved``, or ``why`` not."""

    step: Step
    operation: str
    proved: bool
    why: str


@dataclass
class Programs:
    """The results for the steps of one operation, and of those that it calls.

    Args:
        order, waits, escapes: for acquisitions, for waiting for messages, and for callbacks.
        rules, calls: with the name of the rule, or of the called operation.
        releases: for the locks that the operation itself acquires.
        unconfirmed: of what z3 proved, how much cvc5 could not decide.
    """

    order: list[CheckedStep] = field(default_factory=list)
    rules: list[tuple[str, CheckedStep]] = field(default_factory=list)
    calls: list[tuple[str, CheckedStep]] = field(default_factory=list)
    waits: list[CheckedStep] = field(default_factory=list)
    escapes: list[CheckedStep] = field(default_factory=list)
    releases: list[CheckedStep] = field(default_factory=list)
    unconfirmed: int = 0


def check_operation(locks: Locks, rank: Rank | None, operation: Operation) -> Programs:
    """Checks each step of ``operation`` at every depth, for a caller that holds exactly the required locks.

    Raises:
        Disagreement: cvc5 refutes what z3 proves.
    """
    checker = _Checker(locks, rank, operation)
    programs = checker.all()
    return replace(programs, unconfirmed=confirm(checker.refuted, f"{locks.name}: {operation.name}"))


class _Checker:
    def __init__(self, locks: Locks, rank: Rank | None, entry: Operation) -> None:
        self.locks, self.rank, self.z, self.entry = locks, rank, _Sorts(locks), entry
        self.ways: dict[str, set[Way]] = {}
        self.programs = Programs()
        self.refuted: list[z3.BoolRef] = []
        self.leads_to = _reachable(locks)
        self.compares_keys = any(
            isinstance(s, CompareKeys) for s in every_step([o.steps for o in locks.operations.values()])
        )
        self.possible = True
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
            return self.nothing(loose, f"{loose.text} ({loose.place}) is not matched in its block")
        if not self.possible:  # every proof would be one of no call at all
            first = next(iter(self.entry.steps), Step(text="", place=self.entry.place))
            return self.nothing(first, "no objects are in all the positions of its parameters")
        return self.programs

    def nothing(self, loose: Step, problem: str) -> Programs:
        """The results so far, with nothing proved because of ``problem``."""
        why = f"{problem}, and so nothing is proved"

        def not_proved(one: CheckedStep) -> CheckedStep:
            return replace(one, proved=False, why=why)

        unmatched = CheckedStep(loose, self.entry.name, False, why)
        return Programs(
            [*map(not_proved, self.programs.order), unmatched],
            [
                *((name, not_proved(one)) for name, one in self.programs.rules),
                *((rule.name, unmatched) for rule in self.locks.rules),
            ],
            [*((name, not_proved(one)) for name, one in self.programs.calls), *((n, unmatched) for n in self.ways)],
            [*map(not_proved, self.programs.waits), unmatched],
            [*map(not_proved, self.programs.escapes), unmatched],
            [*map(not_proved, self.programs.releases), unmatched],
        )

    # --- the queries to z3

    def follows(self, facts: Facts, claim: z3.BoolRef, *objects: Unknown) -> bool:
        """Whether ``claim`` is true whenever the facts are."""
        solver = solver_in()
        known = [*facts.known, *(fact for one in objects for fact in self.z.commutes(one)), z3.Not(claim)]
        solver.add(*known)
        if solver.check() != z3.unsat:
            return False
        self.refuted.append(z3.And(*known))
        return True

    def before(self, first: Unknown, second: Unknown) -> z3.BoolRef:
        if self.rank is None:
            return z3.BoolVal(False)
        return self.rank.below(first.of, self.z.position(first), second.of, self.z.position(second))

    def allowed(self, facts: Facts, held: Unknown, acquired: Unknown) -> bool:
        """Whether the order lets a thread that holds ``held`` acquire ``acquired``."""
        if self.locks.closed:
            has_row = z3.BoolVal((held.of, acquired.of) in self.leads_to)
            return self.follows(facts, z3.And(has_row, self.before(held, acquired)), held, acquired)
        # The constants are for SMT-LIB, which has no "or" and no "and" of nothing.
        ways: list[z3.BoolRef] = [z3.BoolVal(False)]
        for row in self.locks.order:
            if (row.holding, row.acquired) != (held.of, acquired.of):
                continue
            match row.where:
                case Where.ANYWHERE:
                    ways.append(held.term != acquired.term if held.of == acquired.of else z3.BoolVal(True))
                case Where.IN:
                    ways.append(self._inside(acquired, held))
                case Where.AROUND:
                    ways.append(self._inside(held, acquired))
                case Where.AFTER | Where.BEFORE:
                    ways.append(self.z.compares(acquired, row.where, held))
        # Also without a row: the facts may contradict each other, where the keys are compared twice.
        return self.follows(facts, z3.Or(ways), held, acquired)

    def _placed(self, one: Unknown, where: Where, other: Unknown) -> z3.BoolRef:
        """The formula that a parameter is at its declared position."""
        return self.z.compares(one, where, other) if where.by_key else self._lies_in(one, other)

    def _lies_in(self, inner: Unknown, outer: Unknown) -> z3.BoolRef:
        """The formula that ``outer``, of another class, contains ``inner``."""
        return self.z.around(inner, outer.of).term == outer.term

    def _inside(self, inner: Unknown, outer: Unknown) -> z3.BoolRef:
        is_inside = self.z.around(inner, outer.of).term == outer.term
        # The outermost object is in none of its class: only a known depth shows direct containment.
        return z3.And(is_inside, self.z.depth(inner) == self.z.depth(outer) + 1) if inner.of == outer.of else is_inside

    # --- the walk

    def operation(self, operation: Operation, way: Way | None) -> None:
        """Walks all steps of an operation, called in some way. None is a caller with exactly the required locks."""
        scope = {name: self.z.new(of) for name, of in operation.parameters.items()}
        facts = Facts((), ())
        for one in scope.values():
            facts = facts.and_(*self.z.commutes(one))
        for inner, (where, path) in operation.positions.items():
            if way is None or inner in way.placed:
                facts = facts.and_(self._placed(scope[inner], where, self.z.reach(path, scope)))
        if way is None and operation.positions:
            self.possible = not self.follows(facts, z3.BoolVal(False))
        for one_name, where, other_name in way.compared if way is not None else ():
            facts = facts.and_(self.compared(scope[one_name], where, scope[other_name]))
        for under in operation.under if way is None else ():
            facts = facts.holding(Hold(self.z.reach(under.path, scope), under.mode))
        for known in sorted(way.held, key=repr) if way is not None else ():
            facts = self._assumed(facts, known, scope)
        after = self.steps(operation.steps, scope, facts, operation)
        step = operation.steps[0] if operation.steps else Step(text="", place=operation.place)
        released = after.held == facts.held
        self.programs.releases.append(CheckedStep(step, operation.name, released, "it keeps what it acquires"))

    def _assumed(self, facts: Facts, known: Known, scope: Mapping[str, Unknown]) -> Facts:
        if known.paths:
            one, *same = [self.z.reach(path, scope) for path in known.paths]
            facts = facts.and_(*(one.term == other.term for other in same))
        else:
            one = self.z.new(known.of)
            facts = facts.and_(*self.z.commutes(one))
            if known.how == "outer":
                facts = facts.and_(*self.z.directly_in(scope[known.parameter], one))
            elif known.how == "before":
                facts = facts.and_(self.before(one, scope[known.parameter]))
        # The caller may hold several locks of which this is all that is known: as known, they are one.
        return facts.holding(Hold(one, known.mode, several=not known.paths))

    def steps(self, steps: Sequence[Step], scope: Mapping[str, Unknown], facts: Facts, of: Operation) -> Facts:
        """The facts after ``steps``."""
        for step in steps:
            facts = self.step(step, scope, facts, of)
        return facts

    def step(self, step: Step, scope: Mapping[str, Unknown], facts: Facts, of: Operation) -> Facts:
        match step:
            case Acquire(mode=mode, path=path, body=body):
                one = self.z.reach(path, scope)
                if self.locks.classes[one.of].kind is Kind.UNOWNED:
                    return self.steps(body or (), scope, facts, of)
                if not step.tries and not self.reacquires(
                    facts, one, mode
                ):  # else it cannot wait, and no order is needed
                    self.acquires(step, one, facts, of)
                now = facts.holding(Hold(one, mode))
                return now if body is None else self.released(self.steps(body, scope, now, of), one)
            case AcquireMany():
                self.acquires_many(step, scope, facts, of)
            case CompareKeys(first=first, where=where, second=second, body=body):
                one, other = self.z.reach(first, scope), self.z.reach(second, scope)
                self.steps(body, scope, facts.and_(self.compared(one, where, other)), of)
            case Release(path=path, mode=mode):
                return self.released(facts, self.z.reach(path, scope), mode)
            case Once(path=path, body=body):
                one = self.z.reach(path, scope)
                self.acquires(step, one, facts, of)
                self.steps(body, scope, facts.holding(Hold(one, Mode.LOCK)), of)
            case Go(body=body):
                self.steps(body, scope, Facts(facts.known, ()), of)
            case Await() | Wait() | Select():
                gives_up = (isinstance(step, Select) and not step.may_wait) or (isinstance(step, Wait) and step.timed)
                proved = gives_up or not facts.held
                self.programs.waits.append(CheckedStep(step, of.name, proved, "something is held meanwhile"))
                if isinstance(step, Wait) and step.condition in self.locks.conditions:
                    self.acquires_after_waiting(step, facts, of)
                blocks = [case.body for case in step.cases] if isinstance(step, Select) else []
                blocks += [step.body or ()] if isinstance(step, Await) else []
                for block in blocks:
                    self.steps(block, scope, facts, of)
            case Callback():
                self.programs.escapes.append(CheckedStep(step, of.name, not facts.held, "something is held meanwhile"))
            case Branch(body=body):
                self.steps(body, scope, facts, of)
            case Access(verb=verb, path=path, field=name):
                self.accesses(step, verb, self.z.reach(path, scope), name, facts, of)
            case Send(channel=channel) | Receive(channel=channel):
                always = isinstance(step, Send) and self.locks.channels[channel] == UNBOUNDED
                self.programs.waits.append(
                    CheckedStep(step, of.name, always or not facts.held, "something is held meanwhile")
                )
            case Either(alternatives=alternatives):
                for each in alternatives:
                    self.steps(each, scope, facts, of)  # it releases what it acquires, or nothing is proved
            case Loop():
                self.loop(step, scope, facts, of)
            case Call():
                self.call(step, scope, facts, of)
        return facts

    def loop(self, step: Loop, scope: Mapping[str, Unknown], facts: Facts, of: Operation) -> None:
        """Walks one round; facts about its object are of no use to the next round."""
        one = self.z.new(step.over)
        inside = facts.and_(*self.z.commutes(one))
        if step.of is not None:
            seen_from = self.z.reach(step.of, scope)
            inner, outer = (one, seen_from) if step.where is Where.IN else (seen_from, one)
            inside = inside.and_(*self.z.directly_in(inner, outer))
        if step.outermost:
            inside = inside.and_(self.z.depth(one) == 0)
        self.steps(step.body, {**scope, step.variable: one}, inside, of)  # releases what it acquires, as above

    def acquires_after_waiting(self, step: Wait, facts: Facts, of: Operation) -> None:
        """Checks that the lock of a condition may be acquired again under the other locks.

        If just one lock of its class is held, it is that one, since the thread must hold it to wait.
        """
        name = self.locks.conditions[step.condition].lock
        its_class = self.locks.objects[name].of
        held = [hold for hold in facts.held if hold.object.of == its_class]
        if len(held) == 1 and not held[0].several:
            others = Facts(facts.known, tuple(hold for hold in facts.held if hold is not held[0]))
            self.acquires(step, held[0].object, others, of)
        else:
            self.acquires(step, self.z.new(its_class), facts, of)

    def acquires_many(self, step: AcquireMany, scope: Mapping[str, Unknown], facts: Facts, of: Operation) -> None:
        """Checks the acquisition of any one under any earlier one, and the steps inside under any one."""
        one, earlier = self.z.new(step.over), self.z.new(step.over)
        containers = (self.z.reach(step.of, scope),) if step.of is not None else ()
        now = facts
        for each in (one, earlier):
            now = now.and_(*self.z.commutes(each))
            for container in containers:
                now = now.and_(*self.z.directly_in(each, container))
        if self.locks.classes[step.over].kind is Kind.UNOWNED:
            self.steps(step.body, scope, facts, of)
            return
        before = now.and_(self.z.compares(earlier, Where.BEFORE, one)).holding(Hold(earlier, step.mode))
        self.acquires(step, one, before, of)
        hold = Hold(one, step.mode, containers if step.every else None, several=True)
        self.steps(step.body, scope, now.holding(hold), of)

    def compared(self, one: Unknown, where: Where, other: Unknown) -> z3.BoolRef:
        """The formula that a comparison holds: of keys, or that both are one object."""
        return self.z.compares(one, where, other) if where.by_key else one.term == other.term

    def reacquires(self, facts: Facts, one: Unknown, mode: Mode) -> bool:
        """Whether the program certainly holds a lock that its holder may acquire again."""
        kind = self.locks.classes[one.of].kind
        return any(hold.object.term.eq(one.term) and kind.reacquires(hold.mode, mode) for hold in facts.held)

    def released(self, facts: Facts, one: Unknown, mode: Mode | None = None) -> Facts:
        its = [n for n, h in enumerate(facts.held) if h.object.term.eq(one.term) and mode in (None, h.mode)]
        last = max(its, default=None)
        return facts if last is None else Facts(facts.known, (*facts.held[:last], *facts.held[last + 1 :]))

    # --- the checks of a step

    def acquires(self, step: Step, one: Unknown, facts: Facts, of: Operation) -> None:
        for hold in facts.held:
            proved = self.allowed(facts, hold.object, one)
            self.programs.order.append(
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
                self.programs.rules.append(
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
        """Whether the lock is certainly held."""
        ways = [
            self.is_held(hold, needed) for hold in facts.held if hold.mode.covers(mode) and hold.object.of == needed.of
        ]
        return bool(ways) and self.follows(facts, z3.Or(ways), needed)

    def is_held(self, hold: Hold, needed: Unknown) -> z3.BoolRef:
        """The formula that a lock is the one, or among those, that ``hold`` stands for."""
        if hold.members is None:
            return hold.object.term == needed.term
        return z3.And(z3.BoolVal(True), *(self._inside(needed, container) for container in hold.members))

    def call(self, step: Call, scope: Mapping[str, Unknown], facts: Facts, of: Operation) -> None:
        called = self.locks.operations[step.operation]
        inner = {name: self.z.reach(path, scope) for name, path in zip(called.parameters, step.arguments, strict=True)}
        placed = set()
        for name, (where, path) in called.positions.items():
            other = self.z.reach(path, inner)
            is_placed = self.follows(facts, self._placed(inner[name], where, other), inner[name], other)
            self.programs.calls.append(
                (called.name, CheckedStep(step, of.name, is_placed, f"{name} may not be {where} {path}"))
            )
            if is_placed:
                placed.add(name)
        for under in called.under:
            needed = self.z.reach(under.path, inner)
            held = self.holds(facts, needed, under.mode)
            why = f"{under.mode} {under.path} may not be held"
            self.programs.calls.append((called.name, CheckedStep(step, of.name, held, why)))
        compared = {
            (name, where, other)
            for (name, one), (other, second) in combinations(inner.items(), 2)
            if one.of == second.of and self.compares_keys
            for where in (Where.BEFORE, Where.AFTER, Where.ANYWHERE)
            if self.follows(facts, self.compared(one, where, second), one, second)
        }
        known = frozenset(each for hold in facts.held for each in self.seen_from(hold, inner, facts))
        self.ways.setdefault(called.name, set()).add(Way(known, frozenset(placed), frozenset(compared)))

    def seen_from(self, hold: Hold, inner: Mapping[str, Unknown], facts: Facts) -> Iterator[Known]:
        """What a called operation knows of a lock that is held: of several ones, each parameter among them and any one."""
        held = hold.object
        if hold.members is not None:
            for name, one in inner.items():
                for path in self.paths(name, one.of):
                    seen = self.z.reach(path, inner)
                    if seen.of == held.of and self.follows(facts, self.is_held(hold, seen), one, seen):
                        yield Known(held.of, hold.mode, (path,))
        same = [
            path
            for name, one in inner.items()
            for path in self.paths(name, one.of)
            if (seen := self.z.reach(path, inner)).of == held.of
            and self.follows(facts, seen.term == held.term, one, held)
        ]
        if same:
            yield Known(held.of, hold.mode, tuple(same))
            return
        for name, one in inner.items():
            in_trees = one.of == held.of and self.locks.classes[one.of].is_tree
            if in_trees and self.follows(facts, self._inside(one, held), one, held):
                yield Known(held.of, hold.mode, how="outer", parameter=name)
                return
        for name, one in inner.items():
            if self.follows(facts, self.before(held, one), one, held):
                yield Known(held.of, hold.mode, how="before", parameter=name)
                return
        yield Known(held.of, hold.mode)

    def paths(self, name: str, of: str) -> list[Path]:
        return [Path(name), *(Path(name, (outer,)) for outer in self.locks.around[of])]


def _reachable(locks: Locks) -> frozenset[tuple[str, str]]:
    """The pairs of classes such that rows of the order lead from the first to the second."""
    graph: nx.DiGraph[str] = nx.DiGraph((row.holding, row.acquired) for row in locks.order)
    return frozenset(nx.transitive_closure(graph, reflexive=False).edges)
