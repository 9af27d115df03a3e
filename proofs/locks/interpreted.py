"""The interpreted search: it reaches the same states as :mod:`.compiled`, in the same order."""

from __future__ import annotations

from collections import deque
from functools import partial

from .continuing import Graph
from .kinds import at_end, rests
from .reached import Progress, Reached, Steps, Suspect
from .semantics import Machine, State
from .symmetry import Classes, Renaming, renamed, renaming, representative
from .unfold import DONE


class TooMany(Exception):
    """There are more states than ``patience`` allows."""


def interpreted(
    machine: Machine,
    same: Classes,
    steps: Steps,
    limit: int,
    progress: Progress | None,
    patience: int | None = None,
) -> Reached:
    """Explores all interleavings of threads, breadth first.

    Args:
        machine: the threads.
        same: the groups of threads with equal programs.
        steps: which steps to take, and when to stop.
        limit: the most states; with more the result is incomplete.
        progress: called during the exploration.
        patience: the number of states at which to give up; None means never.

    Raises:
        TooMany: there are more states than ``patience``.
    """
    same = same if steps is Steps.RENAMED else ()
    reduced = steps is not Steps.ALL
    parents: dict[State, State | None] = dict.fromkeys(representative(start, same) for start in machine.starts())
    queue = deque(parents)
    suspects: list[Suspect] = []
    moves, complete, serves = 0, True, machine.serves()
    graph = Graph(len(machine.programs)) if serves else None
    numbers = {state: number for number, state in enumerate(parents)}
    every: Renaming = tuple(range(len(machine.programs)))

    def path(state: State) -> list[State]:
        back = [state]
        while (before := parents[back[-1]]) is not None:
            back.append(before)
        return back[::-1]

    while queue and not (suspects and steps is Steps.RENAMED):
        state = queue.popleft()
        moving: set[int] = set()
        following: list[tuple[int, Renaming]] = []
        for move, target in machine.moves(state, reduced=reduced):
            moving |= {move.thread} if move.other is None else {move.thread, move.other}
            moves += 1
            rename = renaming(target, same) if same else every
            after = renamed(target, rename)
            if after not in parents:
                if len(parents) >= limit:
                    complete = False
                    continue
                parents[after] = state
                queue.append(after)
                if graph is not None:
                    numbers[after] = len(numbers)
                if patience is not None and len(parents) > patience:
                    raise TooMany
            if graph is not None:
                following.append((numbers[after], rename))
        if graph is not None:
            at_ease = {n for n in every if state.at[n] == DONE or rests(machine, state, n)}
            graph.add(sum(1 << n for n in moving | at_ease), following)
        releases = [machine.releases(state, n) for n in range(len(machine.programs))]
        alone = reduced and True in releases
        # If some threads serve, others may be stuck forever while these continue.
        ends = any(machine.fatal(state, n) for n in range(len(machine.programs)))
        if None in releases or ends or ((not moving or serves) and not alone and at_end(machine, state, moving)):
            suspects.append(Suspect(state, partial(path, state)))
        if progress is not None and (done := len(parents) - len(queue)) % 5000 == 0:
            progress(done, len(queue))
    if graph is not None and complete and not suspects:
        states = list(parents)
        for number, bits in graph.stuck():
            stuck = frozenset(n for n in every if bits >> n & 1)
            suspects.append(Suspect(states[number], partial(path, states[number]), stuck))
    return Reached(len(parents), moves, complete, suspects)
