"""Explores all interleavings of threads, and finds a shortest run to each deadlock."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations_with_replacement, pairwise

from schedproof.model.lang.errors import Place
from schedproof.model.locks import Locks
from schedproof.model.locks.language import Mode, Serve

from .automata import Automata, TooWide
from .interpreted import TooMany, interpreted
from .kinds import WORDS, Kind, Stuck, leaks, stuck
from .reached import Path, Progress, Reached, Steps, Suspect
from .semantics import Machine, State
from .symmetry import Classes, classes, real, renaming
from .unfold import Program, World, unfold

LIMIT = 20_000_000
"""The most states of a group of threads. A larger exploration stops early and reports it."""

MOST_INTERPRETED = 2_000_000
"""The most states if the threads cannot be compiled: interpreted states take thirty times the memory."""

PAYS, LOADED = 20_000, 5_000
"""The number of states after which the compiled search takes over.

The interpreted search reaches this number while numba and the compiled search load (PAYS), or while only the compiled
search loads (LOADED)."""


@dataclass(frozen=True)
class ThreadStep:
    """One step of an interleaving: ``thread`` does ``how`` on a lock or channel.

    Attributes:
        granted: False if the thread has to wait.
        other: the thread that receives a message directly, if the channel has no room for it; else "".
        takes: what the other thread does then.
    """

    thread: str
    how: str
    on: str
    granted: bool
    other: str
    place: Place
    takes: str = "receive"


@dataclass(frozen=True)
class Waiting:
    """In the final state ``thread`` waits to do ``how`` on a lock or channel; ``whom`` are the threads it waits for."""

    thread: str
    how: str
    on: str
    whom: tuple[str, ...]


@dataclass(frozen=True)
class Holding:
    """In the final state ``thread`` holds a lock that it acquired by ``how``."""

    thread: str
    how: str
    on: str


@dataclass(frozen=True)
class Problem:
    """A problem of threads: its kind, the threads, locks and channels in it, and a shortest interleaving.

    Args:
        threads, on: the threads of the cycle; its locks and channels.
        waits, holds: what each thread waits for, and what each holds, in the final state.
        writer: whether a waiting writer between them is part of the cycle.
        why: why the last step ends the program; "" if it does not.
    """

    kind: Kind
    threads: tuple[str, ...]
    on: tuple[str, ...]
    steps: tuple[ThreadStep, ...]
    waits: tuple[Waiting, ...]
    holds: tuple[Holding, ...]
    writer: bool = False
    why: str = ""

    @property
    def headline(self) -> str:
        """The problem in one line."""
        waiting = ", by a writer that waits between them" if self.writer else ""
        many = " and ".join(self.threads) if len(self.threads) < 3 else ", ".join(self.threads)
        why = f" ({self.why})" if self.why else ""
        return f"{self.kind}: {WORDS[self.kind]}{waiting}: {many} on {', '.join(self.on)}{why}"

    @property
    def stuck(self) -> str:
        """The threads that can never continue, in words; "" if all can."""
        names = dict.fromkeys(waiting.thread for waiting in self.waits)
        return f"{' and '.join(names)} can never continue" if names else ""


@dataclass(frozen=True)
class Explored:
    """The result of an exploration; ``complete`` is False if it stopped early."""

    states: int
    moves: int
    problems: tuple[Problem, ...]
    complete: bool


def groups(locks: Locks) -> list[tuple[str, ...]]:
    """The groups of threads that run together: all, or each choice of a declared size plus the serving threads."""
    names = list(locks.threads)
    if not locks.together:
        return [tuple(names)] if names else []
    serving = tuple(name for name in names if any(isinstance(step, Serve) for step in locks.threads[name].steps))
    others = [name for name in names if name not in serving]
    if not others:
        return [serving] if serving else []
    return [(*chosen, *serving) for n in locks.together for chosen in combinations_with_replacement(others, n)]


def explore_all(
    locks: Locks, *, reduced: bool = True, limit: int = LIMIT, pays: int | None = None, progress: Progress | None = None
) -> Explored:
    """Explores every group of threads of a description; reports each problem once, with its shortest run.

    Args:
        locks: the description.
        reduced: explore fewer interleavings where this finds the same problems.
        limit: the most states of a group.
        pays: the total number of states after which the compiled search takes over; by default when it becomes faster.
        progress: called during the exploration.

    Raises:
        LocksError: a program cannot be unfolded on the objects.
    """
    world = World(locks)
    families = {name: list(unfold(world, thread).all()) for name, thread in locks.threads.items()}
    programs = {program.name: program for family in families.values() for program in family}
    if pays is None:
        pays = LOADED if "numba" in sys.modules else PAYS
    search = _Search(world, programs, limit, pays, progress)
    states = moves = 0
    complete = True
    problems: dict[tuple[object, ...], Problem] = {}
    for roots in groups(locks):
        group = tuple(program.name for name in roots for program in families[name])
        numbered = [_numbered(programs, group, n) for n in range(len(group))]
        plain = {program.name: name for program, name in zip(numbered, group, strict=True)}
        machine = Machine(numbered, len(locks.objects), world.layout.most, world.layout.first)
        explored = _explore(locks, machine, group, search, reduced)
        states, moves, complete = states + explored.states, moves + explored.moves, complete and explored.complete
        for problem in explored.problems:
            who = tuple(sorted(plain[thread] for thread in problem.threads))
            key = (problem.kind, who, tuple(sorted(problem.on)))
            if key not in problems or len(problem.steps) < len(problems[key].steps):
                problems[key] = problem
    ordered = sorted(problems.values(), key=lambda p: (len(p.steps), p.kind, p.threads))
    return Explored(states, moves, tuple(ordered), complete)


def _numbered(programs: dict[str, Program], group: Sequence[str], number: int) -> Program:
    """A thread's program; with a number in its name if several threads of the group run it."""
    name = group[number]
    earlier = group[:number].count(name)
    program = programs[name]
    return program if group.count(name) == 1 else replace(program, name=f"{name} {earlier + 1}")


