"""Life cycles, reachability and leads-to as in :mod:`schedproof.proofs.exploration.liveness`, on a compiled graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schedproof.model.lang import AlwaysCanReach, LeadsTo, LifeCycle, Property
from schedproof.model.semantics import Choice, Undefined
from schedproof.proofs.exploration.fairness import counted_as, creating
from schedproof.proofs.exploration.lasso import lasso
from schedproof.proofs.exploration.liveness import (
    NEVER,
    Answer,
    bindings,
    no_more,
    none_arrives,
    not_that_far,
    not_within,
    only_beyond,
    vacuous,
)
from schedproof.proofs.verdict import Counterexample

from . import paths
from .graph import Graph, Nodes, Reaching
from .predicates import formulas

Numbers = NDArray[np.int64]

Edges = tuple[Numbers, NDArray[np.uint32], NDArray[np.uint16], Nodes, Nodes, Nodes]

TOGETHER = 64
"""The number of goals that are searched for at once."""


def prepare(graph: Graph, props: Sequence[Property]) -> None:
    """Compiles the formulas of those properties whose verdicts will be asked for."""
    if groups := {p.name: formulas(graph.instance, p) for p in props if isinstance(p, AlwaysCanReach | LeadsTo)}:
        graph.prepare(groups)
    graph.asked.extend(p for p in props if isinstance(p, AlwaysCanReach))


def life_cycle(graph: Graph, prop: LifeCycle) -> Answer:
    """Checks that some object can go through exactly the given states."""
    instance = graph.instance
    names = [s.name for s in instance.model.machine(prop.sort).states]
    life = np.array([names.index(s) for s in prop.states], np.int64)
    furthest = 1
    for who in range(instance.sizes[prop.sort.name]):
        values = graph.values(instance.slot(prop.sort.name) + who)
        furthest = max(furthest, int(paths.longest_prefix(graph.offsets, graph.targets, values, life)))
        if furthest == len(life):
            return None
    return not_within(instance, prop) if graph.beyond else not_that_far(prop, furthest)


def always_can_reach(graph: Graph, prop: AlwaysCanReach) -> Answer:
    """Checks AG EF: which states can reach the goal."""
    met = beyond = False
    nearest: tuple[int, dict[str, int]] | None = None
    for bound, reach, perhaps, start in _reaching(graph, prop):
        met = met or bool(start.any())
        beyond = beyond or bool((start & ~reach & perhaps).any())
        stuck = np.flatnonzero(start & ~perhaps)  # numbers follow the distance from the initial state
        if len(stuck) and (nearest is None or int(stuck[0]) < nearest[0]):
            nearest = int(stuck[0]), bound
    if nearest is not None:
        return no_more(graph.instance, graph.path(nearest[0]), prop, nearest[1])
    if beyond:
        return only_beyond(graph.instance)
    return None if met else NEVER


def _reaching(graph: Graph, prop: AlwaysCanReach) -> Iterator[Reaching]:
    """For each binding of a property's variables, the states that can or may reach its goal, and those of its premise."""
    if prop.name not in graph.reaching:
        _reach_together(graph, prop)
    return iter(graph.reaching.pop(prop.name))


def _reach_together(graph: Graph, prop: AlwaysCanReach) -> None:
    """Searches for the goals of a property, and of prepared ones with the same ``without``, 64 bindings at a time.

    Raises:
        Undefined: the property reads an attribute of NONE; others that do are left out.
    """
    held: list[tuple[str, dict[str, int], Nodes, Nodes]] = []
    for each in {prop.name: prop, **{p.name: p for p in graph.asked if set(p.without) == set(prop.without)}}.values():
        try:
            held += [(each.name, *binding) for binding in _held(graph, each)]
            graph.reaching[each.name] = []
        except Undefined:
            if each.name == prop.name:
                raise
    for first in range(0, len(held), TOGETHER):
        goals = [goal for _, _, goal, _ in held[first : first + TOGETHER]]
        can = list(graph.reach([graph.nodes(goal, False) for goal in goals], prop.without))
        may = can if not graph.beyond else graph.reach([graph.nodes(goal, True) for goal in goals], prop.without)
        for (name, bound, _, start), reach, perhaps in zip(held[first:], can, may, strict=False):
            graph.reaching[name].append((bound, reach[: graph.size], perhaps[: graph.size], start))


