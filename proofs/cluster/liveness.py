"""Life cycles, reachability and leads-to as in :mod:`schedproof.proofs.compiled.liveness`, on a graph that workers keep.

The counterexamples have the same lengths. Those of reachability are the same.
"""

from __future__ import annotations

import numpy as np

from schedproof.model.lang import AlwaysCanReach, LeadsTo, LifeCycle, Property
from schedproof.model.semantics import Choice
from schedproof.proofs.compiled.predicates import formulas
from schedproof.proofs.exploration.lasso import lasso
from schedproof.proofs.exploration.liveness import NEVER, Answer, bindings, no_more, not_that_far, vacuous

from .graph import ClusterGraph, Rows


def answer(graph: ClusterGraph, prop: Property) -> Answer:
    """The verdict of the graph on a property.

    Raises:
        LostWorker: a worker was lost.
        Undefined: the property reads an attribute of NONE.
    """
    match prop:
        case LifeCycle():
            return _life_cycle(graph, prop)
        case AlwaysCanReach():
            return _always_can_reach(graph, prop)
        case LeadsTo():
            return _leads_to(graph, prop)
    raise AssertionError(f"no way to check a {type(prop).__name__}")


def _life_cycle(graph: ClusterGraph, prop: LifeCycle) -> Answer:
    """Checks that some object can go through exactly the given states."""
    instance, layout = graph.instance, graph.reached.program.layout
    names = [s.name for s in instance.model.machine(prop.sort).states]
    life = np.array([names.index(s) for s in prop.states], np.int64)
    furthest = 1
    for who in range(instance.sizes[prop.sort.name]):
        graph.each("live", layout.slots[instance.slot(prop.sort.name) + who], life)
        graph.search()
        furthest = max(furthest, *graph.each("lived"))
        if furthest == len(life):
            break
    graph.each("died")
    return None if furthest == len(life) else not_that_far(prop, furthest)


def _always_can_reach(graph: ClusterGraph, prop: AlwaysCanReach) -> Answer:
    """Checks AG EF by a backward search from the goal."""
    every = list(bindings(graph.instance, prop.over))
    graph.hold(prop.name, formulas(graph.instance, prop))
    graph.each("clear")
    met, nearest = False, -1
    for k in range(len(every)):
        graph.each("reach", prop.name, k, ~graph.allowed(prop.without))
        graph.search()
        given = -1 if prop.given is None else len(every) + k
        for is_met, depth in graph.each("stuck", prop.name, given, k):
            met = met or is_met
            if depth >= 0 and (nearest < 0 or depth < nearest):
                nearest = depth
    if nearest >= 0:
        node, run = graph.first_of(nearest)
        return no_more(graph.instance, run, prop, every[graph.of_node("binding", node)])
    return None if met else NEVER


def _leads_to(graph: ClusterGraph, prop: LeadsTo) -> Answer:
    """Checks that every fair run from ``given`` reaches ``goal``: no fair loop avoids the goal."""
    every = list(bindings(graph.instance, prop.over))
    graph.hold(prop.name, formulas(graph.instance, prop))
    met = left = False
    for k, bound in enumerate(every):
        standings = graph.each("avoid", prop.name, k, len(every) + k)
        met = met or any(is_met for is_met, _, _ in standings)
        left = left or any(is_left for _, is_left, _ in standings)
        graph.deepen(max(depth for _, _, depth in standings))
        nearest = _nearest_fair_loop(graph, prop)
        if nearest is not None:
            length, depth = nearest
            first, _ = graph.first_of(depth, length)
            component = graph.of_node("loop_of", first)
            rows = Rows(graph, lambda nodes: graph.of_nodes("members", nodes, component))  # noqa: B023 (used at once)
            return lasso(graph.instance, rows, prop, bound, _run(graph, first), rows, first)
    return vacuous(met, left)


def _nearest_fair_loop(graph: ClusterGraph, prop: LeadsTo) -> tuple[int, int] | None:
    """The least length of a run to a state in which a fair run can stay without the goal, and the least depth of such a state."""
    nearest: tuple[int, int] | None = None
    left = sum(graph.each("region", ~graph.allowed(prop.without), graph.allowed(prop.weak), graph.allowed(prop.strong)))
    while left:
        _find_components(graph)
        graph.each("use")
        graph.exchange("using")
        standings = graph.exchange_once(["tally", "decide", "conclude"])
        nearest = min(((length, depth) for _, length, depth in standings if length >= 0), default=None)
        left = sum(count for count, _, _ in standings)
        if left:
            graph.each("separate")
    return nearest


def _find_components(graph: ClusterGraph) -> None:
    """Finds the strongly connected components of what is left.

    Nodes without an edge from others, or to others, are removed first. Then each node gets the greatest number of one that reaches
    it. Those that have the same, and reach the node of that number, are a component: many are found at once.
    """
    while True:
        for backward in (False, True):
            for step in ("degrees", "trim"):
                graph.each(step, backward)
                graph.search()
        if not any(graph.each("label")):
            return
        graph.search()
        graph.each("collect")
        graph.search()
        if not any(graph.each("collected")):
            return


def _run(graph: ClusterGraph, node: int) -> list[Choice]:
    """A shortest run to a node that passes a start, and no goal from there on."""
    run: list[Choice] = []
    while True:
        length, is_start, sources, choices = graph.of_node("before", node)
        if is_start:
            break
        nodes = [int(n) for n in sources]
        lengths = graph.of_nodes("lengths", nodes)
        node, choice = min((n, int(c)) for n, c, its in zip(nodes, choices, lengths, strict=True) if its == length - 1)
        run.append(graph.choice(choice))
    return [*_path(graph, node), *reversed(run)]


def _path(graph: ClusterGraph, node: int) -> list[Choice]:
    """A shortest run to a node."""
    run: list[Choice] = []
    while node != graph.initial:
        _, _, sources, choices = graph.of_node("before", node)
        [depth] = graph.of_nodes("depths", [node])
        nodes = [int(n) for n in sources]
        depths = graph.of_nodes("depths", nodes)
        node, choice = min((n, int(c)) for n, c, its in zip(nodes, choices, depths, strict=True) if its == depth - 1)
        run.append(graph.choice(choice))
    return run[::-1]
