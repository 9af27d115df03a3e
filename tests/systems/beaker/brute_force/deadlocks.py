"""Deadlocks of the brute-force scheduler with their causes, and sets that wait for ever.

A *deadlock* is a state and a set that holds a system (a recipe of it is ``scheduled``) and from which no sequence of
scheduler steps begins the set (people stay away), though every host recipe of it has a viable Automated system.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import networkx as nx

from tests.systems.beaker.brute_force.graph import Graph, Label, can_reach
from tests.systems.beaker.brute_force.scheduler import (
    AT_REST,
    COMPLETED,
    IDLE,
    NONE,
    SCHEDULED,
    Instance,
    State,
    automated,
    matchings,
    open_hosts,
)

FINISHED_SIBLING = "a finished sibling"
UNSEATABLE = "no lab could ever seat the set"
LAB = "the lab cannot seat the siblings"
CONDITION = "the lab has no Automated system left for a sibling"
SELF = "the set sits on what its own sibling needs"
FORGOTTEN = "an idle system that nobody offers"
ABBA = "ABBA"
BEHIND = "behind a deadlocked set"
DOOMED = "not stuck yet, but whatever happens"


class Deadlock(NamedTuple):
    state: int
    dead: int
    cause: str


def hosts(inst: Instance, of: int) -> list[int]:
    return [r for r in inst.members(of) if inst.host_of[r] == NONE]


def held(inst: Instance, state: State, of: int) -> int:
    """The mask of the systems that scheduled recipes of the set are on."""
    return sum(1 << state.at[r] for r in hosts(inst, of) if state.recipe[r] == SCHEDULED and state.at[r] != NONE)


def deadlocks(inst: Instance, graph: Graph[State]) -> Iterator[Deadlock]:
    """Every deadlock, nearest to the initial state first."""
    begins = [can_reach(graph, ("begin", of)) for of in inst.sets]
    for number, state in enumerate(graph.states):
        dead = [
            of
            for of in inst.sets
            if not begins[of][number]
            and held(inst, state, of)
            and all(inst.viable[r] & automated(state) for r in hosts(inst, of))
        ]
        for of in dead:
            yield Deadlock(number, of, cause(inst, state, of, dead))


def cause(inst: Instance, state: State, of: int, dead: list[int]) -> str:
    """Why the set cannot begin: the first of the causes that the state shows."""
    waiting = open_hosts(inst, state, of)
    lab = inst.areas[state.lab[of]]
    working = automated(state)
    seats = [inst.viable[r] for r in hosts(inst, of)]
    free_for = [inst.viable[r] & ~held(inst, state, of) for r in waiting]
    if any(state.recipe[r] >= COMPLETED for r in inst.members(of)):
        return FINISHED_SIBLING
    if not any(matchings(seats, inst.areas[other]) for other in set(inst.lab_of)):
        return UNSEATABLE
    if not matchings(seats, lab):
        return LAB
    if not all(inst.viable[r] & lab & working for r in waiting):
        return CONDITION
    if not matchings(free_for, lab & working):
        return SELF
    idle = sum(1 << s for s, usage in enumerate(state.usage) if usage == IDLE)
    if state.hand[of] == AT_REST and any(inst.viable[r] & lab & working & idle for r in waiting):
        return FORGOTTEN
    return _in_a_cycle(inst, state, of, dead)


def _in_a_cycle(inst: Instance, state: State, of: int, dead: list[int]) -> str:
    """ABBA if the set waits, perhaps through others, for a set that waits for it."""
    waits = nx.DiGraph()
    for one in dead:
        viable = 0
        for r in open_hosts(inst, state, one):
            viable |= inst.viable[r] & inst.areas[state.lab[one]]
        waits.add_edges_from((one, other) for other in dead if other != one and viable & held(inst, state, other))
    if of not in waits or not waits.out_degree(of):
        return DOOMED
    return ABBA if of in nx.descendants(waits, of) or any(of in c for c in nx.simple_cycles(waits)) else BEHIND


def shortest_by_cause(inst: Instance, graph: Graph[State]) -> dict[str, list[Label]]:
    """Per cause the labels of a shortest way to such a deadlock."""
    shortest: dict[str, list[Label]] = {}
    for deadlock in deadlocks(inst, graph):
        if deadlock.cause not in shortest:
            shortest[deadlock.cause] = graph.trace(deadlock.state)
    return shortest


def waiting_for_ever(inst: Instance, graph: Graph[State]) -> Iterator[tuple[int, int]]:
    """(state, set): where the scheduler has nothing left to do and the set, which could be seated, has not begun.

    That is where fair runs end, as long as the scheduler's steps have no cycle (`has_a_cycle`).  Could be seated: its
    unfinished host recipes can be matched to distinct Automated systems of one lab, all of which are then at rest.
    """
    for number, state in enumerate(graph.states):
        if graph.scheduler[number]:
            continue
        for of in inst.sets:
            left = [r for r in hosts(inst, of) if state.recipe[r] <= SCHEDULED]
            seats = [inst.viable[r] for r in left]
            if left and any(matchings(seats, inst.areas[lab] & automated(state)) for lab in set(inst.lab_of)):
                yield number, of


def has_a_cycle(graph: Graph[State]) -> bool:
    """Whether the scheduler can go round in a circle with people away: some states never become the first in line."""
    before = [0] * len(graph.states)
    for edges in graph.scheduler:
        for _, after in edges:
            before[after] += 1
    first = [number for number, steps in enumerate(before) if not steps]
    passed = 0
    while first:
        passed += 1
        for _, after in graph.scheduler[first.pop()]:
            before[after] -= 1
            if not before[after]:
                first.append(after)
    return passed < len(graph.states)