def _explore(locks: Locks, machine: Machine, group: Sequence[str], search: _Search, reduced: bool) -> Explored:
    """Explores all interleavings of a group of threads, with a shortest run to each problem.

    A search with releases first still finds every problem, or a problem that follows from it.
    But it finds shortest runs only to states in which no thread moves, and only if it does not rename threads.
    """
    same, serves = classes(machine.programs), machine.serves()
    reporter = _Reporter(locks, machine)
    if reduced and (same or serves):
        reached = search(machine, same, group, Steps.RENAMED)
        if (suspect := next(iter(reached.suspects), None)) is None:
            return Explored(reached.states, reached.moves, (), reached.complete)
        run = real(machine, suspect.path(), same)
        rename = renaming(run[-1], same)
        stuck_there = frozenset(n for n, new in enumerate(rename) if new in suspect.stuck)
        problems = _problems(reporter, [Suspect(run[-1], lambda: run, stuck_there)])
    else:
        problems = ()
    if reduced and not serves:
        reached = search(machine, same, group, Steps.RELEASES_FIRST)
        problems = _problems(reporter, reached.suspects) or problems
        if all(problem.kind not in (Kind.NOT_HELD, Kind.FATAL) for problem in problems):
            return Explored(reached.states, reached.moves, problems, reached.complete)
    reached = search(machine, same, group, Steps.ALL)
    # If the exploration stopped early, it may have missed the problems found before.
    problems = _problems(reporter, reached.suspects) or problems
    return Explored(reached.states, reached.moves, problems, reached.complete)


def _problems(reporter: _Reporter, suspects: Iterable[Suspect]) -> tuple[Problem, ...]:
    """Each problem of the suspects, where it first occurs."""
    problems: dict[tuple[object, ...], Problem] = {}
    for state, path, never in suspects:
        for problem in (*reporter.not_held(state, path), *reporter.fatal(state, path)):
            problems.setdefault((problem.kind, problem.threads, problem.on), problem)
        for problem in reporter.at_end(state, path, never):
            problems.setdefault((problem.kind, frozenset(problem.threads), frozenset(problem.on)), problem)
    return tuple(problems.values())


class _Search:
    """Searches the states of groups of threads: interpreted at first, compiled after many states."""

    def __init__(
        self, world: World, programs: Mapping[str, Program], limit: int, pays: int, progress: Progress | None
    ) -> None:
        self.world, self.programs, self.limit, self.progress = world, programs, limit, progress
        self.left, self.wide = pays, False

    def __call__(self, machine: Machine, same: Classes, group: Sequence[str], steps: Steps) -> Reached:
        if self.left > 0:
            try:
                reached = interpreted(machine, same, steps, self.limit, self.progress, self.left)
            except TooMany:
                self.left = 0
            else:
                self.left -= reached.states
                return reached
        if not self.wide:
            from .compiled import compiled  # the import takes half a second, and is seldom needed

            members = [list(self.programs).index(name) for name in group]
            try:
                return compiled(self.automata.together(members, same), steps, self.limit, self.progress)
            except TooWide:
                self.wide = True
        return interpreted(machine, same, steps, min(self.limit, MOST_INTERPRETED), self.progress)

    @cached_property
    def automata(self) -> Automata:
        layout = self.world.layout
        return Automata(list(self.programs.values()), len(self.world.names), layout.most, layout.first)


