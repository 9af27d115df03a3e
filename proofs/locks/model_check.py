"""Runs all checks of a lock description: its order, rules, operations and threads.

Two engines check orders and operations: one for any number of objects, one by runs on given objects.
If they contradict each other, one engine has a bug, and the check stops. cvc5 checks what z3 proves.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from schedproof.model.lang.errors import Place
from schedproof.model.locks import Locks, LocksError
from schedproof.model.locks.language import (
    Access,
    Acquire,
    AcquireMany,
    Call,
    Callback,
    Mode,
    Once,
    Operation,
    Rule,
    SeveralRule,
    Step,
)
from schedproof.proofs.gc_paused import gc_paused
from schedproof.proofs.verdict import Disagreement, Method, Verdict

from . import derived_answers, general, runs, symbolic
from . import rank as ranks
from .answer import CHANNEL, Answer
from .checks import PROGRAM, Callers, Check, checks
from .derived import acquisitions, find_circles
from .derived_answers import Instance
from .explore import LIMIT, Explored, Problem, Waiting, explore_all
from .layout import every_step
from .made import made
from .rank import Order, Rank
from .reached import Progress
from .runs import Broken, Event, Tried
from .structure import may_wait, touches_locks
from .symbolic import CheckedStep
from .unchecked import without_any_check
from .unfold import World

Asked = Callable[[symbolic.Programs, Operation], Sequence[CheckedStep]]
"""Selects the steps of an operation that a check is about."""

OF_THREADS = ("order", "circles", "again", "threads", "deadlock")
"""The checks that do not run operations, or that run them on made objects anyway."""

Relevant = Callable[[Event], bool]
"""Whether an event is one that a check is about."""

FindViolation = Callable[[Tried], tuple[int, str] | None]
"""Finds the first faulty event of a run: its number, and the problem; None if there is none."""


@dataclass(frozen=True)
class LocksChecked:
    """All answers about a description, and the exploration of its threads, if it has any."""

    locks: Locks
    answers: tuple[Answer, ...]
    explored: Explored | None

    @property
    def ok(self) -> bool:
        """Whether every verdict is the expected one."""
        return all(a.verdict is self.expected(a) for a in self.answers)

    def expected(self, answer: Answer) -> Verdict:
        """The verdict that the description expects."""
        return Verdict.REFUTED if answer.check.name in self.locks.refuted else Verdict.PROVED


def model_check(
    locks: Locks, *, only: Sequence[str] = (), limit: int = LIMIT, progress: Progress | None = None
) -> LocksChecked:
    """Checks a description.

    Args:
        locks: the description.
        only: the names of the checks to run; () means all.
        limit: the most states of the exploration of threads; with more the verdict is undetermined.
        progress: called during the exploration.

    Raises:
        Disagreement: the two engines contradict each other.
        LocksError: a program cannot be followed on the given objects.
    """
    known = checks(locks)
    _names(locks, known)
    work = _Work(locks, World(locks), limit, progress)
    answers = []
    for check in known:
        if only and check.name not in only:
            continue
        start = time.perf_counter()
        try:
            with gc_paused():
                answer = work.answer(check)
        except RecursionError:
            problem = f"{check.name}: what is done is too long, or nested too deeply, to be followed"
            raise LocksError(check.place, problem, "describe less of it at once") from None
        answers.append(replace(answer, seconds=time.perf_counter() - start))
    return LocksChecked(locks, tuple(answers), work.explored)


def programs_acquire(locks: Locks) -> Sequence[Instance]:
    """What the programs of a description acquire, on its objects and on objects made for its operations.

    Raises:
        LocksError: a program cannot be followed on the given objects.
    """
    with gc_paused():
        return _Work(locks, World(locks), LIMIT, None).instances


def _names(locks: Locks, known: Sequence[Check]) -> None:
    """Checks that each check has its own name, and that each name in ``refuted`` is a check.

    Raises:
        LocksError: two checks have the same name, or ``refuted`` has an unknown name.
    """
    names = [check.name for check in known]
    for check in known:
        if names.count(check.name) > 1:
            raise LocksError(check.place, f"two checks have the name {check.name}", "give the rule another name")
    for refuted_name in sorted(locks.refuted):
        if refuted_name not in names:
            raise LocksError(
                known[0].place, f"refuted names an unknown check {refuted_name!r}", f"choose from {', '.join(names)}"
            )


class _Work:
    """One check of a description, with the results that several checks share."""

    def __init__(
        self, locks: Locks, world: World, limit: int, progress: Progress | None, *, is_made: bool = False
    ) -> None:
        """``is_made``: the objects are made for the operations."""
        self.locks, self.world, self.limit, self.progress = locks, world, limit, progress
        self.is_made = is_made
        self.order: Order | None = None
        self.explored: Explored | None = None
        self.programs: dict[str, symbolic.Programs] = {}
        self.tried: dict[str, list[Tried]] = {}
        self.reached: set[tuple[Place, str]] = set()
        self.derived: list[Instance] | None = None

    def answer(self, check: Check) -> Answer:
        """The answer of a check. If it is open on the objects of the file, others may show a violation."""
        answer = self.shown_by_threads(self.on_its_objects(check))
        if answer.verdict is not Verdict.UNDETERMINED or check.about in OF_THREADS or self.is_made:
            return answer
        if self.locks.conditions:  # their locks are objects of the file
            return answer
        try:
            shown = self.on_made_objects.answer(check)
        except LocksError:  # they have too many runs
            return answer
        return shown if shown.verdict is Verdict.REFUTED else answer

    def on_its_objects(self, check: Check) -> Answer:
        every = self.locks.operations.values()
        in_order = _each(lambda e: runs.against_the_order(self.world, self.locks, self.rank, e))
        match check.about:
            case "order":
                return self.acyclic(check)
            case "deadlock":
                return self.no_deadlock(check)
            case "threads":
                return self.threads(check, in_order)
            case "circles":
                return self.at_any_number(derived_answers.circles(check, self.instances))
            case "again":
                return self.at_any_number(derived_answers.reacquired(check, self.instances))
            case "release":
                return self.operations(
                    check, every, lambda p, o: [j for j in p.releases if j.operation == o.name], runs.keeps
                )
            case "wait":
                waiting = _each(lambda e: runs.waits_under_a_lock(self.locks, e))
                return self.operations(check, every, lambda p, o: p.waits, waiting, self.waits)
            case "escape":
                escaping = _each(runs.escapes_under_a_lock)
                return self.operations(
                    check, every, lambda p, o: p.escapes, escaping, lambda event: isinstance(event.step, Callback)
                )
            case Operation() as operation:
                return self.operations(check, [operation], lambda p, o: p.order, in_order)
            case Callers(operation=called):
                calls = _each(lambda e: runs.not_called_under(self.world, called, e))
                return self.operations(check, every, lambda p, o: [j for n, j in p.calls if n == called.name], calls)
            case Rule() as rule:
                asked = _each(lambda e: runs.against_a_rule(self.world, rule, e))
                return self.operations(
                    check,
                    every,
                    lambda p, o: [j for n, j in p.rules if n == rule.name],
                    asked,
                    lambda event: self.accesses(rule, event),
                )
            case SeveralRule() as several:
                return self.operations(
                    check,
                    every,
                    lambda p, o: [j for n, j in p.rules if n == several.name],
                    lambda tried: runs.against_several(self.world, several, tried.run),
                )

    @property
    def rank(self) -> Rank | None:
        if self.order is None and self.locks.order:
            self.order = ranks.check_order(self.locks)
        return self.order.rank if self.order is not None else None

    def acyclic(self, check: Check) -> Answer:
        rank = self.rank
        assert self.order is not None
        if rank is not None:
            note = f"rank {rank.text}; no cycle in {self.order.instances} instances"
            return Answer(check, Verdict.PROVED, Method.INDUCTION, None, note=note, order=self.order)
        if not self.order.circle:
            return Answer(
                check,
                Verdict.UNDETERMINED,
                Method.EXPLORATION,
                None,
                note=f"no rank, and no cycle in {self.order.instances} instances",
            )
        steps = tuple(
            f"a thread that holds {e.holding} may acquire {e.acquired} ({e.row.text})" for e in self.order.circle
        )
        names = [e.holding for e in self.order.circle]
        problem = f"the order has a cycle of {len(names)}: {' > '.join([*names, names[0]])}"
        return Answer(
            check,
            Verdict.REFUTED,
            Method.EXPLORATION,
            {"objects": len(set(names))},
            problem=problem,
            steps=steps,
            order=self.order,
        )

    def no_deadlock(self, check: Check) -> Answer:
        self.explored = explored = explore_all(self.locks, limit=self.limit, progress=self.progress)
        scope = {"threads": max(self.locks.together, default=len(self.locks.threads)), "locks": len(self.locks.objects)}
        if explored.problems:
            first = explored.problems[0]
            return Answer(
                replace(check, line=self.line_of(first.steps[-1].place)) if first.steps else check,
                Verdict.REFUTED,
                Method.EXPLORATION,
                scope,
                problem=". ".join([first.headline, *standstill(first)]),
                steps=interleaving(first),
                deadlock=first,
                objects=self.classes(step.on for step in first.steps),
            )
        if not explored.moves:
            note = "vacuous: no thread does anything"
            return Answer(check, Verdict.UNDETERMINED, Method.EXPLORATION, scope, note=note)
        if not explored.complete:
            return Answer(
                check, Verdict.UNDETERMINED, Method.EXPLORATION, scope, note=f"stopped after {explored.states} states"
            )
        return Answer(
            check, Verdict.PROVED, Method.EXPLORATION, scope, note=f"{explored.states} states, {explored.moves} moves"
        )

    def line_of(self, place: Place) -> int | None:
        """The document's line of the operation in which a step is written."""
        before = [
            o for o in self.locks.operations.values() if o.place.file == place.file and o.place.line <= place.line
        ]
        thread = any(t.place.file == place.file and t.place.line <= place.line for t in self.locks.threads.values())
        return None if thread or not before else max(before, key=lambda o: o.place.line).line

    # --- operations, by both engines

    def symbolically(self, operation: Operation) -> symbolic.Programs:
        if operation.name not in self.programs:
            self.programs[operation.name] = symbolic.check_operation(self.locks, self.rank, operation)
        return self.programs[operation.name]

    def runs_of(self, operation: Operation) -> list[Tried]:
        if operation.name not in self.tried:
            self.tried[operation.name] = [
                tried
                for scope, held in runs.entries(self.world, operation)
                for tried in runs.runs(self.world, operation.name, operation.steps, scope, held, self.reached)
            ]
        return self.tried[operation.name]

    def runs_of_threads(self) -> list[Tried]:
        every = {name: name for name in self.world.names}
        return [
            tried
            for t in self.locks.threads.values()
            for tried in runs.runs(self.world, t.name, t.steps, every, (), self.reached)
        ]

    def operations(
        self,
        check: Check,
        operations: Collection[Operation],
        asked: Asked,
        find_violation: FindViolation,
        relevant: Relevant = lambda _: False,
    ) -> Answer:
        """The answer of both engines: each step for any number of objects, and each run on the given objects.

        ``relevant`` says which events of threads the check is about: without operations these are what is checked.
        """
        steps, open_ = 0, []
        broken: list[Broken] = []
        for operation in operations:
            steps_checked = asked(self.symbolically(operation), operation)
            steps += len(steps_checked)
            unproved = [j for j in steps_checked if not j.proved]
            open_ += [f"{operation.name}: {j.step.text} ({j.step.place}): {j.why}" for j in unproved]
            tried = self.tries(check, self.runs_of(operation), find_violation)
            if tried and not unproved:
                raise Disagreement(
                    f"{check.name}: {operation.name} is proved to keep it, but a run of it does not: "
                    f"{tried[0].problem}; one of the two engines is wrong"
                )
            broken += tried
        threads = [] if isinstance(check.about, Operation) or check.about == "release" else self.runs_of_threads()
        if broken := [*broken, *self.tries(check, threads, find_violation)]:
            return self.refuted(check, broken)
        if open_:
            note = f"no run violates it, but it is not proved: {open_[0]}"
            return Answer(check, Verdict.UNDETERMINED, Method.INDUCTION, None, note=note)
        if not steps and isinstance(check.about, Operation):
            note = "it acquires nothing while it holds something"
            return Answer(check, Verdict.PROVED, Method.CONSTRUCTION, None, note=note)
        if check.about == "release" and not any(touches_locks(o.steps) for o in operations):
            return Answer(check, Verdict.UNDETERMINED, Method.INDUCTION, None, note="vacuous: no lock is acquired")
        if not steps and (events := sum(relevant(event) for tried in threads for event in tried.run)):
            note = f"{events} steps of threads, in all runs of each"
            return Answer(check, Verdict.PROVED, Method.EXPLORATION, self.scope, note=note)
        if not steps:
            note = "vacuous: no operation has such a step"
            return Answer(check, Verdict.UNDETERMINED, Method.INDUCTION, None, note=note)
        unconfirmed = sum(self.symbolically(operation).unconfirmed for operation in operations)
        solvers = f"by z3; cvc5 had no time for {unconfirmed} of its proofs" if unconfirmed else "by z3 and cvc5"
        note = f"{steps} steps, at every depth, {solvers}"
        return Answer(check, Verdict.PROVED, Method.INDUCTION, None, note=note)

    def waits(self, event: Event) -> bool:
        """Whether a thread may wait for a message, a signal or a counter."""
        return may_wait(self.locks, event.step)

    def accesses(self, rule: Rule, event: Event) -> bool:
        """Whether an event is an access that a rule is about."""
        step = event.step
        return (
            isinstance(step, Access)
            and step.verb is rule.verb
            and step.field in rule.fields
            and self.locks.objects[event.object].of == rule.of
        )

    def at_any_number(self, answer: Answer) -> Answer:
        """The answer of a check of the derived order, for any number of objects if that is proved; else it says why not.

        An order that every acquisition follows has no circle, and lets no program acquire what it holds.
        """
        if answer.verdict is not Verdict.PROVED:
            return answer
        if not self.is_made and (names := without_any_check(self.locks)):
            note = (
                f"{', '.join(names)}: no order holds for locks without an owner; write threads that run the operations"
            )
            return replace(answer, verdict=Verdict.UNDETERMINED, note=note)
        nested = general.of_classes(self.instances)
        if nested and (rank := self.general.rank) is not None:
            return replace(answer, method=Method.INDUCTION, scope=None, note=f"{answer.note}; rank {rank.text}")
        if (step := self.never_run) is not None:
            note = f"{step.text} ({step.place}) never runs on these objects; write objects on which it does"
            return replace(answer, verdict=Verdict.UNDETERMINED, note=note)
        if not nested:
            return answer
        numbers = ", ".join(f"{name}={number}" for name, number in (answer.scope or {}).items())
        says = f"checked with {numbers}, and not proved for any number of objects: {self.general.why}"
        return replace(answer, remarks=(*answer.remarks, says))

    @cached_property
    def never_run(self) -> Step | None:
        """The first acquisition in an operation that no run reaches, neither on the file's objects nor on made ones."""
        steps = [o.steps for o in self.locks.operations.values()]
        reached = self.reached | (self.on_made_objects.reached if len(self.instances) > 1 else set())
        acquires = (each for each in every_step(steps) if isinstance(each, Acquire | AcquireMany | Once))
        return next((each for each in acquires if (each.place, each.text) not in reached), None)

    @cached_property
    def general(self) -> general.General:
        return general.for_any_number(self.locks, self.instances)

    @property
    def instances(self) -> Sequence[Instance]:
        """The acquisitions of all programs on the objects of the file, and of operations on objects made for them."""
        if self.derived is None:
            # Each thread runs once, unless any choice of them runs together.
            once = () if self.locks.together else tuple(self.locks.threads)
            tried = [one for o in self.locks.operations.values() for one in self.runs_of(o)]
            every = acquisitions([*tried, *self.runs_of_threads()], once)
            self.derived = [Instance(every, self.scope, self.locks.objects)]
            if not self.is_made and any(o.parameters for o in self.locks.operations.values()):
                self.derived.append(self.acquired_on_made_objects)
        return self.derived

    @cached_property
    def acquired_on_made_objects(self) -> Instance:
        """The acquisitions of operations on objects that are made for them."""
        work = self.on_made_objects
        try:
            tried = [one for o in work.locks.operations.values() for one in work.runs_of(o)]
        except LocksError as error:
            return Instance((), work.scope, work.locks.objects, error.problem)
        return Instance(acquisitions(tried), work.scope, work.locks.objects)

    @cached_property
    def on_made_objects(self) -> _Work:
        """The same checks on objects that are made for the operations, without threads."""
        locks = replace(self.locks, objects=made(self.locks), threads={})
        work = _Work(locks, World(locks), self.limit, None, is_made=True)
        work.order, work.programs = self.order, self.programs  # proofs do not depend on the objects
        return work

    def tries(self, check: Check, runs_: Sequence[Tried], find_violation: FindViolation) -> list[Broken]:
        """The runs with a violation. A violation after a call without its required locks counts only for that call."""
        if not isinstance(check.about, Callers):
            runs_ = [self.before_a_wrong_call(tried) for tried in runs_]
        return [b for b in map(_broken(find_violation), runs_) if b is not None]

    def before_a_wrong_call(self, tried: Tried) -> Tried:
        """The part of a run before the first call without its required locks."""
        for number, event in enumerate(tried.run):
            if isinstance(event.step, Call):
                called = self.locks.operations[event.step.operation]
                if runs.not_called_under(self.world, called, event):
                    return replace(tried, run=tried.run[:number], after=tried.before)
        return tried

    def threads(self, check: Check, find_violation: FindViolation) -> Answer:
        """The answer from the runs of each thread by itself."""
        tried = self.runs_of_threads()
        if broken := self.tries(check, tried, find_violation):
            return self.refuted(check, broken)
        if not any(isinstance(event.step, Acquire) for one in tried for event in one.run):
            note = "vacuous: no lock is acquired"
            return Answer(check, Verdict.UNDETERMINED, Method.EXPLORATION, self.scope, note=note)
        note = f"{len(tried)} runs"
        return Answer(check, Verdict.PROVED, Method.EXPLORATION, self.scope, note=note)

    def refuted(self, check: Check, broken: Sequence[Broken]) -> Answer:
        """The refutation by the shortest of the violating runs."""
        # Two objects show more than one: who acquires a lock again is reported if nothing else is wrong.
        shortest = min(broken, key=lambda b: (len(b.run), b.run[-1].object in [name for name, _ in b.run[-1].held]))
        others = dict.fromkeys(b.name for b in broken if b.name != shortest.name)
        note = f"also violated by {', '.join(others)}" if others else ""
        called = ", ".join(f"{name} = {value}" for name, value in shortest.arguments.items() if name != value)
        problem = f"{shortest.name}{f' with {called}' if called else ''}: {shortest.problem}"
        lines = tuple(f"{event.says} ({event.step.place})" for event in shortest.run)
        last = self.locks.operations.get(shortest.run[-1].operation)
        if check.line is None and last is not None:
            check = replace(check, line=last.line)
        return Answer(
            check,
            Verdict.REFUTED,
            Method.EXPLORATION,
            self.scope,
            note=note,
            problem=problem,
            steps=lines,
            broken=shortest,
            objects=self.classes(
                name for event in shortest.run for name in [event.object, *(held for held, _ in event.held)]
            ),
        )

    def shown_by_threads(self, answer: Answer) -> Answer:
        """A violation of an order by key, with the threads that wait for each other because of it, if there are some."""
        if answer.broken is None or answer.check.kind != PROGRAM:
            return answer
        last = answer.broken.run[-1]
        if not isinstance(last.step, Acquire) or not any(
            runs.by_key(self.world, self.locks, name, last.object) for name, _ in last.held
        ):
            return answer
        every = self.instances[0].acquisitions
        alone = [one for one in every if one.name == answer.broken.name]
        for among in (find_circles(alone), find_circles(every)):
            first = next((each for each in among.circles if any(one.place == last.step.place for one in each.by)), None)
            if first is not None:
                break
        else:
            return answer
        return replace(
            answer,
            steps=first.steps,
            problem=f"{answer.problem}; a circle of {len(first.locks)} locks: {first.text}",
            circles=replace(among, circles=(first, *(each for each in among.circles if each is not first))),
        )

    def classes(self, names: Iterable[str]) -> tuple[tuple[str, str], ...]:
        """Those of ``names`` that are locks or channels, without repetition, each with its class."""
        known = {name: one.of for name, one in self.locks.objects.items()} | dict.fromkeys(self.locks.channels, CHANNEL)
        return tuple((name, known[name]) for name in dict.fromkeys(names) if name in known)

    @property
    def scope(self) -> dict[str, int]:
        """The number of objects of each class."""
        sizes: dict[str, int] = {}
        for one in self.locks.objects.values():
            sizes[one.of] = sizes.get(one.of, 0) + 1
        return sizes