def leads_to(graph: Graph, prop: LeadsTo) -> Answer:
    """Checks that every fair run from ``given`` reaches ``goal``: no fair loop avoids the goal."""
    met = left = False
    held = list(_held(graph, prop))
    for first in range(0, len(held), TOGETHER):
        # No run of the graph goes on beyond the bounds, as if that were a goal.
        some = [(b, graph.nodes(o, True), graph.nodes(g, False)) for b, o, g in held[first : first + TOGETHER]]
        met = met or any(bool(given.any()) for _, _, given in some)
        left = left or any(bool((given & ~goal).any()) for _, goal, given in some)
        avoiding = [_avoiding(graph, goal, given)[0] != paths.NONE for _, goal, given in some]
        regions = paths.packed(avoiding, len(graph.offsets) - 1)
        paths.trim(*_fair_edges(graph, prop), regions)
        for place, (bound, goal, given) in enumerate(some):
            inside = paths.members(regions, place)
            if inside.any() and (lasso_run := _fair_loop(graph, prop, bound, goal, given, inside)) is not None:
                return lasso_run
    if left and graph.beyond and not any(_arrives(graph, goal, given) for _, goal, given in held):
        return none_arrives(graph.instance)
    return vacuous(met, left)


def _arrives(graph: Graph, goal: Nodes, given: Nodes) -> bool:
    """Whether a run from ``given`` reaches ``goal``, and not only what is beyond the bounds."""
    lengths, _, _ = _avoiding(graph, graph.nodes(goal, True), graph.nodes(given, False))
    sources = np.repeat(lengths != paths.NONE, np.diff(graph.offsets))
    return bool((sources & graph.nodes(goal, False)[graph.targets]).any())


def _avoiding(graph: Graph, goal: Nodes, given: Nodes) -> tuple[NDArray[np.int32], Numbers, NDArray[np.uint32]]:
    """The shortest runs from ``given`` that avoid ``goal``: see :func:`paths.avoiding`."""
    lengths, edges, whence = paths.avoiding(graph.offsets, graph.targets, graph.depths, given & ~goal, goal)
    return lengths, edges, whence


def _fair_loop(
    graph: Graph, prop: LeadsTo, bound: dict[str, int], goal: Nodes, given: Nodes, inside: Nodes
) -> Counterexample | None:
    """The nearest fair loop inside ``inside``, which avoids the goal."""
    lengths, edges, whence = _avoiding(graph, goal, given)
    nearest: tuple[int, int, Nodes] | None = None
    for fair, parts in _fair_loops(graph, inside, prop):
        states = np.flatnonzero(fair)
        first = int(states[np.argmin(lengths[states])])
        if nearest is None or (int(lengths[first]), first) < nearest[:2]:
            nearest = int(lengths[first]), first, parts == parts[first]
    if nearest is None:
        return None
    _, first, loop = nearest
    return lasso(graph.instance, graph, prop, bound, _run(graph, edges, whence, first), _Members(loop), first)


def _held(graph: Graph, prop: AlwaysCanReach | LeadsTo) -> Iterator[tuple[dict[str, int], Nodes, Nodes]]:
    """For each binding of a property's variables, the states of its goal and those of its premise."""
    every = list(bindings(graph.instance, prop.over))
    held = graph.holding(formulas(graph.instance, prop), prop.name)
    given = held[len(every) :] or [np.ones(graph.size, np.bool_)] * len(every)
    yield from zip(every, held[: len(every)], given, strict=True)


def _fair_edges(graph: Graph, prop: LeadsTo) -> Edges:
    """The edges of a graph, and by choice whether it may occur for ever, and is weakly or strongly fair."""
    without, weak, strong = (graph.choices_of(a) for a in (prop.without, prop.weak, prop.strong))
    return graph.offsets, graph.targets, _counted(graph, prop), ~without, weak, strong


def _counted(graph: Graph, prop: LeadsTo) -> NDArray[np.uint16]:
    """The choice of each edge, or the first of those that count as the same for fairness."""
    counted = counted_as(graph.instance.model, prop)
    if counted is None:
        return graph.choices
    several = graph.choices_of(creating(graph.instance.model, prop))
    number, first = np.arange(len(several)).astype(graph.choices.dtype), dict[Choice, int]()
    for n in np.flatnonzero(several):
        number[n] = first.setdefault(counted(graph.reached.program.choice(int(n))), int(n))
    return number[graph.choices]


def _fair_loops(graph: Graph, inside: Nodes, prop: LeadsTo) -> Iterator[tuple[Nodes, NDArray[np.uint32]]]:
    """Pairs of states in which a fair run can stay inside ``inside``, and the component numbers of all states."""
    while inside.any():
        fair, inside, parts = paths.fair(*_fair_edges(graph, prop), inside)
        if fair.any():
            yield fair, parts


def _run(graph: Graph, edges: Numbers, whence: NDArray[np.uint32], state: int) -> list[Choice]:
    """The run to a state that :func:`paths.avoiding` found."""
    run: list[Choice] = []
    while edges[state] != paths.NONE:
        run.append(graph.reached.program.choice(int(graph.choices[edges[state]])))
        state = int(whence[state])
    return graph.path(state) + run[::-1]


@dataclass(frozen=True)
class _Members:
    """A set of states as a container of numbers."""

    nodes: Nodes

    def __contains__(self, state: object) -> bool:
        return isinstance(state, int) and bool(self.nodes[state])
