"""A brute-force reading of the batch scheduler that the abstract describes (14-27): passes, phase by phase.

A pass processes all new recipes, queues all processed ones, looks once at each recipe that is queued at that moment,
in order of priority, and gives it a free viable system or passes it over; then every set all of whose recipes are
scheduled starts.  Meanwhile jobs arrive and running recipes complete.  No labs and no guests.  If the instance has the
moves, people cancel and abort recipes that have arrived, choose the priority of a set before it arrives, and a crash
lets the scheduler start over with a new pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tests.systems.beaker.brute_force.graph import Edge, Graph, Label, can_reach, explore
from tests.systems.beaker.brute_force.scheduler import (
    ABORTED,
    CANCELLED,
    COMPLETED,
    NEW,
    NONE,
    QUEUED,
    RUNNING,
    SCHEDULED,
    WAITING,
    Instance,
)

ABSENT, PROCESSED = -1, 20  # states that the proposal does not have
PROCESS, QUEUE, SCHEDULE, START = range(4)


class Batch(NamedTuple):
    """The pass's phase, each recipe's state and system, who is still to be looked at, and the sets' priorities."""

    phase: int
    recipe: tuple[int, ...]
    at: tuple[int, ...]
    to_look_at: frozenset[int]
    rank: tuple[int, ...]


Step = tuple[Label, Batch]


def batch_graph(inst: Instance) -> Graph[Batch]:
    """Every reachable state of the passes, from the moment before any job arrives."""
    recipes = len(inst.viable)
    start = Batch(PROCESS, (ABSENT,) * recipes, (NONE,) * recipes, frozenset(), inst.rank)
    return explore(start, lambda state: batch_steps(inst, state), lambda state: people_steps(inst, state))


def _moved(state: Batch, changes: dict[int, int]) -> Batch:
    return state._replace(recipe=tuple(changes.get(r, now) for r, now in enumerate(state.recipe)))


def arrivals(inst: Instance, state: Batch) -> Iterator[Step]:
    for of in inst.sets:
        if all(state.recipe[r] == ABSENT for r in inst.members(of)):
            yield ("arrive", of), _moved(state, dict.fromkeys(inst.members(of), NEW))


def people_steps(inst: Instance, state: Batch) -> Iterator[Step]:
    """Arrivals, cancels, aborts, choices of priority and crashes."""
    yield from arrivals(inst, state)
    for name, how in (("cancel", CANCELLED), ("abort", ABORTED)):
        for r, now in enumerate(state.recipe):
            ended = now in (ABSENT, COMPLETED, CANCELLED, ABORTED)
            if name in inst.moves and inst.set_of[r] in inst.endable and not ended:
                at = tuple(NONE if q == r else s for q, s in enumerate(state.at))
                yield (name, r), _moved(state, {r: how})._replace(at=at, to_look_at=state.to_look_at - {r})
    if "priority" in inst.moves:
        for of in inst.rankable:
            if all(state.recipe[r] == ABSENT for r in inst.members(of)):
                rank = tuple(1 - now if j == of else now for j, now in enumerate(state.rank))
                yield ("change_priority", of), state._replace(rank=rank)
    if "crash" in inst.moves and state.phase != PROCESS:
        yield ("crash",), state._replace(phase=PROCESS, to_look_at=frozenset())


def batch_steps(inst: Instance, state: Batch) -> Iterator[Step]:
    """The pass's next step, and whatever runs meanwhile."""
    yield from (_one_by_one, _one_by_one, _schedule, _start)[state.phase](inst, state)
    for r, now in enumerate(state.recipe):
        if now == WAITING:
            yield ("run", r), _moved(state, {r: RUNNING})
        elif now == RUNNING:
            at = tuple(NONE if q == r else s for q, s in enumerate(state.at))
            yield ("complete", r), _moved(state, {r: COMPLETED})._replace(at=at)


def _one_by_one(inst: Instance, state: Batch) -> Iterator[Step]:
    """All new become processed, then all processed become queued; when none is left, the next phase."""
    name, before, after = ("process", NEW, PROCESSED) if state.phase == PROCESS else ("queue", PROCESSED, QUEUED)
    ready = [r for r, now in enumerate(state.recipe) if now == before]
    for r in ready:
        yield (name, r), _moved(state, {r: after})
    if not ready:
        queued = frozenset(r for r, now in enumerate(state.recipe) if now == QUEUED)
        to_look_at = queued if state.phase == QUEUE else frozenset()
        yield ("next_phase",), state._replace(phase=state.phase + 1, to_look_at=to_look_at)


def _schedule(inst: Instance, state: Batch) -> Iterator[Step]:
    best = max((state.rank[inst.set_of[r]] for r in state.to_look_at), default=0)
    for r in state.to_look_at:
        if state.rank[inst.set_of[r]] != best:
            continue
        left = state.to_look_at - {r}
        free = [s for s in range(len(inst.lab_of)) if inst.viable[r] >> s & 1 and s not in state.at]
        for s in free:
            at = tuple(s if q == r else now for q, now in enumerate(state.at))
            yield ("take", r, s), _moved(state, {r: SCHEDULED})._replace(at=at, to_look_at=left)
        if not free:
            yield ("pass_over", r), state._replace(to_look_at=left)
    if not state.to_look_at:
        yield ("next_phase",), state._replace(phase=START)


def _start(inst: Instance, state: Batch) -> Iterator[Step]:
    ready = [of for of in inst.sets if all(state.recipe[r] == SCHEDULED for r in inst.members(of))]
    for of in ready:
        yield ("start", of), _moved(state, dict.fromkeys(inst.members(of), WAITING))
    if not ready:
        yield ("next_phase",), state._replace(phase=PROCESS)


def batch_deadlocks(inst: Instance, graph: Graph[Batch]) -> Iterator[tuple[int, int]]:
    """(state, set): the set holds a system and nothing that the scheduler and the running recipes do starts it."""
    for of in inst.sets:
        starts = can_reach(graph, ("start", of))
        for number, state in enumerate(graph.states):
            if not starts[number] and any(state.recipe[r] == SCHEDULED for r in inst.members(of)):
                yield number, of


def abba(inst: Instance, graph: Graph[Batch]) -> Iterator[int]:
    """The deadlocked states in which each of two sets waits for a system that the other one holds."""
    dead: dict[int, set[int]] = {}
    for number, of in batch_deadlocks(inst, graph):
        dead.setdefault(number, set()).add(of)
    for number, sets in sorted(dead.items()):
        state = graph.states[number]

        def waits_for(one: int, other: int, state: Batch = state) -> bool:
            queued_masks = [inst.viable[r] for r in inst.members(one) if state.recipe[r] == QUEUED]
            return any(
                mask >> state.at[r] & 1 for mask in queued_masks for r in inst.members(other) if state.at[r] != NONE
            )

        if any(waits_for(one, other) and waits_for(other, one) for one in sets for other in sets if one < other):
            yield number


def queue_jumps(inst: Instance, graph: Graph[Batch]) -> Iterator[tuple[int, Edge]]:
    """(state, step): a system is taken that a recipe of a higher priority, passed over in this pass, could have had."""
    for number, state in enumerate(graph.states):
        if state.phase != SCHEDULE:
            continue
        passed = [r for r, now in enumerate(state.recipe) if now == QUEUED and r not in state.to_look_at]
        for label, after in graph.scheduler[number]:
            if label[0] == "take":
                r, s = int(label[1]), int(label[2])
                rank = state.rank[inst.set_of[r]]
                if any(inst.viable[q] >> s & 1 and state.rank[inst.set_of[q]] > rank for q in passed):
                    yield number, (label, after)
