"""Classifies deadlocks: the circle of threads that wait for each other, by the field's kinds."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Set
from dataclasses import dataclass

import networkx as nx

from schedproof.model.locks.language import Acquire, Mode, Release

from .semantics import Machine, State
from .unfold import DONE, Instruction, Waits
from .ways import Park


class Kind(enum.StrEnum):
    """The kinds of problems between threads and locks."""

    REVERSED = "AB"
    """Two locks or more: one thread holds each of them, and the next thread waits for it."""
    READ_AGAIN = "RR"
    """A thread that holds a lock for reading reads it again, while a writer waits in between."""
    SELF = "SELF"
    """A thread acquires a lock that it holds, and one of the two acquisitions is not for reading."""
    MESSAGE = "CH"
    """A thread holds a lock while it waits for a message."""
    LEAKED = "LK"
    """A lock is never released."""
    NO_MESSAGE = "MSG"
    """A thread waits for a message that no thread sends; no lock is involved."""
    NO_SIGNAL = "SIGNAL"
    """A thread waits for a condition that no thread signals any more."""
    NO_COUNT = "COUNT"
    """A thread waits for a counter that no thread changes any more: a group, a semaphore, a lock without an owner."""
    HELD = "WAIT"
    """A thread holds a lock while it waits for a signal or a counter."""
    NOT_HELD = "UNLOCK"
    """A thread releases a lock that it does not hold, or signals without the lock that it needs."""
    FATAL = "PANIC"
    """A step that ends the whole program, as a message to a closed channel."""


WORDS: Mapping[Kind, str] = {
    Kind.REVERSED: "locks in reversed order",
    Kind.READ_AGAIN: "a read lock taken again under a waiting writer",
    Kind.SELF: "self-deadlock",
    Kind.MESSAGE: "a lock held while waiting for a message",
    Kind.LEAKED: "a lock never released",
    Kind.NO_MESSAGE: "a message that never comes",
    Kind.NO_SIGNAL: "a signal that never comes",
    Kind.NO_COUNT: "a counter that never changes",
    Kind.HELD: "a lock held while waiting for a signal or a counter",
    Kind.NOT_HELD: "a lock released that is not held",
    Kind.FATAL: "a step that ends the program",
}
"""The kinds in words."""


@dataclass(frozen=True)
class Waiter:
    """Thread ``thread`` waits to do ``how`` on ``on``, a lock or channel; it waits for the stuck threads ``whom``."""

    thread: int
    how: str
    on: str
    whom: tuple[int, ...]


@dataclass(frozen=True)
class Stuck:
    """Why some threads can never continue.

    Args:
        circle: the threads that wait for each other, in order; the last one waits for the first.
        waits: all threads that wait forever, those of the circle first.
        locks: the names of the locks and channels of the circle.
        writer: a reader of the circle waits for a writer that itself only waits.
    """

    kind: Kind
    circle: tuple[int, ...]
    waits: tuple[Waiter, ...]
    locks: tuple[str, ...]
    writer: bool = False


def for_ever(machine: Machine, state: State, moving: Set[int]) -> list[int]:
    """The threads that can never continue, in any run of the others; the threads in ``moving`` have a step.

    This is the greatest set of threads that have no step and that each wait for one of these:

    - a lock that a thread of the set, or a finished one, holds or is about to write;
    - a message, a signal or a counter that only threads of the set could bring about.

    A thread that rests, or can end the program, is never in it.
    """
    waiting = {n for n, at in enumerate(state.at) if at != DONE and n not in moving and not machine.fatal(state, n)}
    if all(rests(machine, state, n) for n in waiting):
        return []

    def hopeless(thread: int) -> bool:
        instruction = machine.instruction(state, thread)
        if instruction is None or instruction.kind is Release or machine.releases(state, thread) is None:
            return False
        whom = machine.blockers(state, thread)
        if instruction.kind is Acquire:
            return any(other in waiting or state.at[other] == DONE for other in whom)
        return whom <= waiting

    while hopeful := {n for n in waiting if not hopeless(n)}:
        waiting -= hopeful
    return sorted(n for n in waiting if not rests(machine, state, n))


def at_end(machine: Machine, state: State, moving: Set[int]) -> bool:
    """Whether some threads can never continue, or no thread moves and a finished thread still holds a lock."""
    return bool(for_ever(machine, state, moving) or (not moving and leaks(state)))


def stuck(
    machine: Machine, state: State, moving: Set[int], names: tuple[str, ...], never: Set[int] = frozenset()
) -> Stuck | None:
    """Why some threads can never continue in a state; None if all can.

    Args:
        machine: the threads.
        state: their state.
        moving: the threads that have a step.
        names: the names of the locks, in order.
        never: the threads that can never continue, as the graph of states shows; empty if the state shows them.
    """
    waiting = sorted(never) or for_ever(machine, state, moving)
    if not waiting:
        return None
    blockers = {n: _through_starters(machine, state, machine.blockers(state, n)) for n in waiting}
    # Who waits for a thread that it would start itself closes no circle: another thread of the circle may say more.
    graph: nx.DiGraph[int] = nx.DiGraph(
        (n, other)
        for n in waiting
        for other in blockers[n]
        if other in waiting and (n != other or _instruction(machine, state, n).kind is Acquire)
    )
    graph.add_nodes_from(waiting)
    circle = _shortest_circle(graph)
    on = {n: _waits(machine, state, n, blockers[n]) for n in waiting}
    ordered = [*circle, *(n for n in waiting if n not in circle)]
    waits = tuple(on[n] for n in ordered)
    if not circle:
        # Some thread waits for a finished one, or for a message that no thread has to send.
        for n in waiting:
            # A thread that runs for ever without a release is like a finished one.
            acquires = never and _instruction(machine, state, n).kind is Acquire
            if ended := [other for other in sorted(blockers[n]) if acquires or state.at[other] == DONE]:
                return Stuck(Kind.LEAKED, tuple(ended), waits, (on[n].on,))
        first = next((n for n in waiting if _holds(state, n)), waiting[0])
        kind = _kind([_instruction(machine, state, first)], holds=bool(_holds(state, first)))
        return Stuck(kind, (first,), waits, (on[first].on, *(names[x] for x in _holds(state, first))))
    locks = tuple(dict.fromkeys(on[n].on for n in circle))
    instructions = [_instruction(machine, state, n) for n in circle]
    targets = {i.target for i in instructions if i.kind is Acquire}
    if any(i.kind is not Acquire for i in instructions):
        return Stuck(_kind(instructions, holds=bool(targets)), circle, waits, locks)
    if len(circle) == 1:
        return Stuck(Kind.SELF, circle, waits, locks)
    if len(targets) == 1:
        return Stuck(Kind.READ_AGAIN, circle, waits, locks)
    return Stuck(Kind.REVERSED, circle, waits, locks, _needs_writer(machine, state, circle))


def _through_starters(machine: Machine, state: State, whom: frozenset[int]) -> frozenset[int]:
    """The threads, with those that would start them in place of threads that are not started."""
    reached: set[int] = set()
    open_ = set(whom)
    while open_:
        thread = open_.pop()
        instruction = machine.instruction(state, thread)
        reached.add(thread)
        if instruction is not None and instruction.kind is Park and instruction.waits is Waits.START:
            open_ |= machine.blockers(state, thread) - reached
    return frozenset(
        n
        for n in reached
        if (one := machine.instruction(state, n)) is None or one.kind is not Park or one.waits is not Waits.START
    )


def _kind(instructions: list[Instruction], *, holds: bool) -> Kind:
    """The kind of a standstill in which some thread waits for more than a lock."""
    waits = {one.waits for one in instructions if one.kind is not Acquire}
    if waits <= {Waits.MESSAGE}:
        return Kind.MESSAGE if holds else Kind.NO_MESSAGE
    if holds:
        return Kind.HELD
    return Kind.NO_SIGNAL if Waits.SIGNAL in waits else Kind.NO_COUNT


def _instruction(machine: Machine, state: State, thread: int) -> Instruction:
    """The next instruction of a thread that waits."""
    instruction = machine.instruction(state, thread)
    assert instruction is not None
    return instruction


def _shortest_circle(graph: nx.DiGraph[int]) -> tuple[int, ...]:
    """The threads of a shortest circle, beginning with the lowest number; () if there is none."""
    circles = sorted((tuple(cycle) for cycle in nx.simple_cycles(graph)), key=lambda c: (len(c), sorted(c)))
    if not circles:
        return ()
    first = circles[0].index(min(circles[0]))
    return (*circles[0][first:], *circles[0][:first])


def _needs_writer(machine: Machine, state: State, circle: tuple[int, ...]) -> bool:
    for thread, other in zip(circle, (*circle[1:], circle[0]), strict=True):
        instruction = _instruction(machine, state, thread)
        lock = state.locks[instruction.target]
        if instruction.mode is Mode.READ and lock.announced == other:
            return True
    return False


def rests(machine: Machine, state: State, thread: int) -> bool:
    """Whether the thread serves, waits for the next message, and holds nothing."""
    return state.at[thread] in machine.programs[thread].rests and not _holds(state, thread)


def _holds(state: State, thread: int) -> list[int]:
    return [n for n, lock in enumerate(state.locks) if lock.holder == thread or thread in lock.readers]


def leaks(state: State) -> list[tuple[int, int]]:
    """The locks that finished threads still hold: (thread, lock)."""
    return [(n, lock) for n, at in enumerate(state.at) if at == DONE for lock in _holds(state, n)]


def _waits(machine: Machine, state: State, thread: int, whom: frozenset[int]) -> Waiter:
    instruction = _instruction(machine, state, thread)
    return Waiter(thread, instruction.how, instruction.on, tuple(sorted(whom)))
