"""Models written a second time as plain loops, to compare the language's meaning with.

They share no code with the package: each function yields (action, state after) for every way to take
an action, in states of their own. What is here is written from the document and the declared
changes (HiveD repaired) or from the sentences of the toys, not from the step that it is to check.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import combinations
from typing import NamedTuple, TypeVar

from tests.systems.hived.traces import brute_force as brute_hived
from tests.systems.hived.traces.brute_force import ALLOCATED, BEING_PREEMPTED, DELETED, RESERVED, RESERVING

S = TypeVar("S", bound=Hashable)

Graph = dict[S, Counter[tuple[str, S]]]
"""For each reachable state how often each (action, state after) is possible."""


def reachable(initial: S, steps: Callable[[S], Iterable[tuple[str, S]]]) -> Graph[S]:
    """The graph of all states that ``steps`` leads to."""
    graph: Graph[S] = {}
    waiting = [initial]
    while waiting:
        state = waiting.pop()
        if state not in graph:
            graph[state] = Counter(steps(state))
            waiting += [after for _, after in graph[state]]
    return graph


def per_action(graph: Graph[S]) -> Counter[str]:
    """The number of transitions of each action."""
    totals: Counter[str] = Counter()
    for edges in graph.values():
        for (action, _), number in edges.items():
            totals[action] += number
    return totals


# --- HiveD -----------------------------------------------------------------------------------------------------------

ACTION = {
    "e0": "allocate",
    "e1": "preempt",
    "e2": "complete",
    "e3": "delete_allocated",
    "e4": "delete_preempted",
    "e7": "delete_preempting",
    "e8": "delete_pending",
    "e9": "vacate",
    "ec": "crash",
}


def outranks(one: str, other: str) -> bool:
    """The total order of explorations: group i outranks group j when i > j."""
    return int(one[1:]) > int(other[1:])


def as_written(state: brute_hived.State) -> Iterator[tuple[str, brute_hived.State]]:
    """HiveD as written, by the loops of the traces' second check."""
    for event, after in brute_hived.all_steps(state, outranks):
        yield ACTION[event], after


def repaired(state: brute_hived.State) -> Iterator[tuple[str, brute_hived.State]]:
    """HiveD repaired: a victim's cells go together, and a victim that nobody preempts any more is Allocated."""
    for group, _ in state.groups:
        for event, after in brute_hived.scheduling_steps(state, group, outranks):
            yield ACTION[event], _freed(after)
        if dict(state.groups)[group] == BEING_PREEMPTED:
            yield "delete_preempted", _victim_deleted(state, group)
        else:
            for event, after in brute_hived.deletion_steps(state, group):
                yield ACTION[event], _freed(after)
    yield "crash", brute_hived.crash(state)


def _victim_deleted(state: brute_hived.State, group: str) -> brute_hived.State:
    groups, cells = dict(state.groups), dict(state.cells)
    for name, cell in cells.items():
        if cell.user == group:
            left = cell.state == RESERVING
            cells[name] = brute_hived.Cell(RESERVED, None, cell.reserver) if left else brute_hived.EMPTY
    groups[group] = DELETED
    return brute_hived.State(tuple(groups.items()), tuple(cells.items()))


def _freed(state: brute_hived.State) -> brute_hived.State:
    preempted = {cell.user for _, cell in state.cells if cell.state == RESERVING}
    groups = tuple(
        (name, ALLOCATED if at == BEING_PREEMPTED and name not in preempted else at) for name, at in state.groups
    )
    return brute_hived.State(groups, state.cells)


# --- The workshop of toys.py -----------------------------------------------------------------------------------------


class Person(NamedTuple):
    """A worker."""

    busy: bool = False
    holds: int | None = None
    tired: bool = False
    mood: str = "tense"
    jobs: int = 0
    knows: frozenset[int] = frozenset()


class Thing(NamedTuple):
    """A tool."""

    by: int | None = None
    wear: int = 1
    queue: frozenset[int] = frozenset()


Workshop = tuple[tuple[Person, ...], tuple[Thing, ...]]


def workshop(state: Workshop) -> Iterator[tuple[str, Workshop]]:
    """Every step of the workshop."""
    people, things = state
    idle = [i for i, person in enumerate(people) if not person.busy]
    for t, thing in enumerate(things):
        if thing.by is None:
            for i in idle:
                if thing.wear < 2 and people[i].jobs == 0:
                    for careful in (False, True):
                        yield "take", _with_tool_taken(state, i, t, careful)
            for wear in range(thing.wear):
                for mood in ("calm", "tense"):
                    cheered = {i: people[i]._replace(mood=mood) for i in thing.queue if i in idle}
                    yield "mend", _with(state, cheered, {t: thing._replace(wear=wear)})
        else:
            able = [i for i in idle if i not in thing.queue]
            for size in range(1, len(able) + 1):
                for line in combinations(able, size):
                    yield "line_up", _with(state, {}, {t: thing._replace(queue=frozenset(line))})
            if thing.queue:
                holder = people[thing.by]
                freed = holder._replace(busy=False, holds=None, mood="tense", jobs=holder.jobs - 1)
                yield "kick", _with(state, {thing.by: freed}, {t: _put_down(state, t)})
    for i, person in enumerate(people):
        if person.holds is not None:
            tired = person.tired or things[person.holds].wear == 2
            freed = person._replace(busy=False, holds=None, mood="calm", tired=tired)
            yield "drop", _with(state, {i: freed}, {person.holds: _put_down(state, person.holds)})


def _with_tool_taken(state: Workshop, i: int, t: int, careful: bool) -> Workshop:
    person, thing = state[0][i], state[1][t]
    busy = Person(True, t, not careful, person.mood, person.jobs + 1, person.knows | {t})
    return _with(state, {i: busy}, {t: Thing(i, thing.wear + 1, thing.queue - {i})})


def _put_down(state: Workshop, t: int) -> Thing:
    """Only those stay in line who do not know the tool."""
    thing = state[1][t]
    return thing._replace(by=None, queue=frozenset(i for i in thing.queue if t not in state[0][i].knows))


def _with(state: Workshop, people: dict[int, Person], things: dict[int, Thing]) -> Workshop:
    return (
        tuple(people.get(i, person) for i, person in enumerate(state[0])),
        tuple(things.get(t, thing) for t, thing in enumerate(state[1])),
    )
