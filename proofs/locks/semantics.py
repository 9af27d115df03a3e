"""The semantics of locks and channels: single steps of threads, as with Go's sync.Mutex, sync.RWMutex and channels.

A reader-writer lock is not re-entrant. A writer first announces itself, which blocks new readers.
Then it waits until the current readers have left.
Readers that waited for a writer get the lock as soon as it leaves, before any other writer.
A channel of capacity 0 hands over a message: the sender waits for a receiver.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from schedproof.model.locks.language import UNBOUNDED, Acquire, Mode, Receive, Release, Send

from .unfold import DONE, Instruction, Program


@dataclass(frozen=True, slots=True)
class Lock:
    """The state of one lock; numbers are those of threads.

    Args:
        holder: the thread that has locked it; for a reader-writer lock, the writer.
        readers: the threads that hold it for reading, once for each acquisition.
        announced: the writer that waits for the readers to leave.
        outside: the readers that wait for the writer to leave.
    """

    holder: int | None = None
    readers: tuple[int, ...] = ()
    announced: int | None = None
    outside: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class State:
    """The position of each thread, the threads that sleep until they get a lock, the locks, and message counts."""

    at: tuple[int, ...]
    asleep: frozenset[int]
    locks: tuple[Lock, ...]
    messages: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Move:
    """Thread ``thread`` does its next instruction (and hands ``other`` a message).

    ``granted``: it continues. ``fails``: it has tried to acquire a lock in vain.
    """

    thread: int
    at: int
    granted: bool
    other: int | None = None
    fails: bool = False


@dataclass(frozen=True)
class Machine:
    """Threads with their programs, the number of locks, and the capacity of each channel."""

    programs: Sequence[Program]
    locks: int
    capacities: Sequence[int]

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
            yield State(at, frozenset(), (Lock(),) * self.locks, (0,) * len(self.capacities))

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
            kind, target = instruction.kind, instruction.target
            if kind is Acquire:
                yield from self._acquire(state, thread, instruction)
            elif kind is Release:
                if self.releases(state, thread):
                    yield from self._release(state, thread, instruction)
            elif kind is Receive:
                if state.messages[target] > 0:
                    yield from self._on(_with_messages(state, target, -1), thread, state.at[thread])
            elif self.capacities[target] == 0:
                for other in range(len(self.programs)):
                    met = self.instruction(state, other)
                    if met is not None and met.kind is Receive and met.target == target:
                        for _, after in self._on(state, thread, state.at[thread]):
                            for _, both in self._on(after, other, state.at[other]):
                                yield Move(thread, state.at[thread], True, other), both
            elif self.capacities[target] in (UNBOUNDED,) or state.messages[target] < self.capacities[target]:
                yield from self._on(_with_messages(state, target, 1), thread, state.at[thread])

    def releases(self, state: State, thread: int) -> bool | None:
        """Whether a thread is about to release a lock that it holds; None if the lock is not held by it."""
        instruction = self.instruction(state, thread)
        if instruction is None or instruction.kind is not Release:
            return False
        lock = state.locks[instruction.target]
        return True if lock.holder == thread or thread in lock.readers else None

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
            yield from self._advanced(State(at, state.asleep - {first}, state.locks, state.messages), rest)

    def _acquire(self, state: State, thread: int, instruction: Instruction) -> Iterator[tuple[Move, State]]:
        lock, at = state.locks[instruction.target], state.at[thread]
        if instruction.otherwise:
            yield from self._try(state, thread, instruction)
            return
        # A writer that waits for a held or announced lock has no step: its queue does not affect other threads.
        unavailable = lock.holder is not None or lock.announced is not None
        if instruction.mode is Mode.READ:
            if unavailable:
                asked = _with_lock(state, instruction.target, replace(lock, outside=lock.outside | {thread}))
                yield Move(thread, at, False), replace(asked, asleep=state.asleep | {thread})
            else:
                readers = tuple(sorted([*lock.readers, thread]))
                yield from self._on(_with_lock(state, instruction.target, Lock(readers=readers)), thread, at)
        elif not unavailable:
            if lock.readers:
                asked = _with_lock(state, instruction.target, replace(lock, announced=thread))
                yield Move(thread, at, False), replace(asked, asleep=state.asleep | {thread})
            else:
                yield from self._on(_with_lock(state, instruction.target, Lock(holder=thread)), thread, at)

    def _try(self, state: State, thread: int, instruction: Instruction) -> Iterator[tuple[Move, State]]:
        """Gets the lock if it is free, and may fail at any time; it neither waits nor announces itself."""
        lock, at = state.locks[instruction.target], state.at[thread]
        if lock.holder is None and lock.announced is None:
            if instruction.mode is Mode.READ:
                held = replace(lock, readers=tuple(sorted([*lock.readers, thread])))
                yield from self._on(_with_lock(state, instruction.target, held), thread, at)
            elif not lock.readers:
                yield from self._on(_with_lock(state, instruction.target, Lock(holder=thread)), thread, at)
        for position in instruction.otherwise:
            positions = (*state.at[:thread], position, *state.at[thread + 1 :])
            yield Move(thread, at, True, fails=True), replace(state, at=positions)

    def _release(self, state: State, thread: int, instruction: Instruction) -> Iterator[tuple[Move, State]]:
        lock, at = state.locks[instruction.target], state.at[thread]
        if lock.holder == thread:
            # Waiting readers get the lock before any other writer.
            woken = sorted(lock.outside)
            left = _with_lock(state, instruction.target, Lock(readers=tuple(woken)))
        else:
            readers = list(lock.readers)
            readers.remove(thread)
            if readers or lock.announced is None:
                woken = []
                left = _with_lock(state, instruction.target, replace(lock, readers=tuple(readers)))
            else:
                woken = [lock.announced]
                left = _with_lock(state, instruction.target, Lock(holder=lock.announced, outside=lock.outside))
        for move, after in self._on(left, thread, at):
            for awake in self._advanced(after, woken):
                yield move, awake

    def serves(self) -> bool:
        """Whether some thread runs forever."""
        return any(program.serves for program in self.programs)

    def blockers(self, state: State, thread: int) -> frozenset[int]:
        """The threads that a thread without a step waits for: the holders of the lock, or the writer announced before.

        For a message: the threads that could still send it, or take one out of a full channel.
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
        counterpart = Send if instruction.kind is Receive else Receive
        return frozenset(
            other
            for other in range(len(self.programs))
            if other != thread and self._comes_to(other, state.at[other], counterpart, instruction.target)
        )

    def _comes_to(self, thread: int, at: int, kind: type[Send] | type[Receive], target: int) -> bool:
        seen, open_ = set(), [at]
        while open_:
            if (position := open_.pop()) in seen or position == DONE:
                continue
            seen.add(position)
            instruction = self.programs[thread].instructions[position]
            if instruction.kind is kind and instruction.target == target:
                return True
            open_ += instruction.then + instruction.otherwise
        return False


def _with_lock(state: State, number: int, lock: Lock) -> State:
    locks = (*state.locks[:number], lock, *state.locks[number + 1 :])
    return State(state.at, state.asleep, locks, state.messages)  # far faster than to replace one field


def _with_messages(state: State, channel: int, more: int) -> State:
    count = state.messages[channel] + more
    return replace(state, messages=(*state.messages[:channel], count, *state.messages[channel + 1 :]))