def _broken(find_violation: FindViolation) -> Callable[[Tried], Broken | None]:
    def first_broken(tried: Tried) -> Broken | None:
        if (seen := find_violation(tried)) is None:
            return None
        number, problem = seen
        return Broken(tried.name, tried.arguments, tried.run[: number + 1], problem)

    return first_broken


def _each(problem: Callable[[Event], str]) -> FindViolation:
    """A function that finds the first event of a run for which ``problem`` is not ""."""

    def first_problem(tried: Tried) -> tuple[int, str] | None:
        return next(((n, text) for n, event in enumerate(tried.run) if (text := problem(event))), None)

    return first_problem


def interleaving(problem: Problem) -> tuple[str, ...]:
    """The steps of the threads, one line each."""
    lines = []
    for step in problem.steps:
        waits = "" if step.granted else ", and has to wait"
        meets = f", which {step.other} {'takes' if step.takes == 'receive' else 'selects'}" if step.other else ""
        lines.append(f"{step.thread}: {step.how} {step.on}{meets}{waits} ({step.place})")
    return tuple(lines)


def standstill(problem: Problem) -> tuple[str, ...]:
    """The threads that wait in the final state, and why: one line each."""
    return tuple(f"{w.thread} waits: {w.how} {w.on}; {_because(problem, w)}" for w in problem.waits)


def _because(problem: Problem, waiting: Waiting) -> str:
    holders = [h for h in problem.holds if h.on == waiting.on and h.thread in waiting.whom]
    held = [f"{'it' if h.thread == waiting.thread else h.thread} holds it by {h.how}" for h in holders]
    if waiting.how in list(Mode) and (held or waiting.whom):
        ahead = [f"{name} is about to write it" for name in waiting.whom if name not in {h.thread for h in holders}]
        return ", ".join([*held, *ahead])
    if waiting.how in ("send", "receive"):
        side, none = "take the other side", "no thread takes the other side"
    else:
        side, none = "end this", "no thread ends this"
    return f"only {' or '.join(waiting.whom)} could {side}" if waiting.whom else none
