"""The semantics of locks and channels: single steps of threads, as with Go's sync.Mutex, sync.RWMutex and channels.

Go's reader-writer lock is not re-entrant. A writer first announces itself, which blocks new readers.
Then it waits until the current readers have left.
Readers that waited for a writer get the lock as soon as it leaves, before any other writer.
A channel of capacity 0 hands over a message: the sender waits for a receiver.

The locks of Java and POSIX differ in what their holder may do again. Java's reader-writer lock hands nothing over: who
waits for a writer acquires the lock when it is free. A reader of Java's stamped lock may pass a writer that only waits,
or wait for it: the document leaves this open. All else is an instruction with :mod:`.ways`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from schedproof.model.locks.language import UNBOUNDED, Acquire, Kind, Mode, Receive, Release

from .unfold import DONE, Instruction, Program
from .ways import Act, Park, Side, Sign, Way, enabled


@dataclass(frozen=True, slots=True)
class Lock:
    """The state of one lock; numbers are those of threads.

    Args:
        holder: the thread that has locked it; for a reader-writer lock, the writer.
        readers: the threads that hold it for reading, once for each acquisition.
        announced: the writer that waits for the readers to leave.
        outside: the readers that wait for the writer to leave.
        levels: the threads that hold it once more for writing, once for each level; kept while they wait for a condition.
    """

    holder: int | None = None
    readers: tuple[int, ...] = ()
    announced: int | None = None
    outside: frozenset[int] = frozenset()
    levels: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class State:
    """The position of each thread, the threads that sleep until they get a lock, the locks, and the counters."""

    at: tuple[int, ...]
    asleep: frozenset[int]
    locks: tuple[Lock, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Move:
    """Thread ``thread`` does its next instruction (and hands ``other`` a message).

    ``granted``: it continues. ``fails``: it has tried to acquire a lock in vain. ``says``: the way that it takes, in
    words; "" for the only one.
    """

    thread: int
    at: int
    granted: bool
    other: int | None = None
    fails: bool = False
    says: str = ""


@dataclass(frozen=True)
class Machine:
    """Threads with their programs, the number of locks, and of each counter the largest and the first number.

    The first counters are channels; the largest number of one is its capacity.
    """

    programs: Sequence[Program]
    locks: int
    capacities: Sequence[int]
    first: Sequence[int] = ()

    def starts(self) -> Iterator[State]:
        """The initial states: one for each choice of the threads' first instructions."""

        def choose(programs: Sequence[Program]) -> Iterator[tuple[int, ...]]:
            if not programs:
                yield ()
                return
            for start in programs[0].starts:
                for rest in choose(programs[1:]):
                    yield (start, *rest)

        for at in choose(self.programs):
            yield State(at, frozenset(), (Lock(),) * self.locks, tuple(self.first) or (0,) * len(self.capacities))

    def instruction(self, state: State, thread: int) -> Instruction | None:
        """The next instruction of a thread; None if it has finished."""
        at = state.at[thread]
        return None if at == DONE else self.programs[thread].instructions[at]

    def moves(self, state: State, *, reduced: bool = False) -> Iterator[tuple[Move, State]]:
        """Every step from a state, with the state after.

        A thread that should release a lock that it does not hold has no step: in Go the program ends there.

        Args:
            state: the state before.
            reduced: if a thread is about to release a lock, take only that step. A release is always possible, and its
                result together with a step of another thread does not depend on their order. So the search still finds
                every deadlock (a persistent set of one step; Godefroid 1996).
        """
        threads: Sequence[int] = range(len(self.programs))
        if reduced:
            threads = [n for n in threads if self.releases(state, n)][:1] or threads
        for thread in threads:
            instruction = self.instruction(state, thread)
            if instruction is None or thread in state.asleep:
                continue
            if instruction.kind is Park:
                if instruction.timed:
                    for move, after in self._on(state, thread, state.at[thread]):
                        yield replace(move, says="stops waiting for"), after
                continue
            kind, target = instruction.kind, instruction.target
            if kind is Acquire:
                yield from self._acquire(state, thread, instruction)
            elif kind is Release:
                if self.held(state, thread, instruction):
                    yield from self._release(state, thread, instruction)
                elif instruction.lock is Kind.ERRORCHECK and not instruction.whole:
                    yield from self._on(state, thread, state.at[thread])
            elif kind is Act:
                if self.releases(state, thread) is not None:
                    yield from self._act(state, thread, instruction)
            elif kind is Receive:
                if state.counts[target] > 0:
                    yield from self._on(_with_messages(state, target, -1), thread, state.at[thread])
            elif self.capacities[target] == 0:
                for other in range(len(self.programs)):
                    met = self.instruction(state, other)
                    if met is not None and met.kind is Receive and met.target == target:
                        for _, after in self._on(state, thread, state.at[thread]):
                            for _, both in self._on(after, other, state.at[other]):
                                yield Move(thread, state.at[thread], True, other), both
            elif self.capacities[target] in (UNBOUNDED,) or state.counts[target] < self.capacities[target]:
                yield from self._on(_with_messages(state, target, 1), thread, state.at[thread])

    def releases(self, state: State, thread: int) -> bool | None:
        """Whether a thread is about to release a lock that it holds; None if it must hold a lock, and does not.

        To release a lock and wait for a condition is no release: a signal before it is lost, and one after it is not.
        """
        instruction = self.instruction(state, thread)
        if instruction is None or instruction.kind not in (Release, Act):
            return False
        if instruction.kind is Act:
            needed = instruction.needs_lock
            return False if needed < 0 or state.locks[needed].holder == thread else None
        if self.held(state, thread, instruction):
            return not instruction.whole
        return False if instruction.lock is Kind.ERRORCHECK and not instruction.whole else None

    def held(self, state: State, thread: int, release: Instruction) -> bool:
        """Whether a thread holds a lock in the mode that it releases."""
        lock = state.locks[release.target]
        reads = thread in lock.readers and release.mode in (None, Mode.READ)
        return reads or (lock.holder == thread and release.mode is not Mode.READ)

    def fatal(self, state: State, thread: int) -> str:
        """Why the whole program can end with the next step of a thread; "" if it cannot."""
        instruction = self.instruction(state, thread)
        if instruction is None or instruction.kind is not Act or self.releases(state, thread) is None:
            return ""
        return next((way.fatal for way in enabled(instruction.ways, state.counts) if way.fatal), "")

    def _on(self, state: State, thread: int, at: int) -> Iterator[tuple[Move, State]]:
        """The thread continues: one move for each possible next instruction."""
        for after in self._advanced(state, [thread]):
            yield Move(thread, at, True), after

    def _advanced(self, state: State, threads: Sequence[int]) -> Iterator[State]:
        """The states after all of ``threads`` get what they asked for."""
        if not threads:
            yield state
            return
        first, *rest = threads
        for then in self.programs[first].instructions[state.at[first]].then:
            at = (*state.at[:first], then, *state.at[first + 1 :])
            yield from self._advanced(State(at, state.asleep - {first}, state.locks, state.counts), rest)

    def _act(self, state: State, thread: int, instruction: Instruction) -> Iterator[tuple[Move, State]]:
        """The steps of an instruction with ways."""
        at = state.at[thread]
        for way in enabled(instruction.ways, state.counts):
            if way.fatal:
                continue
            if way.meets is not None:
                yield from self._meet(state, thread, way)
                continue
            asleep = self._sleepers(state, way.wakes) if way.wakes is not None else []
            chosen = [asleep] if way.everyone or not asleep else [[one] for one in asleep]
            for woken in chosen:
                for after in self._by(state, thread, way):
                    for awake in self._advanced(after, woken):
                        yield Move(thread, at, True, says=way.says), awake

    def _meet(self, state: State, thread: int, way: Way) -> Iterator[tuple[Move, State]]:
        """A sender and a receiver go on together; the sender's step shows it."""
        assert way.meets is not None
        channel, side = way.meets
        if side is not Side.SENDS:
            return
        for other in range(len(self.programs)):
            met = self.instruction(state, other)
            if met is None or met.kind is not Act or other == thread:
                continue
            for its in enabled(met.ways, state.counts):
                if its.meets == (channel, Side.RECEIVES):
                    for after in self._by(state, thread, way):
                        for both in self._by(after, other, its):
                            yield Move(thread, state.at[thread], True, other, says=way.says), both

    def _by(self, state: State, thread: int, way: Way) -> Iterator[State]:
        """The states after a thread takes a way."""
        counts = way.changed(state.counts)
        for then in way.then:
            at = (*state.at[:thread], then, *state.at[thread + 1 :])
            yield State(at, state.asleep, state.locks, counts)

    def _sleepers(self, state: State, queue: int) -> list[int]:
        """The threads that sleep in a queue."""
        each = ((n, self.instruction(state, n)) for n in range(len(self.programs)))
        return [n for n, one in each if one is not None and one.kind is Park and one.target == queue]

    def _acquire(self, state: State, thread: int, instruction: Instruction) -> Iterator[tuple[Move, State]]:
        lock, at = state.locks[instruction.target], state.at[thread]
        if instruction.tries:
            yield from self._try(state, thread, instruction)
            return
        if (once_more := _reacquired(lock, thread, instruction)) is not None:
            yield from self._on(_with_lock(state, instruction.target, once_more), thread, at)
            return
        if instruction.lock is Kind.ERRORCHECK and lock.holder == thread:
            yield from self._fails(state, thread, instruction)
            return
        # A writer that waits for a held or announced lock has no step: its queue does not affect other threads.
        unavailable = lock.holder is not None or lock.announced is not None
        if instruction.mode is Mode.READ:
            passes = instruction.lock is Kind.STAMPED and lock.holder is None
            if not unavailable or passes:
                readers = tuple(sorted([*lock.readers, thread]))
                yield from self._on(_with_lock(state, instruction.target, replace(lock, readers=readers)), thread, at)
            if unavailable and (instruction.lock is Kind.RW or passes):
                asked = _with_lock(state, instruction.target, replace(lock, outside=lock.outside | {thread}))
                yield Move(thread, at, False), replace(asked, asleep=state.asleep | {thread})
        elif not unavailable:
            if lock.readers:
                asked = _with_lock(state, instruction.target, replace(lock, announced=thread))
                yield Move(thread, at, False), replace(asked, asleep=state.asleep | {thread})
            else:
                held = replace(lock, holder=thread)
                yield from self._on(_with_lock(state, instruction.target, held), thread, at)

    def _try(self, state: State, thread: int, instruction: Instruction) -> Iterator[tuple[Move, State]]:
        """Gets the lock if it is free, and may fail at any time; it neither waits nor announces itself."""
        lock, at = state.locks[instruction.target], state.at[thread]
        if (once_more := _reacquired(lock, thread, instruction)) is not None:
            yield from self._on(_with_lock(state, instruction.target, once_more), thread, at)
        elif lock.holder is None and lock.announced is None:
            if instruction.mode is Mode.READ:
                held = replace(lock, readers=tuple(sorted([*lock.readers, thread])))
                yield from self._on(_with_lock(state, instruction.target, held), thread, at)
            elif not lock.readers:
                held = replace(lock, holder=thread)
                yield from self._on(_with_lock(state, instruction.target, held), thread, at)
        yield from self._fails(state, thread, instruction)

    def _fails(self, state: State, thread: int, instruction: Instruction) -> Iterator[tuple[Move, State]]:
        """The thread goes on without the lock."""
        for position in instruction.otherwise:
            positions = (*state.at[:thread], position, *state.at[thread + 1 :])
            yield Move(thread, state.at[thread], True, fails=True), replace(state, at=positions)

    def _release(self, state: State, thread: int, instruction: Instruction) -> Iterator[tuple[Move, State]]:
        lock, at = state.locks[instruction.target], state.at[thread]
        woken: list[int] = []
        if lock.holder == thread and instruction.mode is not Mode.READ:
            if thread in lock.levels and not instruction.whole:
                left_levels = list(lock.levels)
                left_levels.remove(thread)
                left = _with_lock(state, instruction.target, replace(lock, levels=tuple(left_levels)))
            else:
                # Waiting readers get the lock before any other writer.
                woken = sorted(lock.outside)
                readers_after = tuple(sorted([*lock.readers, *woken]))
                left = _with_lock(state, instruction.target, Lock(readers=readers_after, levels=lock.levels))
        else:
            readers = list(lock.readers)
            readers.remove(thread)
            if readers or lock.announced is None:
                left = _with_lock(state, instruction.target, replace(lock, readers=tuple(readers)))
            else:
                woken = [lock.announced]
                next_lock = replace(lock, holder=lock.announced, readers=(), announced=None)
                left = _with_lock(state, instruction.target, next_lock)
        for move, after in self._on(left, thread, at):
            for awake in self._advanced(after, woken):
                yield move, awake

    def serves(self) -> bool:
        """Whether some thread runs forever."""
        return any(program.serves for program in self.programs)

    def blockers(self, state: State, thread: int) -> frozenset[int]:
        """The threads that a thread without a step waits for: the holders of the lock, or the writer announced before.

        For anything else: the threads that could still bring it about.
        """
        instruction = self.instruction(state, thread)
        if instruction is None:
            return frozenset()
        if instruction.kind is Acquire:
            lock = state.locks[instruction.target]
            if lock.announced == thread:
                return frozenset(lock.readers)
            holders = set(lock.readers) if instruction.mode is not Mode.READ else set()
            return frozenset(holders | {n for n in (lock.holder, lock.announced) if n is not None})
        needs = set(instruction.needs())
        return frozenset(
            other
            for other in range(len(self.programs))
            if other != thread and self._brings(other, state.at[other], needs)
        )

    def _brings(self, thread: int, at: int, needs: set[Sign]) -> bool:
        """Whether a thread can still come to an instruction that gives what another one needs."""
        seen, open_ = set(), [at]
        while open_:
            if (position := open_.pop()) in seen or position == DONE:
                continue
            seen.add(position)
            instruction = self.programs[thread].instructions[position]
            if not needs.isdisjoint(instruction.gives()):
                return True
            open_ += instruction.then + instruction.otherwise
        return False


def _reacquired(lock: Lock, thread: int, acquire: Instruction) -> Lock | None:
    """The lock after a holder acquires it once more; None if it is not a holder, or has to wait."""
    held = Mode.WRITE if lock.holder == thread else Mode.READ if thread in lock.readers else None
    if held is None or acquire.mode is None or not acquire.lock.reacquires(held, acquire.mode):
        return None
    if acquire.mode is Mode.READ:
        return replace(lock, readers=tuple(sorted([*lock.readers, thread])))
    return replace(lock, levels=tuple(sorted([*lock.levels, thread])))


def _with_lock(state: State, number: int, lock: Lock) -> State:
    locks = (*state.locks[:number], lock, *state.locks[number + 1 :])
    return State(state.at, state.asleep, locks, state.counts)  # far faster than to replace one field


def _with_messages(state: State, channel: int, more: int) -> State:
    count = state.counts[channel] + more
    return replace(state, counts=(*state.counts[:channel], count, *state.counts[channel + 1 :]))