@dataclass(frozen=True)
class _Reporter:
    """Describes states with the names of threads and locks."""

    locks: Locks
    machine: Machine

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.locks.objects)

    def thread(self, number: int) -> str:
        return self.machine.programs[number].name

    def steps(self, path: Path) -> tuple[ThreadStep, ...]:
        """The steps of an interleaving, from its states."""
        return tuple(self.step(*pair) for pair in pairwise(path()))

    def step(self, before: State, after: State) -> ThreadStep:
        move = next(move for move, target in self.machine.moves(before) if target == after)
        instruction = self.machine.programs[move.thread].instructions[move.at]
        other = self.thread(move.other) if move.other is not None else ""
        how = f"fails to {instruction.mode}" if move.fails else move.says or instruction.how
        met = self.machine.instruction(before, move.other) if move.other is not None else None
        takes = met.how if met is not None else "receive"
        return ThreadStep(self.thread(move.thread), how, instruction.on, move.granted, other, instruction.place, takes)

    def holds(self, state: State) -> tuple[Holding, ...]:
        """All locks that are held in a state."""
        holdings = []
        for name, lock in zip(self.names, state.locks, strict=True):
            if lock.holder is not None:
                of = self.locks.classes[self.locks.objects[name].of]
                how = Mode.WRITE if of.kind.shared else Mode.LOCK
                holdings.append(Holding(self.thread(lock.holder), how, name))
            holdings += [Holding(self.thread(reader), Mode.READ, name) for reader in dict.fromkeys(lock.readers)]
        return tuple(holdings)

    def at_end(self, state: State, path: Path, never: frozenset[int]) -> Iterator[Problem]:
        """The threads that can never continue; if no thread moves, also the locks that finished threads still hold."""
        moving = {n for move, _ in self.machine.moves(state) for n in (move.thread, move.other) if n is not None}
        if moving and not self.machine.serves():
            return  # some later state has no moves, and shows the problem
        why = stuck(self.machine, state, moving, self.names, never)
        held = [] if moving else leaks(state)
        if why is None and not held:
            return
        steps = self.steps(path)
        holds = self.holds(state)
        if why is not None:
            yield self._problem(why, steps, holds)
        for thread, lock in held:
            name = self.names[lock]
            if why is None or (why.kind, why.locks) != (Kind.LEAKED, (name,)):
                yield Problem(Kind.LEAKED, (self.thread(thread),), (name,), steps, (), holds)

    def _problem(self, why: Stuck, steps: tuple[ThreadStep, ...], holds: tuple[Holding, ...]) -> Problem:
        waits = tuple(
            Waiting(self.thread(w.thread), w.how, w.on, tuple(self.thread(n) for n in w.whom)) for w in why.waits
        )
        threads = tuple(self.thread(n) for n in why.circle)
        return Problem(why.kind, threads, why.locks, steps, waits, holds, why.writer)

    def fatal(self, state: State, path: Path) -> Iterator[Problem]:
        """The threads whose next step can end the program."""
        for number in range(len(self.machine.programs)):
            instruction = self.machine.instruction(state, number)
            if instruction is not None and (why := self.machine.fatal(state, number)):
                name = self.thread(number)
                last = ThreadStep(name, instruction.how, instruction.on, True, "", instruction.place)
                steps = (*self.steps(path), last)
                yield Problem(Kind.FATAL, (name,), (instruction.on,), steps, (), self.holds(state), why=why)

    def not_held(self, state: State, path: Path) -> Iterator[Problem]:
        """The threads that release a lock in ``state`` that they do not hold."""
        for number in range(len(self.machine.programs)):
            instruction = self.machine.instruction(state, number)
            if instruction is not None and self.machine.releases(state, number) is None:
                name = self.thread(number)
                says = ThreadStep(name, instruction.how, instruction.on, True, "", instruction.place)
                steps = (*self.steps(path), says)
                yield Problem(Kind.NOT_HELD, (name,), (instruction.on,), steps, (), self.holds(state))
