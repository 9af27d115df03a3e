"""Life cycles, reachability and leads-to as in :mod:`schedproof.proofs.exploration.liveness`, on a compiled graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schedproof.model.lang import AlwaysCanReach, LeadsTo, LifeCycle, Property
from schedproof.model.semantics import Choice
from schedproof.proofs.exploration.lasso import lasso
from schedproof.proofs.exploration.liveness import NEVER, Answer, bindings, no_more, not_that_far, vacuous

from . import paths
from .graph import Graph, Nodes
from .predicates import formulas

Numbers = NDArray[np.int64]


def prepare(graph: Graph, props: Sequence[Property]) -> None:
    """Compiles the formulas of those properties whose verdicts will be asked for."""
    if groups := {p.name: formulas(graph.instance, p) for p in props if isinstance(p, AlwaysCanReach | LeadsTo)}:
        graph.prepare(groups)


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
    return not_that_far(prop, furthest)


def always_can_reach(graph: Graph, prop: AlwaysCanReach) -> Answer:
    """Checks AG EF by a backward search from the goal."""
    reaching = graph.backwards(prop.without)
    met = False
    nearest: tuple[int, dict[str, int]] | None = None
    for bound, goal, start in _held(graph, prop):
        reach = reaching(goal)
        met = met or bool(start.any())
        stuck = np.flatnonzero(start & ~reach)  # numbers follow the distance from the initial state
        if len(stuck) and (nearest is None or int(stuck[0]) < nearest[0]):
            nearest = int(stuck[0]), bound
    if nearest is not None:
        return no_more(graph.instance, graph.path(nearest[0]), prop, nearest[1])
    return None if met else NEVER


def leads_to(graph: Graph, prop: LeadsTo) -> Answer:
    """Checks that every fair run from ``given`` reaches ``goal``: no fair loop avoids the goal."""
    met = left = False
    for bound, goal, given in _held(graph, prop):
        start = given & ~goal
        met, left = met or bool(given.any()), left or bool(start.any())
        lengths, edges, whence = paths.avoiding(graph.offsets, graph.targets, graph.depths, start, goal)
        nearest: tuple[int, int, Nodes] | None = None
        for fair, parts in _fair_loops(graph, lengths != paths.NONE, prop):
            states = np.flatnonzero(fair)
            first = int(states[np.argmin(lengths[states])])
            if nearest is None or (int(lengths[first]), first) < nearest[:2]:
                nearest = int(lengths[first]), first, parts == parts[first]
        if nearest is not None:
            _, first, loop = nearest
            run = _run(graph, edges, whence, first)
            return lasso(graph.instance, graph, prop, bound, run, _Members(loop), first)
    return vacuous(met, left)


def _held(graph: Graph, prop: AlwaysCanReach | LeadsTo) -> Iterator[tuple[dict[str, int], Nodes, Nodes]]:
    """For each binding of a property's variables, the states of its goal and those of its premise."""
    every = list(bindings(graph.instance, prop.over))
    held = graph.holding(formulas(graph.instance, prop), prop.name)
    given = held[len(every) :] or [np.ones(graph.size, np.bool_)] * len(every)
    yield from zip(every, held[: len(every)], given, strict=True)


def _fair_loops(graph: Graph, inside: Nodes, prop: LeadsTo) -> Iterator[tuple[Nodes, Numbers]]:
    """Pairs of states in which a fair run can stay inside ``inside``, and the component numbers of all states."""
    edges = graph.offsets, graph.targets, graph.choices
    allowed, weak, strong = (graph.choices_of(a) for a in (prop.without, prop.weak, prop.strong))
    allowed = ~allowed
    while inside.any():
        parts = paths.components(*edges, allowed, inside)
        order = np.argsort(parts, kind="stable").astype(np.uint32)
        outside = int(np.count_nonzero(~inside))
        fair, inside = paths.fair(*edges, allowed, weak, strong, parts, order, outside)
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
