"""Symmetry of threads with the same program: states that differ only in the names of such threads count as one."""

from __future__ import annotations

from collections.abc import Sequence

from .semantics import Lock, Machine, State
from .unfold import Program

Classes = tuple[tuple[int, ...], ...]
"""Groups of several threads with the same program, by number."""

Renaming = tuple[int, ...]
"""For each thread its new number."""


def classes(programs: Sequence[Program]) -> Classes:
    """The groups of threads in ``programs`` that do the same."""
    alike: dict[object, list[int]] = {}
    for number, program in enumerate(programs):
        steps = tuple(one.does for one in program.instructions)
        alike.setdefault((steps, program.starts, program.rests), []).append(number)
    return tuple(tuple(same) for same in alike.values() if len(same) > 1)


def representative(state: State, same: Classes) -> State:
    """The representative of all states that differ from ``state`` in thread names only: equal threads are sorted."""
    return renamed(state, renaming(state, same))


def renaming(state: State, same: Classes) -> Renaming:
    """For each thread its number in the representative of a state."""
    rename = list(range(len(state.at)))
    for threads in same:
        places = [state.at[n] for n in threads]
        # Threads at different positions are ordered by position alone.
        order = (lambda n: state.at[n]) if len(set(places)) == len(places) else (lambda n: _local(state, n))
        for new, old in zip(threads, sorted(threads, key=order), strict=True):
            rename[old] = new
    return tuple(rename)


def renamed(state: State, rename: Renaming) -> State:
    """The state with other numbers of its threads."""
    if rename == tuple(range(len(rename))):
        return state
    at = dict(zip(rename, state.at, strict=True))
    locks = [
        Lock(
            None if lock.holder is None else rename[lock.holder],
            tuple(sorted(rename[n] for n in lock.readers)),
            None if lock.announced is None else rename[lock.announced],
            frozenset(rename[n] for n in lock.outside),
            tuple(sorted(rename[n] for n in lock.levels)),
        )
        for lock in state.locks
    ]
    asleep = frozenset(rename[n] for n in state.asleep)
    return State(tuple(at[n] for n in range(len(at))), asleep, tuple(locks), state.counts)


def _local(state: State, thread: int) -> tuple[object, ...]:
    """The part of a state that concerns one thread, in the order of :attr:`.automata.Node.order`."""
    writes = tuple(n for n, lock in enumerate(state.locks) if lock.holder == thread)
    reads = tuple(n for n, lock in enumerate(state.locks) for _ in range(lock.readers.count(thread)))
    levels = tuple(n for n, lock in enumerate(state.locks) for _ in range(lock.levels.count(thread)))
    return state.at[thread], thread in state.asleep, writes, reads, levels


def real(machine: Machine, path: Sequence[State], same: Classes) -> list[State]:
    """A run of the machine whose states have the states of ``path`` as their representatives."""
    run = [path[0]]
    for after in path[1:]:
        run.append(next(target for _, target in machine.moves(run[-1]) if representative(target, same) == after))
    return run
