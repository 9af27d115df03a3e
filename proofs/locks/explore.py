"""All interleavings of threads: which of them end in a deadlock, with a shortest way there."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement

from schedproof.model.lang.errors import Place
from schedproof.model.locks import Locks
from schedproof.model.locks.language import Mode, Serve

from .kinds import WORDS, Kind, Stuck, leaks, stuck
from .semantics import Machine, Move, State
from .unfold import Program, World, unfold

LIMIT = 2_000_000
"""States; an exploration that would need more is cut short, and says so."""


@dataclass(frozen=True)
class Taken:
    """One step of an interleaving: ``thread`` does ``how`` on a lock or channel; not ``granted``: it has to wait.

    ``other`` is the thread that it hands a message to, if there is no room for it in the channel.
    """

    thread: str
    how: str
    on: str
    granted: bool
    other: str
    place: Place


@dataclass(frozen=True)
class Waiting:
    """In the end ``thread`` waits to do ``how`` on a lock or channel, for ``whom``."""

    thread: str
    how: str
    on: str
    whom: tuple[str, ...]


@dataclass(frozen=True)
class Holding:
    """In the end ``thread`` holds a lock, acquired by ``how``."""

    thread: str
    how: str
    on: str


@dataclass(frozen=True)
class Problem:
    """Something that threads run into: its kind, who and what takes part, and a shortest interleaving.

    Args:
        threads, on: those of the circle; the locks and channels of it.
        waits, holds: who waits for what, and who holds what, in the end.
    """

    kind: Kind
    threads: tuple[str, ...]
    on: tuple[str, ...]
    steps: tuple[Taken, ...]
    waits: tuple[Waiting, ...]
    holds: tuple[Holding, ...]
    writer: bool = False

    @property
    def headline(self) -> str:
        """In one line."""
        waiting = ", by a writer that waits between them" if self.writer else ""
        many = " and ".join(self.threads) if len(self.threads) < 3 else ", ".join(self.threads)
        return f"{self.kind}: {WORDS[self.kind]}{waiting}: {many} on {', '.join(self.on)}"


@dataclass(frozen=True)
class Explored:
    """What an exploration has found; ``complete`` if it was not cut short."""

    states: int
    moves: int
    problems: tuple[Problem, ...]
    complete: bool


Progress = Callable[[int, int], None]
"""Is told of the states seen, and of those to go."""


def groups(locks: Locks) -> list[tuple[str, ...]]:
    """Which threads run together: all of them, or each choice of so many as the description says."""
    names = list(locks.threads)
    if not locks.together:
        return [tuple(names)] if names else []
    serving = tuple(name for name in names if any(isinstance(step, Serve) for step in locks.threads[name].steps))
    others = [name for name in names if name not in serving]
    if not others:
        return [serving] if serving else []
    return [(*chosen, *serving) for n in locks.together for chosen in combinations_with_replacement(others, n)]


def explore_all(
    locks: Locks, *, reduced: bool = True, limit: int = LIMIT, progress: Progress | None = None
) -> Explored:
    """Every group of threads of a description; each problem is told once, at its shortest.

    Raises:
        LocksError: a program cannot be unfolded on the objects.
    """
    world = World(locks)
    programs = {name: unfold(world, thread) for name, thread in locks.threads.items()}
    states = moves = 0
    complete = True
    problems: dict[tuple[object, ...], Problem] = {}
    for group in groups(locks):
        numbered = [_numbered(programs, group, n) for n in range(len(group))]
        plain = {program.name: name for program, name in zip(numbered, group, strict=True)}
        found = explore(
            locks,
            numbered,
            reduced=reduced,
            limit=limit,
            progress=progress,
        )
        states, moves, complete = states + found.states, moves + found.moves, complete and found.complete
        for problem in found.problems:
            who = tuple(sorted(plain[thread] for thread in problem.threads))
            key = (problem.kind, who, tuple(sorted(problem.on)))
            if key not in problems or len(problem.steps) < len(problems[key].steps):
                problems[key] = problem
    ordered = sorted(problems.values(), key=lambda p: (len(p.steps), p.kind, p.threads))
    return Explored(states, moves, tuple(ordered), complete)


def _numbered(programs: dict[str, Program], group: Sequence[str], number: int) -> Program:
    """A program; where several threads of a group do the same, with a number."""
    name = group[number]
    again = group[:number].count(name)
    program = programs[name]
    return program if group.count(name) == 1 else replace(program, name=f"{name} {again + 1}")


def explore(
    locks: Locks,
    programs: Sequence[Program],
    *,
    reduced: bool = True,
    limit: int = LIMIT,
    progress: Progress | None = None,
) -> Explored:
    """All interleavings of ``programs``, breadth first."""
    machine = Machine(programs, len(locks.objects), list(locks.channels.values()))
    parents: dict[State, tuple[State, Move] | None] = {}
    queue: deque[State] = deque()
    for start in machine.starts():
        parents.setdefault(start, None)
    queue.extend(parents)
    moves, done, complete = 0, 0, True
    found: dict[tuple[object, ...], Problem] = {}
    teller = _Teller(locks, machine, parents)
    # With threads that have no end there may be no state without a step, and the reduction is for such states.
    serves = machine.serves()
    reduced = reduced and not serves
    while queue:
        state = queue.popleft()
        done += 1
        if progress is not None and done % 5000 == 0:
            progress(done, len(queue))
        moving: set[int] = set()
        for move, after in machine.moves(state, reduced=reduced):
            moving |= {move.thread} if move.other is None else {move.thread, move.other}
            moves += 1
            if after not in parents:
                if len(parents) >= limit:
                    complete = False
                    continue
                parents[after] = (state, move)
                queue.append(after)
        for problem in teller.not_held(state):
            found.setdefault((problem.kind, problem.threads, problem.on), problem)
        if not moving or serves:
            for problem in teller.at_end(state, moving):
                found.setdefault((problem.kind, frozenset(problem.threads), frozenset(problem.on)), problem)
    problems = tuple(found.values())
    if reduced and any(problem.kind is Kind.NOT_HELD for problem in problems):
        # The reduction keeps shortest ways to where nothing moves, not to this.
        return explore(locks, programs, reduced=False, limit=limit, progress=progress)
    return Explored(len(parents), moves, problems, complete)


@dataclass(frozen=True)
class _Teller:
    """Tells states with names."""

    locks: Locks
    machine: Machine
    parents: dict[State, tuple[State, Move] | None]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.locks.objects)

    def thread(self, number: int) -> str:
        return self.machine.programs[number].name

    def path(self, state: State) -> tuple[Taken, ...]:
        """A shortest interleaving to ``state``."""
        steps: list[Taken] = []
        while (before := self.parents[state]) is not None:
            state, move = before
            instruction = self.machine.programs[move.thread].instructions[move.at]
            steps.append(
                Taken(
                    self.thread(move.thread),
                    instruction.how,
                    instruction.on,
                    move.granted,
                    self.thread(move.other) if move.other is not None else "",
                    instruction.place,
                )
            )
        return tuple(reversed(steps))

    def holds(self, state: State) -> tuple[Holding, ...]:
        """All that is held."""
        found = []
        for name, lock in zip(self.names, state.locks, strict=True):
            if lock.holder is not None:
                of = self.locks.classes[self.locks.objects[name].of]
                how = next(mode for mode in (Mode.WRITE, Mode.LOCK) if mode.kind is of.kind)
                found.append(Holding(self.thread(lock.holder), how, name))
            found += [Holding(self.thread(reader), Mode.READ, name) for reader in dict.fromkeys(lock.readers)]
        return tuple(found)

    def at_end(self, state: State, moving: Set[int]) -> Iterator[Problem]:
        """Who can never go on; if nothing moves any more, also what is still held by who has ended."""
        why = stuck(self.machine, state, moving, self.names)
        held = [] if moving else leaks(state)
        if why is None and not held:
            return
        steps = self.path(state)
        holds = self.holds(state)
        if why is not None:
            yield self._problem(why, steps, holds)
        for thread, lock in held:
            name = self.names[lock]
            if why is None or (why.kind, why.locks) != (Kind.LEAKED, (name,)):
                yield Problem(Kind.LEAKED, (self.thread(thread),), (name,), steps, (), holds)

    def _problem(self, why: Stuck, steps: tuple[Taken, ...], holds: tuple[Holding, ...]) -> Problem:
        waits = tuple(
            Waiting(self.thread(w.thread), w.how, w.on, tuple(self.thread(n) for n in w.whom)) for w in why.waits
        )
        threads = tuple(self.thread(n) for n in why.circle)
        return Problem(why.kind, threads, why.locks, steps, waits, holds, why.writer)

    def not_held(self, state: State) -> Iterator[Problem]:
        """Who in ``state`` releases what it does not hold."""
        for number in range(len(self.machine.programs)):
            instruction = self.machine.instruction(state, number)
            if instruction is not None and self.machine.releases(state, number) is None:
                name = self.thread(number)
                says = Taken(name, instruction.how, instruction.on, True, "", instruction.place)
                yield Problem(
                    Kind.NOT_HELD, (name,), (instruction.on,), (*self.path(state), says), (), self.holds(state)
                )
